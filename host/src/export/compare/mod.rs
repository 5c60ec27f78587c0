//! A report beside an earlier one, for the terminal and in Markdown: one line per configuration that
//! both have, what makes the comparison questionable, and what it comes to.

mod columns;
mod differences;
mod sentences;

use super::{
    Paint, Style,
    layout::{drawing, style::printable},
    markdown::{self, escape},
};
use crate::{
    comparison::{Comparison, Pair, Sides, Verdict},
    report::Row,
};

/// Which of the two reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Before, Self::After];

    fn row<'a>(self, pair: &Pair<'a>) -> &'a Row {
        match self {
            Self::Before => pair.before,
            Self::After => pair.after,
        }
    }
}

/// What a side is called.
impl Sides<'_> {
    /// In the head of a column.
    fn column(&self, side: Side) -> &'static str {
        match (self, side) {
            (Self::RunAgainstFile(_), Side::Before) => "file",
            (Self::RunAgainstFile(_), Side::After) => "now",
            (Self::Files(..), Side::Before) => "first",
            (Self::Files(..), Side::After) => "second",
        }
    }

    /// As a place.
    fn place(&self, side: Side) -> &'static str {
        match (self, side) {
            (Self::RunAgainstFile(_), Side::Before) => "in the file",
            (Self::RunAgainstFile(_), Side::After) => "now",
            (Self::Files(..), Side::Before) => "in the first",
            (Self::Files(..), Side::After) => "in the second",
        }
    }

    fn heading(&self) -> String {
        match self {
            Self::RunAgainstFile(file) => format!("This run against {}", printable(&file.path)),
            Self::Files(first, second) => format!(
                "{} (the second) against {} (the first)",
                printable(&second.path),
                printable(&first.path)
            ),
        }
    }

    fn explanation(&self) -> &'static str {
        match self {
            Self::RunAgainstFile(_) => {
                "The ratio is the file's median time over this run's: above 1, this run is faster. \
                 It is within noise where the interquartile ranges overlap."
            }
            Self::Files(..) => {
                "The ratio is the first file's median time over the second's: above 1, the second is \
                 faster. It is within noise where the interquartile ranges overlap."
            }
        }
    }
}

/// The comparison for the terminal, as wide as it allows.
pub fn render(comparison: &Comparison, style: &Style) -> String {
    let line = |paint, text: &str| drawing::paragraph(paint, "", text, style);
    let mut text = line(Paint::Heading, &comparison.sides.heading());
    for difference in differences::differences(comparison) {
        text += &line(Paint::Caution, &difference);
    }
    if comparison.typical_ratios().is_some() {
        text += &line(Paint::Aside, comparison.sides.explanation());
    }
    if !comparison.pairs.is_empty() {
        let paint = |index: usize| match comparison.pairs[index].verdict() {
            Verdict::Faster => Paint::Good,
            Verdict::Slower => Paint::Bad,
            Verdict::WithinNoise | Verdict::Equal => Paint::Aside,
            Verdict::NoiseUnknown | Verdict::NoRatio => Paint::Caution,
        };
        let columns = columns::columns(comparison, style.unicode);
        let (table, left_out) = drawing::table(columns, &paint, style);
        text += &table;
        text += &drawing::left_out(&left_out, style);
    }
    for sentence in sentences::sentences(comparison, style.unicode) {
        let plain = Style {
            color: false,
            ..*style
        };
        text += &drawing::paragraph(Paint::Aside, "", &sentence, &plain);
    }
    text
}

/// The comparison as a section of Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let mut parts = vec![format!("### {}", escape(&comparison.sides.heading()))];
    let differences = differences::differences(comparison);
    if !differences.is_empty() {
        let items = differences.iter().map(|text| format!("- {}", escape(text)));
        parts.push(items.collect::<Vec<_>>().join("\n"));
    }
    if comparison.typical_ratios().is_some() {
        parts.push(escape(comparison.sides.explanation()));
    }
    if !comparison.pairs.is_empty() {
        let columns = columns::columns(comparison, true);
        parts.push(markdown::table(&columns).trim_end().to_owned());
    }
    let sentences = sentences::sentences(comparison, true);
    parts.extend(sentences.iter().map(|sentence| escape(sentence)));
    parts.join("\n\n") + "\n"
}
