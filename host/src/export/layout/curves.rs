//! What chart and SVG draw: one curve per kernel (and per setting of whatever else varies) over one
//! x axis.

use std::collections::HashMap;

use super::{
    columns::{axis_names, varies},
    figures::{axis_value, count, extents},
    style::printable,
};
use crate::{
    launch::Dim3,
    report::{Report, Row, Status},
};

/// What stands on the y axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Metric {
    /// GB/s.
    Bandwidth,
    /// Median time in nanoseconds.
    Time,
}

/// What stands on the x axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::export) enum Abscissa {
    /// Threads per block.
    Block,
    /// Elements.
    Elements,
    /// One of the experiment's numeric axes.
    Axis(String),
}

/// The curves of a report.
#[derive(Debug)]
pub(in crate::export) struct Curves {
    /// The y axis.
    pub(in crate::export) metric: Metric,
    /// The x axis.
    pub(in crate::export) abscissa: Abscissa,
    /// In the order in which the report first has them.
    pub(in crate::export) curves: Vec<Curve>,
    /// The device's peak, where the metric has one.
    pub(in crate::export) peak: Option<f64>,
    /// What a time is of: a launch, or a round where every row has an axis `rounds`.
    pub(in crate::export) per: &'static str,
}

/// One curve.
#[derive(Debug)]
pub(in crate::export) struct Curve {
    /// The kernel and what else sets the curve apart.
    pub(in crate::export) label: String,
    /// In the report's order.
    pub(in crate::export) points: Vec<Point>,
}

/// One row.
#[derive(Debug)]
pub(in crate::export) struct Point {
    /// Position on the x axis.
    pub(in crate::export) x: f64,
    /// That position as text.
    pub(in crate::export) label: String,
    /// The metric's value; `None` where the row has none.
    pub(in crate::export) value: Option<f64>,
    /// The metric's values at the quartiles of the time, the lower first.
    pub(in crate::export) quartiles: Option<(f64, f64)>,
    /// The row's number in the report.
    pub(in crate::export) row: usize,
}

impl Curves {
    /// Bandwidth where any row has one, else time; over the block size where it varies otherwise
    /// than with the elements, else over the elements, else over the first numeric axis that varies.
    pub(in crate::export) fn of(report: &Report, unicode: bool) -> Self {
        let rows = &report.rows;
        let metric = if rows.iter().any(|row| row.gb_per_s.is_some())
            || rows.iter().all(|row| row.time.is_none())
        {
            Metric::Bandwidth
        } else {
            Metric::Time
        };
        let abscissa = choose_abscissa(rows);
        let mut labels = labels(rows, &abscissa, false, unicode);
        if has_repeats(rows, &labels, &abscissa) {
            labels = self::labels(rows, &abscissa, true, unicode);
        }
        let mut curves: Vec<Curve> = Vec::new();
        for (index, (row, label)) in rows.iter().zip(labels).enumerate() {
            let point = point(row, index, metric, &abscissa, unicode);
            match curves.iter_mut().find(|curve| curve.label == label) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    label,
                    points: vec![point],
                }),
            }
        }
        let peak = match metric {
            Metric::Bandwidth => report.device.peak_gb_per_s,
            Metric::Time => None,
        };
        Self {
            metric,
            abscissa,
            curves,
            peak,
            per: match rows.iter().all(|row| row.axes.contains_key("rounds")) {
                true => "round",
                false => "launch",
            },
        }
    }

    /// The largest value, quartiles included; `None` where no row has one.
    pub(in crate::export) fn largest(&self) -> Option<f64> {
        self.points()
            .filter_map(|point| Some(point.value?.max(point.quartiles.map_or(0.0, |q| q.1))))
            .reduce(f64::max)
    }

    /// The peak, if it belongs on a scale with the values: one far above them would squeeze them.
    pub(in crate::export) fn peak_on_scale(&self) -> Option<f64> {
        let largest = self.largest()?;
        self.peak.filter(|peak| *peak <= 4.0 * largest)
    }

    /// All points.
    pub(in crate::export) fn points(&self) -> impl Iterator<Item = &Point> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }
}

/// Threads of a block.
fn threads(block: Dim3) -> f64 {
    f64::from(block.x) * f64::from(block.y) * f64::from(block.z)
}

fn choose_abscissa(rows: &[Row]) -> Abscissa {
    // An experiment that names the number of blocks as an axis asks what depends on it.
    let blocks = |row: &Row| row.axes.get("blocks").and_then(|value| value.as_f64());
    if rows.iter().all(|row| blocks(row).is_some()) && varies(rows, blocks) {
        return Abscissa::Axis("blocks".to_owned());
    }
    if varies(rows, |row| row.block) && !is_given_by_elements(rows) {
        return Abscissa::Block;
    }
    if varies(rows, |row| row.elements) {
        return Abscissa::Elements;
    }
    axis_names(rows)
        .into_iter()
        .find(|name| {
            let value = |row: &Row| row.axes.get(name).and_then(|value| value.as_f64());
            rows.iter().all(|row| value(row).is_some()) && varies(rows, value)
        })
        .map_or(Abscissa::Block, Abscissa::Axis)
}

/// Whether each kernel has one block for each number of elements, chosen to suit it.
fn is_given_by_elements(rows: &[Row]) -> bool {
    let mut blocks = HashMap::new();
    rows.iter().all(|row| {
        *blocks
            .entry((&row.kernel, row.elements))
            .or_insert(row.block)
            == row.block
    }) && varies(rows, |row| row.elements)
}

/// A row's position on the x axis.
fn position(row: &Row, abscissa: &Abscissa) -> f64 {
    match abscissa {
        Abscissa::Block => threads(row.block),
        Abscissa::Elements => row.elements as f64,
        Abscissa::Axis(name) => row
            .axes
            .get(name)
            .and_then(|value| value.as_f64())
            .unwrap_or(0.0),
    }
}

/// Per row, its curve: the kernel and every other setting in which the kernel's rows differ.
fn labels(rows: &[Row], abscissa: &Abscissa, with_grid: bool, unicode: bool) -> Vec<String> {
    rows.iter()
        .map(|row| {
            let same_kernel = || rows.iter().filter(|other| other.kernel == row.kernel);
            let mut label = printable(&row.kernel);
            for name in axis_names(rows) {
                let varies = varies(same_kernel(), |row| row.axes.get(&name).cloned());
                if let (true, Some(value)) = (varies, row.axes.get(&name))
                    && *abscissa != Abscissa::Axis(name.clone())
                {
                    label += &format!(", {} {}", printable(&name), axis_value(value));
                }
            }
            if *abscissa != Abscissa::Elements && varies(same_kernel(), |row| row.elements) {
                label += &format!(", {} elements", count(row.elements));
            }
            let follows = *abscissa == Abscissa::Elements && is_given_by_elements(rows);
            if *abscissa != Abscissa::Block && !follows && varies(same_kernel(), |row| row.block) {
                label += &format!(", {} threads", extents(row.block, unicode));
            }
            if with_grid && varies(same_kernel(), |row| row.grid) {
                label += &format!(", grid {}", extents(row.grid, unicode));
            }
            label
        })
        .collect()
}

/// Whether a curve would have two points at one place.
fn has_repeats(rows: &[Row], labels: &[String], abscissa: &Abscissa) -> bool {
    let places: Vec<_> = rows
        .iter()
        .zip(labels)
        .map(|(row, label)| (label, position(row, abscissa), row.block))
        .collect();
    (1..places.len()).any(|index| places[..index].contains(&places[index]))
}

fn point(row: &Row, index: usize, metric: Metric, abscissa: &Abscissa, unicode: bool) -> Point {
    let label = match abscissa {
        Abscissa::Block => extents(row.block, unicode),
        Abscissa::Elements => count(row.elements),
        Abscissa::Axis(name) => row.axes.get(name).map(axis_value).unwrap_or_default(),
    };
    // A failed row may carry a time; its value would look like a result.
    let time = row.time.as_ref().filter(|_| row.status == Status::Ok);
    let value = match metric {
        Metric::Bandwidth => time.and(row.gb_per_s),
        Metric::Time => time.map(|time| time.median_ns),
    };
    let quartiles = time.and_then(|time| {
        let (lower, upper) = (time.lower_quartile_ns, time.upper_quartile_ns);
        match metric {
            Metric::Time => Some((lower, upper)),
            // Bytes per nanosecond are GB/s; the longer time is the lower bandwidth.
            Metric::Bandwidth if lower > 0.0 => row
                .bytes
                .map(|bytes| (bytes as f64 / upper, bytes as f64 / lower)),
            Metric::Bandwidth => None,
        }
    });
    Point {
        x: position(row, abscissa),
        label,
        value: value.filter(|value| value.is_finite()),
        quartiles: quartiles.filter(|(lower, upper)| lower.is_finite() && upper.is_finite()),
        row: index,
    }
}
