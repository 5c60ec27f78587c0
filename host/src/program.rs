//! What every program does around its experiment: header, progress, rows to files, table, chart,
//! exit status. The programs themselves only read their command line.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::{CommandFactory, error::ErrorKind};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    comparison::Comparison,
    device::{Properties, select},
    experiments::{self, Devices, Experiment},
    export::{self, Paint, Style},
    options::CommonOptions,
    output::{Outputs, write_or_closed},
    quantity,
    report::{DeviceDescription, Record, Report, Row, SCHEMA, Times},
    session::Session,
    terminal::Terminal,
};

/// Everything was verified.
pub const SUCCESS: u8 = 0;
/// Something failed; the rows say what.
pub const FAILURE: u8 = 1;
/// The command line asked for something impossible.
pub const USAGE: u8 = 2;
/// Stopped by Ctrl-C: 128 and the signal's number, as shells do it.
pub const INTERRUPTED: u8 = 130;

/// After reports were rewritten they rest for so many times as long as that took: rewriting takes no more
/// than a quarter of a run.
const REWRITING_PAUSE: u32 = 3;

static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// A mistake in the command line that parsing did not find.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(String);

/// Ends [`exit_status`]'s program with a usage error: what was given, what is required, what to do. A value
/// on its way through `main`, so that outputs which are open already leave no empty file behind.
///
/// # Errors
/// Always.
pub fn usage<T>(message: impl Into<String>) -> Result<T> {
    Err(UsageError(message.into()).into())
}

/// The exit status of a program's result; an error goes to standard error, where it can be written.
pub fn exit_status<Arguments: CommandFactory>(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        if let Some(UsageError(message)) = error.downcast_ref() {
            let error = Arguments::command().error(ErrorKind::ValueValidation, message);
            let _ = error.print();
            return ExitCode::from(USAGE);
        }
        let _ = writeln!(io::stderr(), "error: {error:#}");
        ExitCode::from(FAILURE)
    })
}

/// Writes to standard output what a program prints at once, such as a list.
pub fn print(text: &str) -> Result<ExitCode> {
    write_or_closed(&mut io::stdout(), text).context("cannot write to standard output")?;
    Ok(ExitCode::from(SUCCESS))
}

/// Opens the formats' files.
///
/// # Errors
/// A file that cannot be opened; a usage error where two formats go to one file, for example.
pub fn open_outputs(options: &CommonOptions) -> Result<Outputs> {
    match Outputs::open(options) {
        Err(error) if error.is_usage() => usage(error.to_string()),
        opened => Ok(opened?),
    }
}

/// What the common options ask for that is no run: `--list-devices`, and `--compare` with two files.
/// `None`: the program goes on.
///
/// # Errors
/// Usage errors of `--compare`, and what cannot be written.
pub fn instead_of_a_run(program: &str, options: &CommonOptions) -> Result<Option<ExitCode>> {
    if options.list_devices {
        return list_devices().map(Some);
    }
    compare_files(program, options)
}

/// Opens the device of `--device`, and says on standard error where it had to do with another one
/// than a GPU.
pub fn open_device(options: &CommonOptions) -> Result<Session> {
    let session = Session::open(options.device)?;
    if let Some(notice) = session.notice().filter(|_| !options.quiet) {
        let _ = writeln!(io::stderr(), "{notice}");
    }
    Ok(session)
}

/// `--list-devices`: what `--device` takes on this machine, one a line.
fn list_devices() -> Result<ExitCode> {
    let listing = select::list();
    let mut text = String::new();
    match &listing.gpus {
        Ok(gpus) => {
            for (number, gpu) in gpus.iter().enumerate() {
                let name = format!("gpu:{number}");
                text.push_str(&format!("{name:<12} {}\n", device_line(&describe(gpu))));
            }
        }
        Err(error) => drop(writeln!(io::stderr(), "no GPU: {error}")),
    }
    for chip in listing.chips {
        let name = format!("sim:{}", chip.name);
        text.push_str(&format!("{name:<12} {}, modelled\n", chip.product));
    }
    print(&text)
}

/// What `--compare` asks for before a device is opened: whether its files are this program's, and,
/// of two files, the comparison itself, which needs no run.
fn compare_files(program: &str, options: &CommonOptions) -> Result<Option<ExitCode>> {
    let files = &options.compare;
    for file in files {
        let (path, writer) = (&file.path, &file.report.program);
        if writer != program {
            return usage(format!(
                "--compare {path}: a report of {program} is required, and {writer} wrote this one"
            ));
        }
    }
    let second = match &files[..] {
        [] | [_] => return Ok(None),
        [_, second] => &*second.report,
        _ => {
            return usage(format!(
                "--compare is given {} times: give it once to compare a run with a file, or twice to compare \
             two files",
                files.len()
            ));
        }
    };
    for (option, given) in [
        ("json", &options.json),
        ("csv", &options.csv),
        ("svg", &options.svg),
    ] {
        if given.is_some() {
            return usage(format!(
                "--{option}: two --compare run nothing, so there is no report to write: leave one of \
                 them out, or give --md"
            ));
        }
    }
    let mut outputs = open_outputs(options)?;
    let mut terminal = Terminal::new(options, &outputs);
    if let Some(comparison) = Comparison::asked(files, second) {
        terminal.write(&export::compare::render(&comparison, &terminal.style))?;
    }
    outputs.finish(second)?;
    Ok(Some(ExitCode::from(SUCCESS)))
}

/// A run of a program.
pub struct Run<'a> {
    /// The program's name.
    pub program: &'a str,
    /// Its common options.
    pub options: &'a CommonOptions,
    /// Its outputs, already open.
    pub outputs: Outputs,
    /// What it runs on.
    pub properties: &'a Properties,
    /// What it runs.
    pub experiment: &'a dyn Experiment,
    /// Sentences that follow from the rows, such as the best block and why.
    pub conclusions: fn(&[Row]) -> Vec<String>,
}

impl Run<'_> {
    /// Runs the experiment to its end, or until Ctrl-C; a second Ctrl-C ends the process at once.
    /// The terminal gets the table, unless it shall be quiet, the chart and the conclusions, and then
    /// what `--compare` asks for.
    pub fn run(self, devices: Devices) -> Result<ExitCode> {
        self.run_with_figure(devices, &export::chart::render)
    }

    /// [`Self::run`] with another figure in the chart's place, or none where its text is empty.
    pub fn run_with_figure(
        self,
        devices: Devices,
        figure: &dyn Fn(&Report, &Style) -> String,
    ) -> Result<ExitCode> {
        let quiet = self.options.quiet;
        self.run_with(devices, &|report, style| {
            let mut text = export::table::render(report, style);
            if !quiet {
                for part in [figure(report, style), report.conclusions.join("\n")] {
                    if !part.trim().is_empty() {
                        text.push('\n');
                        text.push_str(part.trim_end());
                        text.push('\n');
                    }
                }
            }
            text
        })
    }

    /// [`Self::run`] for a program that shows its report in another way than as a table.
    pub fn run_with(
        mut self,
        devices: Devices,
        view: &dyn Fn(&Report, &Style) -> String,
    ) -> Result<ExitCode> {
        let quiet = self.options.quiet;
        ctrlc::set_handler(move || {
            if INTERRUPT.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            if !quiet {
                let _ = writeln!(
                    io::stderr(),
                    "stopping once the configurations that run are done; Ctrl-C again stops at once"
                );
            }
        })
        .context("cannot watch for Ctrl-C")?;
        let mut report = Report {
            schema: SCHEMA.to_string(),
            program: self.program.to_string(),
            command: std::env::args().skip(1).collect(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            device: describe(self.properties),
            seed: self.options.seed,
            rows: Vec::new(),
            records: Vec::new(),
            conclusions: Vec::new(),
        };
        let mut terminal = Terminal::new(self.options, &self.outputs);
        if !self.options.quiet {
            terminal.write(&header(&report.device, self.experiment, &terminal.style))?;
        }
        self.outputs.begin(&report)?;
        let progress = self.progress();
        // Every rewriting writes all rows: where rows come faster than that, some wait for a later one.
        let (mut last, mut pause) = (Instant::now(), Duration::ZERO);
        experiments::run(self.experiment, devices, &INTERRUPT, &mut |row, records| {
            progress.set_message(format!("{} at block {}", row.kernel, row.block.x));
            let number = report.rows.len();
            let record = |data| Record { row: number, data };
            report.records.extend(records.into_iter().map(record));
            report.rows.push(row);
            self.experiment.relate(&mut report.rows);
            progress.inc(1);
            if last.elapsed() >= pause {
                let start = Instant::now();
                // What fails now is tried again, and told, at the end.
                let _ = self.outputs.update(&report);
                last = Instant::now();
                pause = REWRITING_PAUSE * (last - start);
            }
        });
        progress.finish_and_clear();
        report.conclusions = (self.conclusions)(&report.rows);
        // A terminal that fails costs no report.
        let mut text = view(&report, &terminal.style);
        if let Some(comparison) = Comparison::asked(&self.options.compare, &report) {
            text += &format!(
                "\n{}",
                export::compare::render(&comparison, &terminal.style)
            );
        }
        let concluded = terminal.write(&text);
        self.outputs.finish(&report)?;
        concluded?;
        Ok(ExitCode::from(if INTERRUPT.load(Ordering::Relaxed) {
            INTERRUPTED
        } else if experiments::succeeded(&report.rows) {
            SUCCESS
        } else {
            FAILURE
        }))
    }

    fn progress(&self) -> ProgressBar {
        let target = if self.options.quiet {
            ProgressDrawTarget::hidden()
        } else {
            // Draws nothing where standard error is no terminal.
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(self.experiment.len() as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {eta}") {
            bar.set_style(style);
        }
        bar
    }
}

/// A device as reports describe it.
pub fn describe(properties: &Properties) -> DeviceDescription {
    let (major, minor) = properties.compute_capability;
    DeviceDescription {
        name: properties.name.clone(),
        times: if properties.modelled {
            Times::Modelled
        } else {
            Times::Measured
        },
        compute_capability: format!("{major}.{minor}"),
        sms: properties.sms,
        clock_khz: properties.clock_khz,
        l2_bytes: properties.l2_bytes,
        memory_bytes: properties.memory_bytes,
        peak_gb_per_s: properties.peak_gb_per_s,
        driver: properties
            .driver
            .map(|(major, minor)| format!("{major}.{minor}")),
    }
}

/// One line on a device.
pub fn device_line(device: &DeviceDescription) -> String {
    let peak = device.peak_gb_per_s.map_or_else(
        || "peak bandwidth unknown".to_string(),
        |peak| format!("{peak:.0} GB/s peak"),
    );
    format!(
        "{}: compute capability {}, {} SMs at {:.2} GHz, L2 {}, memory {}, {peak}",
        device.name,
        device.compute_capability,
        device.sms,
        f64::from(device.clock_khz) / 1e6,
        quantity::bytes(device.l2_bytes),
        quantity::bytes(device.memory_bytes),
    )
}

fn header(device: &DeviceDescription, experiment: &dyn Experiment, style: &Style) -> String {
    let times = match device.times {
        Times::Measured => "Times are measured on this GPU.",
        Times::Modelled => {
            "Times are modelled by the simulator, not measured; results are computed exactly."
        }
    };
    format!(
        "{}\n{}\n{}\n{times}\n\n",
        style.paint(Paint::Heading, experiment.question()),
        device_line(device),
        experiment.work(),
    )
}
