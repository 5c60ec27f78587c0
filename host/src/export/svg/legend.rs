//! The curves' looks, and the legend between heading and plot.

use super::{
    INK,
    element::{Element, coordinate, line, shorten, text, text_width},
};
use crate::export::layout::curves::Curves;

/// Okabe and Ito's palette, which stays distinct under the common kinds of colour blindness
/// ("Color Universal Design", 2008), without its yellow, too faint on white, and with grey.
const COLORS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7a7a7a",
];

/// How a curve is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Appearance {
    pub(super) color: &'static str,
    /// `stroke-dasharray`; empty for a solid line.
    pub(super) dashes: &'static str,
    shape: usize,
}

/// The look of the curve of that number: colours repeat after 8, then with dashes and other
/// markers, so that curves stay distinct in print without colour as well.
pub(super) fn appearance(number: usize) -> Appearance {
    let round = number / COLORS.len();
    Appearance {
        color: COLORS[number % COLORS.len()],
        dashes: ["", "8 4", "2 3"][round % 3],
        shape: (number + round) % 5,
    }
}

/// A marker: circle, square, triangle, diamond or inverted triangle.
pub(super) fn marker(look: Appearance, x: f64, y: f64) -> Element {
    let polygon = |offsets: &[(f64, f64)]| {
        let points: Vec<_> = offsets
            .iter()
            .map(|(dx, dy)| format!("{},{}", coordinate(x + dx), coordinate(y + dy)))
            .collect();
        Element::new("polygon").attribute("points", &points.join(" "))
    };
    let shape = match look.shape {
        0 => Element::new("circle")
            .number("cx", x)
            .number("cy", y)
            .number("r", 4.5),
        1 => polygon(&[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)]),
        2 => polygon(&[(0.0, -5.5), (5.2, 3.8), (-5.2, 3.8)]),
        3 => polygon(&[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)]),
        _ => polygon(&[(0.0, 5.5), (5.2, -3.8), (-5.2, -3.8)]),
    };
    shape
        .attribute("fill", look.color)
        .attribute("stroke", "#ffffff")
        .number("stroke-width", 1.0)
}

/// The legend's entries with their places.
pub(super) struct Legend {
    entries: Vec<(f64, f64, Option<Appearance>, String)>,
    /// Its height; it grows with the entries, and the plot moves down.
    pub(super) height: f64,
}

const LINE: f64 = 21.0;
/// Sample of the line, and the gap to the label.
const SAMPLE: f64 = 30.0;

impl Legend {
    /// Entries side by side, in columns of the longest one's width.
    pub(super) fn layout(curves: &Curves, left: f64, right: f64) -> Self {
        let mut labels: Vec<_> = curves
            .curves
            .iter()
            .enumerate()
            .map(|(number, curve)| (Some(appearance(number)), shorten(&curve.label, 60)))
            .collect();
        if curves.points().any(|point| point.value.is_none()) {
            labels.push((None, "failed or skipped".to_owned()));
        }
        let widths = labels
            .iter()
            .map(|(_, label)| text_width(label, 13.0) + SAMPLE + 26.0);
        let width = widths.fold(1.0, f64::max);
        let per_line = (((right - left) / width) as usize).max(1);
        let height = labels.len().div_ceil(per_line) as f64 * LINE;
        let entries = labels
            .into_iter()
            .enumerate()
            .map(|(index, (look, label))| {
                let x = left + (index % per_line) as f64 * width;
                (x, (index / per_line) as f64 * LINE, look, label)
            })
            .collect();
        Self { entries, height }
    }

    /// The legend with its top at `y`.
    pub(super) fn draw(&self, y: f64) -> Element {
        let mut group = Element::new("g").attribute("class", "legend");
        for (x, dy, look, label) in &self.entries {
            let (x, y) = (*x, y + dy + LINE / 2.0);
            match look {
                Some(look) => {
                    let sample = line((x, y), (x + 24.0, y), look.color, 2.0);
                    group.push(if look.dashes.is_empty() {
                        sample
                    } else {
                        sample.attribute("stroke-dasharray", look.dashes)
                    });
                    group.push(marker(*look, x + 12.0, y));
                }
                None => group.push(text(x + 12.0, y + 5.0, 16.0, INK, "middle", "×")),
            }
            group.push(text(x + SAMPLE, y + 4.5, 13.0, INK, "start", label));
        }
        group
    }
}

/// Whether dark text reads better on a colour `#rrggbb` than white (luma of Rec. 601).
pub(super) fn is_light(color: &str) -> bool {
    let channel = |at: usize| {
        let digits = color.get(at..at + 2).unwrap_or("0");
        f64::from(u8::from_str_radix(digits, 16).unwrap_or(0))
    };
    0.299 * channel(1) + 0.587 * channel(3) + 0.114 * channel(5) > 140.0
}
