//! Numbers as people read them.

use serde_json::Value;

use crate::launch::Dim3;

/// Decimal places that show the smallest of the values with four significant digits, 3 at most.
/// One number for a whole column keeps its decimal points in line.
pub(in crate::export) fn decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let smallest = values
        .into_iter()
        .map(f64::abs)
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    match smallest {
        s if s >= 999.95 => 0,
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        _ => 3,
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum TimeUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl TimeUnit {
    /// The unit in which a number of nanoseconds is 1 or more and below 1000.
    pub(in crate::export) fn of(nanoseconds: f64) -> Self {
        match nanoseconds {
            t if t >= 1e9 => Self::Seconds,
            t if t >= 1e6 => Self::Milliseconds,
            t if t >= 1e3 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    /// Its nanoseconds.
    pub(in crate::export) fn nanoseconds(self) -> f64 {
        match self {
            Self::Nanoseconds => 1.0,
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
            Self::Seconds => 1e9,
        }
    }

    /// Its symbol.
    pub(in crate::export) fn symbol(self, unicode: bool) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds if unicode => "µs",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }
}

/// Extents without trailing ones: `256`, `16×16`, `8×8×4`.
pub(in crate::export) fn extents(dim: Dim3, unicode: bool) -> String {
    let cross = if unicode { '×' } else { 'x' };
    match dim {
        Dim3 { x, y: 1, z: 1 } => x.to_string(),
        Dim3 { x, y, z: 1 } => format!("{x}{cross}{y}"),
        Dim3 { x, y, z } => format!("{x}{cross}{y}{cross}{z}"),
    }
}

/// A count, with the binary prefix where it is a whole multiple: `64 Mi`, `1000`.
pub(in crate::export) fn count(value: u64) -> String {
    for (shift, prefix) in [(40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")] {
        // From 4 Ki on: 1024 reads better than 1 Ki beside 512.
        if value >= 4096 && value.is_multiple_of(1 << shift) {
            return format!("{} {prefix}", value >> shift);
        }
    }
    value.to_string()
}

/// A share as a percentage with one decimal place, without it where it says nothing.
pub(in crate::export) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// The value of an axis, without JSON's quotes.
pub(in crate::export) fn axis_value(value: &Value) -> String {
    match value {
        Value::String(text) => super::style::printable(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_significant_digits_of_the_smallest() {
        assert_eq!(decimals([4384.2, 2552.0]), 0);
        assert_eq!(decimals([999.94, 4384.0]), 1);
        assert_eq!(decimals([61.2, 4384.0]), 2);
        assert_eq!(decimals([0.02]), 3);
        assert_eq!(decimals([0.0, 150.0]), 1);
    }

    #[test]
    fn units_of_time() {
        assert_eq!(TimeUnit::of(999.0).symbol(true), "ns");
        assert_eq!(TimeUnit::of(1e3).symbol(true), "µs");
        assert_eq!(TimeUnit::of(1e3).symbol(false), "us");
        assert_eq!(TimeUnit::of(238.9e3).symbol(true), "µs");
        assert_eq!(TimeUnit::of(1e6).symbol(true), "ms");
        assert_eq!(TimeUnit::of(2e9).symbol(true), "s");
    }

    #[test]
    fn counts_and_extents() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1024), "1024");
        assert_eq!(count(1 << 26), "64 Mi");
        assert_eq!(count((1 << 32) + 1), "4294967297");
        assert_eq!(extents(Dim3 { x: 16, y: 16, z: 1 }, false), "16x16");
        assert_eq!(extents(Dim3 { x: 8, y: 1, z: 4 }, true), "8×1×4");
        assert_eq!(percent(0.9134), "91.3 %");
        assert_eq!(percent(1.0), "100 %");
    }
}
