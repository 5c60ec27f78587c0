//! The command line that all programs share.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use crate::{
    comparison::SavedReport, device::select::Selection, experiments::Measuring, quantity,
    report::Cache,
};

/// Options of every program.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Where to run: auto (the first GPU, else the simulator), gpu, gpu:N, sim or sim:CHIP
    #[arg(long, default_value = "auto", help_heading = "Device")]
    pub device: Selection,
    /// List the devices and exit
    #[arg(long, help_heading = "Device")]
    pub list_devices: bool,

    /// State of the L2 cache before a sample
    #[arg(long, value_enum, default_value_t = CacheChoice::Cold, help_heading = "Measuring")]
    pub cache: CacheChoice,
    /// Samples per configuration at least
    #[arg(long, value_name = "N", default_value = "10", value_parser = samples, allow_negative_numbers = true, help_heading = "Measuring")]
    pub min_samples: u32,
    /// Time cap for the samples of one configuration
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds, allow_negative_numbers = true, help_heading = "Measuring")]
    pub timeout: Duration,
    /// Seed of the random inputs
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = quantity::count,
        allow_negative_numbers = true,
        help_heading = "Measuring"
    )]
    pub seed: u64,

    /// Write the report as JSON to a file, or to standard output with -
    #[arg(long, value_name = "PATH|-", help_heading = "Output")]
    pub json: Option<Destination>,
    /// Write the rows as CSV
    #[arg(long, value_name = "PATH|-", help_heading = "Output")]
    pub csv: Option<Destination>,
    /// Write a Markdown table
    #[arg(long, value_name = "PATH|-", help_heading = "Output")]
    pub md: Option<Destination>,
    /// Write an SVG chart
    #[arg(long, value_name = "PATH|-", help_heading = "Output")]
    pub svg: Option<Destination>,
    /// Set this run beside an earlier report in JSON; given twice, set two reports side by side and run nothing
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub compare: Vec<SavedReport>,
    /// No progress, no header, no chart: the table alone, or the format that goes to -
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Colours in the terminal
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}

impl CommonOptions {
    /// How samples are taken.
    pub fn measuring(&self) -> Measuring {
        Measuring {
            cache: self.cache.into(),
            minimum_samples: self.min_samples,
            timeout: self.timeout,
        }
    }
}

/// `--cache`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheChoice {
    /// The L2 is overwritten before each sample
    Cold,
    /// Launches follow each other directly, in a graph
    Hot,
}

impl From<CacheChoice> for Cache {
    fn from(choice: CacheChoice) -> Self {
        match choice {
            CacheChoice::Cold => Self::Cold,
            CacheChoice::Hot => Self::Hot,
        }
    }
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to write colours to a stream that is or is no terminal. An empty NO_COLOR counts as
    /// unset (no-color.org).
    pub fn wanted(self, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }
}

/// Where a format goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// `-`
    StandardOutput,
    /// A file.
    File(PathBuf),
}

impl std::str::FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("a path is required, or - for standard output".to_string()),
            "-" => Ok(Self::StandardOutput),
            path => Ok(Self::File(path.into())),
        }
    }
}

fn samples(text: &str) -> Result<u32, String> {
    match quantity::count(text)?.try_into() {
        Ok(samples) if samples > 0 => Ok(samples),
        _ => Err(format!("1 to {} samples are required", u32::MAX)),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            "seconds above 0 and below 2^64 are required, as a number: for example 15 or 0.5"
                .to_string()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_positive_and_finite() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "1e300", "", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn samples_are_at_least_one() {
        assert_eq!(samples("1e3"), Ok(1000));
        for text in ["0", "2^32", "x"] {
            assert!(samples(text).is_err(), "{text}");
        }
    }

    #[test]
    fn forced_colours_do_not_ask_the_terminal() {
        assert!(Color::Always.wanted(false));
        assert!(!Color::Never.wanted(true));
        assert!(!Color::Auto.wanted(false));
    }
}
