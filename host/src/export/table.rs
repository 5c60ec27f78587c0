//! The table in the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{
    Format, Paint, Style,
    layout::{
        columns::{Column, columns},
        footnotes::{Footnotes, wrap},
    },
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
    let mut columns = columns(report, &footnotes, style.unicode);
    let mut left_out = Vec::new();
    if let Some(width) = style.width {
        while natural_width(&columns) > usize::from(width) {
            let Some(index) = most_dispensable(&columns) else {
                break;
            };
            left_out.push(columns.remove(index).title);
        }
    }
    let mut text = draw(report, &columns, style);
    text.push('\n');
    let mut aside = |mark: &str, line: &str| {
        let width = style.width.map_or(usize::MAX, usize::from);
        let indent = mark.chars().count();
        for (index, line) in wrap(line, width.saturating_sub(indent).max(20))
            .iter()
            .enumerate()
        {
            let lead = if index == 0 {
                mark.to_owned()
            } else {
                " ".repeat(indent)
            };
            text.push_str(&style.paint(Paint::Aside, &format!("{lead}{line}")));
            text.push('\n');
        }
    };
    for (index, note) in footnotes.texts.iter().enumerate() {
        aside(&format!("[{}] ", index + 1), note);
    }
    if !left_out.is_empty() {
        aside(
            "",
            &format!("left out to fit the terminal: {}", left_out.join(", ")),
        );
    }
    text
}

fn draw(report: &Report, columns: &[Column], style: &Style) -> String {
    let mut table = Table::new();
    table.load_style(if style.unicode {
        presets::UTF8_FULL_CONDENSED.with_rounded_corners()
    } else {
        presets::ASCII_FULL_CONDENSED
    });
    match style.width {
        Some(width) => table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    table.set_header(
        columns
            .iter()
            .map(|c| style.paint(Paint::Heading, &c.title)),
    );
    for (index, row) in report.rows.iter().enumerate() {
        let paint = match (&row.status, row.verified) {
            (Status::Ok, true) => Paint::Good,
            (Status::Ok, false) | (Status::Skipped { .. }, _) => Paint::Caution,
            (Status::Failed { .. }, _) => Paint::Bad,
        };
        let last = columns.len() - 1;
        table.add_row(columns.iter().enumerate().map(|(number, column)| {
            let cell = &column.cells[index];
            if number == last {
                style.paint(paint, cell)
            } else {
                cell.clone()
            }
        }));
    }
    for (number, column) in columns.iter().enumerate() {
        if let (true, Some(drawn)) = (column.numeric, table.column_mut(number)) {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Width of the table with every cell on one line: a border and two spaces per column.
fn natural_width(columns: &[Column]) -> usize {
    let content = |column: &Column| {
        let cells = column.cells.iter().chain([&column.title]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    columns
        .iter()
        .map(|column| content(column) + 3)
        .sum::<usize>()
        + 1
}

/// The column to leave out next, if any may be.
fn most_dispensable(columns: &[Column]) -> Option<usize> {
    (0..columns.len())
        .filter(|index| columns[*index].dispensable > 0)
        .max_by_key(|index| columns[*index].dispensable)
}
