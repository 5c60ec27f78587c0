//! Who reads from whom in a warp: `cargo run --release --bin shuffle`.

use std::{process::ExitCode, rc::Rc};

use anyhow::Result;
use clap::{CommandFactory, Parser, error::ErrorKind};
use warplab::{
    experiments::{
        Devices,
        shuffle::{self, Choice, Part, PartialShown, Shuffle, model::Mode, values::LaneType},
    },
    export::lanes::listing::{self, Show},
    options::CommonOptions,
    program::{self, Run},
    quantity,
};

/// What each lane of a warp receives from shuffles, votes, match, and sums made of shuffles
///
/// Whatever is run is compared with a model on the host, lane by lane: values, predicates, answers.
/// Without options everything is run, and a part of it shown: idx, up, down and xor of i32 in widths of
/// 32 and 8 with arguments 1, 2, 4, 8 and 16, partial masks, votes and the scan. An option restricts both
/// what is run and what is shown, in the tables as in the reports' records. Nothing is timed, whatever
/// --cache, --min-samples and --timeout say. Exit status: 0 all verified, 1 something failed, 2 a mistake in
/// the command line.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Parts: shuffle, partial, vote, match, reduce, scan, broadcast, or all
    #[arg(long, value_name = "NAMES", value_parser = parts)]
    show: Option<List<Part>>,
    /// Modes of shuffles: idx, up, down, xor, or all
    #[arg(long, value_name = "NAMES", value_parser = modes)]
    mode: Option<List<Mode>>,
    /// Types: i32, u32, i64, u64, f32, f64, or all
    #[arg(long = "type", value_name = "NAMES", value_parser = types)]
    types: Option<List<LaneType>>,
    /// Lanes of a segment: 2, 4, 8, 16, 32, or all
    #[arg(long, value_name = "LIST", value_parser = widths, allow_negative_numbers = true)]
    width: Option<List<u32>>,
    /// Arguments of shuffles, a lane, a distance or bits: a list 1,2,4, a range 0..31 with both ends, or both
    #[arg(long, value_name = "LIST", value_parser = arguments, allow_negative_numbers = true)]
    argument: Option<List<u32>>,
    /// Show the values in the tables, rather than the lanes that they came from
    #[arg(long)]
    values: bool,
    /// Read from a lane that the mask does not name, which is undefined: only on the simulator, which
    /// reports it
    #[arg(long, conflicts_with_all = ["show", "mode", "types", "width", "argument", "values"])]
    demonstrate_undefined: bool,
    #[command(flatten)]
    common: CommonOptions,
}

/// Values of an option, without repetitions.
#[derive(Debug, Clone)]
struct List<T>(Vec<T>);

/// The most arguments of a run: there is a warp for each.
const MOST_ARGUMENTS: usize = 1024;

fn main() -> ExitCode {
    program::exit_status(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("shuffle", common, usage)? {
        return Ok(status);
    }
    let (run, shown) = arguments.choices();
    let outputs = program::open_outputs(common, usage)?;
    let session = program::open_device(common)?;
    let properties = session.device().properties().clone();
    if arguments.demonstrate_undefined && !properties.modelled {
        drop(outputs);
        usage(&format!(
            "--demonstrate-undefined: a simulator is required, and --device chose {}: a GPU hands out \
             some value and reports nothing; add --device sim",
            properties.name
        ));
    }
    let experiment = if arguments.demonstrate_undefined {
        Shuffle::undefined(common.seed)
    } else {
        Shuffle::new(run, shown, common.seed)
    };
    let show = if arguments.values {
        Show::Values
    } else {
        Show::Lanes
    };
    // One device for all: the launches are short, and no time is taken that they could disturb.
    let devices = Devices::One(Rc::clone(session.device()));
    Run {
        program: "shuffle",
        options: common,
        outputs,
        properties: &properties,
        experiment: &experiment,
        conclusions: shuffle::conclusions,
    }
    .run_with(devices, &|report, style| {
        let mut text = listing::render(report, style, show, !common.quiet);
        if !common.quiet {
            for sentence in shuffle::conclusions(&report.rows) {
                text += &format!("\n{sentence}\n");
            }
        }
        text
    })
}

impl Arguments {
    /// What is run, and what is shown of it.
    fn choices(&self) -> (Choice, Choice) {
        let (mut run, mut shown) = (Choice::everything(), Choice::overview());
        if let Some(List(parts)) = &self.show {
            run.parts.clone_from(parts);
            shown.parts.clone_from(parts);
            shown.partial = PartialShown::EveryMask;
        } else if self.mode.is_some() || self.argument.is_some() {
            // These are about shuffles alone.
            run.parts = vec![Part::Shuffle, Part::Partial];
            shown.parts = vec![Part::Shuffle];
        }
        if let Some(List(modes)) = &self.mode {
            run.modes.clone_from(modes);
            shown.modes.clone_from(modes);
        }
        if let Some(List(types)) = &self.types {
            run.types.clone_from(types);
            shown.types.clone_from(types);
        }
        if let Some(List(widths)) = &self.width {
            run.widths.clone_from(widths);
            shown.widths.clone_from(widths);
        }
        if let Some(List(arguments)) = &self.argument {
            run.arguments.clone_from(arguments);
            shown.arguments.clone_from(arguments);
            shown.partial = PartialShown::EveryArgument;
        }
        (run, shown)
    }
}

fn parts(text: &str) -> Result<List<Part>, String> {
    named(text, &Part::ALL.map(|part| (part.name(), part)))
}

fn modes(text: &str) -> Result<List<Mode>, String> {
    named(text, &Mode::ALL.map(|mode| (mode.name(), mode)))
}

fn types(text: &str) -> Result<List<LaneType>, String> {
    named(text, &LaneType::ALL.map(|ty| (ty.name(), ty)))
}

fn widths(text: &str) -> Result<List<u32>, String> {
    let names = Choice::WIDTHS.map(|width| width.to_string());
    let known: Vec<(&str, u32)> = names
        .iter()
        .map(String::as_str)
        .zip(Choice::WIDTHS)
        .collect();
    named(text, &known)
}

/// Names separated by commas, or `all`.
fn named<T: Copy + PartialEq>(text: &str, known: &[(&str, T)]) -> Result<List<T>, String> {
    let mut list = Vec::new();
    for name in text.split(',') {
        let found: Vec<T> = known
            .iter()
            .filter(|(known, _)| name == "all" || name == *known)
            .map(|(_, value)| *value)
            .collect();
        if found.is_empty() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "'{name}': one of {}, all is required",
                names.join(", ")
            ));
        }
        list.extend(
            found
                .into_iter()
                .filter(|value| !list.contains(value))
                .collect::<Vec<_>>(),
        );
    }
    Ok(List(list))
}

/// Numbers and ranges with both ends, separated by commas.
fn arguments(text: &str) -> Result<List<u32>, String> {
    let number = |text: &str| {
        let given = quantity::count(text).map_err(|problem| format!("'{text}': {problem}"))?;
        u32::try_from(given).map_err(|_| format!("{given}: at most {} is possible", u32::MAX))
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once("..") {
            Some((first, last)) => (
                number(first)?,
                number(last.strip_prefix('=').unwrap_or(last))?,
            ),
            None => {
                let only = number(part)?;
                (only, only)
            }
        };
        if first > last {
            return Err(format!(
                "the range {part} is empty: give the smaller end first"
            ));
        }
        if list.len() + (last - first) as usize >= MOST_ARGUMENTS {
            return Err(format!("at most {MOST_ARGUMENTS} arguments are possible"));
        }
        for argument in first..=last {
            if !list.contains(&argument) {
                list.push(argument);
            }
        }
    }
    Ok(List(list))
}

/// Ends the process with a usage error.
fn usage(message: &str) -> ! {
    Arguments::command()
        .error(ErrorKind::ValueValidation, message)
        .exit()
}
