//! When and where each thread of a grid runs: `cargo run --release --bin clocks`.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use warplab::{
    experiments::{
        Experiment,
        clocks::{Clocks, MOST_THREADS, Normalise},
        thread_map::ThreadMap,
    },
    export::threads::{listing, map},
    hierarchy::Hierarchy,
    launch::Dim3,
    options::CommonOptions,
    program::{self, Run},
};

/// Completion times and thread IDs of every thread, as The CUDA Handbook's reportClocks prints them
///
/// Each grid is launched twice: once to warm up, then timed. Numbers in the listing are hexadecimal.
/// With --map: which warp and lane each thread of a block belongs to. With --quiet the listing comes
/// without header and remarks. One launch is timed and no input is random, whatever --min-samples,
/// --timeout and --seed say. Exit status: 0 all verified, 1 something failed, 2 a mistake in the
/// command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "clocks", version)]
struct Arguments {
    /// Blocks of the grid: 2, 4x2 or 4x2x2 [default: 2]
    #[arg(long, value_name = "AxBxC", allow_negative_numbers = true)]
    grid: Option<Dim3>,
    /// Threads of a block; several, separated by commas, give a launch each [default: 16x8,14x8, with --map
    /// 32x1,16x2,8x4,28x1,14x2,7x4]
    #[arg(
        long,
        value_name = "AxBxC",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    block: Vec<Dim3>,
    /// What completion times count from
    #[arg(long, value_enum, default_value_t = NormaliseChoice::Sm)]
    normalise: NormaliseChoice,
    /// Draw the warp and lane of each thread of a block instead
    #[arg(long, conflicts_with_all = ["grid", "normalise"])]
    map: bool,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum NormaliseChoice {
    /// The earliest thread of the same SM
    Sm,
    /// The smallest clock of the grid, as in the book; differences between SMs mean nothing
    Grid,
}

/// The book's launches: two blocks.
const GRID: Dim3 = Dim3::new(2, 1, 1);
const BLOCKS: [Dim3; 2] = [Dim3::new(16, 8, 1), Dim3::new(14, 8, 1)];
/// The book's figures: blocks of 32 threads and of 28.
const MAPPED: [Dim3; 6] = [
    Dim3::new(32, 1, 1),
    Dim3::new(16, 2, 1),
    Dim3::new(8, 4, 1),
    Dim3::new(28, 1, 1),
    Dim3::new(14, 2, 1),
    Dim3::new(7, 4, 1),
];

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("clocks", common)? {
        return Ok(status);
    }
    let grid = if arguments.map {
        1.into()
    } else {
        arguments.grid.unwrap_or(GRID)
    };
    let blocks = match (&arguments.block[..], arguments.map) {
        ([], false) => BLOCKS.to_vec(),
        ([], true) => MAPPED.to_vec(),
        (given, _) => given.to_vec(),
    };
    let launches: Vec<Hierarchy> = blocks
        .iter()
        .map(|&block| Hierarchy { grid, block })
        .collect();
    for launch in &launches {
        if launch.threads() > MOST_THREADS {
            return program::usage(format!(
                "grid {} of blocks {} is more than {MOST_THREADS} threads, and each has a number to \
                 read: give a smaller --grid or --block",
                launch.grid, launch.block
            ));
        }
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    let properties = session.device().properties().clone();
    let clocks = Clocks {
        launches,
        normalise: match arguments.normalise {
            NormaliseChoice::Sm => Normalise::Sm,
            NormaliseChoice::Grid => Normalise::Grid,
        },
        cache: common.cache.into(),
    };
    let thread_map = ThreadMap { blocks };
    let experiment: &dyn Experiment = if arguments.map { &thread_map } else { &clocks };
    Run {
        program: "clocks",
        options: common,
        outputs,
        properties: &properties,
        experiment,
        conclusions: |_| Vec::new(),
    }
    .run_with(
        session.devices(clocks.required_memory()),
        &|report, style| {
            if arguments.map {
                map::render(report, style)
            } else {
                listing::render(report, style, !common.quiet)
            }
        },
    )
}
