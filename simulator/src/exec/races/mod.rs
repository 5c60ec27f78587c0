//! Finds data races on shared memory (PTX ISA 8.7.1, "Conflict and data-races").
//!
//! Two accesses to a byte by different threads race if one of them is a write, they are not both
//! strong (atomic, volatile, relaxed, …), and nothing orders them. What orders is kept as vector
//! clocks, one component per warp ([`order`]); every granule of shared memory remembers the
//! accesses that a later one may still race with ([`history`]). The technique is FastTrack's
//! (Flanagan and Freund, PLDI 2009). A race is so found whichever of its accesses runs first: it
//! depends on what the threads wait for, not on the order in which the simulator ran them.
//!
//! Orders: block barriers, named ones and `bar.arrive` included; a cluster's barrier, from its
//! arrivals to its waits; `bar.warp.sync` for the lanes of a warp; release and acquire, by instruction or by fence. Shuffles and votes exchange values and
//! order no memory.
//!
//! The shared memory of other blocks of the cluster is checked in the same way. It is also bound in
//! time: an access must be ordered after the block has begun and before it ends.
//!
//! Where the check is coarser than the memory model, it takes accesses for ordered: what one lane
//! acquired or fenced counts for its warp, lanes that have exited take part in the block's next barrier,
//! and lanes of one store instruction that write one place do not race with each other (one of
//! them wins; CUDA C++ Programming Guide, "SIMT Architecture").

mod history;
mod order;

use std::ops::Range;

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
    /// Offset of the first common granule in the shared memory of the whole cluster.
    pub(crate) offset: u32,
    /// The other access: warp in the cluster, lane in it, instruction, whether it wrote, whether it was
    /// strong.
    pub(crate) warp: u32,
    pub(crate) other_lane: u32,
    pub(crate) pc: u32,
    pub(crate) write: bool,
    pub(crate) strong: bool,
}

/// An access of a warp to shared memory, its own block's or another one's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedAccess<'a> {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    /// The lanes that access shared memory, and their offsets in that of the whole cluster; the
    /// bytes are in bounds.
    pub(crate) mask: u32,
    pub(crate) at: &'a Lanes,
    /// Bytes per lane.
    pub(crate) bytes: u32,
    pub(crate) write: bool,
    pub(crate) strong: bool,
}

/// A warp's last access to the shared memory of another block.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    clock: u32,
    pc: u32,
    lane: u32,
}

/// An access that another block's end is not ordered after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlived {
    pub(crate) warp: u32,
    pub(crate) pc: u32,
    pub(crate) lane: u32,
}

/// The race check of one cluster, whose blocks' shared memories follow each other in one offset.
#[derive(Debug, Default)]
pub(crate) struct Races {
    order: Order,
    history: History,
    blocks: usize,
    /// Warps of a block.
    warps: usize,
    /// From one block's shared memory to the next one's.
    stride: u32,
    publishes: bool,
    /// By rank: whether the block has read by a strong access, which may have told it of others.
    heard: Vec<bool>,
    /// By rank and warp: the last access from other blocks.
    reached: Vec<Vec<Reach>>,
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
    /// Forgets everything: a cluster of so many blocks begins, with so many warps and bytes of shared
    /// memory each.
    pub(crate) fn reset(
        &mut self,
        blocks: usize,
        warps: usize,
        shared_bytes: u32,
        check: RaceCheck,
    ) {
        self.order.reset(blocks, blocks * warps);
        // No place (see `order`) belongs to two blocks.
        self.stride = shared_bytes.next_multiple_of(8);
        self.history
            .reset(self.stride * blocks as u32, check.granule);
        self.unwritten = None;
        self.publishes = check.publishes;
        self.blocks = blocks;
        self.warps = warps;
        self.heard.clear();
        self.heard.resize(blocks, false);
        self.reached.resize_with(blocks, Vec::new);
        self.reached.iter_mut().for_each(Vec::clear);
    }

    /// Offset in the cluster's shared memory of one in a block's.
    #[inline]
    pub(crate) fn in_cluster(&self, rank: u32, offset: u64) -> u64 {
        u64::from(rank * self.stride) + offset
    }

    /// Rank and offset in its shared memory of an offset in the cluster's.
    pub(crate) fn in_block(&self, offset: u32) -> (u32, u64) {
        (offset / self.stride, u64::from(offset % self.stride))
    }

    /// A thread of a block reads by a strong access.
    pub(crate) fn hear(&mut self, rank: u32) {
        self.heard[rank as usize] = true;
    }

    /// A warp is about to access the shared memory of another block. Gives whether it can know that
    /// the block has begun.
    pub(crate) fn reach(&mut self, warp: u32, rank: u32, pc: u32, lane: u32) -> bool {
        let reached = &mut self.reached[rank as usize];
        if reached.is_empty() {
            reached.resize(self.blocks * self.warps, Reach::default());
        }
        // The access itself takes the warp's next clock.
        let clock = self.order.clock(warp) + 1;
        reached[warp as usize] = Reach { clock, pc, lane };
        self.heard[warp as usize / self.warps]
            || self
                .warps_of(rank)
                .any(|other| self.order.heard_of(warp, other) > 0)
    }

    /// A block has ended: an access to its shared memory that nothing orders before that.
    pub(crate) fn outlived(&self, rank: u32) -> Option<Outlived> {
        // Relaxed messages order nothing, but with nothing else in the program they are meant to.
        if !self.publishes && self.heard[rank as usize] {
            return None;
        }
        let reached = self.reached[rank as usize].iter().enumerate();
        reached
            .filter(|(_, reach)| reach.clock > 0)
            .find(|&(warp, reach)| {
                let known = |own| self.order.heard_of(own, warp as u32) >= reach.clock;
                !self.warps_of(rank).any(known)
            })
            .map(|(warp, reach)| Outlived {
                warp: warp as u32,
                pc: reach.pc,
                lane: reach.lane,
            })
    }

    fn warps_of(&self, rank: u32) -> Range<u32> {
        let warps = self.warps as u32;
        rank * warps..(rank + 1) * warps
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

    /// All threads of a block of a larger cluster have met at a barrier, or have exited.
    pub(crate) fn met(&mut self, warps: Range<usize>) {
        self.order.met(warps);
    }

    /// A warp has arrived at the cluster's barrier.
    pub(crate) fn cluster_arrive(&mut self, warp: u32, release: bool) {
        self.order.cluster_arrive(warp, release);
    }

    /// All threads have arrived there, or have exited.
    pub(crate) fn cluster_complete(&mut self, exited: impl Iterator<Item = u32>) {
        self.order.cluster_complete(exited);
    }

    /// A warp has waited there.
    pub(crate) fn cluster_wait(&mut self, warp: u32) {
        self.order.cluster_wait(warp);
    }

    /// A warp has arrived at a barrier that waits for a number of threads.
    pub(crate) fn arrive(&mut self, name: usize, warp: u32) {
        self.order.arrive(name, warp);
    }

    /// Such a barrier lets `waited` go.
    pub(crate) fn release(&mut self, name: usize, waited: &[u32]) {
        self.order.release(name, waited);
    }

    /// All threads of a block without a cluster have met at a barrier, or have exited: a thread that returns has
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
                    let shared = matches!(
                        access.space,
                        Space::Shared | Space::SharedCluster | Space::Generic
                    );
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
