//! The warp and lane of each thread of a block, coloured by warp.

use std::fmt::Write;

use super::{missing, shape, threads};
use crate::{
    export::{Paint, Style},
    hierarchy::WARP_SIZE,
    launch::Dim3,
    report::{Report, ThreadRecord},
};

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
        text.push_str(&cells(&threads, row.block, style));
        text.push_str(&idle(&threads, style));
    }
    text
}

/// A cell per thread. A row of the block that is wider than the terminal goes on in lines that
/// begin with an ellipsis, so that they are not taken for rows.
fn cells(threads: &[&ThreadRecord], block: Dim3, style: &Style) -> String {
    let digits = threads
        .last()
        .map_or(0, |thread| thread.warp)
        .to_string()
        .len();
    // " warp:lane ", and a column for the ellipsis.
    let cell = digits + 5;
    let per_line = match style.width {
        Some(width) if usize::from(width) < cell * block.x as usize => {
            (usize::from(width).saturating_sub(1) / cell).max(1) as u32
        }
        _ => block.x,
    };
    let (lead, ellipsis) = match (per_line < block.x, style.unicode) {
        (false, _) => ("", ""),
        (true, true) => (" ", "…"),
        (true, false) => (" ", "+"),
    };
    let mut text = String::new();
    for thread in threads {
        let ThreadRecord {
            thread_x: x,
            thread_y: y,
            thread_z: z,
            ..
        } = thread;
        if block.z > 1 && *x == 0 && *y == 0 {
            // Writing to a String does not fail.
            let _ = writeln!(text, "slice {z}:");
        }
        if *x == 0 {
            text.push_str(lead);
        } else if x % per_line == 0 {
            text.push('\n');
            text.push_str(ellipsis);
        }
        let cell = format!(" {:>digits$}:{:02} ", thread.warp, thread.lane);
        text.push_str(&style.cell(thread.warp, &cell));
        if x + 1 == block.x {
            text.push('\n');
        }
    }
    text
}

/// The lanes of the last warp that have no thread; empty where all have one.
fn idle(threads: &[&ThreadRecord], style: &Style) -> String {
    let Some(last) = threads.last() else {
        return String::new();
    };
    let used = last.lane + 1;
    let lanes = match WARP_SIZE - used {
        0 => return String::new(),
        1 => format!("lane {used}"),
        _ => format!("lanes {used} to {}", WARP_SIZE - 1),
    };
    let line = format!("idle in warp {}: {lanes} ({})", last.warp, WARP_SIZE - used);
    style.paint(Paint::Aside, &line) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Hierarchy;

    fn drawn(block: Dim3, style: &Style) -> String {
        let hierarchy = Hierarchy {
            grid: 1.into(),
            block,
        };
        let records: Vec<ThreadRecord> = hierarchy
            .positions()
            .map(|position| hierarchy.record(position))
            .collect();
        let threads: Vec<&ThreadRecord> = records.iter().collect();
        cells(&threads, block, style) + &idle(&threads, style)
    }

    #[test]
    fn rows_and_slices_are_lines() {
        let expected =
            "slice 0:\n 0:00  0:01 \nslice 1:\n 0:02  0:03 \nidle in warp 0: lanes 4 to 31 (28)\n";
        assert_eq!(drawn(Dim3::new(2, 1, 2), &Style::PLAIN), expected);
        assert!(drawn(Dim3::new(31, 1, 1), &Style::PLAIN).ends_with("lane 31 (1)\n"));
        assert!(!drawn(Dim3::new(32, 2, 1), &Style::PLAIN).contains("idle"));
    }

    #[test]
    fn rows_wider_than_the_terminal_go_on_after_an_ellipsis() {
        let narrow = Style {
            width: Some(20),
            ..Style::PLAIN
        };
        let text = drawn(Dim3::new(5, 2, 1), &narrow);
        let lines: Vec<&str> = text.lines().collect();
        let expected = [
            "  0:00  0:01  0:02 ",
            "… 0:03  0:04 ",
            "  0:05  0:06  0:07 ",
            "… 0:08  0:09 ",
        ];
        assert_eq!(lines[..4], expected);
        assert!(lines.iter().take(4).all(|line| line.chars().count() <= 20));
        // As wide as it needs to be.
        let fits = Style {
            width: Some(30),
            ..Style::PLAIN
        };
        assert!(!drawn(Dim3::new(5, 2, 1), &fits).contains('…'));
        let ascii = Style {
            unicode: false,
            ..narrow
        };
        assert!(drawn(Dim3::new(5, 2, 1), &ascii).contains("\n+ 0:03"));
        // A terminal of no width has one cell on a line.
        let none = Style {
            width: Some(0),
            ..Style::PLAIN
        };
        assert_eq!(drawn(Dim3::new(3, 1, 1), &none).lines().count(), 4);
    }
}
