//! What each granule of shared memory remembers: the accesses a later one may race with.
//!
//! Once all threads of the block have met at a barrier, everything before it is ordered before
//! everything after it. Such a meeting begins a *phase*: what a granule remembers from an earlier
//! phase is as good as forgotten, without being cleared.

use super::{SharedAccess, order::Order};
use crate::program::WARP_SIZE;

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

/// Lanes of a warp that accessed a granule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The warp's clock at the last of the accesses; 0 where there is none.
    pub(super) clock: u32,
    pub(super) mask: u32,
    /// Lanes of the last access.
    pub(super) last: u32,
    /// Instruction of the last access.
    pub(super) pc: u32,
    pub(super) warp: u16,
    pub(super) kind: Kind,
}

impl Stamp {
    const NONE: Self = Self {
        clock: 0,
        mask: 0,
        last: 0,
        pc: 0,
        warp: 0,
        kind: Kind::Read,
    };

    /// The part of an access that some of its lanes make.
    #[inline]
    pub(super) fn new(access: &SharedAccess, mask: u32, clock: u32) -> Self {
        Self {
            clock,
            mask,
            last: mask,
            pc: access.pc,
            warp: access.warp as u16,
            kind: Kind::of(access.write, access.strong),
        }
    }

    /// Whether it stands for the same execution of an instruction: an access of its own has a clock
    /// of its own.
    fn is_same(&self, other: &Self) -> bool {
        self.clock == other.clock && self.warp == other.warp
    }
}

/// A granule. A plain write is ordered after all before it, so that one is enough; of the other
/// accesses, one stands here, and several in a table.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The phase that the rest is of.
    phase: u32,
    /// Index into [`History::tables`] plus 1; 0 where there is none.
    table: u32,
    write: Stamp,
    other: Stamp,
}

const EMPTY: Cell = Cell {
    phase: 0,
    table: 0,
    write: Stamp::NONE,
    other: Stamp::NONE,
};

/// Kinds of access of which several warps' may stand side by side.
const SHARED_KINDS: [Kind; 3] = [Kind::Read, Kind::StrongRead, Kind::StrongWrite];

/// Accesses to one granule, by kind and warp.
#[derive(Debug)]
struct Table {
    /// The warps that have an entry.
    present: [u32; SHARED_KINDS.len()],
    stamps: [[Stamp; WARP_SIZE]; SHARED_KINDS.len()],
}

/// The accesses to a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct History {
    cells: Vec<Cell>,
    /// Counts phases over all blocks that have lived here, from 1.
    phase: u32,
    tables: Vec<Table>,
    used_tables: usize,
    /// Logarithm of the granule's bytes.
    shift: u32,
}

impl History {
    pub(super) fn reset(&mut self, bytes: u32, granule: u32) {
        self.shift = granule.trailing_zeros();
        self.cells.resize(bytes.div_ceil(granule) as usize, EMPTY);
        self.next_phase();
    }

    /// All threads of the block have met.
    pub(super) fn next_phase(&mut self) {
        self.used_tables = 0;
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
        let phase = self.phase;
        let cell = &mut self.cells[granule];
        if cell.phase != phase {
            *cell = EMPTY;
            cell.phase = phase;
            match new.kind {
                Kind::Write => cell.write = *new,
                _ => cell.other = *new,
            }
            return None;
        }
        self.again(granule, new, order)
    }

    /// The same for a granule that was accessed before in this phase.
    fn again(&mut self, granule: usize, new: &Stamp, order: &Order) -> Option<Stamp> {
        let cell = &mut self.cells[granule];
        let races = |old: &Stamp| {
            old.clock != 0
                && old.kind.conflicts(new.kind)
                && !old.is_same(new)
                && order.unordered(old, new) != 0
        };
        if races(&cell.write) {
            return Some(cell.write);
        }
        if races(&cell.other) {
            return Some(cell.other);
        }
        if cell.table != 0 {
            let table = &self.tables[cell.table as usize - 1];
            let found = table.conflicting(new.kind).find(|old| races(old));
            if found.is_some() {
                return found;
            }
        }
        if new.kind == Kind::Write {
            // Everything else is ordered before it.
            cell.write = merged(&cell.write, new, order);
            cell.other = Stamp::NONE;
            cell.table = 0;
        } else if cell.table != 0 {
            self.tables[cell.table as usize - 1].insert(new, order);
        } else if cell.other.clock == 0
            || (cell.other.kind == new.kind && cell.other.warp == new.warp)
        {
            cell.other = merged(&cell.other, new, order);
        } else {
            let old = std::mem::replace(&mut cell.other, Stamp::NONE);
            cell.table = self.used_tables as u32 + 1;
            if self.tables.len() == self.used_tables {
                self.tables.push(Table {
                    present: [0; SHARED_KINDS.len()],
                    stamps: [[Stamp::NONE; WARP_SIZE]; SHARED_KINDS.len()],
                });
            }
            let table = &mut self.tables[self.used_tables];
            self.used_tables += 1;
            table.present = [0; SHARED_KINDS.len()];
            table.insert(&old, order);
            table.insert(new, order);
        }
        None
    }
}

impl Table {
    /// The entries that conflict with an access of a kind.
    fn conflicting(&self, kind: Kind) -> impl Iterator<Item = Stamp> + '_ {
        let rows = self.present.iter().zip(&self.stamps).zip(SHARED_KINDS);
        rows.filter(move |(_, row)| row.conflicts(kind))
            .flat_map(|((&present, stamps), _)| super::lanes(present).map(|warp| stamps[warp]))
    }

    fn insert(&mut self, new: &Stamp, order: &Order) {
        let (row, warp) = (new.kind as usize, usize::from(new.warp));
        let entry = &mut self.stamps[row][warp];
        if self.present[row] >> warp & 1 == 0 {
            *entry = *new;
            self.present[row] |= 1 << warp;
        } else {
            *entry = merged(entry, new, order);
        }
    }
}

/// An access with one before it of the same kind and warp. Other warps race with both or, in time,
/// with the later one alone. Lanes of its own warp that are not yet ordered stay in the mask; where
/// only some are, those before are forgotten.
#[inline]
fn merged(old: &Stamp, new: &Stamp, order: &Order) -> Stamp {
    if old.is_same(new) {
        let mask = old.mask | new.mask;
        return Stamp {
            mask,
            last: mask & (old.last | new.last),
            ..*new
        };
    }
    let keep = old.warp == new.warp && order.are_lanes_apart(new.warp, old.clock);
    Stamp {
        mask: if keep { old.mask | new.mask } else { new.mask },
        ..*new
    }
}
