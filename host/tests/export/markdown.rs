use warplab::export::markdown::render;

use crate::reports::{h200, mixed, row, simulated, two_kernels};

#[test]
fn kernels_and_blocks() {
    insta::assert_snapshot!(render(&two_kernels()));
}

#[test]
fn reasons_and_notes() {
    insta::assert_snapshot!(render(&mixed()));
}

#[test]
fn a_model_is_called_one() {
    insta::assert_snapshot!(render(&simulated(vec![row("vector_add", 256, 240.0)])));
}

/// A bar in a reason must not open another cell.
#[test]
fn every_line_has_as_many_cells() {
    let mut report = mixed();
    report.rows[0].kernel = "a|b".to_owned();
    let text = render(&report);
    let cells: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.replace("\\|", "").matches('|').count())
        .collect();
    assert_eq!(cells.len(), report.rows.len() + 2);
    assert!(cells.iter().all(|count| *count == cells[0]), "{text}");
}

#[test]
fn no_rows() {
    assert!(render(&h200(Vec::new())).ends_with("No configuration was run.\n"));
}
