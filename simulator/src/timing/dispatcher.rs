//! Starts blocks: on which SM, and when.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::chip::Chip;

/// Fractions of a cycle that the dispatch rate is kept in: 1 / 2^24.
const FRACTION_BITS: u32 = 24;

/// Hands out the places for blocks.
///
/// The first blocks fill the chip breadth-first: one on each SM before the second on any. Later
/// blocks go where a place became free first. Over the whole chip, blocks start no faster than
/// [`Chip::block_dispatch_per_ns`], the first one after [`Chip::launch_latency_ns`].
pub struct Dispatcher {
    /// Free places, earliest first: cycle, order of becoming free, SM.
    free: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    /// Earliest start of the next block, in fractions of a cycle.
    next: u64,
    /// Between two starts, in fractions of a cycle.
    interval: u64,
    /// Cycles from a block's end to the start of the block that takes its place.
    turnaround: u64,
}

impl Dispatcher {
    /// An empty chip whose SMs take `blocks_per_sm` blocks each.
    pub fn new(chip: &Chip, blocks_per_sm: u32) -> Self {
        let one = f64::from(1 << FRACTION_BITS);
        let interval = chip.clock_ghz / chip.block_dispatch_per_ns * one;
        let first = chip.launch_latency_ns * chip.clock_ghz;
        let places = blocks_per_sm * chip.sms;
        Self {
            free: (0..places)
                .map(|place| Reverse((0, place.into(), place % chip.sms)))
                .collect(),
            order: places.into(),
            next: (first.round() as u64) << FRACTION_BITS,
            interval: interval.round() as u64,
            turnaround: chip.block_turnaround.into(),
        }
    }

    /// When and where [`start`](Self::start) would start a block: cycle and SM. `None` while no
    /// place is free. A place that becomes free later may still come first only if it is handed in
    /// by [`finish`](Self::finish) with an earlier cycle.
    pub fn next(&self) -> Option<(u64, usize)> {
        let Reverse((free, _, sm)) = self.free.peek()?;
        let dispatched = self.next.div_ceil(1 << FRACTION_BITS);
        Some((dispatched.max(*free), *sm as usize))
    }

    /// Starts a block: takes the earliest free place and its turn. Returns the cycle and the SM.
    pub fn start(&mut self) -> Option<(u64, usize)> {
        let started = self.next()?;
        let Reverse((free, _, _)) = self.free.pop()?;
        self.next = self.next.max(free << FRACTION_BITS) + self.interval;
        Some(started)
    }

    /// A block of `sm` ended at cycle `at`: its last warp exited and its stores are accepted.
    pub fn finish(&mut self, sm: usize, at: u64) {
        self.free
            .push(Reverse((at + self.turnaround, self.order, sm as u32)));
        self.order += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::H200;

    #[test]
    fn the_first_blocks_go_one_to_each_sm_before_the_second_to_any() {
        let mut dispatcher = Dispatcher::new(&H200, 3);
        let sms: Vec<_> = std::iter::from_fn(|| dispatcher.start())
            .map(|(_, sm)| sm)
            .collect();
        let expected: Vec<_> = (0..3).flat_map(|_| 0..132).collect();
        assert_eq!(sms, expected);
    }

    #[test]
    fn the_rate_holds_exactly_over_many_blocks() {
        let mut dispatcher = Dispatcher::new(&H200, 1);
        let (first, sm) = dispatcher.start().unwrap();
        assert_eq!(
            first,
            (H200.launch_latency_ns * H200.clock_ghz).round() as u64
        );
        dispatcher.finish(sm, 0);
        let blocks = 1_000_000;
        let mut last = first;
        for _ in 0..blocks {
            let (cycle, sm) = dispatcher.start().unwrap();
            assert!(cycle > last, "two blocks in one cycle");
            last = cycle;
            dispatcher.finish(sm, 0);
        }
        let per_ns = f64::from(blocks) / ((last - first) as f64 / H200.clock_ghz);
        assert!(
            (per_ns / H200.block_dispatch_per_ns - 1.0).abs() < 1e-5,
            "{per_ns}"
        );
    }

    #[test]
    fn a_later_block_goes_where_a_place_became_free_first() {
        let mut dispatcher = Dispatcher::new(&H200, 1);
        while dispatcher.start().is_some() {}
        dispatcher.finish(7, 9000);
        dispatcher.finish(3, 8000);
        let turnaround = u64::from(H200.block_turnaround);
        assert_eq!(dispatcher.start(), Some((8000 + turnaround, 3)));
        assert_eq!(dispatcher.start(), Some((9000 + turnaround, 7)));
        assert_eq!(dispatcher.next(), None);
    }
}
