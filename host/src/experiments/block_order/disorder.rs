//! How far a launch's start order is from block-index order, and its waves.

use crate::report::BlockRecord;

/// A launch's order in figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disorder {
    /// Pairs of blocks that started in the opposite order of their numbers.
    pub inversions: u64,
    /// Kendall's rank correlation of start order and block number: 1 in order, 0 unrelated, -1
    /// backwards (M. G. Kendall, "A New Measure of Rank Correlation", 1938). 1 for a single block.
    pub kendall_tau: f64,
    /// The most places that a block started before or after its turn.
    pub longest_displacement: u64,
}

impl Disorder {
    /// Of block numbers in the order in which they started: each of `0..n` once.
    pub fn of(started: &[u64]) -> Self {
        let inversions = inversions(&mut started.to_vec(), &mut vec![0; started.len()]);
        let n = started.len() as f64;
        let pairs = n * (n - 1.0) / 2.0;
        let displacement = |(turn, &block): (usize, &u64)| (turn as u64).abs_diff(block);
        Self {
            inversions,
            kendall_tau: if pairs > 0.0 {
                1.0 - 2.0 * inversions as f64 / pairs
            } else {
                1.0
            },
            longest_displacement: started
                .iter()
                .enumerate()
                .map(displacement)
                .max()
                .unwrap_or(0),
        }
    }
}

/// Counts pairs out of order while it sorts (merge sort).
fn inversions(values: &mut [u64], space: &mut [u64]) -> u64 {
    if values.len() < 2 {
        return 0;
    }
    let middle = values.len() / 2;
    let (left, right) = values.split_at_mut(middle);
    let mut count = inversions(left, space) + inversions(right, space);
    let (mut l, mut r) = (0, 0);
    for slot in &mut space[..left.len() + right.len()] {
        let take_left = r == right.len() || (l < left.len() && left[l] <= right[r]);
        *slot = if take_left {
            l += 1;
            left[l - 1]
        } else {
            // It overtakes all that are left on the left.
            count += (left.len() - l) as u64;
            r += 1;
            right[r - 1]
        };
    }
    let len = values.len();
    values.copy_from_slice(&space[..len]);
    count
}

/// When a launch's blocks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waves {
    /// Blocks that started before any had ended.
    pub first_wave: u64,
    /// From the first start to the last end, in ns.
    pub total_ns: u64,
    /// From when the first of the SMs in use ran out of blocks to the last end, in ns.
    pub tail_ns: u64,
    /// The smallest difference between two readings of the timer: its resolution, or coarser.
    pub timer_step_ns: u64,
    /// SMs that ran a block.
    pub sms: u64,
}

impl Waves {
    /// Of a launch's blocks, of which there is at least one; with none everything is 0.
    pub fn of(blocks: &[BlockRecord]) -> Self {
        let first_end = blocks.iter().map(|block| block.end_ns).min().unwrap_or(0);
        let last_end = blocks.iter().map(|block| block.end_ns).max().unwrap_or(0);
        let first_start = blocks.iter().map(|block| block.start_ns).min().unwrap_or(0);
        let mut last_by_sm = std::collections::BTreeMap::new();
        for block in blocks {
            let last = last_by_sm.entry(block.sm).or_insert(0);
            *last = block.end_ns.max(*last);
        }
        let exhausted = last_by_sm.values().copied().min().unwrap_or(0);
        let mut readings: Vec<u64> = blocks
            .iter()
            .flat_map(|block| [block.start_ns, block.end_ns])
            .collect();
        readings.sort_unstable();
        readings.dedup();
        let steps = readings.windows(2).map(|pair| pair[1] - pair[0]);
        Self {
            first_wave: blocks
                .iter()
                .filter(|block| block.start_ns < first_end)
                .count() as u64,
            total_ns: last_end - first_start,
            tail_ns: last_end - exhausted,
            timer_step_ns: steps.min().unwrap_or(0),
            sms: last_by_sm.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_and_its_opposite() {
        let forward = Disorder::of(&[0, 1, 2, 3, 4]);
        assert_eq!((forward.inversions, forward.longest_displacement), (0, 0));
        assert_eq!(forward.kendall_tau, 1.0);
        let backward = Disorder::of(&[4, 3, 2, 1, 0]);
        assert_eq!(
            (backward.inversions, backward.longest_displacement),
            (10, 4)
        );
        assert_eq!(backward.kendall_tau, -1.0);
        assert_eq!(Disorder::of(&[0]).kendall_tau, 1.0);
        // The last block starts first: it overtakes three, and stands three places early.
        let last_first = Disorder::of(&[3, 0, 1, 2]);
        assert_eq!(
            (last_first.inversions, last_first.longest_displacement),
            (3, 3)
        );
        assert_eq!(last_first.kendall_tau, 0.0);
    }

    proptest! {
        #[test]
        fn inversions_are_pairs_out_of_order(order in Just((0..60_u64).collect::<Vec<_>>()).prop_shuffle()) {
            let pairs = (0..order.len())
                .flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)))
                .filter(|&(a, b)| order[a] > order[b])
                .count();
            prop_assert_eq!(Disorder::of(&order).inversions, pairs as u64);
        }
    }

    #[test]
    fn waves_and_tail() {
        // Two SMs with one block each at a time; three blocks, so that SM 1 idles at the end.
        let block = |ticket: u32, sm, start_ns, end_ns| BlockRecord {
            block_x: ticket,
            block_y: 0,
            block_z: 0,
            block_id: ticket.into(),
            ticket,
            sm,
            start_ns,
            end_ns,
        };
        let waves = Waves::of(&[
            block(0, 0, 0, 100),
            block(1, 1, 10, 120),
            block(2, 0, 110, 200),
        ]);
        assert_eq!((waves.first_wave, waves.sms), (2, 2));
        assert_eq!((waves.total_ns, waves.tail_ns), (200, 80));
        assert_eq!(waves.timer_step_ns, 10);
    }
}
