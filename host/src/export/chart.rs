//! Horizontal bars in the terminal, one group per kernel, with the device's peak marked.

use super::{
    Format, Paint, Style,
    layout::{
        curves::{Abscissa, Curve, Curves, Metric},
        figures::{TimeUnit, decimals},
        footnotes::outcome,
        style::printable,
    },
};
use crate::report::{Report, Times};

pub(super) const FORMAT: Format = Format {
    name: "chart",
    extension: None,
    about: "bars for the terminal",
    render: |report, style| Ok(render(report, style)),
};

/// Width without a terminal, and the bounds within one.
const WIDTH: (usize, usize, usize) = (40, 80, 120);
/// Left-aligned eighths of a cell, from one to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// One group of bars per curve, each bar with its value. Rows without a value say what came of
/// them instead. Nothing where no row has one.
pub fn render(report: &Report, style: &Style) -> String {
    let curves = Curves::of(report, style.unicode);
    let Some(largest) = curves.largest() else {
        return String::new();
    };
    let (unit, symbol) = match curves.metric {
        Metric::Bandwidth => (1.0, "GB/s"),
        Metric::Time => {
            let unit = TimeUnit::of(largest);
            (unit.nanoseconds(), unit.symbol(style.unicode))
        }
    };
    let places = decimals(
        curves
            .points()
            .filter_map(|point| Some(point.value? / unit)),
    );
    let scale = Scale::new(&curves, largest, unit, places, style);

    let mut text = style.paint(Paint::Heading, &title(report, &curves, symbol));
    text.push('\n');
    match (curves.peak, scale.peak_cell) {
        (Some(peak), Some(_)) => {
            let mark = marker(style);
            text += &style.paint(Paint::Aside, &format!("{mark} peak: {peak:.0} GB/s\n"));
        }
        (Some(peak), None) => {
            text += &style.paint(
                Paint::Aside,
                &format!("peak: {peak:.0} GB/s, off the scale\n"),
            );
        }
        (None, _) => {}
    }
    for curve in &curves.curves {
        text += &group(report, curve, &scale, style);
    }
    text
}

fn title(report: &Report, curves: &Curves, symbol: &str) -> String {
    let times = match report.device.times {
        Times::Measured => "measured",
        Times::Modelled => "modelled",
    };
    let by = match &curves.abscissa {
        Abscissa::Block => "threads per block",
        Abscissa::Elements => "elements",
        Abscissa::Axis(name) => name,
    };
    let device = printable(&report.device.name);
    let what = match curves.metric {
        Metric::Bandwidth => "Bandwidth".to_owned(),
        Metric::Time if curves.per == "launch" => "Median time".to_owned(),
        Metric::Time => format!("Median time per {}", curves.per),
    };
    format!("{what} in {symbol} by {by}, {times}, {device}")
}

/// How values become cells.
struct Scale {
    /// Value of the whole bar area, in the metric's own unit.
    full: f64,
    /// Cells of the bar area.
    cells: usize,
    /// The cell where the peak lies.
    peak_cell: Option<usize>,
    /// Cells of the labels at the left.
    labels: usize,
    /// Cells of the values at the right.
    values: usize,
    unit: f64,
    places: usize,
}

impl Scale {
    fn new(curves: &Curves, largest: f64, unit: f64, places: usize, style: &Style) -> Self {
        let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
        let labels = longest(&mut curves.points().map(|p| p.label.chars().count()));
        let value = |v: f64| format!("{:.places$}", v / unit).len();
        let values = longest(&mut curves.points().filter_map(|p| p.value).map(value));
        let (least, usual, most) = WIDTH;
        let width = style.width.map_or(usual, usize::from).clamp(least, most);
        // Two spaces in front, one between label, bar and value.
        let cells = width.saturating_sub(labels + values + 4).max(8);
        let peak = curves.peak_on_scale();
        let full = largest.max(peak.unwrap_or(0.0));
        let peak_cell = peak.map(|p| ((p / full * cells as f64) as usize).min(cells - 1));
        Self {
            full,
            cells,
            peak_cell,
            labels,
            values,
            unit,
            places,
        }
    }
}

fn marker(style: &Style) -> char {
    if style.unicode { '│' } else { '|' }
}

/// The bars of one curve under its label.
fn group(report: &Report, curve: &Curve, scale: &Scale, style: &Style) -> String {
    let best = curve.points.iter().filter_map(|p| p.value).reduce(
        match report.rows[curve.points[0].row].gb_per_s {
            Some(_) => f64::max,
            None => f64::min,
        },
    );
    let mut text = format!("\n{}\n", style.paint(Paint::Heading, &curve.label));
    for point in &curve.points {
        let label = format!("  {:>width$} ", point.label, width = scale.labels);
        text += &label;
        match point.value {
            Some(value) => {
                let paint = if Some(value) == best {
                    Paint::Good
                } else {
                    Paint::Bar
                };
                text += &bar(value, scale, style, paint);
                let figure = format!("{:.*}", scale.places, value / scale.unit);
                text += &format!(" {figure:>width$}\n", width = scale.values);
            }
            None => {
                let row = &report.rows[point.row];
                let paint = match row.status {
                    crate::report::Status::Failed { .. } => Paint::Bad,
                    _ => Paint::Caution,
                };
                let what = match row.status {
                    crate::report::Status::Ok => "no time".to_owned(),
                    ref status => outcome(status),
                };
                text += &style.paint(paint, &what);
                text.push('\n');
            }
        }
    }
    text
}

/// The bar area of one value, padded to its full width, with the peak's mark over it.
fn bar(value: f64, scale: &Scale, style: &Style, paint: Paint) -> String {
    let share = if scale.full > 0.0 {
        (value / scale.full).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let eighths = (share * scale.cells as f64 * 8.0).round() as usize;
    // What is more than nothing shows.
    let eighths = if value > 0.0 { eighths.max(1) } else { 0 };
    let mut cells: Vec<char> = Vec::with_capacity(scale.cells);
    if style.unicode {
        cells.resize(eighths / 8, '█');
        if !eighths.is_multiple_of(8) {
            cells.push(EIGHTHS[eighths % 8 - 1]);
        }
    } else {
        cells.resize(eighths.div_ceil(8), '#');
    }
    let filled = cells.len();
    cells.resize(scale.cells, ' ');
    let part = |range: std::ops::Range<usize>| cells[range].iter().collect::<String>();
    let Some(peak) = scale.peak_cell else {
        return style.paint(paint, &part(0..filled)) + &part(filled..scale.cells);
    };
    let before = filled.min(peak);
    let after = filled.max(peak + 1);
    style.paint(paint, &part(0..before))
        + &part(before..peak)
        + &style.paint(Paint::Bad, &marker(style).to_string())
        + &style.paint(paint, &part(peak + 1..after))
        + &part(after..scale.cells)
}
