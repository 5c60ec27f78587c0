//! The L2's tags: which 32-byte sectors of which 128-byte lines it holds, and which are dirty.
//!
//! Set associative, least recently used, write-back, a line is allocated on a miss of either
//! kind. A sector that is written whole needs no fetch.

/// Sectors per line.
pub(super) const SECTORS_PER_LINE: u64 = 4;
const LINE_BYTES: u64 = 128;
const WAYS: usize = 16;
/// Neighbouring lines that go to neighbouring sets.
const GROUP: u64 = 8;

/// Line number of what [`L2::flush`] leaves behind: no address reaches it.
const FOREIGN: u64 = (1 << 56) - 1;

/// One way: line number above, four dirty bits, four valid bits. 0 is empty.
type Way = u64;

/// What an access to one line did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Sectors that were not there, as a mask.
    pub(super) missing: u64,
    /// Dirty sectors that had to leave.
    pub(super) evicted_dirty: u32,
}

/// The tag array.
pub(super) struct L2 {
    /// Sets of `WAYS`, most recently used first.
    ways: Vec<Way>,
    groups: u64,
}

impl L2 {
    /// An empty L2 of about `bytes` (rounded down to whole groups of sets, at least one).
    pub(super) fn new(bytes: u64) -> Self {
        let groups = (bytes / (LINE_BYTES * WAYS as u64 * GROUP)).max(1);
        Self {
            ways: vec![0; (groups * GROUP) as usize * WAYS],
            groups,
        }
    }

    /// Replaces everything by lines that no kernel uses, one in three of them dirty.
    pub(super) fn flush(&mut self) {
        for (index, way) in self.ways.iter_mut().enumerate() {
            *way = FOREIGN << 8 | if index % 3 == 0 { 0xff } else { 0x0f };
        }
    }

    /// Accesses the sectors of `mask` in `line`.
    pub(super) fn access(&mut self, line: u64, mask: u64, write: bool) -> Outcome {
        // Multiplying by 2^64 over the golden ratio spreads any stride over all sets.
        let hash = (line / GROUP).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let set = ((hash * self.groups) >> 32) * GROUP + line % GROUP;
        let set = &mut self.ways[set as usize * WAYS..][..WAYS];
        let added = if write { mask << 4 | mask } else { mask };
        let position = set.iter().position(|way| way >> 8 == line && *way != 0);
        let (position, way, outcome) = match position {
            Some(position) => {
                let way = set[position];
                let outcome = Outcome {
                    missing: mask & !way,
                    evicted_dirty: 0,
                };
                (position, way | added, outcome)
            }
            None => {
                let victim = set[WAYS - 1];
                let outcome = Outcome {
                    missing: mask,
                    evicted_dirty: (victim & 0xf0).count_ones(),
                };
                (WAYS - 1, line << 8 | added, outcome)
            }
        };
        set.copy_within(0..position, 1);
        set[0] = way;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_second_access_hits_the_same_sectors_only() {
        let mut l2 = L2::new(MIB);
        assert_eq!(l2.access(5, 0b0011, false).missing, 0b0011);
        assert_eq!(l2.access(5, 0b0110, false).missing, 0b0100);
        assert_eq!(l2.access(5, 0b0111, false).missing, 0);
    }

    #[test]
    fn a_working_set_that_fits_stays_and_one_that_does_not_leaves() {
        let misses = |lines: u64| {
            let mut l2 = L2::new(MIB);
            for line in 0..lines {
                l2.access(line, 0xf, false);
            }
            (0..lines)
                .filter(|&line| l2.access(line, 0xf, false).missing != 0)
                .count() as u64
        };
        // Hashing fills sets unevenly, as in the real one: a few lines of half the size may leave.
        assert!(misses(4096) < 100, "{}", misses(4096));
        assert!(misses(8192 * 4) > 8192 * 3, "{}", misses(8192 * 4));
    }

    #[test]
    fn every_dirty_sector_leaves_exactly_once() {
        let mut l2 = L2::new(MIB);
        let written: u32 = 50_000;
        let mut evicted = 0;
        for line in 0..u64::from(written) {
            evicted += l2.access(line, 0xf, true).evicted_dirty;
        }
        for line in 1_000_000..1_100_000 {
            evicted += l2.access(line, 0xf, false).evicted_dirty;
        }
        assert_eq!(evicted, written * 4);
    }

    #[test]
    fn after_a_flush_nothing_hits_and_a_third_of_what_leaves_is_dirty() {
        let mut l2 = L2::new(MIB);
        for line in 0..512 {
            l2.access(line, 0xf, false);
        }
        l2.flush();
        let mut evicted = 0;
        for line in 0..4096 {
            let outcome = l2.access(line, 0xf, false);
            assert_eq!(outcome.missing, 0xf);
            evicted += outcome.evicted_dirty / 4;
        }
        assert!(evicted.abs_diff(4096 / 3) < 200, "{evicted}");
    }
}
