//! Votes, matches and elections: what the lanes of each mask learned, a line each.

use serde_json::Value;

use super::{Exchange, lanes_of};
use crate::{
    experiments::shuffle::{CASE_AXIS, TYPE_AXIS},
    export::layout::style::printable,
    report::{LaneRecord, Report},
};

/// Groups of a match that are listed; it says how many more there are.
const MOST_GROUPS: usize = 4;

/// A line per vote and mask.
pub(super) fn votes(report: &Report, exchanges: &[&Exchange]) -> String {
    let mut lines = vec![
        [
            "vote",
            "mask",
            "voted yes",
            "all",
            "any",
            "uniform",
            "ballot",
            "active mask",
        ]
        .map(str::to_owned),
    ];
    for exchange in exchanges {
        let yes = lanes_where(exchange, |lane| lane.predicate == Some(true));
        for group in by_mask(exchange) {
            let first = group[0];
            let answer = |answer: Option<bool>| match answer {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => String::new(),
            };
            let mut active: Vec<u32> = group.iter().filter_map(|lane| lane.active_mask).collect();
            active.sort_unstable();
            active.dedup();
            lines.push([
                case(report, exchange),
                hexadecimal(first.mask),
                hexadecimal(yes & first.mask),
                answer(first.all),
                answer(first.any),
                answer(first.uniform),
                hexadecimal(first.ballot.unwrap_or(0)),
                active
                    .into_iter()
                    .map(hexadecimal)
                    .collect::<Vec<_>>()
                    .join(" or "),
            ]);
        }
    }
    columns(&lines)
}

/// A line per match and type: the groups of lanes with one value, and what match all says.
pub(super) fn matches(report: &Report, exchanges: &[&Exchange]) -> String {
    let mut lines = vec![["values", "type", "mask", "any: lanes alike", "all"].map(str::to_owned)];
    for exchange in exchanges {
        for group in by_mask(exchange) {
            let mut alike: Vec<u32> = group.iter().filter_map(|lane| lane.match_any).collect();
            alike.sort_unstable_by_key(|lanes| lanes.trailing_zeros());
            alike.dedup();
            let mut texts: Vec<String> = alike
                .iter()
                .take(MOST_GROUPS)
                .map(|lanes| few_lanes(*lanes))
                .collect();
            if alike.len() > MOST_GROUPS {
                texts.push(format!("{} more", alike.len() - MOST_GROUPS));
            }
            let all = match group[0].match_all {
                None | Some(0) => "no".to_owned(),
                Some(lanes) => hexadecimal(lanes),
            };
            lines.push([
                case(report, exchange),
                axis(report, exchange, TYPE_AXIS),
                hexadecimal(group[0].mask),
                texts.join(" | "),
                all,
            ]);
        }
    }
    columns(&lines)
}

/// A line per election and mask: who could be elected, who was, what all received.
pub(super) fn broadcasts(report: &Report, exchanges: &[&Exchange]) -> String {
    let heading = ["type", "mask", "ballot", "leader", "lanes", "received"];
    let mut lines = vec![heading.map(str::to_owned)];
    for exchange in exchanges {
        for group in by_mask(exchange) {
            let first = group[0];
            lines.push([
                axis(report, exchange, TYPE_AXIS),
                hexadecimal(first.mask),
                hexadecimal(first.ballot.unwrap_or(0)),
                first
                    .source_lane
                    .map_or(String::new(), |lane| lane.to_string()),
                group.len().to_string(),
                first.received.clone().unwrap_or_default(),
            ]);
        }
    }
    columns(&lines)
}

/// The lanes of an exchange by their mask, in the order of their first lanes.
fn by_mask<'a>(exchange: &Exchange<'a>) -> Vec<Vec<&'a LaneRecord>> {
    let mut groups: Vec<Vec<&LaneRecord>> = Vec::new();
    for &lane in &exchange.lanes {
        match groups.iter_mut().find(|group| group[0].mask == lane.mask) {
            Some(group) => group.push(lane),
            None => groups.push(vec![lane]),
        }
    }
    groups
}

fn lanes_where(exchange: &Exchange, condition: impl Fn(&LaneRecord) -> bool) -> u32 {
    let lanes = exchange.lanes.iter().filter(|lane| condition(lane));
    lanes.fold(0, |mask, lane| mask | 1 << lane.lane)
}

fn case(report: &Report, exchange: &Exchange) -> String {
    axis(report, exchange, CASE_AXIS)
}

fn axis(report: &Report, exchange: &Exchange, name: &str) -> String {
    let row = report.rows.get(exchange.row);
    let text = row
        .and_then(|row| row.axes.get(name))
        .and_then(Value::as_str);
    printable(text.unwrap_or_default())
}

fn hexadecimal(mask: u32) -> String {
    format!("{mask:#010x}")
}

/// Lanes as ranges, or as a mask where that is shorter.
fn few_lanes(mask: u32) -> String {
    let ranges = lanes_of(mask);
    if ranges.len() <= 12 {
        ranges
    } else {
        hexadecimal(mask)
    }
}

/// Lines of cells, each column as wide as its widest cell.
fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"))
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}
