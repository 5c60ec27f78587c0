//! The report as JSON, under the schema in `schema/report.schema.json`.

use super::{ExportError, Format, layout::finite};
use crate::report::Report;

pub(super) const FORMAT: Format = Format {
    name: "json",
    extension: Some("json"),
    about: "everything, under the schema of schema/report.schema.json",
    render: |report, _| render(report),
};

/// The JSON Schema (2020-12) that every rendered report satisfies.
pub const SCHEMA_TEXT: &str = include_str!("../../../schema/report.schema.json");

/// The report, indented, with a newline at its end.
///
/// # Errors
/// If a figure is NaN or infinite: serde_json would write `null` for it, as if it were unknown.
pub fn render(report: &Report) -> Result<String, ExportError> {
    finite::check(report)?;
    let mut text = serde_json::to_string_pretty(report).map_err(|error| ExportError::Encoder {
        format: FORMAT.name,
        message: error.to_string(),
    })?;
    text.push('\n');
    Ok(text)
}
