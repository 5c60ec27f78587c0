//! The warp and lane of each thread of a block, coloured by warp.

use std::fmt::Write;

use super::{missing, shape, threads};
use crate::{
    export::{Paint, Style},
    hierarchy::WARP_SIZE,
    report::{Report, ThreadRecord},
};

/// Threads on a line; longer rows of a block are folded.
const FOLD: u32 = 32;

/// Each block under a heading that counts its warps and idle lanes: a cell `warp:lane` for each
/// thread, x in columns, y in lines, then the idle lanes of the last warp.
pub fn render(report: &Report, style: &Style) -> String {
    let mut text = String::new();
    for (index, row) in report.rows.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if let Some(missing) = missing(row) {
            text.push_str(&missing);
            continue;
        }
        text.push_str(&style.paint(Paint::Heading, &shape(row.block)));
        text.push('\n');
        let threads = threads(report, index);
        let last = threads.last().map_or(0, |thread| thread.warp);
        let digits = last.to_string().len();
        for thread in &threads {
            let ThreadRecord {
                thread_x: x,
                thread_y: y,
                thread_z: z,
                ..
            } = thread;
            if row.block.z > 1 && *x == 0 && *y == 0 {
                // Writing to a String does not fail.
                let _ = writeln!(text, "slice {z}:");
            }
            if *x > 0 && x % FOLD == 0 {
                text.push('\n');
            }
            let cell = format!(" {:>digits$}:{:02} ", thread.warp, thread.lane);
            text.push_str(&style.cell(thread.warp, &cell));
            if x + 1 == row.block.x {
                text.push('\n');
            }
        }
        let used = threads.last().map_or(0, |thread| thread.lane + 1);
        if used < WARP_SIZE {
            let idle = WARP_SIZE - used;
            let lanes = match idle {
                1 => format!("lane {used}"),
                _ => format!("lanes {used} to {}", WARP_SIZE - 1),
            };
            let line = format!("idle in warp {last}: {lanes} ({idle})");
            text.push_str(&style.paint(Paint::Aside, &line));
            text.push('\n');
        }
    }
    text
}
