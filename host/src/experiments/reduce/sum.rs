//! Sums in more than double precision, for the reference.

/// A sum that keeps what its additions round off (Neumaier, "Rundungsfehleranalyse einiger
/// Verfahren zur Summation endlicher Summen", 1974).
#[derive(Clone, Copy, Default)]
pub(super) struct Compensated {
    sum: f64,
    lost: f64,
    /// The sum of the absolute values.
    pub(super) magnitude: f64,
}

impl Compensated {
    pub(super) fn add(mut self, value: f64) -> Self {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            self.sum - sum + value
        } else {
            value - sum + self.sum
        };
        self.sum = sum;
        self.magnitude += value.abs();
        self
    }

    /// The sum of both.
    pub(super) fn join(self, other: Self) -> Self {
        let joined = self.add(other.sum);
        Self {
            sum: joined.sum,
            lost: joined.lost + other.lost,
            magnitude: self.magnitude + other.magnitude,
        }
    }

    /// The sum, with what was rounded off.
    pub(super) fn total(self) -> f64 {
        self.sum + self.lost
    }
}
