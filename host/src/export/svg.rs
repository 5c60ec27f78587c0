//! A figure for a README or a paper: one curve per kernel, the device's peak as a dashed line.
//!
//! It is written by hand rather than by a plotting crate, because text is placed where it can never
//! cover data (legend, peak and remarks stand outside the plot) and every point carries a `<title>`
//! that a browser shows as a tooltip.

mod arrows;
mod axes;
mod blocks;
mod element;
mod lane_panel;
mod lanes;
mod legend;
mod marks;
mod threads;

use element::{Element, text};

use super::{
    ExportError, Format,
    layout::{
        curves::{Abscissa, Curves, Metric},
        figures::{TimeUnit, count, extents},
        finite,
        footnotes::outcome,
        style::printable,
    },
};
use crate::{
    export::layout::columns::varies,
    report::{RecordData, Report, Status, Times},
};

pub(super) const FORMAT: Format = Format {
    name: "svg",
    extension: Some("svg"),
    about: "a figure: bandwidth or time over block size, threads and their warps, blocks over time, or \
            which lane reads from which",
    render: |report, _| render(report),
};

const WIDTH: f64 = 900.0;
const PLOT_HEIGHT: f64 = 380.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 96.0;
/// Characters of the subtitle that fit at 13 and at 12 units.
const SUBTITLE: (usize, usize) = (116, 126);
const INK: &str = "#1f2328";
const FAINT_INK: &str = "#59636e";

/// Where the plot lies and what its scales are.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Logarithms (base 2) of x at the left and right edges.
    x: (f64, f64),
    /// Value at the top edge, in the metric's own unit; 0 is at the bottom.
    y: f64,
}

impl Frame {
    fn x_of(&self, x: f64) -> f64 {
        let share = (x.log2() - self.x.0) / (self.x.1 - self.x.0);
        self.left + share * (self.right - self.left)
    }

    fn y_of(&self, value: f64) -> f64 {
        self.bottom - value / self.y * (self.bottom - self.top)
    }
}

/// The figure.
///
/// # Errors
/// If a figure of the report is NaN or infinite.
pub fn render(report: &Report) -> Result<String, ExportError> {
    finite::check(report)?;
    match report.records.first().map(|record| &record.data) {
        Some(RecordData::Thread(_)) => return Ok(threads::render(report)),
        Some(RecordData::Block(_)) => return Ok(blocks::render(report)),
        Some(RecordData::Lane(_)) => return Ok(lanes::render(report)),
        None => {}
    }
    let curves = Curves::of(report, true);
    let (title, subtitle) = (title(report, &curves), subtitle(report));
    let legend = legend::Legend::layout(&curves, LEFT, WIDTH - 24.0);
    let top = 72.0 + legend.height + 18.0;
    let (ticks, y) = axes::y_ticks(&curves);
    let frame = Frame {
        left: LEFT,
        right: WIDTH - RIGHT,
        top,
        bottom: top + PLOT_HEIGHT,
        x: axes::x_range(&curves),
        y,
    };
    let remarks = remarks(report, &curves);
    let below = if remarks.is_empty() {
        0.0
    } else {
        8.0 + 18.0 * remarks.len() as f64
    };
    let height = frame.bottom + 60.0 + below;

    let mut svg = Element::new("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", WIDTH)
        .number("height", height)
        .attribute("viewBox", &format!("0 0 {WIDTH} {height}"))
        .attribute("font-family", "sans-serif")
        .attribute("role", "img")
        .attribute("aria-label", &format!("{title}. {subtitle}"));
    svg.push(Element::new("title").text(&title));
    svg.push(
        Element::new("rect")
            .attribute("width", "100%")
            .attribute("height", "100%")
            .attribute("fill", "#ffffff"),
    );
    svg.push(text(LEFT, 34.0, 20.0, INK, "start", &title).attribute("font-weight", "bold"));
    let fits = subtitle.chars().count() <= SUBTITLE.0;
    svg.push(text(
        LEFT,
        57.0,
        if fits { 13.0 } else { 12.0 },
        FAINT_INK,
        "start",
        &element::shorten(&subtitle, SUBTITLE.1),
    ));
    svg.push(legend.draw(72.0));
    svg.push(axes::draw(&frame, &curves, &ticks));
    if let Some(peak) = curves.peak_on_scale() {
        svg.push(marks::peak(&frame, peak));
    }
    if curves.largest().is_none() {
        let (x, y) = (
            (frame.left + frame.right) / 2.0,
            (frame.top + frame.bottom) / 2.0,
        );
        let nothing = "No configuration has a result to draw";
        svg.push(text(x, y, 16.0, FAINT_INK, "middle", nothing));
    }
    svg.push(marks::curves(&frame, &curves, report));
    for (index, remark) in remarks.iter().enumerate() {
        let y = frame.bottom + 70.0 + 18.0 * index as f64;
        let short = element::shorten(remark, 125);
        let line = text(LEFT, y, 12.0, FAINT_INK, "start", &short);
        svg.push(if short == *remark {
            line
        } else {
            line.child(Element::new("title").text(remark))
        });
    }
    Ok(svg.document())
}

/// What stands on the axes.
fn axis_titles(curves: &Curves) -> (String, String) {
    let x = match &curves.abscissa {
        Abscissa::Block => "threads per block".to_owned(),
        Abscissa::Elements => "elements".to_owned(),
        Abscissa::Axis(name) => printable(name),
    };
    let y = match curves.metric {
        Metric::Bandwidth => "bandwidth (GB/s)".to_owned(),
        Metric::Time => format!(
            "time per {} ({})",
            curves.per,
            time_unit(curves).symbol(true)
        ),
    };
    (x, y)
}

/// The unit of the y axis when it shows time.
fn time_unit(curves: &Curves) -> TimeUnit {
    TimeUnit::of(curves.largest().unwrap_or(1e3))
}

fn title(report: &Report, curves: &Curves) -> String {
    let what = match curves.metric {
        Metric::Bandwidth => "Bandwidth".to_owned(),
        Metric::Time => format!("Time per {}", curves.per),
    };
    let against = match &curves.abscissa {
        Abscissa::Block => "block size".to_owned(),
        Abscissa::Elements => "number of elements".to_owned(),
        Abscissa::Axis(name) => printable(name),
    };
    match &curves.curves[..] {
        [only] if report.rows.len() > 1 => {
            format!(
                "{what} against {against}: {}",
                element::shorten(&only.label, 40)
            )
        }
        _ => format!("{what} against {against}"),
    }
}

/// Device, measured or modelled, and what is the same in all rows.
fn subtitle(report: &Report) -> String {
    let device = &report.device;
    let mut facts = vec![printable(&device.name)];
    facts.push(match device.times {
        Times::Measured => "measured".to_owned(),
        Times::Modelled => "modelled by the simulator, not measured".to_owned(),
    });
    if let (Some(row), false) = (
        report.rows.first().filter(|row| row.elements > 0),
        varies(&report.rows, |row| row.elements),
    ) {
        facts.push(format!("{} elements", count(row.elements)));
    }
    let cache = |row: &crate::report::Row| row.time.as_ref().map(|time| time.cache);
    let mut caches = report.rows.iter().filter_map(cache);
    if let Some(first) = caches
        .next()
        .filter(|first| caches.all(|cache| cache == *first))
    {
        facts.push(match first {
            crate::report::Cache::Cold => "L2 cold".to_owned(),
            crate::report::Cache::Hot => "L2 hot".to_owned(),
        });
    }
    facts.push(format!(
        "warplab {} {}",
        printable(&report.program),
        printable(&report.version)
    ));
    facts.join(" · ")
}

/// Lines under the plot: what is not on it, and why.
fn remarks(report: &Report, curves: &Curves) -> Vec<String> {
    let mut remarks = Vec::new();
    if curves.largest().is_some()
        && curves.peak_on_scale().is_none()
        && let Some(peak) = curves.peak
    {
        remarks.push(format!(
            "The device's peak, {peak:.0} GB/s, is off the scale."
        ));
    }
    // Configurations of one kernel with the same reason share a line.
    let mut missing: Vec<(String, String, Vec<String>)> = Vec::new();
    for row in &report.rows {
        let (Status::Skipped { reason } | Status::Failed { reason, .. }) = &row.status else {
            continue;
        };
        let kernel = printable(&row.kernel);
        let reason = printable(reason);
        // The remark begins with the kernel.
        let reason = match reason.strip_prefix(&format!("kernel {kernel}")) {
            Some(rest) if rest.starts_with([':', ' ']) => rest.trim_start_matches([':', ' ']),
            _ => &reason,
        };
        let what = format!("{}: {reason}", outcome(&row.status));
        let block = extents(row.block, true);
        match missing
            .iter_mut()
            .find(|(k, w, _)| *k == kernel && *w == what)
        {
            Some((_, _, blocks)) if blocks.contains(&block) => {}
            Some((_, _, blocks)) => blocks.push(block),
            None => missing.push((kernel, what, vec![block])),
        }
    }
    for (kernel, what, blocks) in missing.iter().take(4) {
        let blocks = blocks.join(", ");
        remarks.push(format!("× {kernel}, block {blocks}: {what}"));
    }
    if missing.len() > 4 {
        let more = missing.len() - 4;
        remarks.push(format!("and {more} more reasons; the table has them all"));
    }
    remarks
}
