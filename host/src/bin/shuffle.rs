//! Who reads from whom in a warp: `cargo run --release --bin shuffle`.

use std::{process::ExitCode, rc::Rc};

use anyhow::Result;
use clap::Parser;
use warplab::{
    experiments::{
        Devices,
        shuffle::{self, Choice, Part, PartialShown, Shuffle, model::Mode, values::LaneType},
    },
    export::lanes::listing::{self, Show},
    options::CommonOptions,
    program::{self, Run},
    quantity::{self, OneOrAll},
};

/// What each lane of a warp receives from shuffles, votes, match, and sums made of shuffles
///
/// Whatever is run is compared with a model on the host, lane by lane: values, predicates, answers.
/// Without options everything is run, and a part of it shown: idx, up, down and xor of i32 in widths of
/// 32 and 8 with arguments 1, 2, 4, 8 and 16, partial masks, votes and the scan. An option restricts
/// both what is run and what is shown, in the tables as in the reports' records. Nothing is timed,
/// whatever --cache, --min-samples and --timeout say. Exit status: 0 all verified, 1 something failed,
/// 2 a mistake in the command line, 130 stopped by Ctrl-C.
#[derive(Parser)]
#[command(name = "shuffle", version)]
struct Arguments {
    /// Parts: shuffle, partial, vote, match, reduce, scan, broadcast, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = part)]
    show: Vec<OneOrAll<Part>>,
    /// Modes of shuffles: idx, up, down, xor, or all
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = mode)]
    mode: Vec<OneOrAll<Mode>>,
    /// Types: i32, u32, i64, u64, f32, f64, or all
    #[arg(long = "type", value_name = "NAMES", value_delimiter = ',', value_parser = lane_type)]
    types: Vec<OneOrAll<LaneType>>,
    /// Lanes of a segment: 2, 4, 8, 16, 32, or all
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = width, allow_negative_numbers = true)]
    width: Vec<OneOrAll<u32>>,
    /// Arguments of shuffles, a lane, a distance or bits: a list 1,2,4, a range 0..31 with both ends, or both
    #[arg(long, value_name = "LIST", value_parser = arguments, allow_negative_numbers = true)]
    argument: Option<List>,
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

/// Arguments of shuffles, without repetitions.
#[derive(Debug, Clone)]
struct List(Vec<u32>);

/// The most arguments of a run: there is a warp for each.
const MOST_ARGUMENTS: usize = 1024;

fn main() -> ExitCode {
    program::exit_status::<Arguments>(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let common = &arguments.common;
    if let Some(status) = program::instead_of_a_run("shuffle", common)? {
        return Ok(status);
    }
    arguments.refuse_what_no_part_takes()?;
    let (run, shown) = arguments.choices();
    if arguments.demonstrate_undefined && common.svg.is_some() {
        return program::usage(
            "--svg: what is undefined has no figure; give --json, --csv or --md instead",
        );
    }
    let outputs = program::open_outputs(common)?;
    let session = program::open_device(common)?;
    let properties = session.device().properties().clone();
    if arguments.demonstrate_undefined && !properties.modelled {
        return program::usage(format!(
            "--demonstrate-undefined: a simulator is required, and --device chose {}: a GPU hands out \
             some value and reports nothing; add --device sim",
            properties.name
        ));
    }
    let experiment = if arguments.demonstrate_undefined {
        Shuffle::undefined()
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
            for sentence in &report.conclusions {
                text += &format!("\n{sentence}\n");
            }
        }
        text
    })
}

impl Arguments {
    /// An option restricts some parts: one of those must be among the parts that are named.
    fn refuse_what_no_part_takes(&self) -> Result<()> {
        let parts = OneOrAll::distinct(&self.show);
        let typed = Part::ALL.into_iter().filter(|&part| part != Part::Vote);
        for (option, given, about) in [
            (
                "--mode",
                !self.mode.is_empty(),
                vec![Part::Shuffle, Part::Partial],
            ),
            (
                "--argument",
                self.argument.is_some(),
                vec![Part::Shuffle, Part::Partial],
            ),
            (
                "--width",
                !self.width.is_empty(),
                vec![Part::Shuffle, Part::Partial, Part::Reduce, Part::Scan],
            ),
            ("--type", !self.types.is_empty(), typed.collect()),
        ] {
            if given && !parts.is_empty() && !parts.iter().any(|part| about.contains(part)) {
                let about: Vec<_> = about.into_iter().map(Part::name).collect();
                return program::usage(format!(
                    "{option} is about {}, and --show names none of these: add one, or leave {option} out",
                    about.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// What is run, and what is shown of it.
    fn choices(&self) -> (Choice, Choice) {
        let (mut run, mut shown) = (Choice::everything(), Choice::overview());
        if !self.show.is_empty() {
            run.parts = OneOrAll::distinct(&self.show);
            shown.parts.clone_from(&run.parts);
            shown.partial = PartialShown::EveryMask;
        } else if !self.mode.is_empty() || self.argument.is_some() {
            // These are about shuffles alone.
            run.parts = vec![Part::Shuffle, Part::Partial];
            shown.parts = vec![Part::Shuffle];
        }
        if !self.mode.is_empty() {
            run.modes = OneOrAll::distinct(&self.mode);
            shown.modes.clone_from(&run.modes);
        }
        if !self.types.is_empty() {
            run.types = OneOrAll::distinct(&self.types);
            shown.types.clone_from(&run.types);
        }
        if !self.width.is_empty() {
            run.widths = OneOrAll::distinct(&self.width);
            shown.widths.clone_from(&run.widths);
        }
        if let Some(List(arguments)) = &self.argument {
            run.arguments.clone_from(arguments);
            shown.arguments.clone_from(arguments);
            shown.partial = PartialShown::EveryArgument;
        }
        (run, shown)
    }
}

fn part(name: &str) -> Result<OneOrAll<Part>, String> {
    OneOrAll::parse(name, Part::ALL, Part::name)
}

fn mode(name: &str) -> Result<OneOrAll<Mode>, String> {
    OneOrAll::parse(name, Mode::ALL, Mode::name)
}

fn lane_type(name: &str) -> Result<OneOrAll<LaneType>, String> {
    OneOrAll::parse(name, LaneType::ALL, LaneType::name)
}

fn width(name: &str) -> Result<OneOrAll<u32>, String> {
    OneOrAll::parse(name, Choice::WIDTHS, |width| width)
}

/// Numbers and ranges with both ends, separated by commas.
fn arguments(text: &str) -> Result<List, String> {
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
