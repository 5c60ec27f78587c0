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

/// One way: 24 bits of tag, four dirty bits, four valid bits. A way without valid bits matches
/// nothing. So short a tag tells lines apart that are within 2^24 times the L2's set count.
type Way = u32;

/// The ways of a set, most recently used first: one cache line of the host.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Set([Way; WAYS]);

/// What an access to one line did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Sectors that were not there, as a mask.
    pub(super) missing: u32,
    /// Dirty sectors that had to leave.
    pub(super) evicted_dirty: u32,
}

/// The tag array.
pub(super) struct L2 {
    sets: Vec<Set>,
    groups: u64,
}

impl L2 {
    /// An empty L2 of about `bytes` (rounded down to whole groups of sets, at least one).
    pub(super) fn new(bytes: u64) -> Self {
        let groups = (bytes / (LINE_BYTES * WAYS as u64 * GROUP)).max(1);
        Self {
            sets: vec![Set([0; WAYS]); (groups * GROUP) as usize],
            groups,
        }
    }

    /// Replaces everything by lines that no kernel uses, one in three of them dirty.
    pub(super) fn flush(&mut self) {
        for (index, way) in self.sets.iter_mut().flat_map(|set| &mut set.0).enumerate() {
            *way = if index % 3 == 0 { 0xf0 } else { 0 };
        }
    }

    /// Accesses the sectors of `mask` in `line`.
    #[inline]
    pub(super) fn access(&mut self, line: u64, mask: u32, write: bool) -> Outcome {
        // Groups a multiple of their count apart are shifted against each other, and so are the
        // lines of different groups, so that no stride falls on few sets only.
        let (tag, group) = (line / GROUP / self.groups, line / GROUP % self.groups);
        let shift = ((spread(tag) >> 32) * self.groups) >> 32;
        let group = group + shift;
        let group = if group < self.groups {
            group
        } else {
            group - self.groups
        };
        let member = (line + (spread(line / GROUP) >> 61)) % GROUP;
        let Set(set) = &mut self.sets[(group * GROUP + member) as usize];
        let tag = (tag as u32) << 8;
        let added = if write { mask << 4 | mask } else { mask };
        let mut matches = 0_u32;
        for (index, way) in set.iter().enumerate() {
            let found = (way ^ tag) < 0x100 && way & 0xf != 0;
            matches |= u32::from(found) << index;
        }
        if matches == 0 {
            let evicted_dirty = (set[WAYS - 1] & 0xf0).count_ones();
            set.copy_within(0..WAYS - 1, 1);
            set[0] = tag | added;
            return Outcome {
                missing: mask,
                evicted_dirty,
            };
        }
        let position = matches.trailing_zeros() as usize;
        let way = set[position];
        set.copy_within(0..position, 1);
        set[0] = way | added;
        Outcome {
            missing: mask & !way,
            evicted_dirty: 0,
        }
    }
}

/// Multiplies by 2^64 over the golden ratio: the upper bits depend on all of `value`.
fn spread(value: u64) -> u64 {
    value.wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
    fn no_stride_falls_on_few_sets() {
        for stride in [1, 3, 8, 64, 100, 1 << 10, 1 << 12, 1 << 16, 1 << 20] {
            let mut l2 = L2::new(MIB);
            let lines = 4096;
            for index in 0..lines {
                l2.access(index * stride, 1, false);
            }
            let kept = (0..lines)
                .filter(|i| l2.access(i * stride, 1, false).missing == 0)
                .count();
            assert!(
                kept > 3500,
                "stride {stride}: {kept} of {lines} kept, half the capacity"
            );
        }
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
