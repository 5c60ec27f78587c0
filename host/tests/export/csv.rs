use csv::ReaderBuilder;
use warplab::export::{ExportError, csv::render};

use crate::reports::{h200, mixed, two_kernels};

#[test]
fn one_record_per_row() {
    insta::assert_snapshot!(render(&mixed()).expect("finite"));
}

#[test]
fn numbers_come_back_exactly() {
    let report = two_kernels();
    let text = render(&report).expect("finite");
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let headings = reader.headers().expect("headings").clone();
    let column = |name: &str| headings.iter().position(|h| h == name).expect("a column");
    let (rate, median) = (column("gb_per_s"), column("time.median_ns"));
    let records: Vec<_> = reader
        .records()
        .map(|record| record.expect("a record"))
        .collect();
    assert_eq!(records.len(), report.rows.len());
    for (record, row) in records.iter().zip(&report.rows) {
        assert_eq!(record[rate].parse(), Ok(row.gb_per_s.expect("a rate")));
        assert_eq!(
            record[median].parse(),
            Ok(row.time.as_ref().expect("a time").median_ns)
        );
    }
}

#[test]
fn columns_are_paths_of_the_json_report() {
    let report = mixed();
    let text = render(&report).expect("finite");
    let json = serde_json::to_value(&report).expect("JSON");
    for name in text.lines().next().expect("headings").split(',') {
        let path = format!("/{}", name.replace('.', "/"));
        let found = json["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .any(|row| row.pointer(&path).is_some())
            || json.pointer(&path).is_some();
        assert!(found, "{name} is nowhere in the JSON report");
    }
}

#[test]
fn nan_is_refused() {
    let mut report = two_kernels();
    report.rows[3].share_of_peak = Some(f64::NAN);
    match render(&report) {
        Err(ExportError::NotFinite(error)) => assert_eq!(error.path, "rows[3].share_of_peak"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn headings_without_rows() {
    assert_eq!(
        render(&h200(Vec::new())).expect("finite").lines().count(),
        1
    );
}
