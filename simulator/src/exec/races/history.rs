//! What each granule of shared memory remembers: the accesses a later one may race with.
//!
//! Once all threads of a block without a cluster have met at a barrier, everything before it is
//! ordered before everything after it. Such a meeting begins a *phase*: what a granule remembers from an earlier
//! phase is as good as forgotten, without being cleared.

use super::{SharedAccess, order::Order};

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    StrongRead,
    /// Atomic operations, too.
    StrongWrite,
    Write,
}

impl Kind {
    pub(super) fn of(write: bool, strong: bool) -> Self {
        match (write, strong) {
            (false, false) => Self::Read,
            (false, true) => Self::StrongRead,
            (true, true) => Self::StrongWrite,
            (true, false) => Self::Write,
        }
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::StrongWrite)
    }

    pub(super) fn is_strong(self) -> bool {
        matches!(self, Self::StrongRead | Self::StrongWrite)
    }

    /// Whether two accesses race unless something orders them.
    fn conflicts(self, other: Self) -> bool {
        (self.writes() || other.writes()) && !(self.is_strong() && other.is_strong())
    }
}

/// Lanes of a warp that accessed a granule. Small, because every word of shared memory has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The warp's clock at the last of the accesses.
    pub(super) clock: u32,
    pub(super) mask: u32,
    /// From the low end: kind (2 bits), warp (9), first lane (5) and instruction (16) of the last
    /// access. Instructions beyond 2^16 are named wrongly, but checked.
    tag: u32,
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::StrongRead, Kind::StrongWrite, Kind::Write];

impl Stamp {
    /// The part of an access that some of its lanes make.
    #[inline]
    pub(super) fn new(access: &SharedAccess, mask: u32, clock: u32) -> Self {
        let kind = Kind::of(access.write, access.strong) as u32;
        let lane = mask.trailing_zeros();
        Self {
            clock,
            mask,
            tag: access.pc << 16 | lane << 11 | access.warp << 2 | kind,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        KINDS[(self.tag & 3) as usize]
    }

    pub(super) fn warp(&self) -> u32 {
        self.tag >> 2 & 511
    }

    /// A lane of the last access.
    pub(super) fn lane(&self) -> u32 {
        self.tag >> 11 & 31
    }

    pub(super) fn pc(&self) -> u32 {
        self.tag >> 16
    }

    /// Whether it stands for the same execution of an instruction: every access has a clock of its
    /// own.
    fn is_same(&self, other: &Self) -> bool {
        self.clock == other.clock && self.warp() == other.warp()
    }
}

/// A granule: one access, or, with a clock of [`SEVERAL`], the list that the mask numbers.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The phase that the stamp is of.
    phase: u32,
    stamp: Stamp,
}

const EMPTY: Cell = Cell {
    phase: 0,
    stamp: Stamp {
        clock: 0,
        mask: 0,
        tag: 0,
    },
};

const SEVERAL: u32 = u32::MAX;

/// The accesses to the shared memory of a cluster's blocks.
#[derive(Debug, Default)]
pub(super) struct History {
    cells: Vec<Cell>,
    /// Counts phases over all clusters that have lived here, from 1.
    phase: u32,
    lists: Vec<Vec<Stamp>>,
    used_lists: usize,
    /// Logarithm of the granule's bytes.
    shift: u32,
}

impl History {
    pub(super) fn reset(&mut self, bytes: u32, granule: u32) {
        self.shift = granule.trailing_zeros();
        self.cells.resize(bytes.div_ceil(granule) as usize, EMPTY);
        self.next_phase();
    }

    /// All threads of a block that is a cluster of its own have met.
    pub(super) fn next_phase(&mut self) {
        self.used_lists = 0;
        self.phase = self.phase.checked_add(1).unwrap_or_else(|| {
            self.cells.fill(EMPTY);
            1
        });
    }

    /// The granule at an offset.
    #[inline]
    pub(super) fn granule(&self, offset: u64) -> usize {
        (offset >> self.shift) as usize
    }

    /// Where a granule begins.
    pub(super) fn offset(&self, granule: usize) -> u32 {
        (granule as u32) << self.shift
    }

    /// Remembers an access, or gives an earlier one that it races with.
    #[inline]
    pub(super) fn access(&mut self, granule: usize, new: &Stamp, order: &Order) -> Option<Stamp> {
        let cell = &mut self.cells[granule];
        if cell.phase != self.phase {
            *cell = Cell {
                phase: self.phase,
                stamp: *new,
            };
            return None;
        }
        if cell.stamp.clock != SEVERAL {
            if races(&cell.stamp, new, order) {
                return Some(cell.stamp);
            }
            if let Some(one) = joined(&cell.stamp, new, order) {
                cell.stamp = one;
                return None;
            }
        }
        self.several(granule, new, order)
    }

    /// The same where one stamp does not do.
    fn several(&mut self, granule: usize, new: &Stamp, order: &Order) -> Option<Stamp> {
        let cell = &mut self.cells[granule];
        if cell.stamp.clock != SEVERAL {
            if self.lists.len() == self.used_lists {
                self.lists.push(Vec::new());
            }
            let list = &mut self.lists[self.used_lists];
            list.clear();
            list.extend([cell.stamp, *new]);
            cell.stamp = Stamp {
                clock: SEVERAL,
                mask: self.used_lists as u32,
                tag: 0,
            };
            self.used_lists += 1;
            return None;
        }
        let list = &mut self.lists[cell.stamp.mask as usize];
        if let Some(old) = list.iter().find(|old| races(old, new, order)) {
            return Some(*old);
        }
        if new.kind() == Kind::Write && !list.iter().any(|old| old.is_same(new)) {
            // Everything else is ordered before it; the list is free again in the next phase.
            cell.stamp = *new;
            return None;
        }
        for old in list.iter_mut() {
            if let Some(one) = joined(old, new, order) {
                *old = one;
                return None;
            }
        }
        list.push(*new);
        None
    }
}

#[inline]
fn races(old: &Stamp, new: &Stamp, order: &Order) -> bool {
    old.kind().conflicts(new.kind()) && !old.is_same(new) && order.unordered(old, new) != 0
}

/// One stamp for two accesses that do not race, if there is one that races with just what either
/// would race with.
#[inline]
fn joined(old: &Stamp, new: &Stamp, order: &Order) -> Option<Stamp> {
    if new.kind() == Kind::Write && !old.is_same(new) {
        // What came before is ordered before it.
        return Some(*new);
    }
    if old.warp() != new.warp() {
        return None;
    }
    // Between the two the warp has told nobody anything, nor have lanes of it met: whatever is
    // ordered after one is ordered after the other.
    let at_once = order.is_quiet_since(new.warp(), old.clock);
    if old.kind() == new.kind() {
        let mask = old.mask | new.mask;
        if at_once || old.is_same(new) {
            return Some(Stamp { mask, ..*new });
        }
        // The later access of the same lanes, or of lanes that were all ordered after it.
        let overtaken = old.mask & !new.mask == 0 || order.are_met(new.warp(), old.clock);
        return overtaken.then_some(*new);
    }
    // A plain write by the same lanes races with all that its later reads would race with.
    let covered = old.kind() == Kind::Write && new.mask & !old.mask == 0;
    (at_once && covered).then_some(*old)
}
