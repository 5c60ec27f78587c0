//! Bandwidth against block size: `cargo run --release --bin sweep`.

use std::{process::ExitCode, str::FromStr};

use anyhow::Result;
use clap::{CommandFactory, Parser, error::ErrorKind};
use warplab::{
    device::Properties,
    experiments::bandwidth::{self, Bandwidth, GridRule, KERNELS, StreamKernel},
    options::CommonOptions,
    program::{self, Run},
    quantity::{self, Doubling},
};

/// Memory bandwidth against block size, verified, for kernels in Rust
///
/// Every configuration is compared with the CPU before it is timed. Exit status: 0 all verified,
/// 1 something failed (its row says what), 2 a mistake in the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "sweep", version)]
struct Arguments {
    /// Kernels, separated by commas, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = DEFAULT_KERNELS)]
    kernel: Vec<KernelChoice>,
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

/// One or all of the kernels.
#[derive(Clone)]
struct KernelChoice(Vec<&'static StreamKernel>);

impl FromStr for KernelChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        quantity::one_or_all(name, KERNELS, StreamKernel::name).map(Self)
    }
}

fn main() -> ExitCode {
    program::exit_status(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        return program::print(&list());
    }
    if let Some(status) = program::instead_of_a_run("sweep", &arguments.common, usage)? {
        return Ok(status);
    }
    let kernels = quantity::distinct(
        arguments
            .kernel
            .iter()
            .flat_map(|choice| &choice.0)
            .copied(),
    );
    let grids = Doubling::distinct(&arguments.grid);
    if !grids.is_empty()
        && !kernels
            .iter()
            .any(|kernel| matches!(kernel.grid, GridRule::Strided(_)))
    {
        usage(
            "--grid is for grid-stride kernels, and --kernel names none: add vector_add_strided_4, \
             for example, or leave --grid out",
        );
    }
    let outputs = program::open_outputs(&arguments.common, usage)?;
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

/// Ends the process with a usage error.
fn usage(message: &str) -> ! {
    Arguments::command()
        .error(ErrorKind::ValueValidation, message)
        .exit()
}
