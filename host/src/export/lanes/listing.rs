//! What each lane received, laid out as The CUDA Handbook's testShuffle prints it: a row of 32 values
//! for each argument.

use serde_json::Value;

use super::{
    Exchange, collectives, exchanges,
    grid::{Cell, Grid},
    meaning, of_what,
};
use crate::{
    experiments::shuffle::{CASE_AXIS, TYPE_AXIS},
    export::{
        Paint, Style,
        layout::{footnotes::outcome, style::printable},
    },
    report::{LaneInput, LaneOperation, LaneRecord, Report, Row, Status},
};

/// What the cells of shuffles show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// The number of the lane that the value came from.
    Lanes,
    /// The value.
    Values,
}

/// Tables of shuffles by mode, type and mask; of votes; of matches; of sums by type and width; and what
/// failed. With `remarks`, a line before them that explains the marks.
pub fn render(report: &Report, style: &Style, show: Show, remarks: bool) -> String {
    let exchanges = exchanges(report);
    let mut text = String::new();
    let sections = exchanges.chunk_by(|a, b| section(report, a) == section(report, b));
    for (number, exchanges) in sections.enumerate() {
        if number == 0 && remarks {
            let what = match show {
                Show::Lanes => "the lane whose value it received",
                Show::Values => "the value that it received",
            };
            let absent = if style.unicode { "·" } else { "-" };
            text += &style.paint(
                Paint::Aside,
                &format!(
                    "Under each lane, {what}; * where its source was out of range, so that it keeps \
                     its own; {absent} where it took no part."
                ),
            );
            text.push('\n');
        }
        if number > 0 || remarks {
            text.push('\n');
        }
        let exchanges: Vec<&Exchange> = exchanges.iter().collect();
        text += &style.paint(Paint::Heading, &title(report, exchanges[0]));
        text.push('\n');
        text += &match exchanges[0].common().operation {
            LaneOperation::Vote => collectives::votes(report, &exchanges),
            LaneOperation::Match => collectives::matches(report, &exchanges),
            LaneOperation::Broadcast => collectives::broadcasts(report, &exchanges),
            LaneOperation::ReduceButterfly | LaneOperation::ReduceDown | LaneOperation::Scan => {
                sums(&exchanges).render(style)
            }
            LaneOperation::Idx | LaneOperation::Up | LaneOperation::Down | LaneOperation::Xor => {
                shuffles(report, &exchanges, show).render(style)
            }
        };
    }
    text + &aside(report, style)
}

/// What exchanges must share to stand under one title.
fn section(report: &Report, exchange: &Exchange) -> (u8, Option<LaneOperation>, String, String) {
    let first = exchange.common();
    let (kind, operation) = match first.operation {
        LaneOperation::Vote => (1, None),
        LaneOperation::Match => (2, None),
        LaneOperation::Broadcast => (3, None),
        operation => (0, Some(operation)),
    };
    let own = |name| axis(report, exchange, name).to_owned();
    match operation {
        None => (kind, None, String::new(), String::new()),
        // All modes of one mask stand together.
        Some(LaneOperation::Idx | LaneOperation::Up | LaneOperation::Down | LaneOperation::Xor)
            if !own(CASE_AXIS).is_empty() =>
        {
            (kind, None, own(TYPE_AXIS), own(CASE_AXIS))
        }
        _ => (kind, operation, own(TYPE_AXIS), String::new()),
    }
}

fn axis<'a>(report: &'a Report, exchange: &Exchange, name: &str) -> &'a str {
    let row = report.rows.get(exchange.row);
    row.and_then(|row| row.axes.get(name))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn title(report: &Report, exchange: &Exchange) -> String {
    let first = exchange.common();
    let (ty, case) = (
        printable(axis(report, exchange, TYPE_AXIS)),
        printable(axis(report, exchange, CASE_AXIS)),
    );
    match first.operation {
        LaneOperation::Vote => "Votes: what the lanes of each mask learned".to_owned(),
        LaneOperation::Match => "Match: which lanes hold the same bits".to_owned(),
        LaneOperation::Broadcast => {
            "Broadcast: the lowest lane that votes yes gives its value to all".to_owned()
        }
        LaneOperation::ReduceButterfly | LaneOperation::ReduceDown | LaneOperation::Scan => {
            format!(
                "{ty}, {}: the sum in each lane after each step, {}",
                meaning(first.operation),
                of_what(first.input)
            )
        }
        _ if case.is_empty() => format!("{ty}, {}", meaning(first.operation)),
        _ => {
            let mut masks: Vec<u32> = exchange.lanes.iter().map(|lane| lane.mask).collect();
            masks.dedup();
            let masks: Vec<String> = masks.iter().map(|mask| format!("{mask:#010x}")).collect();
            format!("{ty}, partial mask, {case}: {}", masks.join(" and "))
        }
    }
}

fn shuffles(report: &Report, exchanges: &[&Exchange], show: Show) -> Grid {
    let partial = !axis(report, exchanges[0], CASE_AXIS).is_empty();
    let lines = exchanges
        .iter()
        .map(|exchange| {
            let first = exchange.common();
            let mode = if partial {
                format!("{:<4} ", mode(first.operation))
            } else {
                String::new()
            };
            let label = format!(
                "{mode}{:>5} {:>8}",
                first.width.unwrap_or(32),
                first.argument.unwrap_or(0)
            );
            let cells = cells(exchange, |lane| match show {
                Show::Lanes => lane.source_lane.unwrap_or(lane.lane).to_string(),
                Show::Values => lane.received.clone().unwrap_or_default(),
            });
            (label, cells)
        })
        .collect();
    let heading = if partial {
        "mode width argument"
    } else {
        "width argument"
    };
    Grid {
        heading: heading.to_owned(),
        lines,
    }
}

fn mode(operation: LaneOperation) -> &'static str {
    match operation {
        LaneOperation::Idx => "idx",
        LaneOperation::Up => "up",
        LaneOperation::Down => "down",
        LaneOperation::Xor => "xor",
        _ => "",
    }
}

/// The sums of small numbers.
fn sums(exchanges: &[&Exchange]) -> Grid {
    let lines = exchanges
        .iter()
        .filter(|exchange| exchange.common().input != Some(LaneInput::Random))
        .map(|exchange| {
            let first = exchange.common();
            let label = format!(
                "{:>5} {:>8}",
                first.width.unwrap_or(32),
                first.argument.unwrap_or(0)
            );
            (
                label,
                cells(exchange, |lane| lane.sum.clone().unwrap_or_default()),
            )
        })
        .collect();
    Grid {
        heading: "width distance".to_owned(),
        lines,
    }
}

fn cells(exchange: &Exchange, text: impl Fn(&LaneRecord) -> String) -> Vec<Option<Cell>> {
    let mut cells: Vec<Option<Cell>> = (0..32).map(|_| None).collect();
    for &lane in &exchange.lanes {
        let width = lane.width.filter(|width| *width > 0).unwrap_or(32);
        if let Some(cell) = cells.get_mut(lane.lane as usize) {
            *cell = Some(Cell {
                text: text(lane),
                kept: lane.in_range == Some(false),
                segment: lane.source_lane.unwrap_or(lane.lane) / width,
            });
        }
    }
    cells
}

/// Rows that failed or were skipped, and notes.
fn aside(report: &Report, style: &Style) -> String {
    let mut text = String::new();
    for row in &report.rows {
        if let Status::Skipped { reason } | Status::Failed { reason, .. } = &row.status {
            let line = format!(
                "{}: {}: {}",
                name(row),
                outcome(&row.status),
                printable(reason)
            );
            text += &style.paint(Paint::Bad, &line);
            text.push('\n');
        }
        for note in &row.notes {
            let lines: Vec<String> = note.lines().map(printable).collect();
            text += &format!("{}: {}\n", name(row), lines.join("\n"));
        }
    }
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

/// Kernel and axes of a row.
fn name(row: &Row) -> String {
    let axes: Vec<String> = ["mode", TYPE_AXIS, "width", CASE_AXIS]
        .iter()
        .filter_map(|name| {
            let value = row.axes.get(*name)?;
            Some(format!(
                "{name} {}",
                crate::export::layout::figures::axis_value(value)
            ))
        })
        .collect();
    format!("{} ({})", printable(&row.kernel), axes.join(", "))
}
