//! Order statistics of a finished series and the running noise of one that grows.

/// Median, quartiles and ends of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Summary {
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub minimum: f64,
    pub maximum: f64,
}

impl Summary {
    /// Summary of at least one finite value; `None` of none. Quartiles are interpolated linearly
    /// between order statistics (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical
    /// Packages", 1996: what R and NumPy do).
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let position = share * (sorted.len() - 1) as f64;
            let below = sorted[position.floor() as usize];
            let above = sorted[position.ceil() as usize];
            below + (above - below) * position.fract()
        };
        Some(Self {
            minimum: *sorted.first()?,
            maximum: *sorted.last()?,
            median: quantile(0.5),
            lower_quartile: quantile(0.25),
            upper_quartile: quantile(0.75),
        })
    }

    /// Interquartile range over the median; 0 where the median is 0.
    pub fn relative_spread(&self) -> f64 {
        if self.median > 0.0 {
            (self.upper_quartile - self.lower_quartile) / self.median
        } else {
            0.0
        }
    }
}

/// Mean and variance of a growing series (Welford, "Note on a Method for Calculating Corrected
/// Sums of Squares and Products", Technometrics 1962).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Running {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Running {
    /// Takes one more value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Sample standard deviation over the mean; infinite for fewer than two values, so that
    /// nothing converges before there is something to compare.
    pub fn relative_deviation(&self) -> f64 {
        if self.count < 2 || self.mean <= 0.0 {
            return f64::INFINITY;
        }
        (self.squares / (self.count - 1) as f64).sqrt() / self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(summary.median, 2.5);
        assert_eq!(summary.lower_quartile, 1.75);
        assert_eq!(summary.upper_quartile, 3.25);
        assert_eq!((summary.minimum, summary.maximum), (1.0, 4.0));
        assert_eq!(summary.relative_spread(), 0.6);
    }

    #[test]
    fn of_one_and_none() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!(
            (
                summary.median,
                summary.lower_quartile,
                summary.upper_quartile
            ),
            (7.0, 7.0, 7.0)
        );
        assert_eq!(summary.relative_spread(), 0.0);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn running_deviation() {
        let mut running = Running::default();
        assert_eq!(running.relative_deviation(), f64::INFINITY);
        running.push(2.0);
        assert_eq!(running.relative_deviation(), f64::INFINITY);
        for value in [4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            running.push(value);
        }
        // Sum of squared deviations from the mean 5 is 32; 32 / 7 under the root, over 5.
        assert!((running.relative_deviation() - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-15);
    }
}
