//! Which accesses of a cluster's blocks are ordered: vector clocks.
//!
//! A warp's clock counts its accesses and the events that tell others of them: arrivals at barriers,
//! warp barriers, fences, releases. A warp knows another up to some clock: what that one did until then
//! is ordered before what the warp does now.

use std::{collections::HashMap, ops::Range};

use super::{
    super::{barrier::BARRIERS, lanes},
    history::Stamp,
};
use crate::program::WARP_SIZE;

/// Bytes of shared memory that count as one place for what is published there: accesses of different
/// sizes meet in it.
const PLACE: u64 = 8;

/// How far each warp is known.
type Clocks = Vec<u32>;

/// By lane, up to which clock it is ordered after each other lane of its warp.
type LaneClocks = Box<[[u32; WARP_SIZE]; WARP_SIZE]>;

#[derive(Debug, Default)]
struct WarpOrder {
    /// Starts at 1.
    clock: u32,
    /// The clock of the last event, other than an access.
    event: u32,
    /// Up to which clock all lanes of the warp are ordered.
    floor: u32,
    /// Orders between some lanes only, where there were any since `floor`.
    lanes: Option<LaneClocks>,
    /// How far it knows the other warps.
    known: Clocks,
    /// What it knew at its last fence or barrier: what a relaxed write publishes.
    fenced: Clocks,
    /// What it has read without acquiring: a fence acquires it.
    seen: Clocks,
}

/// The order of the accesses of a cluster's warps.
#[derive(Debug, Default)]
pub(super) struct Order {
    warps: Vec<WarpOrder>,
    count: usize,
    /// What those who have arrived at each barrier know: the barriers of block after block.
    barriers: Vec<Clocks>,
    /// What those who have arrived at the cluster's barrier know.
    arrived: Clocks,
    /// What those knew who had arrived when it was last completed.
    completed: Clocks,
    /// What was published at each offset of shared memory.
    shared: HashMap<u64, Clocks>,
    /// What was published in global memory.
    global: Clocks,
}

impl WarpOrder {
    /// Something happens that tells others of what the warp did until this clock.
    fn next_event(&mut self) -> u32 {
        self.event = self.clock;
        self.clock += 1;
        self.event
    }
}

fn join(into: &mut [u32], from: &[u32]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

fn cleared(clocks: &mut Clocks, count: usize) {
    clocks.clear();
    clocks.resize(count, 0);
}

impl Order {
    pub(super) fn reset(&mut self, blocks: usize, warps: usize) {
        self.count = warps;
        self.barriers.resize_with(blocks * BARRIERS, Vec::new);
        self.arrived.clear();
        self.completed.clear();
        self.warps.resize_with(warps, WarpOrder::default);
        for warp in &mut self.warps {
            warp.clock = 1;
            warp.floor = 0;
            warp.event = 0;
            warp.lanes = None;
            for clocks in [&mut warp.known, &mut warp.fenced, &mut warp.seen] {
                cleared(clocks, warps);
            }
        }
        // Empty until somebody arrives or publishes.
        self.barriers.iter_mut().for_each(Vec::clear);
        self.shared.clear();
        self.global.clear();
    }

    /// A warp's clock.
    pub(super) fn clock(&self, warp: u32) -> u32 {
        self.warps[warp as usize].clock
    }

    /// A new clock of a warp, for an access of its own.
    #[inline]
    pub(super) fn tick(&mut self, warp: u32) -> u32 {
        let warp = &mut self.warps[warp as usize];
        warp.clock += 1;
        warp.clock
    }

    /// Whether since a clock of a warp it has told nobody anything, and none of its lanes have met.
    #[inline]
    pub(super) fn is_quiet_since(&self, warp: u32, clock: u32) -> bool {
        clock > self.warps[warp as usize].event
    }

    /// Whether all lanes of a warp have met since a clock of it.
    #[inline]
    pub(super) fn are_met(&self, warp: u32, clock: u32) -> bool {
        clock <= self.warps[warp as usize].floor
    }

    /// The lanes of an earlier access that nothing orders before one that its warp makes now. A lane
    /// is ordered after itself.
    #[inline]
    pub(super) fn unordered(&self, old: &Stamp, new: &Stamp) -> u32 {
        let warp = &self.warps[new.warp() as usize];
        if old.warp() != new.warp() {
            let ordered = old.clock <= warp.known[old.warp() as usize];
            return if ordered { 0 } else { old.mask };
        }
        if old.clock <= warp.floor {
            return 0;
        }
        let others = if new.mask.is_power_of_two() {
            old.mask & !new.mask
        } else {
            old.mask
        };
        let Some(known) = &warp.lanes else {
            return others;
        };
        lanes(others)
            .filter(|&other| {
                lanes(new.mask).any(|lane| lane != other && known[lane][other] < old.clock)
            })
            .fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Lanes met at `bar.warp.sync`. Lanes that have exited are not waited for.
    pub(super) fn warp_barrier(&mut self, warp: u32, members: u32, live: u32) {
        let warp = &mut self.warps[warp as usize];
        let now = warp.next_event();
        if live & !members == 0 {
            warp.floor = now;
            warp.lanes = None;
            return;
        }
        let known = warp
            .lanes
            .get_or_insert_with(|| Box::new([[0; WARP_SIZE]; WARP_SIZE]));
        let mut all = [0; WARP_SIZE];
        for lane in lanes(members) {
            join(&mut all, &known[lane]);
            all[lane] = now;
        }
        for lane in lanes(members) {
            known[lane] = all;
        }
    }

    /// What a warp knows, itself included, becomes what a relaxed write publishes.
    pub(super) fn fence(&mut self, warp: u32) {
        let index = warp as usize;
        let warp = &mut self.warps[index];
        join(&mut warp.known, &warp.seen);
        warp.floor = warp.floor.max(warp.seen[index]);
        warp.fenced.copy_from_slice(&warp.known);
        warp.fenced[index] = warp.next_event();
    }

    /// A warp reads what was published at a place; it knows it now, or after its next fence.
    pub(super) fn acquire(&mut self, warp: u32, acquire: bool, at: Option<u64>) {
        let place = match at {
            Some(offset) => match self.shared.get(&(offset / PLACE)) {
                Some(place) => place,
                None => return,
            },
            None => &self.global,
        };
        if place.is_empty() {
            return;
        }
        let index = warp as usize;
        let warp = &mut self.warps[index];
        join(&mut warp.seen, place);
        if acquire {
            join(&mut warp.known, place);
            warp.floor = warp.floor.max(place[index]);
        }
    }

    /// A warp publishes at a place what it knows, or knew at its last fence.
    pub(super) fn publish(&mut self, warp: u32, release: bool, at: Option<u64>) {
        let index = warp as usize;
        let warp = &mut self.warps[index];
        let place = match at {
            Some(offset) => self.shared.entry(offset / PLACE).or_default(),
            None => &mut self.global,
        };
        if place.is_empty() {
            place.resize(self.count, 0);
        }
        join(place, &warp.fenced);
        if release {
            join(place, &warp.known);
            place[index] = warp.next_event();
        }
    }

    pub(super) fn arrive(&mut self, name: usize, warp: u32) {
        let index = warp as usize;
        let barrier = &mut self.barriers[name];
        if barrier.is_empty() {
            barrier.resize(self.count, 0);
        }
        let warp = &mut self.warps[index];
        join(barrier, &warp.known);
        barrier[index] = warp.next_event();
    }

    /// Those who waited know what those who arrived knew.
    pub(super) fn release(&mut self, name: usize, waited: &[u32]) {
        let mut barrier = std::mem::take(&mut self.barriers[name]);
        for &warp in waited {
            let index = warp as usize;
            let warp = &mut self.warps[index];
            join(&mut warp.known, &barrier);
            warp.floor = warp.next_event();
            warp.lanes = None;
            warp.fenced.copy_from_slice(&warp.known);
            warp.fenced[index] = warp.floor;
        }
        barrier.clear();
        self.barriers[name] = barrier;
    }

    /// All threads of a block of a larger cluster have met at a barrier of it, or have exited.
    pub(super) fn met(&mut self, warps: Range<usize>) {
        let mut all = vec![0; self.count];
        for index in warps.clone() {
            let warp = &mut self.warps[index];
            join(&mut all, &warp.known);
            all[index] = warp.next_event();
        }
        for index in warps {
            let warp = &mut self.warps[index];
            warp.known.copy_from_slice(&all);
            warp.floor = all[index];
            warp.lanes = None;
            warp.fenced.copy_from_slice(&all);
        }
    }

    /// A warp arrives at the cluster's barrier. Without a release it tells no more than at its last
    /// fence, and that it has begun.
    pub(super) fn cluster_arrive(&mut self, warp: u32, release: bool) {
        let index = warp as usize;
        if self.arrived.is_empty() {
            self.arrived.resize(self.count, 0);
        }
        let warp = &mut self.warps[index];
        join(&mut self.arrived, &warp.fenced);
        self.arrived[index] = self.arrived[index].max(1);
        if release {
            join(&mut self.arrived, &warp.known);
            self.arrived[index] = warp.next_event();
        }
    }

    /// All have arrived at the cluster's barrier; those that have exited did so for good.
    pub(super) fn cluster_complete(&mut self, exited: impl Iterator<Item = u32>) {
        exited.for_each(|warp| self.cluster_arrive(warp, true));
        // Nobody waits for an earlier completion: each has arrived since.
        std::mem::swap(&mut self.arrived, &mut self.completed);
        self.arrived.clear();
    }

    /// A warp has waited at the cluster's barrier, whose last completion it sees.
    pub(super) fn cluster_wait(&mut self, warp: u32) {
        let index = warp as usize;
        let warp = &mut self.warps[index];
        join(&mut warp.known, &self.completed);
        if let Some(&own) = self.completed.get(index) {
            warp.floor = warp.floor.max(own);
        }
        warp.fenced.copy_from_slice(&warp.known);
        warp.fenced[index] = warp.next_event();
    }

    /// How far a warp knows others, or has seen them without acquiring.
    pub(super) fn heard_of(&self, warp: u32, other: u32) -> u32 {
        let warp = &self.warps[warp as usize];
        warp.known[other as usize].max(warp.seen[other as usize])
    }

    /// All threads of the block have met. What they did before is forgotten (see
    /// [`super::history`]), so that nobody need know of it.
    pub(super) fn all_met(&mut self) {
        self.warps.iter_mut().for_each(|warp| warp.lanes = None);
    }
}
