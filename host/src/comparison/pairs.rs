//! Which rows of two reports are the same configuration, and what a pair of them says.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    experiments::{
        grid_sync::{NEVER_STARTED_AXIS, ROOM_AXIS, WAITING_AXIS},
        shuffle::COMPARISONS_AXIS,
    },
    report::{Row, Stage, Status, Times, Timing},
};

/// Axes that hold what an experiment found instead of what it was told, per program: they differ
/// from run to run and tell no configurations apart. Fractions and nulls never do.
const FINDINGS: &[(&str, &[&str])] = &[
    ("grid_sync", &[ROOM_AXIS, WAITING_AXIS, NEVER_STARTED_AXIS]),
    (
        "order",
        &[
            "inversions",
            "longest displacement",
            "first wave",
            "SMs",
            "total_ns",
            "tail_ns",
            "timer_step_ns",
        ],
    ),
    ("shuffle", &[COMPARISONS_AXIS]),
    (
        "tile",
        &["launches", "wrong sums", "at warp borders", "race"],
    ),
];

/// The axes of a program that are findings, besides those with fractions.
pub fn findings(program: &str) -> &'static [&'static str] {
    FINDINGS
        .iter()
        .find(|(name, _)| *name == program)
        .map_or(&[], |(_, axes)| axes)
}

/// A row's axes without what was found: texts, truth values and whole numbers.
pub fn settings<'a>(program: &str, row: &'a Row) -> Vec<(&'a str, &'a Value)> {
    let findings = findings(program);
    row.axes
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .filter(|(name, value)| !(findings.contains(name) || value.is_f64() || value.is_null()))
        .collect()
}

/// The rows of one configuration in two reports.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// In the earlier report.
    pub before: &'a Row,
    /// In the later one.
    pub after: &'a Row,
}

/// What a pair says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The later interquartile range lies below the earlier one.
    Faster,
    /// The later interquartile range lies above the earlier one.
    Slower,
    /// The interquartile ranges overlap.
    WithinNoise,
    /// Both times are modelled, and equal.
    Equal,
    /// A measured time is a single sample, which has no quartiles.
    NoiseUnknown,
    /// At least one of the rows has an [`Obstacle`].
    NoRatio,
}

/// Why a row's time is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// It was not run.
    Skipped,
    /// It failed at that stage.
    Failed(Stage),
    /// Its result was not checked, or is known to be wrong.
    Unverified,
    /// It took no time, or none that can be divided by.
    Untimed,
}

impl Obstacle {
    /// The row's obstacle, if it has one.
    pub fn of(row: &Row) -> Option<Self> {
        match &row.status {
            Status::Skipped { .. } => Some(Self::Skipped),
            Status::Failed { stage, .. } => Some(Self::Failed(*stage)),
            Status::Ok if !row.verified => Some(Self::Unverified),
            Status::Ok => match &row.time {
                Some(time) if time.median_ns > 0.0 => None,
                _ => Some(Self::Untimed),
            },
        }
    }
}

impl Pair<'_> {
    /// Both times, where both may be compared.
    pub fn times(&self) -> Option<(&Timing, &Timing)> {
        let time = |row: &'_ Row| Obstacle::of(row).is_none();
        if time(self.before) && time(self.after) {
            self.before.time.as_ref().zip(self.after.time.as_ref())
        } else {
            None
        }
    }

    /// The earlier median over the later one: above 1 the later one is faster.
    pub fn ratio(&self) -> Option<f64> {
        let (before, after) = self.times()?;
        Some(before.median_ns / after.median_ns)
    }

    /// Whether the difference is larger than the noise within the two series.
    pub fn verdict(&self) -> Verdict {
        let Some((before, after)) = self.times() else {
            return Verdict::NoRatio;
        };
        let modelled = |time: &Timing| time.times == Times::Modelled;
        let lone = |time: &Timing| !modelled(time) && time.samples < 2;
        if lone(before) || lone(after) {
            Verdict::NoiseUnknown
        } else if after.upper_quartile_ns < before.lower_quartile_ns {
            Verdict::Faster
        } else if after.lower_quartile_ns > before.upper_quartile_ns {
            Verdict::Slower
        } else if modelled(before) && modelled(after) {
            Verdict::Equal
        } else {
            Verdict::WithinNoise
        }
    }
}

/// Pairs in the order of the later rows, then what only the earlier and only the later rows have.
pub(super) type Matched<'a> = (Vec<Pair<'a>>, Vec<&'a Row>, Vec<&'a Row>);

/// Matches rows by kernel, elements, block and settings. Where several rows of a report agree in
/// all of these, the grid decides, too; where one row stands against one, their grids may differ,
/// since a device's size decides a default grid.
pub(super) fn matched<'a>(program: &str, before: &'a [Row], after: &'a [Row]) -> Matched<'a> {
    let (earlier, later) = (groups(program, before), groups(program, after));
    let mut partner: Vec<Option<usize>> = vec![None; after.len()];
    let mut taken = vec![false; before.len()];
    for (key, later) in &later {
        let Some(earlier) = earlier.get(key) else {
            continue;
        };
        let alone = earlier.len() == 1 && later.len() == 1;
        // Rows that agree in all axes first, then those whose findings differ.
        for exactly in [true, false] {
            let agree = |a: &Row, b: &Row| {
                let same_grid = a.grid == b.grid;
                if exactly {
                    same_grid && a.axes == b.axes
                } else {
                    alone || same_grid
                }
            };
            for &number in later {
                if partner[number].is_none()
                    && let Some(&found) = earlier
                        .iter()
                        .find(|&&other| !taken[other] && agree(&before[other], &after[number]))
                {
                    partner[number] = Some(found);
                    taken[found] = true;
                }
            }
        }
    }
    let mut pairs = Vec::new();
    let mut only_after = Vec::new();
    for (row, partner) in after.iter().zip(partner) {
        match partner {
            Some(found) => pairs.push(Pair {
                before: &before[found],
                after: row,
            }),
            None => only_after.push(row),
        }
    }
    let untaken = before.iter().zip(taken).filter(|(_, taken)| !taken);
    (pairs, untaken.map(|(row, _)| row).collect(), only_after)
}

type Key<'a> = (&'a str, u64, [u32; 3], String);

/// Row numbers by what makes a configuration.
fn groups<'a>(program: &str, rows: &'a [Row]) -> HashMap<Key<'a>, Vec<usize>> {
    let mut groups = HashMap::<Key, Vec<usize>>::new();
    for (number, row) in rows.iter().enumerate() {
        let settings: Map<String, Value> = settings(program, row)
            .into_iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect();
        let settings = Value::Object(settings).to_string();
        let key = (
            row.kernel.as_str(),
            row.elements,
            row.block.to_array(),
            settings,
        );
        groups.entry(key).or_default().push(number);
    }
    groups
}
