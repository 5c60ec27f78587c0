//! The same work in one, two and three dimensions: `cargo run --release --bin geometry`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{
    experiments::geometry::{self, Geometry},
    launch::Dim3,
    options::CommonOptions,
    program::{self, Run},
};

/// Images and volumes as 1D, 2D and 3D launches: blocks, threads, masked threads and time
///
/// Every launch is compared with the CPU before it is timed. Exit status: 0 all verified, 1 something
/// failed (its row says what), 2 a mistake in the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "geometry", version)]
struct Arguments {
    /// Elements along each axis, several separated by commas [default: 1024x1024,1920x1080,1013x777 and
    /// 512x512x64, on the simulator 128x128x32]
    #[arg(
        long,
        value_name = "WxH[xD]",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    size: Vec<Dim3>,
    #[command(flatten)]
    common: CommonOptions,
}

/// A square, a format whose height is no multiple of 16, and one odd on both axes.
const IMAGES: [Dim3; 3] = [
    Dim3::new(1024, 1024, 1),
    Dim3::new(1920, 1080, 1),
    Dim3::new(1013, 777, 1),
];
const GPU_VOLUME: Dim3 = Dim3::new(512, 512, 64);
const SIMULATOR_VOLUME: Dim3 = Dim3::new(128, 128, 32);
/// More elements than this do not fit the kernels' coordinates, nor any memory.
const MOST_ELEMENTS: u64 = 1 << 40;

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("geometry", common)? {
        return Ok(status);
    }
    for size in &arguments.size {
        if size.count() > MOST_ELEMENTS {
            return program::usage(format!(
                "--size {}x{}x{} is more than 2^40 elements: give a smaller one",
                size.x, size.y, size.z
            ));
        }
    }
    if common.svg.is_some() {
        return program::usage(
            "--svg: geometry has no figure to draw; give --json, --csv or --md instead",
        );
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    let properties = session.device().properties().clone();
    let mut sizes = arguments.size.clone();
    if sizes.is_empty() {
        sizes.extend(IMAGES);
        sizes.push(if properties.modelled {
            SIMULATOR_VOLUME
        } else {
            GPU_VOLUME
        });
    }
    let mut experiment = Geometry::new(&sizes);
    experiment.seed = common.seed;
    experiment.measuring = common.measuring();
    let memory = experiment.required_memory();
    Run {
        program: "geometry",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: geometry::conclusions,
    }
    .run_with_figure(session.devices(memory), &|_, _| String::new())
}
