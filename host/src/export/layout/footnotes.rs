//! Reasons and notes of rows, numbered once each.

use super::style::printable;
use crate::report::{Report, Stage, Status};

/// The footnotes of a report.
pub(in crate::export) struct Footnotes {
    /// The texts; the first is footnote 1.
    pub(in crate::export) texts: Vec<String>,
    /// Per row, the numbers of its footnotes.
    of_row: Vec<Vec<usize>>,
}

impl Footnotes {
    /// Collects reasons, then notes, in the rows' order. Rows with the same text share a number.
    pub(in crate::export) fn of(report: &Report) -> Self {
        let mut texts: Vec<String> = Vec::new();
        let mut of_row = Vec::new();
        for row in &report.rows {
            let reason = match &row.status {
                Status::Ok => None,
                Status::Skipped { reason } | Status::Failed { reason, .. } => Some(reason),
            };
            let mut numbers = Vec::new();
            for text in reason.into_iter().chain(&row.notes) {
                let text = printable(text);
                let index = texts.iter().position(|t| *t == text).unwrap_or_else(|| {
                    texts.push(text);
                    texts.len() - 1
                });
                if !numbers.contains(&(index + 1)) {
                    numbers.push(index + 1);
                }
            }
            of_row.push(numbers);
        }
        Self { texts, of_row }
    }

    /// The marks of a row: ` [1] [3]`, or nothing.
    pub(in crate::export) fn marks(&self, row: usize) -> String {
        self.of_row[row]
            .iter()
            .map(|number| format!(" [{number}]"))
            .collect()
    }
}

/// A stage's name as in JSON.
pub(in crate::export) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Memory => "memory",
        Stage::Launch => "launch",
        Stage::Verification => "verification",
        Stage::Time => "time",
    }
}

/// What came of a row, in a few words: `failed: launch`.
pub(in crate::export) fn outcome(status: &Status) -> String {
    match status {
        Status::Ok => "ok".to_owned(),
        Status::Skipped { .. } => "skipped".to_owned(),
        Status::Failed { stage, .. } => format!("failed: {}", stage_name(*stage)),
    }
}

/// Breaks a text at spaces to lines of at most `width` characters; a longer word stays whole.
pub(in crate::export) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible a", 5), ["incomprehensible", "a"]);
        assert!(wrap("", 5).is_empty());
    }
}
