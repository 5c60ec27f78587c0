//! Two reports of one program, configuration by configuration: which rows belong together, what
//! their times say, and what they say as a whole.

mod pairs;
mod saved;

pub use pairs::{Obstacle, Pair, Verdict, findings, settings};
pub use saved::SavedReport;

use crate::{
    measure::Summary,
    report::{Report, Row},
};

/// Which two reports are compared, the earlier one first.
#[derive(Debug, Clone, Copy)]
pub enum Sides<'a> {
    /// A file, and the run of now.
    RunAgainstFile(&'a SavedReport),
    /// Two files.
    Files(&'a SavedReport, &'a SavedReport),
}

/// Two reports, side by side.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// Where they come from.
    pub sides: Sides<'a>,
    /// The earlier report.
    pub before: &'a Report,
    /// The later one.
    pub after: &'a Report,
    /// Configurations that both have, in the order of the later report.
    pub pairs: Vec<Pair<'a>>,
    /// Rows that only the earlier report has.
    pub only_before: Vec<&'a Row>,
    /// Rows that only the later report has.
    pub only_after: Vec<&'a Row>,
}

impl<'a> Comparison<'a> {
    /// What `--compare` asks for, given once for this report against a file, twice for two files;
    /// `None` where it is not given.
    pub fn asked(files: &'a [SavedReport], report: &'a Report) -> Option<Self> {
        match files {
            [] => None,
            [file] => Some(Self::of(Sides::RunAgainstFile(file), &file.report, report)),
            [first, second, ..] => Some(Self::of(
                Sides::Files(first, second),
                &first.report,
                &second.report,
            )),
        }
    }

    fn of(sides: Sides<'a>, before: &'a Report, after: &'a Report) -> Self {
        let (pairs, only_before, only_after) =
            pairs::matched(&after.program, &before.rows, &after.rows);
        Self {
            sides,
            before,
            after,
            pairs,
            only_before,
            only_after,
        }
    }

    /// How many pairs came to a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let same = |pair: &&Pair| pair.verdict() == verdict;
        self.pairs.iter().filter(same).count()
    }

    /// Median and geometric mean of the ratios; `None` without a ratio.
    pub fn typical_ratios(&self) -> Option<(f64, f64)> {
        let ratios: Vec<f64> = self.pairs.iter().filter_map(Pair::ratio).collect();
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let median = Summary::of(&ratios)?.median;
        Some((median, (logarithms / ratios.len() as f64).exp()))
    }
}

#[cfg(test)]
mod tests;
