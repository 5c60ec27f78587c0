//! Reports side by side: which rows belong together, and how that is shown.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use warplab::{
    comparison::{Comparison, Pair, SavedReport, Verdict},
    export::{
        Style,
        compare::{markdown, render},
    },
    launch::Dim3,
    report::{Cache, Report, Row, Stage},
};

use crate::{
    reports::{failed, h200, row, simulated, skipped, two_kernels},
    table::without_escapes,
};

fn saved(path: &str, report: Report) -> SavedReport {
    SavedReport {
        path: path.to_owned(),
        report: Arc::new(report),
    }
}

/// Compares a run with a file and hands the comparison on.
fn against<T>(before: Report, after: &Report, then: impl FnOnce(&Comparison) -> T) -> T {
    let files = [saved("old.json", before)];
    then(&Comparison::asked(&files, after).expect("a file is given"))
}

/// Per pair the GB/s of both, which tell rows of these tests apart.
fn rates(comparison: &Comparison) -> Vec<(f64, f64)> {
    let rate = |row: &Row| row.gb_per_s.unwrap_or(0.0);
    let pairs = comparison.pairs.iter();
    pairs
        .map(|pair| (rate(pair.before), rate(pair.after)))
        .collect()
}

fn with(mut row: Row, axis: &str, value: Value) -> Row {
    row.axes.insert(axis.to_owned(), value);
    row
}

fn with_grid(mut row: Row, grid: u32) -> Row {
    row.grid = Dim3::from(grid);
    row
}

/// The row with these quartiles in percent of its median.
fn with_quartiles(mut row: Row, lower: f64, upper: f64) -> Row {
    let time = row.time.as_mut().expect("a time");
    time.lower_quartile_ns = time.median_ns * lower / 100.0;
    time.upper_quartile_ns = time.median_ns * upper / 100.0;
    row
}

/// Every verdict, rows that only one side has, and a device of another name.
fn before_and_after() -> (Report, Report) {
    let mut unverified = row("saxpy", 1024, 2400.0);
    unverified.verified = false;
    let mut before = h200(vec![
        row("saxpy", 32, 2000.0),
        row("saxpy", 64, 3000.0),
        row("saxpy", 128, 2500.0),
        failed("saxpy", 256, Stage::Launch, "too large"),
        skipped("saxpy", 512, "not run"),
        row("saxpy", 1024, 2400.0),
        row("saxpy_unrolled", 32, 2000.0),
        row("saxpy_unrolled", 64, 2100.0),
    ]);
    before.version = "0.0.9".to_owned();
    before.device.name = "NVIDIA A100".to_owned();
    let after = h200(vec![
        row("saxpy", 32, 2500.0),
        row("saxpy", 64, 2400.0),
        row("saxpy", 128, 2510.0),
        row("saxpy", 256, 2400.0),
        skipped("saxpy", 512, "not run"),
        unverified,
        row("vector_add", 32, 638.0),
    ]);
    (before, after)
}

#[test]
fn a_run_against_a_file() {
    let (before, after) = before_and_after();
    let text = against(before, &after, |comparison| {
        render(comparison, &Style::PLAIN)
    });
    insta::assert_snapshot!(text);
}

#[test]
fn two_files_in_markdown() {
    let (before, after) = before_and_after();
    let files = [saved("a_1.json", before), saved("b|2.json", after)];
    let other = two_kernels();
    let comparison = Comparison::asked(&files, &other).expect("two files");
    insta::assert_snapshot!(markdown(&comparison));
}

#[test]
fn ascii_and_narrow() {
    let (before, mut after) = before_and_after();
    after.rows[0].grid = Dim3::from(77);
    for width in 60..160 {
        let style = Style {
            color: true,
            unicode: false,
            width: Some(width),
        };
        let text = against(before.clone(), &after, |comparison| {
            render(comparison, &style)
        });
        assert!(text.is_ascii(), "{text}");
        for line in without_escapes(&text).lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
        if width < 80 {
            let plain = without_escapes(&text).replace('\n', " ");
            assert!(
                plain.contains("left out to fit the terminal: quartiles"),
                "{text}"
            );
        }
    }
}

#[test]
fn ratio_is_the_earlier_time_over_the_later() {
    let before = h200(vec![row("saxpy", 32, 1000.0)]);
    let after = h200(vec![row("saxpy", 32, 2000.0)]);
    against(before, &after, |comparison| {
        let ratio = comparison.pairs[0].ratio().expect("two times");
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
        assert_eq!(comparison.pairs[0].verdict(), Verdict::Faster);
    });
}

#[test]
fn touching_quartiles_are_within_noise() {
    let quartiles = |rate, lower, upper| with_quartiles(row("saxpy", 32, rate), lower, upper);
    // 1 % slower: 101 at best against 101 at worst, and then just apart.
    let before = quartiles(1010.0, 100.0, 101.0);
    for (lower, expected) in [(100.0, Verdict::WithinNoise), (100.1, Verdict::Slower)] {
        let after = quartiles(1000.0, lower, 102.0);
        let pair = Pair {
            before: &before,
            after: &after,
        };
        assert_eq!(pair.verdict(), expected, "{lower}");
    }
    let after = quartiles(1000.0, 100.1, 102.0);
    let back = Pair {
        before: &after,
        after: &before,
    };
    assert_eq!(back.verdict(), Verdict::Faster);
}

#[test]
fn modelled_times_have_no_noise_and_one_sample_does_not_tell_it() {
    let report = simulated(vec![row("saxpy", 32, 100.0)]);
    against(report.clone(), &report, |comparison| {
        assert_eq!(comparison.pairs[0].verdict(), Verdict::Equal);
    });
    let mut once = row("saxpy", 32, 100.0);
    once.time.as_mut().expect("a time").samples = 1;
    let pair = Pair {
        before: &row("saxpy", 32, 50.0),
        after: &once,
    };
    assert_eq!(pair.verdict(), Verdict::NoiseUnknown);
    assert!(pair.ratio().is_some());
}

#[test]
fn no_ratio_without_two_verified_times() {
    let mut nothing = row("saxpy", 32, 100.0);
    nothing.time.as_mut().expect("a time").median_ns = 0.0;
    let mut unverified = row("saxpy", 32, 100.0);
    unverified.verified = false;
    let mut untimed = row("saxpy", 32, 100.0);
    untimed.time = None;
    let good = row("saxpy", 32, 100.0);
    for other in [
        &nothing,
        &unverified,
        &untimed,
        &skipped("saxpy", 32, "not run"),
        &failed("saxpy", 32, Stage::Time, "lost"),
    ] {
        for (before, after) in [(other, &good), (&good, other)] {
            let pair = Pair { before, after };
            assert_eq!((pair.ratio(), pair.verdict()), (None, Verdict::NoRatio));
        }
    }
}

#[test]
fn settings_tell_configurations_apart_whatever_their_order() {
    let unroll = |factor: u32, rate| with(row("saxpy", 64, rate), "unroll", json!(factor));
    let before = h200(vec![unroll(1, 100.0), unroll(2, 200.0), unroll(4, 400.0)]);
    let after = h200(vec![unroll(2, 201.0), unroll(8, 800.0), unroll(1, 101.0)]);
    against(before, &after, |comparison| {
        assert_eq!(rates(comparison), [(200.0, 201.0), (100.0, 101.0)]);
        let text = render(comparison, &Style::PLAIN);
        for part in [
            "Only in the file (1): saxpy, unroll 4, block 64",
            "Only now (1): saxpy, unroll 8, block 64",
            "┆ unroll ┆",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    });
}

#[test]
fn one_other_setting_is_another_configuration() {
    let typed = |name: &str| h200(vec![with(row("sum", 64, 100.0), "type", json!(name))]);
    against(typed("f32"), &typed("i32"), |comparison| {
        assert!(comparison.pairs.is_empty());
        let text = render(comparison, &Style::PLAIN);
        assert!(
            text.contains("Only in the file (1): sum, type f32, block 64"),
            "{text}"
        );
        assert!(text.contains("No configuration is in both."), "{text}");
    });
}

#[test]
fn findings_tell_nothing_apart() {
    let launch = |taken: u64, share: f64| {
        let row = with(row("block_order", 64, 100.0), "tail_ns", json!(taken));
        let mut report = h200(vec![with(row, "share", json!(share))]);
        report.program = "order".to_owned();
        report
    };
    against(launch(5, 0.5), &launch(6, 0.25), |comparison| {
        assert_eq!(comparison.pairs.len(), 1);
    });
}

#[test]
fn the_grid_decides_where_nothing_else_does() {
    let strided = |grid, rate| with_grid(row("saxpy", 64, rate), grid);
    let before = h200(vec![strided(132, 100.0), strided(264, 200.0)]);
    let after = h200(vec![strided(264, 201.0), strided(528, 300.0)]);
    against(before, &after, |comparison| {
        assert_eq!(rates(comparison), [(200.0, 201.0)]);
        let text = render(comparison, &Style::PLAIN);
        assert!(
            text.contains("Only in the file (1): saxpy, grid 132, block 64"),
            "{text}"
        );
        assert!(
            text.contains("Only now (1): saxpy, grid 528, block 64"),
            "{text}"
        );
    });
}

#[test]
fn a_default_grid_may_differ_and_is_said() {
    let strided = |grid| h200(vec![with_grid(row("saxpy", 64, 100.0), grid)]);
    against(strided(132), &strided(264), |comparison| {
        let text = render(comparison, &Style::PLAIN);
        assert!(text.contains("other grid\n"), "{text}");
        assert!(text.contains("132 → 264"), "{text}");
    });
}

#[test]
fn equal_configurations_pair_off_in_order() {
    let twice = |first, second| h200(vec![row("saxpy", 64, first), row("saxpy", 64, second)]);
    against(twice(100.0, 200.0), &twice(101.0, 201.0), |comparison| {
        assert_eq!(rates(comparison), [(100.0, 101.0), (200.0, 201.0)]);
    });
}

#[test]
fn what_makes_a_comparison_questionable_is_said() {
    let rows = || vec![row("saxpy", 32, 100.0), row("saxpy", 64, 100.0)];
    let text = |change: &dyn Fn(&mut Report)| {
        let mut after = h200(rows());
        change(&mut after);
        against(h200(rows()), &after, |comparison| {
            render(comparison, &Style::PLAIN)
        })
    };
    assert!(!text(&|_| ()).contains("other"));
    let hot = |report: &mut Report, row: usize| {
        report.rows[row].time.as_mut().expect("a time").cache = Cache::Hot;
    };
    type Change<'a> = &'a dyn Fn(&mut Report);
    let cases: [(&str, Change); 6] = [
        (
            "other device: NVIDIA H200 in the file, simulated T4 now\n\
             other kind of times: measured in the file, modelled now\n",
            &|report| *report = simulated(rows()),
        ),
        (
            "other device: 132 SMs at 1.98 GHz in the file, 16 SMs at 1.98 GHz now\n",
            &|report| report.device.sms = 16,
        ),
        (
            "other driver: for CUDA 13.0 in the file, for CUDA 12.4 now\n",
            &|report| report.device.driver = Some("12.4".to_owned()),
        ),
        (
            "other version of warplab: 0.1.0 in the file, 0.2.0 now\n",
            &|report| report.version = "0.2.0".to_owned(),
        ),
        (
            "other state of the L2 cache: cold in the file, hot now\n",
            &|report| (0..2).for_each(|row| hot(report, row)),
        ),
        (
            "other state of the L2 cache: cold in the file, hot now, in 1 of 2 configurations\n",
            &|report| hot(report, 1),
        ),
    ];
    for (expected, change) in cases {
        let text = text(change);
        assert!(text.contains(expected), "{expected}in\n{text}");
    }
}

#[test]
fn a_difference_never_stands_beside_a_ratio_of_1() {
    let modelled = |rate| simulated(vec![row("saxpy", 32, rate)]);
    let mut after = modelled(100.0);
    let time = after.rows[0].time.as_mut().expect("a time");
    for figure in [
        &mut time.median_ns,
        &mut time.lower_quartile_ns,
        &mut time.upper_quartile_ns,
    ] {
        *figure *= 1.0001;
    }
    let mut before = modelled(100.0);
    for report in [&mut before, &mut after] {
        let time = report.rows[0].time.as_mut().expect("a time");
        (time.lower_quartile_ns, time.upper_quartile_ns) = (time.median_ns, time.median_ns);
    }
    let text = against(before, &after, |comparison| {
        render(comparison, &Style::PLAIN)
    });
    assert!(text.contains("0.9999 ┆ slower"), "{text}");
}

#[test]
fn middle_and_mean_of_the_ratios() {
    let before = [100.0, 100.0, 100.0, 100.0];
    let after = [100.0, 200.0, 400.0, 50.0];
    let report = |rates: [f64; 4]| {
        let blocks = [32, 64, 128, 256];
        let rows = blocks.into_iter().zip(rates);
        h200(
            rows.map(|(block, rate)| row("saxpy", block, rate))
                .collect(),
        )
    };
    against(report(before), &report(after), |comparison| {
        // Ratios 1, 2, 4 and 0.5: the middle is 1.5, the fourth root of 4 is 1.414.
        let (median, mean) = comparison.typical_ratios().expect("ratios");
        assert!((median - 1.5).abs() < 1e-12 && (mean - 2f64.sqrt()).abs() < 1e-12);
        let text = render(comparison, &Style::PLAIN);
        let closing = "4 configurations of 256 Mi elements in both: 2 faster, 1 slower, 1 within noise; \
                       median ratio 1.500, geometric mean 1.414.\n";
        assert!(text.ends_with(closing), "{text}");
    });
}

#[test]
fn recorded_reports_match_themselves() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/nvidia-h200");
    for name in ["sweep", "geometry", "clocks", "thread-map", "order", "tile"] {
        let path = results.join(format!("{name}.json"));
        let file: SavedReport = path.to_str().expect("UTF-8").parse().expect("a report");
        let report = (*file.report).clone();
        let files = [file];
        let comparison = Comparison::asked(&files, &report).expect("a file");
        assert_eq!(comparison.pairs.len(), report.rows.len(), "{name}");
        for pair in &comparison.pairs {
            assert_eq!(pair.before, pair.after, "{name}");
            assert!(pair.ratio().is_none_or(|ratio| ratio == 1.0));
        }
    }
}

#[test]
fn escape_sequences_of_a_file_do_not_reach_the_terminal() {
    let hostile = "\x1b[31mred";
    let mut before = h200(vec![row(hostile, 32, 100.0), row("saxpy", 32, 1.0)]);
    before.device.name = hostile.to_owned();
    before.version = hostile.to_owned();
    let mut after = h200(vec![
        with(row(hostile, 32, 101.0), hostile, json!(hostile)),
        with(row("saxpy", 32, 1.0), hostile, json!("x")),
    ]);
    after.version = format!("{hostile} again");
    let text = against(before, &after, |comparison| {
        render(comparison, &Style::PLAIN)
    });
    assert!(!text.contains('\x1b'), "{text:?}");
}
