//! What each granule of shared memory remembers: the accesses a later one may race with.

use std::ops::RangeInclusive;

use super::{SharedAccess, order::Order};

/// Lanes of a warp that accessed a granule by one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The warp's clock then; 0 where there is no access.
    pub(super) clock: u32,
    pub(super) mask: u32,
    pub(super) pc: u32,
    pub(super) warp: u8,
    pub(super) write: bool,
    pub(super) strong: bool,
}

impl Stamp {
    const NONE: Self = Self {
        clock: 0,
        mask: 0,
        pc: 0,
        warp: 0,
        write: false,
        strong: false,
    };

    /// The part of an access that some of its lanes make.
    pub(super) fn new(access: &SharedAccess, mask: u32, clock: u32) -> Self {
        Self {
            clock,
            mask,
            pc: access.pc,
            warp: access.warp as u8,
            write: access.write,
            strong: access.strong,
        }
    }

    /// Whether two accesses race unless something orders them.
    fn conflicts(&self, other: &Self) -> bool {
        (self.write || other.write) && !(self.strong && other.strong)
    }
}

/// A granule: its last write, its last read, and, in a list of its own, what else has not been
/// overtaken by those.
#[derive(Debug, Clone, Copy)]
struct Cell {
    write: Stamp,
    read: Stamp,
    /// Index into [`History::lists`] plus 1; 0 where there is no list.
    list: u32,
}

const EMPTY: Cell = Cell {
    write: Stamp::NONE,
    read: Stamp::NONE,
    list: 0,
};

/// The accesses to a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct History {
    cells: Vec<Cell>,
    lists: Vec<Vec<Stamp>>,
    free_lists: Vec<u32>,
    /// Logarithm of the granule's bytes.
    shift: u32,
}

impl History {
    pub(super) fn reset(&mut self, bytes: u32, granule: u32) {
        self.shift = granule.trailing_zeros();
        self.cells.clear();
        self.cells.resize(bytes.div_ceil(granule) as usize, EMPTY);
        self.free_lists.clear();
        for (index, list) in self.lists.iter_mut().enumerate() {
            list.clear();
            self.free_lists.push(index as u32);
        }
    }

    /// The granules of an access.
    #[inline]
    pub(super) fn granules(&self, offset: u64, bytes: u32) -> RangeInclusive<usize> {
        let last = offset + u64::from(bytes) - 1;
        (offset >> self.shift) as usize..=(last >> self.shift) as usize
    }

    /// Where a granule begins.
    pub(super) fn offset(&self, granule: usize) -> u32 {
        (granule as u32) << self.shift
    }

    /// An earlier access that races with this one.
    #[inline]
    pub(super) fn conflict(&self, granule: usize, new: &Stamp, order: &Order) -> Option<Stamp> {
        let cell = &self.cells[granule];
        let races =
            |old: &Stamp| old.clock != 0 && old.conflicts(new) && order.unordered(old, new) != 0;
        if races(&cell.write) {
            return Some(cell.write);
        }
        if new.write && races(&cell.read) {
            return Some(cell.read);
        }
        if cell.list == 0 {
            return None;
        }
        let list = &self.lists[cell.list as usize - 1];
        list.iter().find(|old| races(old)).copied()
    }

    /// Remembers an access that races with none before it.
    #[inline]
    pub(super) fn record(&mut self, granule: usize, new: Stamp, order: &Order) {
        let cell = &mut self.cells[granule];
        if new.write && !new.strong && cell.list == 0 {
            // Everything before is ordered before it.
            cell.write = merged(cell.write, new);
            cell.read = Stamp::NONE;
            return;
        }
        let slot = if new.write {
            &mut cell.write
        } else {
            &mut cell.read
        };
        let old = std::mem::replace(slot, merged(*slot, new));
        let kept = *slot;
        let other = if new.write { cell.read } else { Stamp::NONE };
        if cell.list == 0 && overtaken(&old, &kept, order) && overtaken(&other, &kept, order) {
            if new.write {
                cell.read = Stamp::NONE;
            }
            return;
        }
        self.spill(granule, [old, other], kept, order);
    }

    /// Puts what `new` has not overtaken into the granule's list.
    #[cold]
    fn spill(&mut self, granule: usize, before: [Stamp; 2], new: Stamp, order: &Order) {
        let cell = &mut self.cells[granule];
        if new.write {
            cell.read = Stamp::NONE;
        }
        let mut list = match cell.list {
            0 => Vec::new(),
            index => std::mem::take(&mut self.lists[index as usize - 1]),
        };
        list.extend(before);
        list.retain(|old| !overtaken(old, &new, order));
        if list.is_empty() {
            if cell.list != 0 {
                self.lists[cell.list as usize - 1] = list;
                self.free_lists.push(cell.list - 1);
                cell.list = 0;
            }
            return;
        }
        if cell.list == 0 {
            let index = self.free_lists.pop().unwrap_or_else(|| {
                self.lists.push(Vec::new());
                self.lists.len() as u32 - 1
            });
            cell.list = index + 1;
        }
        self.lists[cell.list as usize - 1] = list;
    }
}

/// The same access by more lanes, or the new one.
#[inline]
fn merged(old: Stamp, new: Stamp) -> Stamp {
    let same = old.clock == new.clock && old.pc == new.pc && old.warp == new.warp;
    Stamp {
        mask: if same { old.mask | new.mask } else { new.mask },
        ..new
    }
}

/// Whether everything that could race with `old` would race with `new` as well, so that `old` can
/// be forgotten.
#[inline]
fn overtaken(old: &Stamp, new: &Stamp, order: &Order) -> bool {
    if old.clock == 0 {
        return true;
    }
    let as_strict = (new.write || !old.write) && (!new.strong || old.strong);
    // By the same lanes, later: no order can lie between the two and not before `old`.
    let by_the_same = old.warp == new.warp && old.mask & !new.mask == 0;
    as_strict && (by_the_same || order.unordered(old, new) == 0)
}
