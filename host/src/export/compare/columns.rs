//! The columns of a comparison.

use std::collections::HashSet;

use super::Side;
use crate::{
    comparison::{Comparison, Obstacle, Pair, Sides, Verdict, settings},
    export::layout::{
        columns::{Column, varies},
        figures::{TimeUnit, axis_value, count, decimals, extents},
        footnotes::stage_name,
        style::printable,
    },
    report::Row,
};

/// One cell per pair. What all pairs have in common is left out, and so is a column without figures.
pub(super) fn columns(comparison: &Comparison, unicode: bool) -> Vec<Column> {
    let pairs = &comparison.pairs;
    let rows = || pairs.iter().map(|pair| pair.after);
    let mut columns = Vec::new();
    let mut add = |title: &str, numeric, dispensable, cell: &dyn Fn(&Pair) -> Option<String>| {
        let cells: Vec<_> = pairs.iter().map(|p| cell(p).unwrap_or_default()).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            columns.push(Column {
                title: title.to_owned(),
                numeric,
                dispensable,
                cells,
            });
        }
    };

    add("kernel", false, 0, &|pair| {
        Some(printable(&pair.after.kernel))
    });
    if varies(rows(), |row| row.elements) {
        add("elements", true, 0, &|pair| {
            Some(count(pair.after.elements))
        });
    }
    for name in varying_settings(&comparison.after.program, rows()) {
        add(&printable(&name), true, 0, &|pair| {
            pair.after.axes.get(&name).map(axis_value)
        });
    }
    add("block", true, 0, &|pair| {
        Some(extents(pair.after.block, unicode))
    });
    if needs_grid(&comparison.after.program, pairs) {
        add("grid", true, 0, &|pair| {
            let [before, after] =
                [pair.before.grid, pair.after.grid].map(|grid| extents(grid, unicode));
            Some(if before == after {
                after
            } else if unicode {
                format!("{before} → {after}")
            } else {
                format!("{before} -> {after}")
            })
        });
    }

    let timings = || {
        let both = pairs.iter().flat_map(|pair| [pair.before, pair.after]);
        both.filter_map(|row| row.time.as_ref())
    };
    let shortest = timings().map(|time| time.median_ns).fold(1e12, f64::min);
    let unit = TimeUnit::of(shortest);
    let scale = unit.nanoseconds();
    let decimal_places = decimals(timings().map(|time| time.median_ns / scale));
    let symbol = unit.symbol(unicode);
    let dash = if unicode { "–" } else { "-" };
    let figure = |nanoseconds: f64| format!("{:.decimal_places$}", nanoseconds / scale);
    for side in Side::BOTH {
        let name = comparison.sides.column(side);
        add(&format!("{name} ({symbol})"), true, 0, &|pair| {
            let time = side.row(pair).time.as_ref();
            time.map(|time| figure(time.median_ns))
        });
    }
    for side in Side::BOTH {
        let name = comparison.sides.column(side);
        add(&format!("quartiles {name} ({symbol})"), true, 5, &|pair| {
            side.row(pair).time.as_ref().map(|time| {
                let (lower, upper) = (time.lower_quartile_ns, time.upper_quartile_ns);
                format!("{}{dash}{}", figure(lower), figure(upper))
            })
        });
    }
    let rates = |pair: &Pair| pair.before.gb_per_s.zip(pair.after.gb_per_s);
    let known = pairs.iter().filter_map(rates);
    let decimal_places = decimals(known.flat_map(|(before, after)| [before, after]));
    for side in Side::BOTH {
        let name = comparison.sides.column(side);
        add(&format!("GB/s {name}"), true, 4, &|pair| {
            let (before, after) = rates(pair)?;
            let rate = if side == Side::Before { before } else { after };
            Some(format!("{rate:.decimal_places$}"))
        });
    }
    let decimal_places = ratio_decimals(pairs);
    add("ratio", true, 0, &|pair| {
        pair.ratio()
            .map(|ratio| format!("{ratio:.decimal_places$}"))
    });
    add("difference", false, 0, &|pair| {
        Some(difference(pair, &comparison.sides))
    });
    columns
}

/// Decimal places of the ratios: 3, and up to 6 where `faster` or `slower` would stand beside 1.000.
fn ratio_decimals(pairs: &[Pair]) -> usize {
    let reads_1 = |pair: &Pair, places: usize| {
        matches!(pair.verdict(), Verdict::Faster | Verdict::Slower)
            && pair
                .ratio()
                .is_some_and(|ratio| format!("{ratio:.places$}") == format!("{:.places$}", 1.0))
    };
    (3..6)
        .find(|&places| !pairs.iter().any(|pair| reads_1(pair, places)))
        .unwrap_or(6)
}

/// Names of the settings in which rows differ, in their order.
pub(super) fn varying_settings<'a>(
    program: &str,
    rows: impl IntoIterator<Item = &'a Row> + Clone,
) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.clone() {
        for (name, _) in settings(program, row) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
        .into_iter()
        .filter(|name| varies(rows.clone(), |row| row.axes.get(*name).cloned()))
        .map(str::to_owned)
        .collect()
}

/// Whether grids differ within a pair, or are all that tells two pairs apart.
fn needs_grid(program: &str, pairs: &[Pair]) -> bool {
    let mut seen = HashSet::new();
    pairs.iter().any(|pair| {
        let row = pair.after;
        let settings = format!("{:?}", settings(program, row));
        pair.before.grid != row.grid
            || !seen.insert((&row.kernel, row.elements, row.block, settings))
    })
}

/// The last column: what came of a pair, in a word or two.
fn difference(pair: &Pair, sides: &Sides) -> String {
    let word = match pair.verdict() {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::WithinNoise => "within noise",
        Verdict::Equal => "equal",
        Verdict::NoiseUnknown => "noise unknown",
        Verdict::NoRatio => {
            let [before, after] = Side::BOTH.map(|side| Obstacle::of(side.row(pair)).map(obstacle));
            let place = |side| sides.place(side);
            return match (before, after) {
                (Some(before), Some(after)) if before == after => format!("{before} in both"),
                (Some(before), Some(after)) => format!(
                    "{before} {}, {after} {}",
                    place(Side::Before),
                    place(Side::After)
                ),
                (Some(before), None) => format!("{before} {}", place(Side::Before)),
                (None, Some(after)) => format!("{after} {}", place(Side::After)),
                (None, None) => String::new(),
            };
        }
    };
    word.to_owned()
}

fn obstacle(obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::Skipped => "skipped".to_owned(),
        Obstacle::Failed(stage) => format!("failed ({})", stage_name(stage)),
        Obstacle::Unverified => "unverified".to_owned(),
        Obstacle::Untimed => "not timed".to_owned(),
    }
}
