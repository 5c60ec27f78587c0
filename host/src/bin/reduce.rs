//! Reductions, from the simplest to the fastest: `cargo run --release --bin reduce`.

use std::{process::ExitCode, str::FromStr};

use anyhow::Result;
use clap::{CommandFactory, Parser, error::ErrorKind};
use warplab::{
    device::Properties,
    experiments::reduce::{
        self, ElementType, Operation, Reduce, Scheme, Threads, VARIANTS, Variant,
    },
    options::CommonOptions,
    program::{self, Run},
    quantity,
};

/// Reductions of an array to one value: a ladder of variants, each verified, then timed
///
/// Every result is compared with the CPU before it is timed: integers exactly, sums of floats
/// exactly for whole numbers and within a bound that grows with the size for random ones. The plain
/// read of the same data is always among the rows, since the share of its bandwidth is what counts.
/// Exit status: 0 all verified, 1 something failed (its row says what), 2 a mistake in the command
/// line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "reduce", version)]
struct Arguments {
    /// Variants, separated by commas, or all
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "all"
    )]
    variant: Vec<VariantChoice>,
    /// Type of the elements
    #[arg(
        long = "type",
        value_enum,
        value_name = "TYPES",
        value_delimiter = ',',
        default_value = "f32"
    )]
    element: Vec<ElementType>,
    /// What to reduce to; min and max where the variant has them
    #[arg(
        long,
        value_enum,
        value_name = "OPERATIONS",
        value_delimiter = ',',
        default_value = "sum"
    )]
    operation: Vec<Operation>,
    /// Elements: 64Mi, 1e6, 2^28, … [default: 2^28 or what fits on a GPU, 2^20 on the simulator]
    #[arg(long, value_name = "ELEMENTS", allow_negative_numbers = true, value_delimiter = ',', value_parser = quantity::count)]
    size: Vec<u64>,
    /// Threads per block: a list, doubling ranges such as 32..1024, or auto for what suits the size
    #[arg(
        long,
        value_name = "THREADS",
        allow_negative_numbers = true,
        value_delimiter = ',',
        default_value = "32..1024"
    )]
    block: Vec<BlockChoice>,
    /// Blocks per cluster, of the variant that is launched in clusters
    #[arg(long, value_name = "BLOCKS", value_delimiter = ',', default_value = "8", value_parser = clap::value_parser!(u32).range(1..))]
    cluster: Vec<u32>,
    /// Blocks [default: as many as have work, and no more than the device holds at once]
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..))]
    grid: Option<u32>,
    /// List the variants and exit
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    common: CommonOptions,
}

const GPU_SIZE: u64 = 1 << 28;
/// Enough for every SM of the modelled chips.
const SIMULATOR_SIZE: u64 = 1 << 20;

/// One or all of the variants.
#[derive(Clone)]
struct VariantChoice(Vec<&'static Variant>);

impl FromStr for VariantChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        quantity::one_or_all(name, VARIANTS, |variant| variant.name).map(Self)
    }
}

/// `auto`, a number, or a range of doublings.
#[derive(Clone)]
struct BlockChoice(Vec<Threads>);

impl FromStr for BlockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(vec![Threads::Automatic]));
        }
        let threads = quantity::doubling(text)
            .map_err(|error| format!("{error}; or auto for what suits the size"))?;
        Ok(Self(threads.into_iter().map(Threads::Given).collect()))
    }
}

fn main() -> ExitCode {
    program::exit_status(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        return program::print(&list());
    }
    if let Some(status) = program::instead_of_a_run("reduce", &arguments.common, usage)? {
        return Ok(status);
    }
    let mut variants: Vec<&Variant> = Vec::new();
    for variant in VARIANTS {
        // The order of the ladder, whatever that of the command line; the plain read always.
        if variant.scheme == Scheme::Read
            || arguments
                .variant
                .iter()
                .any(|choice| choice.0.contains(&variant))
        {
            variants.push(variant);
        }
    }
    let elements = quantity::distinct(arguments.element.iter().copied());
    let operations = quantity::distinct(arguments.operation.iter().copied());
    refuse_what_no_kernel_does(arguments, &elements, &operations);
    let blocks = quantity::distinct(
        arguments
            .block
            .iter()
            .flat_map(|choice| choice.0.iter().copied()),
    );
    let outputs = program::open_outputs(&arguments.common, usage)?;
    let session = program::open_device(&arguments.common)?;
    let properties = session.device().properties().clone();
    let sizes = if arguments.size.is_empty() {
        let free = session.device().free_memory()?;
        vec![default_size(&properties, &elements, free)]
    } else {
        quantity::distinct(arguments.size.iter().copied())
    };
    let mut experiment = Reduce::new(
        &variants,
        &operations,
        &elements,
        &sizes,
        &blocks,
        &quantity::distinct(arguments.cluster.iter().copied()),
        arguments.grid,
    );
    experiment.seed = arguments.common.seed;
    experiment.measuring = arguments.common.measuring();
    let memory = experiment.required_memory();
    Run {
        program: "reduce",
        options: &arguments.common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: reduce::conclusions,
    }
    .run(session.devices(memory))
}

/// A variant that was asked for by name must have a kernel for something that was asked for.
fn refuse_what_no_kernel_does(
    arguments: &Arguments,
    elements: &[ElementType],
    operations: &[Operation],
) {
    // The plain read runs whatever is asked for.
    let named = arguments
        .variant
        .iter()
        .filter(|choice| choice.0.len() == 1)
        .map(|choice| choice.0[0])
        .filter(|variant| variant.scheme != Scheme::Read);
    for variant in named {
        let has = |operation: Operation, element| variant.kernel(operation, element).is_some();
        let any = operations
            .iter()
            .any(|&operation| elements.iter().any(|&element| has(operation, element)));
        if !any {
            let offered: Vec<String> = ElementType::ALL
                .into_iter()
                .flat_map(|element| {
                    Operation::ALL
                        .into_iter()
                        .filter(move |&operation| has(operation, element))
                        .map(move |operation| format!("{} {}", operation.name(), element.name()))
                })
                .collect();
            usage(&format!(
                "variant {} does none of what --operation and --type ask for; it has {}",
                variant.name,
                offered.join(", ")
            ));
        }
    }
}

fn default_size(properties: &Properties, elements: &[ElementType], free: u64) -> u64 {
    if properties.modelled {
        return SIMULATOR_SIZE;
    }
    let free = free.saturating_sub(properties.l2_bytes);
    let fits = elements
        .iter()
        .map(|&element| reduce::largest_size(element, free))
        .min()
        .unwrap_or(0);
    quantity::wanted_or_fitting(GPU_SIZE, fits)
}

fn list() -> String {
    VARIANTS
        .iter()
        .map(|variant| format!("{:<12} {}\n", variant.name, variant.teaches))
        .collect()
}

/// Ends the process with a usage error.
fn usage(message: &str) -> ! {
    Arguments::command()
        .error(ErrorKind::ValueValidation, message)
        .exit()
}
