//! A barrier across the whole grid, and what it costs: `cargo run --release --bin grid_sync`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{
    device::Device,
    experiments::{
        Measuring,
        grid_sync::{self, Deadlock, GridSync, Method, Shape, THREADS},
    },
    options::{CacheChoice, CommonOptions},
    output::Outputs,
    program::{self, Run},
    quantity::{self, Doubling, OneOrAll},
    report::{Cache, Report},
    session::Session,
};

/// Time per grid barrier against blocks and threads, and against a launch per round
///
/// Every exchange of data between blocks is verified before anything is timed. A grid that cannot be
/// resident at once is refused in its row, which names the largest that can. Exit status: 0 all
/// verified, or the deadlock was demonstrated, 1 something failed (its row says what), 2 a mistake in
/// the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(
    name = "grid_sync",
    version,
    mut_arg("timeout", |argument| argument.default_value("0.75")),
    mut_arg("cache", |argument| argument.default_value("hot").hide(true))
)]
struct Arguments {
    /// Blocks of the grid: a list, or doubling ranges such as 1..128 [default: 1, 2 and 8 per SM, as
    /// far as they are resident at once]
    #[arg(
        long,
        value_name = "BLOCKS",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    blocks: Vec<Doubling>,
    /// Threads of a block: a list, or doubling ranges [default: 32, 256 and 1024]
    #[arg(
        long,
        value_name = "THREADS",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    threads: Vec<Doubling>,
    /// Ways to get from one round to the next, separated by commas: grid_barrier (the barrier alone), exchange
    /// (with data exchanged between blocks), relaunch (a launch per round of that), graph (the same in a
    /// graph), or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all", value_parser = method)]
    method: Vec<OneOrAll<Method>>,
    /// Rounds that are verified and timed [default: 2000 on a GPU, 3 on the simulator]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::count)]
    rounds: Option<u64>,
    /// Show on the simulator what a plain launch of too many blocks does
    #[arg(long, conflicts_with_all = ["rounds", "method"])]
    demonstrate_deadlock: bool,
    #[command(flatten)]
    common: CommonOptions,
}

const GPU_ROUNDS: u64 = 2000;
const SIMULATOR_ROUNDS: u64 = 3;
const MOST_ROUNDS: u64 = 10_000_000;
/// More than any device holds at once, and few enough to be modelled on the host.
const MOST_BLOCKS: u32 = 1 << 16;
/// Threads of a block, and blocks beyond the room, of the deadlock.
const DEADLOCK_THREADS: u32 = 256;
const DEADLOCK_EXCESS: u64 = 4;

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("grid_sync", common)? {
        return Ok(status);
    }
    if common.cache == CacheChoice::Cold {
        return program::usage(
            "--cache cold: rounds follow each other directly, so that there is no cold one: leave --cache out",
        );
    }
    let blocks = Doubling::distinct(&arguments.blocks);
    let threads = Doubling::distinct(&arguments.threads);
    if let Some(most) = blocks.iter().find(|&&blocks| blocks > MOST_BLOCKS) {
        return program::usage(format!(
            "--blocks {most}: at most {MOST_BLOCKS} are possible"
        ));
    }
    if let Some(rounds) = arguments.rounds
        && !(1..=MOST_ROUNDS).contains(&rounds)
    {
        return program::usage(format!("--rounds {rounds}: 1 to {MOST_ROUNDS} is required"));
    }
    if arguments.demonstrate_deadlock {
        if blocks.len() > 1 || threads.len() > 1 {
            return program::usage(
                "--demonstrate-deadlock shows one launch: give one number of blocks and threads",
            );
        }
        if common.svg.is_some() {
            return program::usage(
                "--svg: a deadlock is no figure to draw; give --json, --csv or --md instead",
            );
        }
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    if arguments.demonstrate_deadlock {
        return demonstrate(common, outputs, &session, blocks.first(), threads.first());
    }
    let device = &**session.device();
    let properties = device.properties().clone();
    let rounds = arguments.rounds.unwrap_or(if properties.modelled {
        SIMULATOR_ROUNDS
    } else {
        GPU_ROUNDS
    });
    let chosen = OneOrAll::distinct(&arguments.method);
    let experiment = GridSync {
        shapes: shapes(device, &blocks, &threads)?,
        methods: Method::ALL
            .into_iter()
            .filter(|method| chosen.contains(method))
            .collect(),
        rounds: rounds as u32,
        seed: common.seed,
        measuring: Measuring {
            cache: Cache::Hot,
            ..common.measuring()
        },
    };
    let memory = experiment.required_memory();
    Run {
        program: "grid_sync",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: grid_sync::conclusions,
    }
    .run(session.devices(memory))
}

fn method(name: &str) -> Result<OneOrAll<Method>, String> {
    OneOrAll::parse(name, Method::ALL, Method::name)
}

/// The grids asked for; those that are resident at once where only threads were asked for, or
/// nothing.
fn shapes(device: &dyn Device, blocks: &[u32], threads: &[u32]) -> Result<Vec<Shape>> {
    let threads = if threads.is_empty() {
        &THREADS
    } else {
        threads
    };
    if blocks.is_empty() {
        let shapes = GridSync::resident_shapes(device, threads)?;
        if shapes.is_empty() {
            return program::usage(format!(
                "--threads {threads:?}: no block of so many fits on an SM of {}; give fewer",
                device.properties().name
            ));
        }
        return Ok(shapes);
    }
    let with_threads = |&threads: &u32| blocks.iter().map(move |&blocks| Shape { blocks, threads });
    Ok(threads.iter().flat_map(with_threads).collect())
}

fn demonstrate(
    common: &CommonOptions,
    outputs: Outputs,
    session: &Session,
    blocks: Option<&u32>,
    threads: Option<&u32>,
) -> Result<ExitCode> {
    let device = &**session.device();
    let properties = device.properties().clone();
    if !properties.modelled {
        return program::usage(format!(
            "--demonstrate-deadlock: the launch would hang {}; give --device sim",
            properties.name
        ));
    }
    let threads = threads.copied().unwrap_or(DEADLOCK_THREADS);
    let Some(room) = Deadlock::room(device, threads)? else {
        return program::usage(format!(
            "--threads {threads}: no such block fits on an SM of {}; give fewer",
            properties.name
        ));
    };
    let least = room + 1;
    let blocks = blocks.map_or(room + DEADLOCK_EXCESS, |&blocks| blocks.into());
    if blocks < least {
        return program::usage(format!(
            "--blocks {blocks}: {} has room for {room} blocks of {threads} threads, so that at least \
             {least} are required to deadlock",
            properties.name
        ));
    }
    let experiment = Deadlock::new(Shape {
        blocks: blocks as u32,
        threads,
    });
    let memory = experiment.required_memory();
    Run {
        program: "grid_sync",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: |_| Vec::new(),
    }
    .run_with(session.devices(memory), &|report: &Report, _| {
        let stories = report.rows.iter().map(grid_sync::story);
        stories.collect::<Vec<_>>().join("\n") + "\n"
    })
}
