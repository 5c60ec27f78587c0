//! Columns and lines as the terminal gets them.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{
    columns::Column,
    footnotes::wrap,
    style::{Paint, Style},
};

/// Draws columns, the last of them painted per row, and ends in a newline. Where the terminal is too
/// narrow, whole columns are left out, whose titles come back too; cells wrap only after that.
pub(in crate::export) fn table(
    mut columns: Vec<Column>,
    paint: &dyn Fn(usize) -> Paint,
    style: &Style,
) -> (String, Vec<String>) {
    let mut left_out = Vec::new();
    if let Some(width) = style.width {
        while natural_width(&columns) > usize::from(width) {
            let Some(index) = most_dispensable(&columns) else {
                break;
            };
            left_out.push(columns.remove(index).title);
        }
    }
    (draw(&columns, paint, style) + "\n", left_out)
}

/// The line that says which columns are missing; empty where none is.
pub(in crate::export) fn left_out(titles: &[String], style: &Style) -> String {
    if titles.is_empty() {
        return String::new();
    }
    let line = format!("left out to fit the terminal: {}", titles.join(", "));
    paragraph(Paint::Aside, "", &line, style)
}

/// A text behind a mark, wrapped to the terminal's width, ending in a newline.
pub(in crate::export) fn paragraph(paint: Paint, mark: &str, text: &str, style: &Style) -> String {
    let width = style.width.map_or(usize::MAX, usize::from);
    let indent = mark.chars().count();
    let mut lines = String::new();
    for (index, line) in wrap(text, width.saturating_sub(indent).max(20))
        .iter()
        .enumerate()
    {
        let lead = if index == 0 {
            mark.to_owned()
        } else {
            " ".repeat(indent)
        };
        lines.push_str(&style.paint(paint, &format!("{lead}{line}")));
        lines.push('\n');
    }
    lines
}

fn draw(columns: &[Column], paint: &dyn Fn(usize) -> Paint, style: &Style) -> String {
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
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let last = columns.len().saturating_sub(1);
    for row in 0..rows {
        table.add_row(columns.iter().enumerate().map(|(number, column)| {
            let cell = &column.cells[row];
            if number == last {
                style.paint(paint(row), cell)
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
