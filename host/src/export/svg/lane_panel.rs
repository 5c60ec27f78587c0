//! One exchange, or one sum with its steps, as lines of 32 cells and arrows between them.

use super::{
    FAINT_INK, INK,
    arrows::{Arrows, KEPT},
    element::{Element, text},
    legend::{appearance, is_light},
};
use crate::{
    export::{
        lanes::{Exchange, meaning},
        layout::style::printable,
    },
    report::{LaneInput, LaneOperation, LaneRecord},
};

/// Width of a lane's cell, its height, and how far segments are apart.
pub(super) const CELL: f64 = 15.0;
const HEIGHT: f64 = 12.0;
pub(super) const GAP: f64 = 5.0;
/// Height of the arrows.
const ARROWS: f64 = 40.0;
/// Colour of a lane that takes no part.
const ABSENT: &str = "#eceef1";

/// Lanes above, arrows, lanes below, several times over for the steps of a sum.
pub(super) struct Panel {
    title: String,
    width: u32,
    /// What stands in the first line of cells.
    first: [Option<String>; 32],
    steps: Vec<Step>,
}

struct Step {
    label: String,
    lanes: [Option<Reader>; 32],
}

/// A lane that received something.
struct Reader {
    text: String,
    source: u32,
    in_range: bool,
    tooltip: String,
}

impl Panel {
    /// One shuffle: the cells show lane numbers.
    pub(super) fn exchange(exchange: &Exchange) -> Self {
        let first = exchange.common();
        let width = first.width.unwrap_or(32);
        let title = match first.argument {
            Some(argument) => {
                format!(
                    "{}, width {width}, argument {argument}",
                    name(first.operation)
                )
            }
            None => format!(
                "mask {:#010x}, ballot {:#010x}",
                first.mask,
                first.ballot.unwrap_or(0)
            ),
        };
        let takes_part = |lane: u32| exchange.lanes.iter().any(|other| other.lane == lane);
        Self {
            title,
            width,
            first: std::array::from_fn(|lane| takes_part(lane as u32).then(|| lane.to_string())),
            steps: vec![Step {
                label: String::new(),
                lanes: readers(exchange, |lane| {
                    lane.source_lane.unwrap_or(lane.lane).to_string()
                }),
            }],
        }
    }

    /// The steps of a sum: the cells show sums.
    pub(super) fn network(steps: &[&Exchange]) -> Self {
        let first = steps[0].common();
        let width = first.width.unwrap_or(32);
        Self {
            title: format!("width {width}"),
            width,
            first: std::array::from_fn(|lane| {
                Some(match first.input {
                    Some(LaneInput::Lanes) => lane.to_string(),
                    _ => "1".to_owned(),
                })
            }),
            steps: steps
                .iter()
                .map(|step| Step {
                    label: step.common().argument.unwrap_or(0).to_string(),
                    lanes: readers(step, |lane| lane.sum.clone().unwrap_or_default()),
                })
                .collect(),
        }
    }

    /// Left edge of a lane's cell from the panel's: segments stand apart.
    fn x_of(&self, lane: u32) -> f64 {
        f64::from(lane) * CELL + f64::from(lane / self.width.max(1)) * self.gap()
    }

    /// Narrow segments are nearer to each other.
    fn gap(&self) -> f64 {
        GAP.min(f64::from(self.width) * 1.25)
    }

    /// Width and height.
    pub(super) fn extent(&self) -> (f64, f64) {
        let height = 18.0 + HEIGHT + self.steps.len() as f64 * (ARROWS + HEIGHT);
        (self.x_of(31) + CELL, height)
    }

    /// The panel with its left upper corner at a place.
    pub(super) fn draw(&self, left: f64, top: f64) -> Element {
        let mut group = Element::new("g")
            .attribute("class", "panel")
            .number("font-size", 8.5)
            .attribute("text-anchor", "middle");
        group.push(text(
            left,
            top + 10.0,
            11.0,
            FAINT_INK,
            "start",
            &self.title,
        ));
        let mut y = top + 18.0;
        for lane in 0..32 {
            let content = self.first[lane as usize].as_deref();
            let color = content.map(|_| color(lane / self.width.max(1)));
            group.push(cell(left + self.x_of(lane), y, content, color, false));
        }
        for step in &self.steps {
            let (from, to) = (y + HEIGHT, y + HEIGHT + ARROWS);
            if !step.label.is_empty() {
                let middle = (from + to) / 2.0 + 3.0;
                group.push(text(left - 5.0, middle, 9.0, FAINT_INK, "end", &step.label));
            }
            let middle = |lane: u32| left + self.x_of(lane) + CELL / 2.0;
            let mut arrows = Arrows::default();
            let mut cells = Element::new("g");
            for (lane, reader) in (0..32).zip(&step.lanes) {
                let x = left + self.x_of(lane);
                let Some(reader) = reader else {
                    cells.push(cell(x, to, None, None, false));
                    continue;
                };
                let drawn = if reader.in_range {
                    let color = color(reader.source / self.width.max(1));
                    arrows.add((middle(reader.source), from), (middle(lane), to), color);
                    cell(x, to, Some(&reader.text), Some(color), false)
                } else {
                    arrows.keep(middle(lane), from, to);
                    cell(x, to, Some(&reader.text), None, true)
                };
                cells.push(drawn.child(Element::new("title").text(&reader.tooltip)));
            }
            group.push(arrows.draw());
            group.push(cells);
            y = to;
        }
        group
    }
}

fn readers(exchange: &Exchange, content: impl Fn(&LaneRecord) -> String) -> [Option<Reader>; 32] {
    let mut readers = std::array::from_fn(|_| None);
    for &lane in &exchange.lanes {
        let source = lane.source_lane.unwrap_or(lane.lane).min(31);
        // An election has no range that its leader could be out of.
        let in_range = lane.in_range.unwrap_or(true);
        let from = if in_range {
            format!("received lane {source}'s value")
        } else {
            "kept its own value: its source was out of range".to_owned()
        };
        if let Some(reader) = readers.get_mut(lane.lane as usize) {
            *reader = Some(Reader {
                text: printable(&content(lane)),
                source,
                in_range,
                tooltip: format!(
                    "lane {} {from}: {}",
                    lane.lane,
                    lane.received.as_deref().unwrap_or_default()
                ),
            });
        }
    }
    readers
}

fn name(operation: LaneOperation) -> &'static str {
    match operation {
        LaneOperation::Idx => "idx",
        LaneOperation::Up => "up",
        LaneOperation::Down => "down",
        LaneOperation::Xor => "xor",
        other => meaning(other),
    }
}

/// A segment's colour.
pub(super) fn color(segment: u32) -> &'static str {
    appearance(segment as usize).color
}

/// A lane's cell with what stands in it: filled in a colour, hollow and dashed where the lane kept its
/// value, grey where it took no part. A group, so that a tooltip covers number and frame.
pub(super) fn cell(
    x: f64,
    y: f64,
    content: Option<&str>,
    color: Option<&'static str>,
    kept: bool,
) -> Element {
    let class = match (content, kept) {
        (None, _) => "absent",
        (Some(_), true) => "own",
        (Some(_), false) => "lane",
    };
    let frame = Element::new("rect")
        .attribute("class", class)
        .number("x", x + 0.5)
        .number("y", y)
        .number("width", CELL - 1.0)
        .number("height", HEIGHT)
        .number("rx", 2.0)
        .attribute(
            "fill",
            color.unwrap_or(if kept { "#ffffff" } else { ABSENT }),
        );
    let frame = if kept {
        frame
            .attribute("stroke", KEPT)
            .number("stroke-width", 0.9)
            .attribute("stroke-dasharray", "2 1.5")
    } else {
        frame
    };
    let mut group = Element::new("g").child(frame);
    if let Some(content) = content {
        let ink = match color {
            Some(color) if !is_light(color) => "#ffffff",
            Some(_) => INK,
            None => KEPT,
        };
        let number = Element::new("text")
            .number("x", x + CELL / 2.0)
            .number("y", y + HEIGHT - 3.2)
            .attribute("fill", ink);
        // The panel's size is for two digits.
        let number = match content.chars().count() {
            0..=2 => number,
            3 => number.number("font-size", 7.0),
            _ => number.number("font-size", 4.5),
        };
        group.push(number.text(content));
    }
    group
}
