//! XML elements with everything escaped.

use crate::export::layout::style::printable;

/// An element; attributes and text are escaped as they are added.
pub(super) struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

impl Element {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: String::new(),
            content: String::new(),
        }
    }

    pub(super) fn attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes += &format!(" {name}=\"{}\"", escape(value));
        self
    }

    /// A coordinate or length in user units, to a hundredth.
    pub(super) fn number(self, name: &str, value: f64) -> Self {
        self.attribute(name, &coordinate(value))
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.content += &escape(text);
        self
    }

    pub(super) fn child(mut self, child: Element) -> Self {
        self.push(child);
        self
    }

    pub(super) fn push(&mut self, child: Element) {
        self.content += &child.source();
        self.content.push('\n');
    }

    fn source(&self) -> String {
        let Self {
            name,
            attributes,
            content,
        } = self;
        if content.is_empty() {
            return format!("<{name}{attributes}/>");
        }
        // Groups get a line of their own; text must not gain white space.
        let lead = if matches!(*name, "svg" | "g") {
            "\n"
        } else {
            ""
        };
        format!("<{name}{attributes}>{lead}{content}</{name}>")
    }

    /// The whole document.
    pub(super) fn document(&self) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
            self.source()
        )
    }
}

/// A number to a hundredth, without trailing zeros.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A line of text, `anchor` being `start`, `middle` or `end`.
pub(super) fn text(x: f64, y: f64, size: f64, fill: &str, anchor: &str, content: &str) -> Element {
    Element::new("text")
        .number("x", x)
        .number("y", y)
        .number("font-size", size)
        .attribute("fill", fill)
        .attribute("text-anchor", anchor)
        .text(content)
}

pub(super) fn line(from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) -> Element {
    Element::new("line")
        .number("x1", from.0)
        .number("y1", from.1)
        .number("x2", to.0)
        .number("y2", to.1)
        .attribute("stroke", stroke)
        .number("stroke-width", width)
}

/// A width that a line of text stays within in the usual sans-serif fonts.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.62
}

/// At most `most` characters, the last an ellipsis where some are left out.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

fn escape(text: &str) -> String {
    printable(text)
        // Not characters of XML 1.0 (section 2.2).
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
