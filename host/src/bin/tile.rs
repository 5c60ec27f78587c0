//! A shared tile with and without its barrier: `cargo run --release --bin tile`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{
    experiments::tile::{self, Tile},
    options::CommonOptions,
    program::{self, Run},
    quantity,
};

/// The shared-memory neighbour example, with the barrier and, deliberately, without it
///
/// The simulator finds the missing barrier and names both sides of the race; on a GPU the wrong sums
/// are counted. Nothing is timed, whatever --cache, --min-samples and --timeout say. Exit status: 0 if
/// the right kernel is verified and the race is found (on a GPU: whatever its sums), 1 something
/// failed, 2 a mistake in the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "tile", version)]
struct Arguments {
    /// Elements: 64Ki, 1e6, 2^20, … [default: 2^22 on a GPU, 2^16 on the simulator]
    #[arg(long, value_name = "ELEMENTS", allow_negative_numbers = true, value_parser = quantity::count)]
    size: Option<u64>,
    /// Launches of each kernel [default: 20 on a GPU, 1 on the simulator]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::count)]
    launches: Option<u64>,
    #[command(flatten)]
    common: CommonOptions,
}

const MOST_LAUNCHES: u64 = 1_000_000;
/// A grid's largest extent times a tile.
const MOST_ELEMENTS: u64 = (i32::MAX as u64) * 256;

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("tile", common)? {
        return Ok(status);
    }
    for (option, given, most) in [
        ("--size", arguments.size, MOST_ELEMENTS),
        ("--launches", arguments.launches, MOST_LAUNCHES),
    ] {
        if let Some(given) = given
            && (given == 0 || given > most)
        {
            return program::usage(format!("{option} {given}: 1 to {most} is required"));
        }
    }
    if common.svg.is_some() {
        return program::usage(
            "--svg: tile has no figure to draw; give --json, --csv or --md instead",
        );
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    let properties = session.device().properties().clone();
    let (size, launches) = if properties.modelled {
        (1 << 16, 1)
    } else {
        (1 << 22, 20)
    };
    let experiment = Tile {
        elements: arguments.size.unwrap_or(size),
        launches: arguments.launches.unwrap_or(launches) as u32,
        seed: common.seed,
    };
    let memory = experiment.required_memory();
    Run {
        program: "tile",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: tile::conclusions,
    }
    .run_with_figure(session.devices(memory), &|_, _| String::new())
}
