//! Who reads from whom as a figure: for each shuffle the lanes above, the lanes below, and an arrow
//! from each lane to those that received its value; for each sum the lanes after every step.

use super::{
    FAINT_INK, INK,
    element::{Element, coordinate, text, text_width},
    lane_panel::{CELL, GAP, Panel, cell, color},
};
use crate::{
    export::{
        lanes::{Exchange, exchanges, meaning, of_what},
        layout::style::printable,
    },
    report::{LaneInput, LaneOperation, Report, Times},
};

const LEFT: f64 = 24.0;
/// From a panel to its right neighbour.
const APART: f64 = 42.0;
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
    let (single, sums): (Vec<&Exchange>, Vec<&Exchange>) = drawn
        .into_iter()
        .partition(|exchange| exchange.common().sum.is_none());
    let heading = |exchange: &Exchange| heading(report, exchange);
    for section in single.chunk_by(|a, b| heading(a) == heading(b)) {
        canvas.heading(&heading(section[0]));
        for line in lines(section) {
            canvas.section(&line);
        }
        canvas.y += 8.0;
    }
    for section in sums.chunk_by(|a, b| heading(a) == heading(b)) {
        canvas.heading(&heading(section[0]));
        let panels: Vec<Panel> = section
            .chunk_by(|a, b| a.common().width == b.common().width)
            .map(Panel::network)
            .collect();
        canvas.section(&panels);
        canvas.y += 8.0;
    }
    if canvas.panels == 0 {
        canvas.note(
            "No shuffle is in this report: votes and matches are in its table and its JSON form",
        );
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
    let width = canvas
        .width
        .max(LEFT + text_width(&subtitle, 13.0))
        .max(820.0)
        + LEFT;
    let height = canvas.y + 12.0;
    Element::new("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", width)
        .number("height", height)
        .attribute(
            "viewBox",
            &format!("0 0 {} {}", coordinate(width), coordinate(height)),
        )
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

/// Votes and matches have no arrows; of sums those of small numbers are drawn.
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
            let mut masks: Vec<u32> = exchange.lanes.iter().map(|lane| lane.mask).collect();
            masks.dedup();
            let masks: Vec<String> = masks.iter().map(|mask| format!("{mask:#010x}")).collect();
            format!("Partial mask: {case}, {}", masks.join(" and "))
        }
        LaneOperation::ReduceButterfly | LaneOperation::ReduceDown | LaneOperation::Scan => {
            let mut meaning = meaning(operation).to_owned();
            meaning[..1].make_ascii_uppercase();
            let of = of_what(exchange.common().input);
            format!("{meaning}: the sum in each lane, {of}")
        }
        LaneOperation::Broadcast => "Broadcast of an elected lane's value".to_owned(),
        _ => meaning(operation).to_owned(),
    }
}

/// A panel per exchange. Of one mode, the widths of an argument stand together and begin a line.
fn lines(section: &[&Exchange]) -> Vec<Vec<Panel>> {
    let panels = |exchanges: &[&Exchange]| exchanges.iter().copied().map(Panel::exchange).collect();
    let first = section[0].common();
    let one_mode = section
        .iter()
        .all(|exchange| exchange.common().operation == first.operation);
    let one_width = section
        .iter()
        .all(|exchange| exchange.common().width == first.width);
    if !one_mode || one_width {
        return vec![panels(section)];
    }
    let mut ordered = section.to_vec();
    // Stable, so that the widths keep their order.
    ordered.sort_by_key(|exchange| exchange.common().argument);
    ordered
        .chunk_by(|a, b| a.common().argument == b.common().argument)
        .map(panels)
        .collect()
}

/// What the marks mean, above the panels.
fn legend() -> Element {
    let mut group = Element::new("g")
        .attribute("class", "legend")
        .number("font-size", 8.5)
        .attribute("text-anchor", "middle");
    let y = 78.0;
    let mut x = LEFT;
    let entries: [(&str, Option<&str>, Option<&'static str>, bool); 3] = [
        (
            "received from the lane with this number, along the arrow; a colour per segment",
            Some("5"),
            Some(color(0)),
            false,
        ),
        (
            "source out of range: keeps its own value",
            Some("5"),
            None,
            true,
        ),
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
    }
}
