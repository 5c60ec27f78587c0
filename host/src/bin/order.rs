//! In which order blocks start, and where: `cargo run --release --bin order`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{
    device::{Device, KernelReference},
    experiments::block_order::{self, BlockOrder, MOST_BLOCKS},
    export::blocks,
    launch::Dim3,
    options::CommonOptions,
    program::{self, Run},
    quantity,
};

/// The order in which blocks start, over several launches, with SM and time of each block
///
/// Each block takes a ticket when it starts. The plot shows the first launch: the first wave, what
/// follows, and the tail. Each launch is recorded once, whatever --cache, --min-samples, --timeout and
/// --seed say. Exit status: 0 all verified, 1 something failed, 2 a mistake in the command line, 130
/// stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "order", version)]
struct Arguments {
    /// Blocks of the grid: 500, 40x30 or 8x8x8 [default: two and a half times what the device holds at
    /// once]
    #[arg(long, value_name = "AxBxC", allow_negative_numbers = true)]
    grid: Option<Dim3>,
    /// Threads of a block
    #[arg(
        long,
        value_name = "AxBxC",
        allow_negative_numbers = true,
        default_value = "512"
    )]
    block: Dim3,
    /// How long a block runs: dependent multiplications [default: 20000 on a GPU, 500 on the simulator]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::count)]
    rounds: Option<u64>,
    /// Launches
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::count, default_value = "5")]
    launches: u64,
    #[command(flatten)]
    common: CommonOptions,
}

const MOST_LAUNCHES: u64 = 1000;

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("order", common)? {
        return Ok(status);
    }
    if arguments.launches == 0 || arguments.launches > MOST_LAUNCHES {
        let given = arguments.launches;
        return program::usage(format!(
            "--launches {given}: 1 to {MOST_LAUNCHES} is required"
        ));
    }
    if let Some(grid) = arguments.grid
        && grid.count() > MOST_BLOCKS
    {
        return program::usage(format!(
            "--grid {grid} is {} blocks: at most {MOST_BLOCKS} are possible, since there is a record \
             of each",
            grid.count()
        ));
    }
    if let Some(given) = arguments.rounds
        && given > u32::MAX.into()
    {
        let most = u32::MAX;
        return program::usage(format!("--rounds {given}: at most {most} are possible"));
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    let device = &**session.device();
    let properties = device.properties().clone();
    let grid = match arguments.grid {
        Some(grid) => grid,
        None => default_grid(device, arguments.block)?,
    };
    let experiment = BlockOrder {
        grid,
        block: arguments.block,
        rounds: match arguments.rounds {
            Some(rounds) => rounds as u32,
            None if properties.modelled => 500,
            None => 20_000,
        },
        launches: arguments.launches as u32,
    };
    let memory = experiment.required_memory();
    Run {
        program: "order",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: block_order::conclusions,
    }
    .run_with_figure(session.devices(memory), &blocks::render)
}

/// Two full waves and a half one. A block that does not fit gives 1, and the launch says why it fails.
fn default_grid(device: &dyn Device, block: Dim3) -> Result<Dim3> {
    let kernel = KernelReference::Declared(kernels::BLOCK_ORDER.declaration());
    let threads = u32::try_from(block.count()).unwrap_or(u32::MAX);
    let per_sm = device.blocks_per_sm(&kernel, threads, 0)?;
    let wave = per_sm * device.properties().sms;
    Ok((2 * wave + wave / 2).max(1).into())
}
