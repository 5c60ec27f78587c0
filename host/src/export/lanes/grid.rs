//! A line per exchange with a cell per lane, as wide as the terminal allows.

use crate::export::{Paint, Style};

/// A lane's cell.
pub(super) struct Cell {
    pub(super) text: String,
    /// Whether the source was out of range, so that the lane kept its own value.
    pub(super) kept: bool,
    /// The segment that the value is from, which is its colour.
    pub(super) segment: u32,
}

/// Behind a value that the lane kept because its source was out of range.
const KEPT: char = '*';

/// Lines of 32 cells under a heading of lanes; a lane without a cell took no part. Where the terminal
/// is too narrow, a line of cells goes on in further ones.
pub(super) struct Grid {
    /// Heading of the labels.
    pub(super) heading: String,
    /// Label and cells of each line.
    pub(super) lines: Vec<(String, Vec<Option<Cell>>)>,
}

impl Grid {
    pub(super) fn render(&self, style: &Style) -> String {
        let label = self
            .lines
            .iter()
            .map(|(label, _)| label.len())
            .chain([self.heading.len()])
            .max()
            .unwrap_or(0);
        let cells = || self.lines.iter().flat_map(|(_, cells)| cells).flatten();
        let digits = cells().map(|cell| cell.text.len()).max().unwrap_or(1);
        // Digits, and behind them the mark or a blank.
        let cell = digits.max(2) + 1;
        let room = style.width.map_or(usize::MAX, usize::from);
        let per_line = [32, 16, 8, 4, 2]
            .into_iter()
            .find(|lanes| label + 1 + cell * lanes <= room)
            .unwrap_or(1);
        let absent = if style.unicode { "·" } else { "-" };
        let mut text = String::new();
        for first in (0..32).step_by(per_line) {
            let lanes = first..first + per_line;
            let heading: String = lanes
                .clone()
                .map(|lane| format!("{lane:>width$} ", width = cell - 1))
                .collect();
            let line = format!("{:>label$} {}", self.heading, heading.trim_end());
            text += &style.paint(Paint::Aside, &line);
            text.push('\n');
            for (name, cells) in &self.lines {
                let mut line = format!("{name:>label$} ");
                for lane in lanes.clone() {
                    line += &match &cells[lane] {
                        Some(cell_of) => {
                            let mark = if cell_of.kept { KEPT } else { ' ' };
                            let shown = format!("{:>width$}{mark}", cell_of.text, width = cell - 1);
                            if cell_of.kept {
                                style.paint(Paint::Aside, &shown)
                            } else {
                                style.cell(cell_of.segment, &shown)
                            }
                        }
                        None => format!("{absent:>width$} ", width = cell - 1),
                    };
                }
                text += line.trim_end();
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0 to 29 kept a value, lane 30 has another's, lane 31 took no part.
    fn grid() -> Grid {
        let cell = |lane: u32| Cell {
            text: lane.to_string(),
            kept: lane < 30,
            segment: 0,
        };
        let cells = (0..32)
            .map(|lane| (lane < 31).then(|| cell(lane)))
            .collect();
        Grid {
            heading: "argument".to_owned(),
            lines: vec![("1".to_owned(), cells)],
        }
    }

    #[test]
    fn a_lane_is_a_column() {
        let text = grid().render(&Style::PLAIN);
        let [heading, line] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        assert!(heading.starts_with("argument  0  1  2") && heading.ends_with(" 30 31"));
        assert!(
            line.starts_with("       1  0* 1* 2*") && line.ends_with("28*29*30  ·"),
            "{line}"
        );
        assert_eq!(heading.chars().count(), line.chars().count());
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_lanes_on_a_line() {
        for width in [8, 30, 60, 105, 106] {
            let style = Style {
                width: Some(width),
                unicode: false,
                ..Style::PLAIN
            };
            let text = grid().render(&style);
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(
                longest.is_some_and(|longest| longest <= usize::from(width).max(12)),
                "{text}"
            );
            assert_eq!(text.matches('*').count(), 30);
            assert_eq!(text.matches('-').count(), 1);
            let lines = if width >= 105 { 2 } else { 4 };
            assert!(text.lines().count() >= lines, "{text}");
        }
    }
}
