//! Who reads from whom as a figure: for each shuffle the lanes above, the lanes below, and an arrow
//! from each lane to those that received its value; for each sum the lanes after every step.

use super::{
    FAINT_INK, INK,
    element::{Element, coordinate, line, text, text_width},
    legend::{appearance, is_light},
};
use crate::{
    export::{
        lanes::{Exchange, exchanges, lanes_of, meaning},
        layout::style::printable,
    },
    report::{LaneInput, LaneOperation, LaneRecord, Report, Times},
};

const LEFT: f64 = 24.0;
/// A lane's cell, and what segments are apart.
const CELL: f64 = 15.0;
const HEIGHT: f64 = 12.0;
const GAP: f64 = 5.0;
/// Height of the arrows.
const ARROWS: f64 = 40.0;
/// From a panel to its right neighbour.
const APART: f64 = 34.0;
/// What is out of range or takes no part.
const KEPT: &str = "#b0472c";
const ABSENT: &str = "#eceef1";
/// Panels of one figure; it says how many more there are.
const MOST: usize = 400;

/// The figure of a report that has records of lanes.
pub(super) fn render(report: &Report) -> String {
    let exchanges = exchanges(report);
    let drawn: Vec<&Exchange> = exchanges.iter().filter(|e| is_drawn(e)).collect();
    // Which lane reads from which does not depend on the type: the first one stands for all.
    let ty = drawn.first().map(|exchange| type_of(report, exchange));
    let drawn: Vec<&Exchange> = drawn
        .into_iter()
        .filter(|exchange| Some(type_of(report, exchange)) == ty)
        .collect();
    let mut canvas = Canvas {
        marks: Element::new("g"),
        y: 112.0,
        width: 0.0,
        panels: 0,
    };
    let shuffles = |e: &&&Exchange| e.common().sum.is_none();
    let (single, sums): (Vec<_>, Vec<_>) = drawn.iter().partition(shuffles);
    let heading = |exchange: &Exchange| heading(report, exchange);
    for section in single.chunk_by(|a, b| heading(a) == heading(b)) {
        canvas.heading(&heading(section[0]));
        canvas.section(&by_argument(section));
    }
    for section in sums.chunk_by(|a, b| heading(a) == heading(b)) {
        canvas.heading(&heading(section[0]));
        let panels: Vec<Panel> = section
            .chunk_by(|a, b| a.common().width == b.common().width)
            .map(Panel::network)
            .collect();
        canvas.section(&panels);
    }
    if canvas.panels == 0 {
        canvas.note("No shuffle is in this report: votes and matches are in its table and its JSON form");
    } else if canvas.panels > MOST {
        let rest = canvas.panels - MOST;
        canvas.note(&format!(
            "{rest} further panels are left out of this figure; the JSON report has them all"
        ));
    }
    let title = "Who reads from whom in a warp";
    let mut facts = vec![printable(&report.device.name)];
    facts.extend(ty.map(|ty| format!("values of type {ty}")));
    facts.push(match report.device.times {
        Times::Measured => "as the GPU returned them".to_owned(),
        Times::Modelled => "as the simulator computed them".to_owned(),
    });
    facts.push(format!("warplab {}", printable(&report.version)));
    let subtitle = facts.join(" · ");
    let width = canvas.width.max(LEFT + text_width(&subtitle, 13.0)).max(820.0) + LEFT;
    let height = canvas.y + 12.0;
    Element::new("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", width)
        .number("height", height)
        .attribute("viewBox", &format!("0 0 {} {}", coordinate(width), coordinate(height)))
        .attribute("font-family", "sans-serif")
        .attribute("role", "img")
        .attribute("aria-label", &format!("{title}. {subtitle}"))
        .child(Element::new("title").text(title))
        .child(
            Element::new("rect")
                .attribute("width", "100%")
                .attribute("height", "100%")
                .attribute("fill", "#ffffff"),
        )
        .child(text(LEFT, 34.0, 20.0, INK, "start", title).attribute("font-weight", "bold"))
        .child(text(LEFT, 57.0, 13.0, FAINT_INK, "start", &subtitle))
        .child(legend())
        .child(canvas.marks)
        .document()
}

/// Votes and matches have no arrows; of sums those of ones are drawn.
fn is_drawn(exchange: &Exchange) -> bool {
    let first = exchange.common();
    first.source_lane.is_some() && first.input != Some(LaneInput::Random)
}

fn type_of(report: &Report, exchange: &Exchange) -> String {
    axis(report, exchange, "type")
}

fn axis(report: &Report, exchange: &Exchange, name: &str) -> String {
    let row = report.rows.get(exchange.row);
    let value = row.and_then(|row| row.axes.get(name));
    printable(value.and_then(|value| value.as_str()).unwrap_or_default())
}

fn heading(report: &Report, exchange: &Exchange) -> String {
    let operation = exchange.common().operation;
    let case = axis(report, exchange, "case");
    match operation {
        LaneOperation::Idx | LaneOperation::Up | LaneOperation::Down | LaneOperation::Xor
            if !case.is_empty() =>
        {
            format!("Partial mask: {case}")
        }
        LaneOperation::ReduceButterfly | LaneOperation::ReduceDown | LaneOperation::Scan => {
            let mut meaning = meaning(operation).to_owned();
            meaning[..1].make_ascii_uppercase();
            format!("{meaning}: the sum of ones in each lane")
        }
        LaneOperation::Broadcast => "Broadcast of an elected lane's value".to_owned(),
        _ => meaning(operation).to_owned(),
    }
}

/// One panel per exchange; the widths of one argument side by side.
fn by_argument(section: &[&&Exchange]) -> Vec<Panel> {
    let mut ordered: Vec<&Exchange> = section.iter().map(|exchange| **exchange).collect();
    // Stable, so that everything else keeps its order.
    if section.iter().all(|e| e.common().operation == section[0].common().operation) {
        ordered.sort_by_key(|exchange| exchange.common().argument);
    }
    ordered.into_iter().map(Panel::exchange).collect()
}

/// Lanes above, arrows, lanes below, several times over for the steps of a sum.
struct Panel {
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
    fn exchange(exchange: &Exchange) -> Self {
        let first = exchange.common();
        let width = first.width.unwrap_or(32);
        let mut masks: Vec<u32> = exchange.lanes.iter().map(|lane| lane.mask).collect();
        masks.dedup();
        let title = match first.argument {
            Some(argument) => {
                format!("{}, width {width}, argument {argument}", name(first.operation))
            }
            None => format!(
                "mask {:#010x}, voted yes: lanes {}",
                first.mask,
                lanes_of(first.ballot.unwrap_or(0))
            ),
        };
        let takes_part = |lane: u32| exchange.lanes.iter().any(|other| other.lane == lane);
        Self {
            title,
            width,
            first: std::array::from_fn(|lane| {
                takes_part(lane as u32).then(|| lane.to_string())
            }),
            steps: vec![Step {
                label: String::new(),
                lanes: readers(exchange, |lane| {
                    lane.source_lane.unwrap_or(lane.lane).to_string()
                }),
            }],
        }
    }

    /// The steps of a sum: the cells show sums.
    fn network(steps: &[&&Exchange]) -> Self {
        let first = steps[0].common();
        let width = first.width.unwrap_or(32);
        Self {
            title: format!("width {width}"),
            width,
            first: std::array::from_fn(|_| Some("1".to_owned())),
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

    fn extent(&self) -> (f64, f64) {
        let height = 18.0 + HEIGHT + self.steps.len() as f64 * (ARROWS + HEIGHT);
        (self.x_of(31) + CELL, height)
    }

    /// The panel with its left upper corner at a place.
    fn draw(&self, left: f64, top: f64) -> Element {
        let mut group = Element::new("g").attribute("class", "panel");
        group.push(text(left, top + 10.0, 11.0, FAINT_INK, "start", &self.title));
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
                let label = format!("± {}", step.label);
                let label = label.trim_start_matches("± ");
                group.push(text(left - 5.0, middle, 9.0, FAINT_INK, "end", label));
            }
            let middle = |lane: u32| left + self.x_of(lane) + CELL / 2.0;
            for (lane, reader) in (0..32).zip(&step.lanes) {
                let x = left + self.x_of(lane);
                let Some(reader) = reader else {
                    group.push(cell(x, to, None, None, false));
                    continue;
                };
                if reader.in_range {
                    let color = color(reader.source / self.width.max(1));
                    group.push(arrow((middle(reader.source), from), (middle(lane), to), color));
                    let drawn = cell(x, to, Some(&reader.text), Some(color), false);
                    group.push(drawn.child(Element::new("title").text(&reader.tooltip)));
                } else {
                    group.push(
                        line((middle(lane), from + 1.0), (middle(lane), to - 1.0), KEPT, 0.9)
                            .attribute("class", "kept")
                            .attribute("stroke-dasharray", "2 2.5"),
                    );
                    let drawn = cell(x, to, Some(&reader.text), None, true);
                    group.push(drawn.child(Element::new("title").text(&reader.tooltip)));
                }
            }
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
fn color(segment: u32) -> &'static str {
    appearance(segment as usize).color
}

/// A lane's cell with what stands in it: filled in a colour, hollow and dashed where the lane kept its
/// value, grey where it took no part. A group, so that a tooltip covers number and frame.
fn cell(x: f64, y: f64, content: Option<&str>, color: Option<&'static str>, kept: bool) -> Element {
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
        .attribute("fill", color.unwrap_or(if kept { "#ffffff" } else { ABSENT }));
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
        let (x, y) = (x + CELL / 2.0, y + HEIGHT - 3.2);
        group.push(text(x, y, 8.5, ink, "middle", content));
    }
    group
}

/// A line with its head at `to`.
fn arrow(from: (f64, f64), to: (f64, f64), color: &'static str) -> Element {
    let (from, to) = ((from.0, from.1 + 0.5), (to.0, to.1 - 0.5));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    let (head, half) = (4.6, 1.9);
    let base = (to.0 - ux * head, to.1 - uy * head);
    let points = [
        to,
        (base.0 - uy * half, base.1 + ux * half),
        (base.0 + uy * half, base.1 - ux * half),
    ]
    .map(|(x, y)| format!("{},{}", coordinate(x), coordinate(y)))
    .join(" ");
    Element::new("g")
        .attribute("class", "arrow")
        .attribute("opacity", "0.85")
        .child(line(from, base, color, 0.9))
        .child(
            Element::new("polygon")
                .attribute("points", &points)
                .attribute("fill", color),
        )
}

/// What the marks mean, above the panels.
fn legend() -> Element {
    let mut group = Element::new("g").attribute("class", "legend");
    let y = 78.0;
    let mut x = LEFT;
    let entries: [(&str, Option<&str>, Option<&'static str>, bool); 3] = [
        (
            "received from the lane with this number, along the arrow; a colour per segment",
            Some("5"),
            Some(color(0)),
            false,
        ),
        ("source out of range: keeps its own value", Some("5"), None, true),
        ("takes no part", None, None, false),
    ];
    for (content, number, color, kept) in entries {
        group.push(cell(x, y, number, color, kept));
        group.push(text(x + CELL + 6.0, y + 10.0, 12.0, INK, "start", content));
        x += CELL + 6.0 + content.chars().count() as f64 * 6.1 + 22.0;
    }
    group
}

/// What has been drawn, from the top down.
struct Canvas {
    marks: Element,
    y: f64,
    width: f64,
    /// Panels so far, those left out among them.
    panels: usize,
}

impl Canvas {
    fn heading(&mut self, content: &str) {
        self.y += 16.0;
        let line = text(LEFT, self.y, 14.0, INK, "start", content);
        self.marks.push(line.attribute("font-weight", "bold"));
        self.width = self.width.max(LEFT + text_width(content, 14.0));
        self.y += 8.0;
    }

    fn note(&mut self, content: &str) {
        self.y += 16.0;
        self.marks
            .push(text(LEFT, self.y, 12.0, FAINT_INK, "start", content));
        self.width = self.width.max(LEFT + text_width(content, 12.0));
    }

    /// Panels, two to a line.
    fn section(&mut self, panels: &[Panel]) {
        for pair in panels.chunks(2) {
            let room = MOST.saturating_sub(self.panels);
            self.panels += pair.len();
            let (mut x, mut height) = (LEFT, 0.0);
            for panel in pair.iter().take(room) {
                self.marks.push(panel.draw(x, self.y));
                let (wide, high) = panel.extent();
                self.width = self.width.max(x + wide);
                height = f64::max(height, high + 12.0);
                x += 32.0 * CELL + 3.0 * GAP + APART;
            }
            self.y += height;
        }
        self.y += 8.0;
    }
}
