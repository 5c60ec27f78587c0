//! One record per row. A column is named by its path in the JSON report (`time.median_ns`,
//! `block.x`), so that the schema documents it, and the device stands in every record, so that the
//! files of several devices can be put together.

use ::csv::Writer;
use serde_json::Value;

use super::{
    ExportError, Format,
    layout::{columns::axis_names, figures::axis_value, finite, footnotes::stage_name},
};
use crate::report::{Cache, Report, Row, Status, Times};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    extension: Some("csv"),
    about: "one record per configuration",
    render: |report, _| render(report),
};

/// A column's name and what a row has there; empty where it has nothing.
type Column<'a> = (String, Box<dyn Fn(&Row) -> String + 'a>);

/// A heading and one record per row, as RFC 4180 has it but with plain newlines.
///
/// # Errors
/// If a figure is NaN or infinite.
pub fn render(report: &Report) -> Result<String, ExportError> {
    finite::check(report)?;
    let columns = columns(report);
    let mut writer = Writer::from_writer(Vec::new());
    let encoder = |message: String| ExportError::Encoder {
        format: FORMAT.name,
        message,
    };
    writer
        .write_record(columns.iter().map(|(name, _)| name))
        .map_err(|error| encoder(error.to_string()))?;
    for row in &report.rows {
        writer
            .write_record(columns.iter().map(|(_, cell)| cell(row)))
            .map_err(|error| encoder(error.to_string()))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| encoder(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| encoder(error.to_string()))
}

fn columns(report: &Report) -> Vec<Column<'_>> {
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut add =
        |name: &str, cell: Box<dyn Fn(&Row) -> String>| columns.push((name.to_owned(), cell));
    let device = report.device.name.clone();
    add("device.name", Box::new(move |_| device.clone()));
    add("kernel", Box::new(|row| row.kernel.clone()));
    add("elements", Box::new(|row| row.elements.to_string()));
    add("grid.x", Box::new(|row| row.grid.x.to_string()));
    add("grid.y", Box::new(|row| row.grid.y.to_string()));
    add("grid.z", Box::new(|row| row.grid.z.to_string()));
    add("block.x", Box::new(|row| row.block.x.to_string()));
    add("block.y", Box::new(|row| row.block.y.to_string()));
    add("block.z", Box::new(|row| row.block.z.to_string()));
    for name in axis_names(&report.rows) {
        let axis = name.clone();
        add(
            &format!("axes.{name}"),
            Box::new(move |row| match row.axes.get(&axis) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => axis_value(value),
                None => String::new(),
            }),
        );
    }
    add("blocks_per_sm", Box::new(|row| optional(row.blocks_per_sm)));
    add("occupancy", Box::new(|row| optional(row.occupancy)));
    add("status", Box::new(|row| status(row).0.to_owned()));
    add("stage", Box::new(|row| status(row).1.to_owned()));
    add("reason", Box::new(|row| status(row).2.to_owned()));
    add("verified", Box::new(|row| row.verified.to_string()));
    add(
        "time.times",
        timing(|time| match time.times {
            Times::Measured => "measured".to_owned(),
            Times::Modelled => "modelled".to_owned(),
        }),
    );
    add(
        "time.cache",
        timing(|time| match time.cache {
            Cache::Cold => "cold".to_owned(),
            Cache::Hot => "hot".to_owned(),
        }),
    );
    add("time.samples", timing(|time| time.samples.to_string()));
    add("time.median_ns", timing(|time| time.median_ns.to_string()));
    add(
        "time.lower_quartile_ns",
        timing(|time| time.lower_quartile_ns.to_string()),
    );
    add(
        "time.upper_quartile_ns",
        timing(|time| time.upper_quartile_ns.to_string()),
    );
    add(
        "time.minimum_ns",
        timing(|time| time.minimum_ns.to_string()),
    );
    add(
        "time.maximum_ns",
        timing(|time| time.maximum_ns.to_string()),
    );
    add(
        "time.relative_noise",
        timing(|time| time.relative_noise.to_string()),
    );
    add("time.stopped_by", timing(|time| time.stopped_by.clone()));
    add("time.throttled", timing(|time| time.throttled.to_string()));
    add("bytes", Box::new(|row| optional(row.bytes)));
    add("gb_per_s", Box::new(|row| optional(row.gb_per_s)));
    add("share_of_peak", Box::new(|row| optional(row.share_of_peak)));
    // Columns of programs that report such.
    if report.rows.iter().any(|row| row.share_of_read.is_some()) {
        add("share_of_read", Box::new(|row| optional(row.share_of_read)));
    }
    if report.rows.iter().any(|row| row.launches.is_some()) {
        add("launches", Box::new(|row| optional(row.launches)));
    }
    add("notes", Box::new(|row| row.notes.join("; ")));
    columns
}

/// A column of the row's timing.
fn timing(
    cell: impl Fn(&crate::report::Timing) -> String + 'static,
) -> Box<dyn Fn(&Row) -> String> {
    Box::new(move |row| row.time.as_ref().map(&cell).unwrap_or_default())
}

/// Status, stage and reason; empty where there is none.
fn status(row: &Row) -> (&str, &str, &str) {
    match &row.status {
        Status::Ok => ("ok", "", ""),
        Status::Skipped { reason } => ("skipped", "", reason),
        Status::Failed { stage, reason } => ("failed", stage_name(*stage), reason),
    }
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
