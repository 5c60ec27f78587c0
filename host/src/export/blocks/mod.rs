//! Blocks over time and SM in the terminal: how full each group of SMs is, from left to right.

use super::{Paint, Style, layout::figures::TimeUnit};
use crate::report::{BlockRecord, RecordData, Report, Times};

/// Lines of the plot at most; SMs share a line where there are more.
const LINES: usize = 16;
/// Columns without a terminal, and the bounds within one.
const WIDTH: (usize, usize, usize) = (40, 80, 120);
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = [' ', '.', ':', '*', '#'];

/// A row's blocks, in the order of their numbers.
pub(in crate::export) fn blocks(report: &Report, row: usize) -> Vec<&BlockRecord> {
    report
        .records
        .iter()
        .filter(|record| record.row == row)
        .filter_map(|record| match &record.data {
            RecordData::Block(block) => Some(block),
            RecordData::Thread(_) | RecordData::Lane(_) => None,
        })
        .collect()
}

/// The first launch that has records; empty where none has. A cell's shade says how many blocks
/// were resident on its SMs on average, against the most that ever were on one.
pub fn render(report: &Report, style: &Style) -> String {
    let Some(row) = report.records.first().map(|record| record.row) else {
        return String::new();
    };
    let blocks = blocks(report, row);
    let sms = blocks.iter().map(|block| block.sm as usize + 1).max();
    let end = blocks.iter().map(|block| block.end_ns).max();
    let (Some(sms), Some(end)) = (sms, end.filter(|end| *end > 0)) else {
        return String::new();
    };
    let per_line = sms.div_ceil(LINES);
    let lines = sms.div_ceil(per_line);
    let label = |line: usize| {
        let (first, last) = (line * per_line, sms.min((line + 1) * per_line) - 1);
        if first == last {
            format!("SM {first}")
        } else {
            format!("SM {first}-{last}")
        }
    };
    let labels = (0..lines).map(|line| label(line).len()).max().unwrap_or(0);
    let (least, usual, most) = WIDTH;
    let width = style.width.map_or(usual, usize::from).clamp(least, most);
    let columns = width.saturating_sub(labels + 4).max(8);
    let cells = resident(&blocks, per_line, lines, columns, end);
    let fullest = cells.iter().flatten().copied().fold(0.0, f64::max);
    let shades = if style.unicode { SHADES } else { ASCII_SHADES };

    let unit = TimeUnit::of(end as f64);
    let times = match report.device.times {
        Times::Measured => "measured",
        Times::Modelled => "modelled",
    };
    let title = format!(
        "Resident blocks by SM over {:.1} {} ({times}), launch {}: full is {:.1} on an SM",
        end as f64 / unit.nanoseconds(),
        unit.symbol(style.unicode),
        row + 1,
        fullest / per_line as f64
    );
    let mut text = style.paint(Paint::Heading, &title);
    text.push('\n');
    for (line, cells) in cells.iter().enumerate() {
        let bar: String = cells
            .iter()
            .map(|&resident| {
                let share = if fullest > 0.0 {
                    resident / fullest
                } else {
                    0.0
                };
                // What is more than nothing shows.
                let least = usize::from(resident > 0.0);
                shades[((share * 4.0).round() as usize).clamp(least, 4)]
            })
            .collect();
        let bar = style.paint(Paint::Bar, &bar);
        text += &format!("  {:<labels$} {bar}\n", label(line));
    }
    text
}

/// By line and column: blocks resident on average, all SMs of the line together.
fn resident(
    blocks: &[&BlockRecord],
    per_line: usize,
    lines: usize,
    columns: usize,
    end: u64,
) -> Vec<Vec<f64>> {
    let mut cells = vec![vec![0.0; columns]; lines];
    let width = end as f64 / columns as f64;
    for block in blocks {
        let (start, end) = (block.start_ns as f64 / width, block.end_ns as f64 / width);
        let line = &mut cells[block.sm as usize / per_line];
        for (column, cell) in line.iter_mut().enumerate().skip(start as usize) {
            let (left, right) = (column as f64, column as f64 + 1.0);
            if left >= end {
                break;
            }
            *cell += end.min(right) - start.max(left);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_the_mean_of_what_was_resident() {
        let block = |sm, start_ns, end_ns| BlockRecord {
            block_x: 0,
            block_y: 0,
            block_z: 0,
            block_id: 0,
            ticket: 0,
            sm,
            start_ns,
            end_ns,
        };
        let all = [block(0, 0, 50), block(0, 25, 100), block(3, 50, 60)];
        let all: Vec<&BlockRecord> = all.iter().collect();
        let cells = resident(&all, 2, 2, 4, 100);
        assert_eq!(cells[0], [1.0, 2.0, 1.0, 1.0]);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(cells[1][2], 0.4) && cells[1][1] == 0.0, "{cells:?}");
    }
}
