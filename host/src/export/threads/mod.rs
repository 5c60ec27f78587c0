//! Reports about single threads, as text: the listing of clocks and the map of warps.

pub mod listing;
pub mod map;

use super::layout::{figures::extents, footnotes::outcome, style::printable};
use crate::{
    hierarchy::{WARP_SIZE, idle_lanes, warps},
    launch::Dim3,
    report::{RecordData, Report, Row, Status, ThreadRecord},
};

/// A row's threads, in the order of their numbers.
pub(in crate::export) fn threads(report: &Report, row: usize) -> Vec<&ThreadRecord> {
    report
        .records
        .iter()
        .filter(|record| record.row == row)
        .filter_map(|record| match &record.data {
            RecordData::Thread(thread) => Some(thread),
            RecordData::Block(_) | RecordData::Lane(_) => None,
        })
        .collect()
}

/// `14x8 = 112 threads: 4 warps, 16 of 128 lanes idle (12.5 %)`.
pub(in crate::export) fn shape(block: Dim3) -> String {
    let threads = block.count();
    let (warps, idle) = (warps(threads), idle_lanes(threads));
    let lanes = warps * u64::from(WARP_SIZE);
    let extents = extents(block, false);
    let equals = if extents.contains('x') {
        format!(" = {threads}")
    } else {
        String::new()
    };
    let idle = match idle {
        0 => "no lane idle".to_string(),
        idle => {
            let share = super::layout::figures::percent(idle as f64 / lanes as f64);
            format!("{idle} of {lanes} lanes idle ({share})")
        }
    };
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    format!(
        "{extents}{equals} thread{}: {warps} warp{}, {idle}",
        plural(threads),
        plural(warps)
    )
}

/// Why a row has no threads to show; `None` where it has.
fn missing(row: &Row) -> Option<String> {
    match &row.status {
        Status::Ok => None,
        Status::Skipped { reason } | Status::Failed { reason, .. } => Some(format!(
            "grid {}, block {}: {}: {}\n",
            extents(row.grid, false),
            extents(row.block, false),
            outcome(&row.status),
            printable(reason)
        )),
    }
}
