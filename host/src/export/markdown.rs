//! A table as GitHub renders it, under a heading that names the device. No date: the same report
//! gives the same text, so that a committed file changes only when results do.

use std::fmt::Write;

use super::{
    Format,
    layout::{
        columns::{Column, columns, varies},
        figures::count,
        footnotes::Footnotes,
    },
};
use crate::report::{Report, Times};

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    extension: Some("md"),
    about: "a GitHub table under a heading",
    render: |report, _| Ok(render(report)),
};

/// Heading, what was run, the table with its footnotes, and the conclusions.
pub fn render(report: &Report) -> String {
    let device = &report.device;
    let times = match device.times {
        Times::Measured => "measured",
        Times::Modelled => "modelled by the simulator",
    };
    let mut text = format!(
        "## {} on {}, {times}\n\n",
        escape(&report.program),
        escape(&device.name)
    );
    let mut facts = vec![
        format!("compute capability {}", escape(&device.compute_capability)),
        format!("{} SMs", device.sms),
    ];
    if let Some(peak) = device.peak_gb_per_s {
        facts.push(format!("peak {peak:.0} GB/s"));
    }
    if let Some(driver) = &device.driver {
        facts.push(format!("driver for CUDA {}", escape(driver)));
    }
    if let (Some(row), false) = (
        report.rows.first(),
        varies(&report.rows, |r| r.kernel.clone()),
    ) {
        facts.push(format!("kernel {}", escape(&row.kernel)));
    }
    if let (Some(row), false) = (report.rows.first(), varies(&report.rows, |r| r.elements)) {
        facts.push(format!("{} elements", count(row.elements)));
    }
    facts.push(format!("seed {}", report.seed));
    facts.push(format!("warplab {}", escape(&report.version)));
    // Writing to a String does not fail.
    let _ = writeln!(text, "{}.\n", facts.join(", "));
    if report.rows.is_empty() {
        text.push_str("No configuration was run.\n");
        return text;
    }

    let footnotes = Footnotes::of(report);
    let columns = columns(report, &footnotes, true);
    text.push_str(&table(&columns));
    if !footnotes.texts.is_empty() {
        text.push('\n');
        for (index, note) in footnotes.texts.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", index + 1, escape(note));
        }
    }
    if !report.conclusions.is_empty() {
        text.push('\n');
        for sentence in &report.conclusions {
            let _ = writeln!(text, "- {}", escape(sentence));
        }
    }
    text
}

/// The columns as a GitHub table.
pub(super) fn table(columns: &[Column]) -> String {
    let mut text = String::new();
    let mut line = |cells: Vec<String>| {
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    };
    line(columns.iter().map(|c| escape(&c.title)).collect());
    line(
        columns
            .iter()
            .map(|c| if c.numeric { "---:" } else { "---" }.to_owned())
            .collect(),
    );
    for index in 0..columns.first().map_or(0, |column| column.cells.len()) {
        line(columns.iter().map(|c| escape(&c.cells[index])).collect());
    }
    text
}

/// Text with what Markdown would take for markup escaped, on one line.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escape("a|b <T> *x* vector_add\nc"),
            "a\\|b &lt;T&gt; \\*x\\* vector_add c"
        );
    }
}
