//! A report read back from the file that `--json` wrote.

use std::{fs, str::FromStr, sync::Arc};

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

impl FromStr for SavedReport {
    type Err = String;

    /// Reads the file of that name, so that a wrong one is a mistake in the command line.
    fn from_str(path: &str) -> Result<Self, String> {
        let required = "a report is required, as --json FILE writes it";
        let text = fs::read(path).map_err(|error| format!("{required}: {error}"))?;
        let report = parse(&text).map_err(|reason| format!("{required}: {reason}"))?;
        Ok(Self {
            path: path.to_string(),
            report: Arc::new(report),
        })
    }
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
    Ok(report)
}
