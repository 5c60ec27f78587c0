//! The table in the terminal.

use super::{
    Format, Paint, Style,
    layout::{columns::columns, drawing, footnotes::Footnotes},
};
use crate::report::{Report, Status};

pub(super) const FORMAT: Format = Format {
    name: "table",
    extension: None,
    about: "a table for the terminal",
    render: |report, style| Ok(render(report, style)),
};

/// One line per row of the report, then its reasons and notes as footnotes. Where the terminal is
/// too narrow, whole columns are left out, and a line says which; cells wrap only after that.
pub fn render(report: &Report, style: &Style) -> String {
    if report.rows.is_empty() {
        return "no configuration was run\n".to_owned();
    }
    let footnotes = Footnotes::of(report);
    let paint = |index: usize| {
        let row = &report.rows[index];
        match (&row.status, row.verified) {
            (Status::Ok, true) => Paint::Good,
            (Status::Ok, false) | (Status::Skipped { .. }, _) => Paint::Caution,
            (Status::Failed { .. }, _) => Paint::Bad,
        }
    };
    let columns = columns(report, &footnotes, style.unicode);
    let (mut text, left_out) = drawing::table(columns, &paint, style);
    for (index, note) in footnotes.texts.iter().enumerate() {
        let mark = format!("[{}] ", index + 1);
        text += &drawing::paragraph(Paint::Aside, &mark, note, style);
    }
    text + &drawing::left_out(&left_out, style)
}
