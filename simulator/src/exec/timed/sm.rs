//! One SM of a launch in order of modelled time: its warps run ahead, and are timed one by one.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Resident;
use crate::{
    chip::Chip,
    exec::{
        ahead::Ahead,
        cluster::{Step, Surroundings},
        launch::LaunchContext,
        lookup::Store,
        progress::Progress,
        registers::Registers,
    },
    fault::Fault,
    program::{Action, Program},
    timing::{AccessKind, Cost, MemorySystem, SmClock},
};

/// An SM.
pub(super) struct Sm {
    pub(super) clock: SmClock,
    /// Cycles from the last arrival at a barrier to the release.
    barrier_latency: u64,
    /// The same at the barrier of a cluster.
    cluster_latency: u64,
    clock_ghz: f64,
    /// By warp slot: whose warp it is.
    pub(super) slots: Vec<Tenant>,
    free_slots: Vec<usize>,
    /// What each slot's warp has done ahead of its time.
    pub(super) ahead: Vec<Ahead>,
    /// The cycle at which it stands in the queue.
    pub(super) queued: Option<u64>,
}

/// The warp in a slot. What timing needs of it stands here, where it costs no look at the warp.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tenant {
    pub(super) resident: u32,
    /// Index in the cluster.
    warp: u32,
    /// Rank of its block.
    rank: u32,
}

/// A warp on another SM that a cluster's barrier lets go.
pub(super) struct Release {
    pub(super) sm: usize,
    pub(super) slot: usize,
    pub(super) at: u64,
}

/// What the SMs share besides memory.
#[derive(Default)]
pub(super) struct Common {
    /// What warps that run let go on other SMs.
    pub(super) releases: Vec<Release>,
    /// Registers of finished warps. Whichever SM starts a warp takes those that were used last,
    /// which the host's caches still hold.
    pub(super) spare_registers: Vec<Registers>,
}

impl Sm {
    pub(super) fn new(chip: &Chip, cluster_blocks: u32) -> Self {
        let slots = chip.limits.max_warps_per_sm as usize;
        Self {
            clock: SmClock::new(chip),
            barrier_latency: chip.latency.barrier.into(),
            cluster_latency: match cluster_blocks {
                1 => chip.latency.barrier.into(),
                _ => chip.latency.cluster_barrier.into(),
            },
            clock_ghz: chip.clock_ghz,
            slots: vec![Tenant::default(); slots],
            free_slots: (0..slots).rev().collect(),
            ahead: (0..slots).map(|_| Ahead::default()).collect(),
            queued: None,
        }
    }

    /// Makes the next block of a resident cluster, by rank, resident on this SM, which has this
    /// index.
    pub(super) fn start(
        &mut self,
        index: usize,
        cycle: u64,
        cluster: usize,
        resident: &mut Resident,
        launch: &LaunchContext,
    ) {
        let warps = launch.warps() as usize;
        let rank = resident.live.len();
        resident.live.push(warps);
        resident.done.push(0);
        for _ in 0..warps {
            let slot = self
                .free_slots
                .pop()
                .expect("occupancy leaves a slot for every warp");
            self.slots[slot] = Tenant {
                resident: cluster as u32,
                warp: resident.homes.len() as u32,
                rank: rank as u32,
            };
            resident.homes.push((index, slot));
            self.clock.start_warp(slot, cycle, launch.program.registers);
        }
    }

    /// Runs a warp whose time has come, and on to the next instruction that is bound to time.
    /// Gives the number of instructions.
    pub(super) fn execute(
        &mut self,
        slot: usize,
        resident: &mut Resident,
        bound: &[bool],
        around: &mut Surroundings,
        progress: &mut Progress,
        common: &mut Common,
    ) -> Result<u64, Box<Fault>> {
        let warp = self.slots[slot].warp as usize;
        let Resident {
            cluster,
            homes,
            completed,
            ..
        } = resident;
        let registers = around.launch.program.registers;
        cluster.provide_registers(warp, &mut common.spare_registers, registers);
        let mut count = 0;
        loop {
            let pc = cluster.warps[warp].pc();
            let step = cluster.step(warp, around)?;
            count += 1;
            self.ahead[slot].push(pc, step, around.log);
            progress.count(around.log);
            let now = around.clock - around.launch.clock_start;
            for &released in cluster
                .released
                .iter()
                .filter(|&&other| other as usize != warp)
            {
                let (_, slot) = homes[released as usize];
                self.release(slot, now + self.barrier_latency);
            }
            if cluster.completed {
                *completed = now;
                let at = now + self.cluster_latency;
                for &released in &cluster.released_by_cluster {
                    let (sm, slot) = homes[released as usize];
                    if sm != around.sm as usize {
                        common.releases.push(Release { sm, slot, at });
                    } else if released as usize != warp {
                        self.release(slot, at);
                    }
                }
            }
            match step {
                Step::Continue | Step::Released | Step::Joined => {}
                Step::Finished => {
                    common.spare_registers.push(cluster.take_registers(warp));
                    return Ok(count);
                }
                Step::Blocked | Step::Sleep => return Ok(count),
            }
            if bound[cluster.warps[warp].pc() as usize] || self.ahead[slot].is_full() {
                return Ok(count);
            }
        }
    }

    /// A barrier lets a warp go, which goes on at `at`.
    pub(super) fn release(&mut self, slot: usize, at: u64) {
        if self.ahead[slot].is_empty() {
            self.clock.resume(slot, at);
        } else {
            self.ahead[slot].release();
        }
    }

    /// Times the oldest instruction of a slot that has run. Gives the end of its block, if it was
    /// the last.
    pub(super) fn time(
        &mut self,
        cycle: u64,
        slot: usize,
        resident: &mut Resident,
        program: &Program,
        costs: &[Cost],
        system: &mut MemorySystem,
    ) -> Option<u64> {
        let Tenant { warp, rank, .. } = self.slots[slot];
        let rank = rank as usize;
        let Resident {
            cluster,
            done,
            live,
            completed,
            ..
        } = resident;
        let (executed, next, sectors) = self.ahead[slot].pop().expect("the slot's warp has run");
        let ready = match executed.store {
            Some(Store::Global) => {
                let kind = match program.instructions[executed.pc as usize].action {
                    Action::Store(_) => AccessKind::Store,
                    Action::Atomic(..) => AccessKind::Atomic,
                    _ => AccessKind::Load,
                };
                let ready = system.access(cycle, kind, sectors);
                done[rank] = done[rank].max(ready);
                Some(ready)
            }
            Some(Store::Shared) => Some(self.clock.shared_ready(cycle, executed.passes.into())),
            Some(Store::Peer) => Some(self.clock.peer_ready(cycle, executed.passes.into())),
            _ => None,
        };
        if executed.step == Step::Finished {
            self.clock.stop_warp(slot);
            self.free_slots.push(slot);
            live[rank] -= 1;
            return (live[rank] == 0).then(|| (cycle + 1).max(done[rank]));
        }
        let next = next.unwrap_or_else(|| cluster.warps[warp as usize].pc());
        self.clock.issue(
            slot,
            cycle,
            &costs[executed.pc as usize],
            ready,
            &costs[next as usize],
        );
        let resume = match executed.step {
            Step::Released => Some(self.barrier_latency),
            Step::Joined => Some((*completed + self.cluster_latency).saturating_sub(cycle)),
            // Its time has come when it runs, so the cluster still knows for how long.
            Step::Sleep => Some((f64::from(cluster.sleep) * self.clock_ghz) as u64),
            _ => None,
        };
        if let Some(after) = resume {
            self.clock.wait(slot);
            self.clock.resume(slot, cycle + after);
        } else if executed.step == Step::Blocked {
            self.clock.wait(slot);
        }
        None
    }

    /// Puts the SM where its next event stands in time, unless it has a place.
    pub(super) fn enqueue(&mut self, index: usize, queue: &mut BinaryHeap<Reverse<(u64, usize)>>) {
        if self.queued.is_none() {
            self.enqueue_again(index, queue);
        }
    }

    /// Puts the SM further forward, if its next event is earlier than its place; gives the cycle.
    pub(super) fn enqueue_again(
        &mut self,
        index: usize,
        queue: &mut BinaryHeap<Reverse<(u64, usize)>>,
    ) -> Option<u64> {
        let (cycle, _) = self.clock.next()?;
        if self.queued.is_some_and(|queued| queued <= cycle) {
            return None;
        }
        self.queued = Some(cycle);
        queue.push(Reverse((cycle, index)));
        Some(cycle)
    }
}
