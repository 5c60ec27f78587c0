//! Lines, markers, whiskers and the peak.

use super::{
    Frame,
    element::{Element, coordinate, line, text},
    legend::{Appearance, appearance, marker},
    time_unit,
};
use crate::{
    export::layout::{
        curves::{Curve, Curves, Metric, Point},
        figures::decimals,
        footnotes::outcome,
    },
    report::Report,
};

/// Colour of the peak.
const GREY: &str = "#6e7781";

/// The peak as a dashed line, named at the right of the plot.
pub(super) fn peak(frame: &Frame, peak: f64) -> Element {
    let y = frame.y_of(peak);
    let mut group = Element::new("g").attribute("class", "peak");
    let dashed = line((frame.left, y), (frame.right, y), GREY, 1.5);
    group.push(dashed.attribute("stroke-dasharray", "7 5"));
    group.push(text(
        frame.right + 8.0,
        y - 1.0,
        12.0,
        GREY,
        "start",
        "device peak",
    ));
    let value = format!("{peak:.0} GB/s");
    group.push(text(
        frame.right + 8.0,
        y + 14.0,
        12.0,
        GREY,
        "start",
        &value,
    ));
    group
}

/// All curves; those first in the report lie on top.
pub(super) fn curves(frame: &Frame, curves: &Curves, report: &Report) -> Element {
    let mut group = Element::new("g");
    for (number, curve) in curves.curves.iter().enumerate().rev() {
        group.push(draw(frame, curves, curve, number, report));
    }
    group
}

fn draw(frame: &Frame, curves: &Curves, curve: &Curve, number: usize, report: &Report) -> Element {
    let look = appearance(number);
    let mut group = Element::new("g").attribute("class", "curve");
    // A logarithmic axis has no place for 0 elements.
    let mut points: Vec<_> = curve.points.iter().filter(|point| point.x > 0.0).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));

    // A line across a missing result would claim one.
    for run in points.split(|point| point.value.is_none()) {
        if run.len() > 1 {
            group.push(polyline(frame, run, look));
        }
    }
    for (point, value) in points.iter().filter_map(|p| Some((p, p.value?))) {
        let (x, y) = (frame.x_of(point.x), frame.y_of(value));
        if let Some((lower, upper)) = point.quartiles {
            let (low, high) = (frame.y_of(lower), frame.y_of(upper));
            // Whiskers within the marker would only blur it.
            if low - high > 12.0 {
                group.push(whisker(x, low, high, look.color));
            }
        }
        let tooltip = tooltip(curves, curve, point, value);
        group.push(marker(look, x, y).child(Element::new("title").text(&tooltip)));
    }
    for point in points.iter().filter(|point| point.value.is_none()) {
        let status = outcome(&report.rows[point.row].status);
        let tooltip = format!("{}, {}: {status}", curve.label, point.label);
        group.push(cross(
            frame.x_of(point.x),
            frame.bottom,
            look.color,
            &tooltip,
        ));
    }
    group
}

/// The line through neighbouring points, all of which have a value.
fn polyline(frame: &Frame, run: &[&Point], look: Appearance) -> Element {
    let places: Vec<_> = run
        .iter()
        .filter_map(|point| Some((frame.x_of(point.x), frame.y_of(point.value?))))
        .map(|(x, y)| format!("{},{}", coordinate(x), coordinate(y)))
        .collect();
    let line = Element::new("polyline")
        .attribute("points", &places.join(" "))
        .attribute("fill", "none")
        .attribute("stroke", look.color)
        .number("stroke-width", 2.0)
        .attribute("stroke-linejoin", "round");
    if look.dashes.is_empty() {
        line
    } else {
        line.attribute("stroke-dasharray", look.dashes)
    }
}

fn whisker(x: f64, low: f64, high: f64, color: &str) -> Element {
    let mut group = Element::new("g").attribute("class", "quartiles");
    group.push(line((x, low), (x, high), color, 1.5));
    for y in [low, high] {
        group.push(line((x - 5.0, y), (x + 5.0, y), color, 1.5));
    }
    group
}

/// A row without a result, on the x axis.
fn cross(x: f64, y: f64, color: &str, tooltip: &str) -> Element {
    let (l, r, t, b) = (x - 5.0, x + 5.0, y - 5.0, y + 5.0);
    Element::new("g")
        .attribute("class", "missing")
        .child(Element::new("title").text(tooltip))
        .child(line((l, t), (r, b), color, 2.0))
        .child(line((l, b), (r, t), color, 2.0))
}

fn tooltip(curves: &Curves, curve: &Curve, point: &Point, value: f64) -> String {
    let (unit, symbol) = match curves.metric {
        Metric::Bandwidth => (1.0, "GB/s"),
        Metric::Time => {
            let unit = time_unit(curves);
            (unit.nanoseconds(), unit.symbol(true))
        }
    };
    let places = decimals([value / unit]);
    let mut text = format!(
        "{}, {}: {:.places$} {symbol}",
        curve.label,
        point.label,
        value / unit
    );
    if let Some((lower, upper)) = point.quartiles {
        let (lower, upper) = (lower / unit, upper / unit);
        text += &format!(" (quartiles {lower:.places$} to {upper:.places$})");
    }
    text
}
