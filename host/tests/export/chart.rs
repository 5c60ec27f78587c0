use warplab::{
    export::{Style, chart::render},
    report::Stage,
};

use crate::{
    reports::{failed, h200, latencies, mixed, row, simulated, two_kernels},
    table::without_escapes,
};

#[test]
fn kernels_and_blocks() {
    insta::assert_snapshot!(render(&two_kernels(), &Style::PLAIN));
}

#[test]
fn failed_rows_say_so() {
    insta::assert_snapshot!(render(&mixed(), &Style::PLAIN));
}

#[test]
fn times_alone() {
    insta::assert_snapshot!(render(&latencies(), &Style::PLAIN));
}

#[test]
fn ascii() {
    let style = Style {
        unicode: false,
        width: Some(60),
        ..Style::PLAIN
    };
    let text = render(&two_kernels(), &style);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn bars_are_as_long_as_their_values() {
    let report = h200(vec![
        row("k", 32, 1200.0),
        row("k", 64, 2400.0),
        row("k", 128, 4800.0),
    ]);
    let text = render(&report, &Style::PLAIN);
    let bars: Vec<_> = text.lines().filter(|line| line.contains('█')).collect();
    let full = |line: &str| line.matches('█').count() as f64;
    // The peak's mark covers one cell of the longest bar.
    assert!((full(bars[1]) / full(bars[0]) - 2.0).abs() < 0.1, "{text}");
    assert!(
        ((full(bars[2]) + 1.0) / full(bars[1]) - 2.0).abs() < 0.1,
        "{text}"
    );
}

#[test]
fn a_distant_peak_is_named_but_not_drawn() {
    let text = render(
        &simulated(vec![row("k", 32, 20.0), row("k", 64, 40.0)]),
        &Style::PLAIN,
    );
    assert!(text.contains("peak: 320 GB/s, off the scale"), "{text}");
    assert!(!text.contains('│'), "{text}");
    assert!(text.contains("modelled"), "{text}");
}

#[test]
fn within_the_terminal_and_colours_change_nothing() {
    for width in 40..130 {
        let plain = Style {
            width: Some(width),
            ..Style::PLAIN
        };
        for report in [two_kernels(), mixed(), latencies()] {
            let text = render(&report, &plain);
            for line in text.lines().filter(|line| line.contains('█')) {
                assert!(
                    line.chars().count() <= usize::from(width),
                    "{width}: {line}"
                );
            }
            let colored = render(
                &report,
                &Style {
                    color: true,
                    ..plain
                },
            );
            assert_ne!(colored, text);
            assert_eq!(without_escapes(&colored), text);
        }
    }
}

#[test]
fn nothing_to_draw() {
    assert_eq!(render(&h200(Vec::new()), &Style::PLAIN), "");
    // The table says why.
    let failed = h200(vec![failed("k", 32, Stage::Memory, "none")]);
    assert_eq!(render(&failed, &Style::PLAIN), "");
}
