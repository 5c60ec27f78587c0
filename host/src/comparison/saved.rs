//! A report read back from the file that `--json` wrote.

use std::{
    fs::File,
    io::{self, Read},
    str::FromStr,
    sync::Arc,
};

use serde_json::Value;

use crate::report::{Report, SCHEMA};

/// A report and the file that holds it.
#[derive(Debug, Clone)]
pub struct SavedReport {
    /// The file as the command line names it.
    pub path: String,
    /// The report: of this version's schema, with at least one row.
    pub report: Arc<Report>,
}

/// Longer than any report: a row has about 1 KiB.
const MOST_BYTES: u64 = 256 << 20;

/// No median is outside: 1 fs, and some thirty years.
const LEAST_NS: f64 = 1e-6;
const MOST_NS: f64 = 1e18;

impl FromStr for SavedReport {
    type Err = String;

    /// Reads the file of that name, so that a wrong one is a mistake in the command line.
    fn from_str(path: &str) -> Result<Self, String> {
        let required = "a report is required, as --json FILE writes it";
        let text = read(path).map_err(|error| format!("{required}: {error}"))?;
        let report = parse(&text).map_err(|reason| format!("{required}: {reason}"))?;
        Ok(Self {
            path: path.to_string(),
            report: Arc::new(report),
        })
    }
}

/// A device such as /dev/zero has no end.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut text)? as u64;
    if read > MOST_BYTES {
        return Err(io::Error::other("this is longer than 256 MiB"));
    }
    Ok(text)
}

fn parse(text: &[u8]) -> Result<Report, String> {
    let value: Value =
        serde_json::from_slice(text).map_err(|error| format!("this is not JSON: {error}"))?;
    match value.get("schema").map(Value::as_str) {
        Some(Some(SCHEMA)) => {}
        Some(Some(other)) => {
            return Err(format!(
                "its schema has to be {SCHEMA}, and this one's is {other}"
            ));
        }
        _ => return Err(format!("its schema has to be {SCHEMA}, and this has none")),
    }
    let report: Report = serde_json::from_value(value)
        .map_err(|error| format!("this does not follow {SCHEMA}: {error}"))?;
    if report.rows.is_empty() {
        return Err("this one has no rows to compare with".to_string());
    }
    for (number, row) in report.rows.iter().enumerate() {
        if let Some(time) = &row.time
            && !(time.minimum_ns > 0.0
                && time.minimum_ns <= time.lower_quartile_ns
                && time.lower_quartile_ns <= time.median_ns
                && time.median_ns <= time.upper_quartile_ns
                && time.upper_quartile_ns <= time.maximum_ns
                && (LEAST_NS..=MOST_NS).contains(&time.median_ns))
        {
            return Err(format!(
                "row {number} has impossible times: they have to be in order from minimum to maximum, and \
                 the median between {LEAST_NS:e} and {MOST_NS:e} ns"
            ));
        }
    }
    Ok(report)
}
