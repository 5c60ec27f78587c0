//! No format carries NaN or infinity: JSON has no such number, and a reader of CSV would take one
//! for a result.

use crate::report::{DeviceDescription, Report, Row, Timing};

/// A figure of a report that is NaN or infinite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{path} is {value}: a report holds finite numbers only; leave the figure out (null) or report the \
     row as skipped or failed with the reason"
)]
pub struct NotFinite {
    /// Where, for example `rows[3].time.median_ns`.
    pub path: String,
    /// The value as text.
    pub value: String,
}

/// Checks every floating-point figure of a report.
///
/// The structures are taken apart without `..`, so that a field added to them does not compile
/// before somebody has decided here.
pub(in crate::export) fn check(report: &Report) -> Result<(), NotFinite> {
    let Report {
        schema: _,
        program: _,
        command: _,
        version: _,
        device,
        seed: _,
        rows,
        // Whole numbers and text only.
        records: _,
        conclusions: _,
    } = report;
    let DeviceDescription {
        name: _,
        times: _,
        compute_capability: _,
        sms: _,
        clock_khz: _,
        l2_bytes: _,
        memory_bytes: _,
        peak_gb_per_s,
        driver: _,
    } = device;
    number(*peak_gb_per_s, || "device.peak_gb_per_s".to_owned())?;
    rows.iter()
        .enumerate()
        .try_for_each(|(index, row)| check_row(index, row))
}

fn check_row(index: usize, row: &Row) -> Result<(), NotFinite> {
    let Row {
        kernel: _,
        elements: _,
        grid: _,
        block: _,
        // Values of serde_json: its numbers are finite by construction.
        axes: _,
        blocks_per_sm: _,
        occupancy,
        status: _,
        verified: _,
        time,
        bytes: _,
        gb_per_s,
        share_of_peak,
        share_of_read,
        launches: _,
        notes: _,
    } = row;
    let path = |field: &str| format!("rows[{index}].{field}");
    number(*occupancy, || path("occupancy"))?;
    number(*gb_per_s, || path("gb_per_s"))?;
    number(*share_of_peak, || path("share_of_peak"))?;
    number(*share_of_read, || path("share_of_read"))?;
    let Some(time) = time else { return Ok(()) };
    let Timing {
        times: _,
        cache: _,
        samples: _,
        median_ns,
        lower_quartile_ns,
        upper_quartile_ns,
        minimum_ns,
        maximum_ns,
        relative_noise,
        stopped_by: _,
        throttled: _,
    } = time;
    number(Some(*median_ns), || path("time.median_ns"))?;
    number(Some(*lower_quartile_ns), || path("time.lower_quartile_ns"))?;
    number(Some(*upper_quartile_ns), || path("time.upper_quartile_ns"))?;
    number(Some(*minimum_ns), || path("time.minimum_ns"))?;
    number(Some(*maximum_ns), || path("time.maximum_ns"))?;
    number(Some(*relative_noise), || path("time.relative_noise"))
}

fn number(value: Option<f64>, path: impl FnOnce() -> String) -> Result<(), NotFinite> {
    match value {
        Some(value) if !value.is_finite() => Err(NotFinite {
            path: path(),
            value: value.to_string(),
        }),
        _ => Ok(()),
    }
}
