//! Reductions, from the simplest to the fastest: `cargo run --release --bin reduce`.

use std::{process::ExitCode, str::FromStr};

use anyhow::Result;
use clap::Parser;
use warplab::{
    device::Properties,
    experiments::reduce::{
        self, ElementType, LaunchKind, Operation, Reduce, Scheme, Threads, VARIANTS, Variant,
    },
    options::CommonOptions,
    program::{self, Run},
    quantity::{self, Doubling, OneOrAll},
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
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all", value_parser = variant)]
    variant: Vec<OneOrAll<&'static Variant>>,
    /// Types of the elements: i32, u32, i64, f32, f64, or all
    #[arg(long = "type", value_name = "NAMES", value_delimiter = ',', default_value = "f32", value_parser = element)]
    element: Vec<OneOrAll<ElementType>>,
    /// What to reduce to: sum, min, max, or all; min and max where the variant has them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "sum", value_parser = operation)]
    operation: Vec<OneOrAll<Operation>>,
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
    /// Blocks per cluster, of the variant that is launched in clusters: a list, or doubling ranges [default: 8]
    #[arg(
        long,
        value_name = "BLOCKS",
        allow_negative_numbers = true,
        value_delimiter = ','
    )]
    cluster: Vec<Doubling>,
    /// Blocks [default: as many as have work, and no more than the device holds at once]
    #[arg(long, value_name = "BLOCKS", allow_negative_numbers = true, value_parser = quantity::positive)]
    grid: Option<u32>,
    /// List the variants and exit
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    common: CommonOptions,
}

const GPU_SIZE: u64 = 1 << 28;
/// The largest that every device with clusters takes.
const CLUSTER: u32 = 8;
/// Enough for every SM of the modelled chips.
const SIMULATOR_SIZE: u64 = 1 << 20;

fn variant(name: &str) -> Result<OneOrAll<&'static Variant>, String> {
    OneOrAll::parse(name, VARIANTS, |variant| variant.name)
}

fn element(name: &str) -> Result<OneOrAll<ElementType>, String> {
    OneOrAll::parse(name, ElementType::ALL, ElementType::name)
}

fn operation(name: &str) -> Result<OneOrAll<Operation>, String> {
    OneOrAll::parse(name, Operation::ALL, Operation::name)
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
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        return program::print(&list());
    }
    if let Some(status) = program::instead_of_a_run("reduce", &arguments.common)? {
        return Ok(status);
    }
    // The order of the ladder, whatever that of the command line; the plain read always.
    let chosen = OneOrAll::distinct(&arguments.variant);
    let variants: Vec<&Variant> = VARIANTS
        .iter()
        .filter(|variant| variant.scheme == Scheme::Read || chosen.contains(variant))
        .collect();
    let elements = OneOrAll::distinct(&arguments.element);
    let operations = OneOrAll::distinct(&arguments.operation);
    refuse_what_no_kernel_does(arguments, &elements, &operations)?;
    let blocks = quantity::distinct(
        arguments
            .block
            .iter()
            .flat_map(|choice| choice.0.iter().copied()),
    );
    let mut clusters = Doubling::distinct(&arguments.cluster);
    let clustered = |variant: &&Variant| variant.launch == LaunchKind::Clustered;
    if !clusters.is_empty() && !variants.iter().any(clustered) {
        return program::usage(
            "--cluster is for variants that are launched in clusters, and --variant names none: add cluster, or \
             leave --cluster out",
        );
    }
    if clusters.is_empty() {
        clusters.push(CLUSTER);
    }
    let outputs = program::open_outputs(&arguments.common)?;
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
        &clusters,
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
) -> Result<()> {
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
            return program::usage(format!(
                "variant {} does none of what --operation and --type ask for: ask for {}, or leave it out",
                variant.name,
                offered.join(", ")
            ));
        }
    }
    Ok(())
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
