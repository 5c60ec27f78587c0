use warplab::export::{Style, table::render};

use crate::reports::{h200, latencies, mixed, two_kernels};

#[test]
fn kernels_and_blocks() {
    insta::assert_snapshot!(render(&two_kernels(), &Style::PLAIN));
}

#[test]
fn reasons_and_notes() {
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
        ..Style::PLAIN
    };
    let text = render(&mixed(), &style);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn columns_go_before_cells_wrap() {
    let style = Style {
        width: Some(72),
        ..Style::PLAIN
    };
    insta::assert_snapshot!(render(&mixed(), &style));
}

#[test]
fn never_wider_than_the_terminal() {
    for width in 50..200 {
        let style = Style {
            width: Some(width),
            color: true,
            ..Style::PLAIN
        };
        for report in [two_kernels(), mixed(), latencies()] {
            for line in without_escapes(&render(&report, &style)).lines() {
                let length = line.chars().count();
                assert!(
                    length <= usize::from(width),
                    "{length} cells of {width}: {line}"
                );
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for report in [two_kernels(), mixed(), latencies()] {
        let plain = render(&report, &Style::PLAIN);
        assert!(!plain.contains('\x1b'));
        let colored = render(
            &report,
            &Style {
                color: true,
                ..Style::PLAIN
            },
        );
        assert!(colored.contains("\x1b["));
        assert_eq!(without_escapes(&colored), plain);
    }
}

#[test]
fn no_rows() {
    assert_eq!(
        render(&h200(Vec::new()), &Style::PLAIN),
        "no configuration was run\n"
    );
}

/// The text without colour sequences.
pub(crate) fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split("\x1b[");
    plain.push_str(parts.next().unwrap_or(""));
    for part in parts {
        plain.push_str(part.split_once('m').expect("a colour sequence").1);
    }
    plain
}
