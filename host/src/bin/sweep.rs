//! Bandwidth against block size: `cargo run --release --bin sweep`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use warplab::{
    device::Properties,
    experiments::bandwidth::{self, Bandwidth, GridRule, KERNELS, StreamKernel},
    options::CommonOptions,
    program::{self, Run},
    quantity::{self, Doubling, OneOrAll},
};

/// Memory bandwidth against block size, verified, for kernels in Rust
///
/// Every configuration is compared with the CPU before it is timed. Exit status: 0 all verified,
/// 1 something failed (its row says what), 2 a mistake in the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "sweep", version)]
struct Arguments {
    /// Kernels, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = DEFAULT_KERNELS, value_parser = kernel)]
    kernel: Vec<OneOrAll<&'static StreamKernel>>,
    /// Elements: 64Mi, 1e6, 2^28, … [default: 2^28 or what fits on a GPU, 2^22 on the simulator]
    #[arg(long, value_name = "ELEMENTS", allow_negative_numbers = true, value_delimiter = ',', value_parser = quantity::count)]
    size: Vec<u64>,
    /// Threads per block: a list, or doubling ranges such as 32..1024
    #[arg(
        long,
        value_name = "THREADS",
        allow_negative_numbers = true,
        value_delimiter = ',',
        default_value = "32..1024"
    )]
    block: Vec<Doubling>,
    /// Blocks of grid-stride kernels [default: as many as the device holds at once]
    #[arg(
        long,
        value_name = "BLOCKS",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    grid: Vec<Doubling>,
    /// List the kernels and exit
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    common: CommonOptions,
}

/// Enough to see the shape, few enough for a simulator: one and four elements per thread, and the
/// grid-stride loop.
const DEFAULT_KERNELS: &str = "vector_add,vector_add_x4,vector_add_strided_4";
const GPU_SIZE: u64 = 1 << 28;
/// The modelled bandwidth is in its steady state from about here on.
const SIMULATOR_SIZE: u64 = 1 << 22;

fn kernel(name: &str) -> Result<OneOrAll<&'static StreamKernel>, String> {
    OneOrAll::parse(name, KERNELS, StreamKernel::name)
}

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        return program::print(&list());
    }
    if let Some(status) = program::instead_of_a_run("sweep", &arguments.common)? {
        return Ok(status);
    }
    let kernels = OneOrAll::distinct(&arguments.kernel);
    let grids = Doubling::distinct(&arguments.grid);
    if !grids.is_empty()
        && !kernels
            .iter()
            .any(|kernel| matches!(kernel.grid, GridRule::Strided(_)))
    {
        return program::usage(
            "--grid is for grid-stride kernels, and --kernel names none: add vector_add_strided_4, \
             for example, or leave --grid out",
        );
    }
    let outputs = program::open_outputs(&arguments.common)?;
    let session = program::open_device(&arguments.common)?;
    let properties = session.device().properties().clone();
    let sizes = if arguments.size.is_empty() {
        vec![default_size(
            &properties,
            &kernels,
            session.device().free_memory()?,
        )]
    } else {
        quantity::distinct(arguments.size.iter().copied())
    };
    let blocks = Doubling::distinct(&arguments.block);
    let mut experiment = Bandwidth::new(&kernels, &sizes, &blocks, &grids);
    experiment.seed = arguments.common.seed;
    experiment.measuring = arguments.common.measuring();
    let memory = experiment.required_memory();
    Run {
        program: "sweep",
        options: &arguments.common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: bandwidth::best,
    }
    .run(session.devices(memory))
}

fn default_size(properties: &Properties, kernels: &[&StreamKernel], free: u64) -> u64 {
    if properties.modelled {
        return SIMULATOR_SIZE;
    }
    let fits = bandwidth::largest_size(kernels, free.saturating_sub(properties.l2_bytes));
    quantity::wanted_or_fitting(GPU_SIZE, fits)
}

fn list() -> String {
    KERNELS
        .iter()
        .map(|kernel| format!("{:<22} {}\n", kernel.name(), kernel.about))
        .collect()
}
