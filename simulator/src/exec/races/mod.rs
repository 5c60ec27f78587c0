//! Finds data races on shared memory (PTX ISA 8.7.1, "Conflict and data-races").
//!
//! Two accesses to a byte by different threads race if one of them is a write, they are not both
//! strong (atomic, volatile, relaxed, …), and nothing orders them. What orders is kept as vector
//! clocks, one component per warp ([`order`]); every granule of shared memory remembers the
//! accesses that a later one may still race with ([`history`]). The technique is FastTrack's
//! (Flanagan and Freund, PLDI 2009). A race is so found whichever of its accesses runs first: it
//! depends on what the threads wait for, not on the order in which the simulator ran them.
//!
//! Orders: block barriers, named ones and `bar.arrive` included; `bar.warp.sync` for the lanes of
//! a warp; release and acquire, by instruction or by fence. Shuffles and votes exchange values and
//! order no memory.
//!
//! Where the check is coarser than the memory model, it takes accesses for ordered: what one lane
//! acquired or fenced counts for its warp, lanes that have exited take part in the block's next barrier,
//! and lanes of one store instruction that write one place do not race with each other (one of
//! them wins; CUDA C++ Programming Guide, "SIMT Architecture").

mod history;
mod order;

use history::{History, Stamp};
use order::Order;

use crate::{
    fault::FaultKind,
    program::{Action, Lanes, Program, Space},
};

/// Two accesses that race, as the later one found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Lane of the later access.
    pub(crate) lane: u32,
    /// Offset of the first common granule in the block's shared memory.
    pub(crate) offset: u32,
    /// The other access: warp and lane in the block, instruction, whether it wrote, whether it was
    /// strong.
    pub(crate) warp: u32,
    pub(crate) other_lane: u32,
    pub(crate) pc: u32,
    pub(crate) write: bool,
    pub(crate) strong: bool,
}

/// An access of a warp to shared memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedAccess<'a> {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    /// The lanes that access shared memory, and their offsets in it; the bytes are in bounds.
    pub(crate) mask: u32,
    pub(crate) at: &'a Lanes,
    /// Bytes per lane.
    pub(crate) bytes: u32,
    pub(crate) write: bool,
    pub(crate) strong: bool,
}

/// The race check of one block.
#[derive(Debug, Default)]
pub(crate) struct Races {
    order: Order,
    history: History,
    /// The first read of what nothing had written.
    pub(crate) unwritten: Option<Unwritten>,
}

/// A read that nothing had written. If another thread's write turns out to race with it, the race is
/// the cause; if no such write comes, this is the fault.
#[derive(Debug, Clone)]
pub(crate) struct Unwritten {
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) pc: u32,
    pub(crate) kind: FaultKind,
}

impl Races {
    /// Forgets everything: a block of so many warps and bytes of shared memory begins.
    pub(crate) fn reset(&mut self, warps: usize, shared_bytes: u32, check: RaceCheck) {
        self.order.reset(warps);
        self.history.reset(shared_bytes, check.granule);
        self.unwritten = None;
    }

    /// Checks an access against those before it, and remembers it.
    pub(crate) fn access(&mut self, access: SharedAccess) -> Result<(), Conflict> {
        let clock = self.order.tick(access.warp);
        for (mask, offset) in groups(access.mask, access.at) {
            let stamp = Stamp::new(&access, mask, clock);
            let last = self.history.granule(offset + u64::from(access.bytes) - 1);
            for granule in self.history.granule(offset)..=last {
                if let Some(other) = self.history.access(granule, &stamp, &self.order) {
                    return Err(self.explain(granule, &stamp, &other));
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn explain(&self, granule: usize, new: &Stamp, other: &Stamp) -> Conflict {
        let unordered = self.order.unordered(other, new);
        // Rather a lane of the instruction that is named.
        let other_lane = match unordered >> other.lane() & 1 {
            1 => other.lane(),
            _ => unordered.trailing_zeros(),
        };
        let own = if other.warp() == new.warp() {
            1 << other_lane
        } else {
            0
        };
        Conflict {
            lane: (new.mask & !own).trailing_zeros(),
            offset: self.history.offset(granule),
            warp: other.warp(),
            other_lane,
            pc: other.pc(),
            write: other.kind().writes(),
            strong: other.kind().is_strong(),
        }
    }

    /// Lanes of a warp met at `bar.warp.sync`.
    pub(crate) fn warp_barrier(&mut self, warp: u32, members: u32, live: u32) {
        self.order.warp_barrier(warp, members, live);
    }

    /// A warp has executed a fence.
    pub(crate) fn fence(&mut self, warp: u32) {
        self.order.fence(warp);
    }

    /// A warp is about to read by a strong access: from shared memory at these offsets, or (`None`)
    /// from global memory, where anything published may be seen anywhere.
    pub(crate) fn acquire(&mut self, warp: u32, acquire: bool, at: Option<(u32, &Lanes)>) {
        match at {
            None => self.order.acquire(warp, acquire, None),
            Some((mask, at)) => groups(mask, at)
                .for_each(|(_, offset)| self.order.acquire(warp, acquire, Some(offset))),
        }
    }

    /// A warp has written by a strong access.
    pub(crate) fn publish(&mut self, warp: u32, release: bool, at: Option<(u32, &Lanes)>) {
        match at {
            None => self.order.publish(warp, release, None),
            Some((mask, at)) => groups(mask, at)
                .for_each(|(_, offset)| self.order.publish(warp, release, Some(offset))),
        }
    }

    /// A warp has arrived at a barrier that waits for a number of threads.
    pub(crate) fn arrive(&mut self, name: usize, warp: u32) {
        self.order.arrive(name, warp);
    }

    /// Such a barrier lets `waited` go.
    pub(crate) fn release(&mut self, name: usize, waited: &[u32]) {
        self.order.release(name, waited);
    }

    /// All threads of the block have met at a barrier, or have exited: a thread that returns has
    /// arrived for good.
    pub(crate) fn all_met(&mut self) {
        self.history.next_phase();
        self.order.all_met();
    }
}

/// Runs of lanes with the same offset.
#[inline]
fn groups(mask: u32, at: &Lanes) -> impl Iterator<Item = (u32, u64)> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let offset = at[rest.trailing_zeros() as usize];
        let before = rest;
        rest &= rest - 1;
        while rest != 0 && at[rest.trailing_zeros() as usize] == offset {
            rest &= rest - 1;
        }
        Some((before ^ rest, offset))
    })
}

/// How a program's races are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RaceCheck {
    /// Bytes of shared memory that are checked as one: 4, or 1 where the program has smaller
    /// accesses that could go there.
    pub(crate) granule: u32,
    /// Whether strong accesses can order others: without a fence or an acquire they cannot.
    pub(crate) publishes: bool,
}

impl RaceCheck {
    /// For a program.
    pub(crate) fn of(program: &Program) -> Self {
        let mut check = Self {
            granule: 4,
            publishes: false,
        };
        for instruction in &program.instructions {
            match instruction.action {
                Action::Load(access) | Action::Store(access) | Action::Atomic(access, _) => {
                    let shared = matches!(access.space, Space::Shared | Space::Generic);
                    if access.bytes < 4 && shared {
                        check.granule = 1;
                    }
                    check.publishes |= access.acquire;
                }
                Action::Fence => check.publishes = true,
                _ => {}
            }
        }
        check
    }
}
