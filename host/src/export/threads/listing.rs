//! Completion times and thread IDs, laid out as The CUDA Handbook's reportClocks prints them.

use std::fmt::Write;

use serde_json::Value;

use super::{missing, shape, threads};
use crate::{
    experiments::clocks::SHIFT_AXIS,
    export::{Paint, Style},
    report::{Report, Row, ThreadRecord},
};

/// Bits of x in the book's thread IDs.
const BOOK_SHIFT: u64 = 4;

/// For each launch the line with its time, then two blocks of numbers in hexadecimal: completion
/// times in clocks, and thread IDs. Each block of the grid and each slice of it has a heading, and
/// each row of threads a line.
///
/// Numbers are four wide; where one has more than three digits the columns widen to keep a blank
/// between them. With `remarks`, each launch is followed by what its clocks show.
pub fn render(report: &Report, style: &Style, remarks: bool) -> String {
    let mut text = String::new();
    for (index, row) in report.rows.iter().enumerate() {
        if remarks && index > 0 {
            text.push('\n');
        }
        if let Some(missing) = missing(row) {
            text.push_str(&missing);
            continue;
        }
        let threads = threads(report, index);
        let completion = |thread: &ThreadRecord| thread.completion_clocks.unwrap_or_default();
        let id = |thread: &ThreadRecord| thread.packed_id.unwrap_or_default().into();
        text.push_str(&time_line(row, threads.len()));
        text.push_str("Completion times (clocks):\n");
        text.push_str(&numbers(row, &threads, completion));
        text.push_str(&id_heading(row));
        text.push_str(&numbers(row, &threads, id));
        if remarks {
            text.push('\n');
            for remark in findings(row, &threads) {
                text.push_str(&style.paint(Paint::Aside, &remark));
                text.push('\n');
            }
        }
    }
    text
}

/// The book's heading; with other bits for x than the book's, it says so.
fn id_heading(row: &Row) -> String {
    match row.axes.get(SHIFT_AXIS).and_then(Value::as_u64) {
        None | Some(BOOK_SHIFT) => "Thread IDs:\n".to_string(),
        Some(shift) => format!("Thread IDs (y<<{shift}|x):\n"),
    }
}

/// `0.0021 ms for 256 threads = 0.0081 us/thread`: two decimal places as in the book, and as many
/// more as two significant digits take.
fn time_line(row: &Row, threads: usize) -> String {
    let milliseconds = row.time.as_ref().map_or(0.0, |time| time.median_ns * 1e-6);
    let each = milliseconds * 1e3 / threads.max(1) as f64;
    format!(
        "{:.*} ms for {threads} threads = {:.*} us/thread\n",
        places(milliseconds),
        milliseconds,
        places(each),
        each
    )
}

fn places(value: f64) -> usize {
    if value > 0.0 {
        // At most 12: the shortest time, a nanosecond for 2^20 threads, has its digits there.
        (1.0 - value.log10().floor()).clamp(2.0, 12.0) as usize
    } else {
        2
    }
}

/// A number per thread, x in columns, y in lines, z and the blocks under headings.
fn numbers(row: &Row, threads: &[&ThreadRecord], number: impl Fn(&ThreadRecord) -> u64) -> String {
    let digits = |number: u64| format!("{number:x}").len();
    let longest = threads.iter().map(|thread| digits(number(thread))).max();
    let width = longest.map_or(4, |digits| (digits + 1).max(4));
    let mut text = String::new();
    for thread in threads {
        let ThreadRecord {
            block_x,
            block_y,
            block_z,
            thread_z,
            ..
        } = thread;
        if thread.thread_x == 0 && thread.thread_y == 0 {
            // Writing to a String does not fail.
            let _ = writeln!(
                text,
                "Grid ({block_x}, {block_y}, {block_z}) - slice {thread_z}:"
            );
        }
        let _ = write!(text, "{:width$x}", number(thread));
        if thread.thread_x + 1 == row.block.x {
            text.push('\n');
        }
    }
    text
}

/// What the clocks show about the warps, and the row's notes.
fn findings(row: &Row, threads: &[&ThreadRecord]) -> Vec<String> {
    let warps: Vec<&[&ThreadRecord]> = threads
        .chunk_by(|a, b| (a.block_id, a.warp) == (b.block_id, b.warp))
        .collect();
    let one_value = warps
        .iter()
        .filter(|warp| warp.iter().all(|thread| thread.clock == warp[0].clock))
        .count();
    let in_block = |warp: &&&[&ThreadRecord]| warp[0].block_id == 0;
    let sizes: Vec<String> = warps
        .iter()
        .filter(in_block)
        .map(|warp| warp.len().to_string())
        .collect();
    let mut sms: Vec<u32> = threads.iter().filter_map(|thread| thread.sm).collect();
    sms.sort_unstable();
    sms.dedup();
    let mean = row.block.count() as f64 / sizes.len().max(1) as f64;
    let mut findings = vec![
        format!(
            "block {}; {} threads in its warps{}",
            shape(row.block),
            shorten(&sizes),
            if sizes.len() > 1 && mean < 32.0 {
                format!(", {} on average", (mean * 100.0).round() / 100.0)
            } else {
                String::new()
            }
        ),
        format!(
            "{one_value} of {} warps read one clock value in all of their threads; SMs used: {}",
            warps.len(),
            shorten(&sms.iter().map(u32::to_string).collect::<Vec<_>>())
        ),
    ];
    findings.extend(row.notes.iter().cloned());
    findings
}

/// The first few of a list.
fn shorten(items: &[String]) -> String {
    const MOST: usize = 16;
    match items.get(MOST..) {
        None | Some([]) => items.join(", "),
        Some(more) => format!("{} and {} more", items[..MOST].join(", "), more.len()),
    }
}
