use warplab::{
    export::{ExportError, json::render},
    report::Report,
};

use crate::reports::{latencies, mixed, two_kernels};

#[test]
fn whole_report() {
    let mut report = mixed();
    report.rows.drain(1..3);
    insta::assert_snapshot!(render(&report).expect("finite"));
}

#[test]
fn comes_back_as_it_was() {
    for report in [two_kernels(), mixed(), latencies()] {
        let text = render(&report).expect("finite");
        let read: Report = serde_json::from_str(&text).expect("a report");
        assert_eq!(read, report);
    }
}

/// serde_json writes null for NaN without a word: every floating-point figure must be refused.
#[test]
fn no_figure_may_be_nan_or_infinite() {
    type Set = fn(&mut Report, f64);
    let figures: [(&str, Set); 10] = [
        ("device.peak_gb_per_s", |r, v| {
            r.device.peak_gb_per_s = Some(v)
        }),
        ("rows[1].occupancy", |r, v| r.rows[1].occupancy = Some(v)),
        ("rows[1].gb_per_s", |r, v| r.rows[1].gb_per_s = Some(v)),
        ("rows[1].share_of_peak", |r, v| {
            r.rows[1].share_of_peak = Some(v)
        }),
        ("rows[1].time.median_ns", |r, v| time(r).median_ns = v),
        ("rows[1].time.lower_quartile_ns", |r, v| {
            time(r).lower_quartile_ns = v
        }),
        ("rows[1].time.upper_quartile_ns", |r, v| {
            time(r).upper_quartile_ns = v
        }),
        ("rows[1].time.minimum_ns", |r, v| time(r).minimum_ns = v),
        ("rows[1].time.maximum_ns", |r, v| time(r).maximum_ns = v),
        ("rows[1].time.relative_noise", |r, v| {
            time(r).relative_noise = v
        }),
    ];
    for (path, set) in figures {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut report = two_kernels();
            set(&mut report, value);
            match render(&report) {
                Err(ExportError::NotFinite(error)) => {
                    assert_eq!(error.path, path);
                    assert!(error.to_string().contains(&value.to_string()), "{error}");
                }
                other => panic!("{path} = {value}: {other:?}"),
            }
        }
    }
}

fn time(report: &mut Report) -> &mut warplab::report::Timing {
    report.rows[1].time.as_mut().expect("a time")
}
