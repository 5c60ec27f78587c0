//! Arrows between two lines of lanes.

use super::element::{Element, coordinate};

/// Colour of a lane that kept its own value.
pub(super) const KEPT: &str = "#b0472c";

/// The arrows of one step: one path of lines and one of heads for each colour, since a figure has
/// thousands of them.
#[derive(Default)]
pub(super) struct Arrows {
    colors: Vec<(&'static str, String, String)>,
    kept: String,
}

impl Arrows {
    /// A line with its head at `to`.
    pub(super) fn add(&mut self, from: (f64, f64), to: (f64, f64), color: &'static str) {
        let (from, to) = ((from.0, from.1 + 0.5), (to.0, to.1 - 0.5));
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        let (head, half) = (4.6, 1.9);
        let base = (to.0 - ux * head, to.1 - uy * head);
        let point = |(x, y): (f64, f64)| format!("{} {}", coordinate(x), coordinate(y));
        let left = (base.0 - uy * half, base.1 + ux * half);
        let right = (base.0 + uy * half, base.1 - ux * half);
        let known = self.colors.iter().position(|(known, ..)| *known == color);
        let index = known.unwrap_or_else(|| {
            self.colors.push((color, String::new(), String::new()));
            self.colors.len() - 1
        });
        let (_, lines, heads) = &mut self.colors[index];
        *lines += &format!("M{}L{}", point(from), point(base));
        *heads += &format!("M{}L{}L{}Z", point(to), point(left), point(right));
    }

    /// A lane that keeps its own value.
    pub(super) fn keep(&mut self, x: f64, from: f64, to: f64) {
        let (x, from, to) = (coordinate(x), coordinate(from + 1.0), coordinate(to - 1.0));
        self.kept += &format!("M{x} {from}V{to}");
    }

    /// All of them, to be drawn before the cells.
    pub(super) fn draw(self) -> Element {
        let mut group = Element::new("g");
        if !self.kept.is_empty() {
            group.push(stroke("kept", &self.kept, KEPT).attribute("stroke-dasharray", "2 2.5"));
        }
        for (color, lines, heads) in &self.colors {
            group.push(stroke("arrows", lines, color).attribute("opacity", "0.85"));
            let heads = Element::new("path").attribute("d", heads);
            group.push(heads.attribute("fill", color));
        }
        group
    }
}

fn stroke(class: &str, path: &str, color: &str) -> Element {
    Element::new("path")
        .attribute("class", class)
        .attribute("d", path)
        .attribute("fill", "none")
        .attribute("stroke", color)
        .number("stroke-width", 0.9)
}
