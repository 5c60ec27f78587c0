//! Axes, ticks and grid lines.

use super::{
    Frame, INK, axis_titles,
    element::{Element, line, text, text_width},
    time_unit,
};
use crate::export::layout::curves::{Curves, Metric};

/// Logarithms (base 2) of the plot's edges: the points' range and a margin, so that no marker
/// touches the frame; one octave at least.
pub(super) fn x_range(curves: &Curves) -> (f64, f64) {
    let positions = || {
        curves
            .points()
            .map(|point| point.x)
            .filter(|x| *x > 0.0)
            .map(f64::log2)
    };
    let (low, high) = (positions().reduce(f64::min), positions().reduce(f64::max));
    let (Some(low), Some(high)) = (low, high) else {
        return (0.0, 1.0);
    };
    let margin = ((high - low) * 0.05).max(if high > low { 0.1 } else { 0.5 });
    (low - margin, high + margin)
}

/// Ticks of the y axis in the metric's own unit, and the value at its top: round numbers from 0 on.
/// Without any result there is no scale, so no tick either.
pub(super) fn y_ticks(curves: &Curves) -> (Vec<f64>, f64) {
    let unit = y_unit(curves);
    let Some(largest) = curves.largest() else {
        return (Vec::new(), 1.0);
    };
    let largest = largest.max(curves.peak_on_scale().unwrap_or(0.0));
    // Where all are zero, any scale is right.
    let largest = if largest > 0.0 { largest / unit } else { 1.0 };
    let rough = largest * 1.04 / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let steps = (largest * 1.04 / step).ceil() as u32;
    let ticks = (0..=steps)
        .map(|index| f64::from(index) * step * unit)
        .collect();
    (ticks, f64::from(steps) * step * unit)
}

/// Value of 1 on the y axis in the metric's own unit.
fn y_unit(curves: &Curves) -> f64 {
    match curves.metric {
        Metric::Bandwidth => 1.0,
        Metric::Time => time_unit(curves).nanoseconds(),
    }
}

/// Grid lines, tick labels, axis titles.
pub(super) fn draw(frame: &Frame, curves: &Curves, ticks: &[f64]) -> Element {
    let mut group = Element::new("g");
    let unit = y_unit(curves);
    for tick in ticks {
        let y = frame.y_of(*tick);
        let (stroke, width) = if *tick == 0.0 {
            (INK, 1.2)
        } else {
            ("#e3e6ea", 1.0)
        };
        group.push(line((frame.left, y), (frame.right, y), stroke, width));
        let label = significant(tick / unit);
        group.push(text(frame.left - 10.0, y + 4.5, 13.0, INK, "end", &label));
    }
    let mut marks: Vec<(f64, &str)> = Vec::new();
    for point in curves.points().filter(|point| point.x > 0.0) {
        if !marks.iter().any(|(x, _)| *x == point.x) {
            marks.push((point.x, &point.label));
        }
    }
    let labelled = labelled(frame, &marks);
    for (index, (x, label)) in marks.iter().enumerate() {
        let x = frame.x_of(*x);
        let (top, bottom) = (frame.top, frame.bottom);
        let stroke = if labelled.contains(&index) {
            "#e3e6ea"
        } else {
            "#f4f5f7"
        };
        group.push(line((x, top), (x, bottom), stroke, 1.0));
        group.push(line((x, bottom), (x, bottom + 5.0), INK, 1.2));
        if labelled.contains(&index) {
            group.push(text(x, bottom + 21.0, 13.0, INK, "middle", label));
        }
    }
    let (from, to) = ((frame.left, frame.bottom), (frame.right, frame.bottom));
    group.push(line(from, to, INK, 1.2));
    let (x_title, y_title) = axis_titles(curves);
    let middle = (frame.left + frame.right) / 2.0;
    group.push(text(
        middle,
        frame.bottom + 44.0,
        14.0,
        INK,
        "middle",
        &x_title,
    ));
    let (x, y) = (22.0, (frame.top + frame.bottom) / 2.0);
    group.push(
        text(x, y, 14.0, INK, "middle", &y_title)
            .attribute("transform", &format!("rotate(-90 {x} {y})")),
    );
    group
}

/// Which ticks get a label: powers of two first, then the rest where there is room.
fn labelled(frame: &Frame, marks: &[(f64, &str)]) -> Vec<usize> {
    let power_of_two = |index: &usize| marks[*index].0.log2().fract() == 0.0;
    let (first, rest): (Vec<_>, Vec<_>) = (0..marks.len()).partition(power_of_two);
    let mut taken: Vec<(f64, f64, usize)> = Vec::new();
    for index in first.into_iter().chain(rest) {
        let (x, label) = marks[index];
        let (middle, half) = (frame.x_of(x), text_width(label, 13.0) / 2.0 + 3.0);
        let (low, high) = (middle - half, middle + half);
        if taken.iter().all(|(l, h, _)| high <= *l || low >= *h) {
            taken.push((low, high, index));
        }
    }
    taken.into_iter().map(|(_, _, index)| index).collect()
}

/// A tick's value without the noise of its floating-point product.
fn significant(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn ticks_are_round() {
        assert_eq!(significant(0.1 * 3.0), "0.3");
        assert_eq!(significant(4000.0), "4000");
        assert_eq!(significant(0.0), "0");
    }
}
