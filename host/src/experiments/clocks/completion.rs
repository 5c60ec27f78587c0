//! From raw clock readings to completion times.

use std::collections::BTreeMap;

/// What a completion time is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalise {
    /// The earliest reading on the same SM. The clocks of two SMs have no common zero, so that only
    /// these differences mean something.
    Sm,
    /// The smallest reading in the grid, as The CUDA Handbook's reportClocks does it. The distance
    /// between threads of different SMs then holds the difference of two clocks.
    Grid,
}

impl Normalise {
    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sm => "sm",
            Self::Grid => "grid",
        }
    }
}

/// Completion times in clocks, for one reading and SM per thread.
///
/// A clock of 32 bits may wrap during the launch. Readings of one SM are put in order on the circle
/// of 2^32 values first, which is right for every launch that takes less than half the circle: 2^31
/// clocks, a second.
pub fn completion_times(clocks: &[u32], sms: &[u32], normalise: Normalise) -> Vec<u64> {
    let mut of_sm: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&clock, &sm) in clocks.iter().zip(sms) {
        of_sm.entry(sm).or_default().push(clock);
    }
    let earliest: BTreeMap<u32, u32> = of_sm
        .into_iter()
        .filter_map(|(sm, clocks)| Some((sm, earliest(clocks)?)))
        .collect();
    let smallest = earliest.values().copied().min().unwrap_or(0);
    clocks
        .iter()
        .zip(sms)
        .map(|(&clock, sm)| {
            let since = u64::from(clock.wrapping_sub(earliest[sm]));
            match normalise {
                Normalise::Sm => since,
                Normalise::Grid => u64::from(earliest[sm] - smallest) + since,
            }
        })
        .collect()
}

/// The reading that the others follow: the one after the widest gap on the circle. `None` for no
/// readings.
fn earliest(mut clocks: Vec<u32>) -> Option<u32> {
    clocks.sort_unstable();
    let last = *clocks.last()?;
    let before = std::iter::once(&last).chain(&clocks);
    clocks
        .iter()
        .zip(before)
        // Strictly wider: equal readings, and the only one, have the gap 0.
        .map(|(&clock, &before)| (clock.wrapping_sub(before), clock))
        .reduce(|widest, next| if next.0 > widest.0 { next } else { widest })
        .map(|(_, clock)| clock)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_clock_that_wraps_goes_on() {
        let clocks = [0xffff_fffe, 0xffff_fffe, 0, 2, 2, 0x10];
        let expected = [0, 0, 2, 4, 4, 0x12];
        for normalise in [Normalise::Sm, Normalise::Grid] {
            assert_eq!(completion_times(&clocks, &[7; 6], normalise), expected);
        }
        // One clock to either side.
        assert_eq!(
            completion_times(&[u32::MAX, 0], &[0; 2], Normalise::Sm),
            [0, 1]
        );
        assert_eq!(
            completion_times(&[0, u32::MAX], &[0; 2], Normalise::Sm),
            [1, 0]
        );
        // Half the circle is 2^31; just below it is still in order.
        let span = (1 << 31) - 1;
        let late = 0x9000_0000_u32.wrapping_add(span);
        let times = completion_times(&[late, 0x9000_0000], &[0; 2], Normalise::Sm);
        assert_eq!(times, [span.into(), 0]);
    }

    #[test]
    fn one_reading_or_equal_ones_are_0() {
        assert_eq!(completion_times(&[], &[], Normalise::Sm), [0_u64; 0]);
        assert_eq!(completion_times(&[u32::MAX], &[3], Normalise::Sm), [0]);
        assert_eq!(completion_times(&[9, 9], &[3, 3], Normalise::Grid), [0, 0]);
    }

    #[test]
    fn each_sm_has_its_own_zero_unless_the_grid_has_one() {
        // SM 1 wraps, SM 2 does not; their clocks are 2^32 - 0x120 apart.
        let clocks = [0xffff_fff0, 0x4, 0x100, 0x108];
        let sms = [1, 1, 2, 2];
        assert_eq!(
            completion_times(&clocks, &sms, Normalise::Sm),
            [0, 0x14, 0, 8]
        );
        assert_eq!(
            completion_times(&clocks, &sms, Normalise::Grid),
            [0xffff_fef0, 0xffff_ff04, 0, 8]
        );
    }

    #[test]
    fn without_a_wrap_the_grid_is_normalised_by_its_smallest_value() {
        let clocks = [500, 70, 90, 1 << 31];
        assert_eq!(
            completion_times(&clocks, &[0, 1, 2, 3], Normalise::Grid),
            [430, 0, 20, (1 << 31) - 70]
        );
    }

    proptest! {
        /// Whatever the clock shows at the start, times are what really passed.
        #[test]
        fn the_start_does_not_matter(
            start: u32,
            passed in proptest::collection::vec(0_u32..(1 << 31), 0..40),
        ) {
            // The earliest thread is at 0.
            let passed: Vec<u32> = passed.into_iter().chain([0]).collect();
            let clocks: Vec<u32> = passed.iter().map(|p| start.wrapping_add(*p)).collect();
            let times = completion_times(&clocks, &vec![5; clocks.len()], Normalise::Sm);
            let expected: Vec<u64> = passed.iter().map(|&p| p.into()).collect();
            prop_assert_eq!(times, expected);
        }
    }
}
