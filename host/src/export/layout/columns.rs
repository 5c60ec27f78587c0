//! The columns that the terminal's table and Markdown show.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    figures::{TimeUnit, axis_value, count, decimals, extents, percent},
    footnotes::{Footnotes, outcome},
    style::printable,
};
use crate::report::{Report, Row, Status, Timing};

/// One column, its cells in the rows' order.
pub(in crate::export) struct Column {
    /// Heading, with the unit.
    pub(in crate::export) title: String,
    /// Whether its cells are numbers, which stand at the right.
    pub(in crate::export) numeric: bool,
    /// Where the terminal is too narrow, columns with the highest figure go first; 0 stays.
    pub(in crate::export) dispensable: u8,
    /// The cells.
    pub(in crate::export) cells: Vec<String>,
}

/// The columns of a report. One whose cells would all be empty, or that would say the same kernel
/// or size in every row, is left out; axes appear where a row has them.
pub(in crate::export) fn columns(
    report: &Report,
    footnotes: &Footnotes,
    unicode: bool,
) -> Vec<Column> {
    let rows = &report.rows;
    let mut columns = Vec::new();
    let mut add = |title: &str, numeric, dispensable, cell: &dyn Fn(&Row) -> Option<String>| {
        let cells: Vec<_> = rows
            .iter()
            .map(|row| cell(row).unwrap_or_default())
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            columns.push(Column {
                title: title.to_owned(),
                numeric,
                dispensable,
                cells,
            });
        }
    };

    if varies(rows, |row| row.kernel.clone()) {
        add("kernel", false, 0, &|row| Some(printable(&row.kernel)));
    }
    if varies(rows, |row| row.elements) {
        add("elements", true, 1, &|row| Some(count(row.elements)));
    }
    for name in axis_names(rows) {
        // What is true or false names no configuration, nor does what is the same wherever it is.
        let mut values = rows.iter().filter_map(|row| row.axes.get(&name));
        let first = values.next();
        let named =
            !first.is_some_and(Value::is_boolean) && values.any(|value| Some(value) != first);
        add(&printable(&name), true, u8::from(!named), &|row| {
            row.axes.get(&name).map(axis_value)
        });
    }
    add("block", true, 0, &|row| Some(extents(row.block, unicode)));
    // What was not launched may have no number of blocks.
    add("grid", true, 4, &|row| {
        (row.grid.count() > 0).then(|| extents(row.grid, unicode))
    });
    add("blocks/SM", true, 3, &|row| {
        row.blocks_per_sm.map(|n| n.to_string())
    });
    add("occupancy", true, 2, &|row| row.occupancy.map(percent));

    let unit = time_unit(rows);
    let scale = unit.nanoseconds();
    let places = decimals(times(rows).map(|time| time.median_ns / scale));
    let symbol = unit.symbol(unicode);
    let dash = if unicode { "–" } else { "-" };
    add(&format!("median ({symbol})"), true, 0, &|row| {
        row.time
            .as_ref()
            .map(|time| format!("{:.places$}", time.median_ns / scale))
    });
    add(&format!("quartiles ({symbol})"), true, 5, &|row| {
        row.time.as_ref().map(|time| {
            let (lower, upper) = (
                time.lower_quartile_ns / scale,
                time.upper_quartile_ns / scale,
            );
            format!("{lower:.places$}{dash}{upper:.places$}")
        })
    });
    let places = decimals(rows.iter().filter_map(|row| row.gb_per_s));
    add("GB/s", true, 0, &|row| {
        row.gb_per_s.map(|rate| format!("{rate:.places$}"))
    });
    add("of peak", true, 1, &|row| row.share_of_peak.map(percent));
    add("of read", true, 0, &|row| row.share_of_read.map(percent));
    add("launches", true, 0, &|row| {
        row.launches.map(|launches| launches.to_string())
    });
    columns.push(Column {
        title: "verified".to_owned(),
        numeric: false,
        dispensable: 0,
        cells: rows
            .iter()
            .enumerate()
            .map(|(index, row)| verdict(row, unicode) + &footnotes.marks(index))
            .collect(),
    });
    columns
}

/// What the column `verified` says.
fn verdict(row: &Row, unicode: bool) -> String {
    match (&row.status, row.verified) {
        (Status::Ok, true) if unicode => "✓".to_owned(),
        (Status::Ok, true) => "yes".to_owned(),
        (Status::Ok, false) => "not checked".to_owned(),
        (status, _) => outcome(status),
    }
}

/// The unit of all times: the one that suits the shortest median, so that none reads 0.
fn time_unit(rows: &[Row]) -> TimeUnit {
    let shortest = times(rows)
        .map(|time| time.median_ns)
        .fold(f64::INFINITY, f64::min);
    TimeUnit::of(if shortest.is_finite() { shortest } else { 1e3 })
}

fn times(rows: &[Row]) -> impl Iterator<Item = &Timing> {
    rows.iter().filter_map(|row| row.time.as_ref())
}

/// Names of the rows' axes, each once, in the order in which they first appear.
pub(in crate::export) fn axis_names(rows: &[Row]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    rows.iter()
        .flat_map(|row| row.axes.keys())
        .filter(|name| seen.insert(name.as_str()))
        .cloned()
        .collect()
}

/// Whether the rows differ in something.
pub(in crate::export) fn varies<'a, T: PartialEq>(
    rows: impl IntoIterator<Item = &'a Row>,
    of: impl Fn(&Row) -> T,
) -> bool {
    let mut values = rows.into_iter().map(of);
    let first = values.next();
    values.any(|value| Some(value) != first)
}
