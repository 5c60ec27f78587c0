//! What only one of the reports has, and what the comparison comes to.

use super::{Side, columns::varying_settings};
use crate::{
    comparison::{Comparison, Pair, Verdict, settings},
    export::layout::{
        columns::varies,
        figures::{axis_value, count, extents},
        style::printable,
    },
    report::Row,
};

/// Configurations of one report alone, if there are any, and the closing sentence.
pub(super) fn sentences(comparison: &Comparison, unicode: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    for (side, rows) in [
        (Side::Before, &comparison.only_before),
        (Side::After, &comparison.only_after),
    ] {
        if !rows.is_empty() {
            sentences.push(format!(
                "Only {} ({}): {}",
                comparison.sides.place(side),
                rows.len(),
                names(comparison, rows, unicode).join("; ")
            ));
        }
    }
    sentences.push(conclusion(comparison));
    sentences
}

/// Names of configurations, those that differ in block alone under one name.
fn names(comparison: &Comparison, rows: &[&Row], unicode: bool) -> Vec<String> {
    let every = comparison.before.rows.iter().chain(&comparison.after.rows);
    let program = &comparison.after.program;
    let sizes = varies(every.clone(), |row| row.elements);
    let axes = varying_settings(program, every.clone());
    // Whether another row has the same name but for its grid.
    let ambiguous = |row: &Row| {
        every.clone().any(|other| {
            (&other.kernel, other.elements, other.block) == (&row.kernel, row.elements, row.block)
                && settings(program, other) == settings(program, row)
                && other.grid != row.grid
        })
    };
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let mut name = printable(&row.kernel);
        if sizes {
            name += &format!(", {} elements", count(row.elements));
        }
        for axis in &axes {
            if let Some(value) = row.axes.get(axis) {
                name += &format!(", {} {}", printable(axis), axis_value(value));
            }
        }
        if ambiguous(row) {
            name += &format!(", grid {}", extents(row.grid, unicode));
        }
        let block = extents(row.block, unicode);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, blocks)) => blocks.push(block),
            None => groups.push((name, vec![block])),
        }
    }
    let named = groups.into_iter().map(|(name, blocks)| {
        let plural = if blocks.len() == 1 { "" } else { "s" };
        format!("{name}, block{plural} {}", blocks.join(", "))
    });
    named.collect()
}

/// How many configurations are faster, slower and neither, and the ratio in the middle.
fn conclusion(comparison: &Comparison) -> String {
    let pairs = &comparison.pairs;
    if pairs.is_empty() {
        return "No configuration is in both.".to_owned();
    }
    let plural = if pairs.len() == 1 { "" } else { "s" };
    let rows = || pairs.iter().map(|pair| pair.after);
    let elements = match rows().next() {
        Some(row) if row.elements > 0 && !varies(rows(), |row| row.elements) => {
            format!(" of {} elements", count(row.elements))
        }
        _ => String::new(),
    };
    let counts: Vec<String> = [
        (Verdict::Faster, "faster"),
        (Verdict::Slower, "slower"),
        (Verdict::WithinNoise, "within noise"),
        (Verdict::Equal, "equal"),
        (Verdict::NoiseUnknown, "with unknown noise"),
        (Verdict::NoRatio, "without a ratio"),
    ]
    .into_iter()
    .filter_map(|(verdict, words)| match comparison.count(verdict) {
        0 => None,
        number => Some(format!("{number} {words}")),
    })
    .collect();
    let ratio = match comparison.typical_ratios() {
        None => "no time to compare".to_owned(),
        Some((median, _)) if pairs.iter().filter_map(Pair::ratio).count() == 1 => {
            format!("ratio {median:.3}")
        }
        Some((median, mean)) => format!("median ratio {median:.3}, geometric mean {mean:.3}"),
    };
    format!(
        "{} configuration{plural}{elements} in both: {}; {ratio}.",
        pairs.len(),
        counts.join(", ")
    )
}
