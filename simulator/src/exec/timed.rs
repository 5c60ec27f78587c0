//! Runs a launch in order of modelled time.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    access::AccessLog,
    ahead::{self, Ahead},
    cluster::{Cluster, Step, Surroundings},
    launch::LaunchContext,
    lookup::Store,
    memory::Memory,
    progress::Progress,
    registers::Registers,
};
use crate::{
    chip::Chip,
    fault::Fault,
    program::{Action, Program},
    timing::{AccessKind, Cost, Costs, Dispatch, MemorySystem, SmClock},
};

/// Cycles an SM may run ahead of the next one. It bounds how far the order of accesses can differ
/// from the order of time; the longer, the more of an SM's state stays in the host's caches.
const QUANTUM: u64 = 32;

/// The same where no kernel code can tell: only the queue at the memory is served out of order.
const LONG_QUANTUM: u64 = 128;

/// What a launch took.
pub(crate) struct Ran {
    /// SM cycles from the launch to the end of the last block.
    pub(crate) cycles: u64,
    pub(crate) warp_instructions: u64,
}

struct Sm {
    clock: SmClock,
    /// Cycles from the last arrival at a barrier to the release.
    barrier_latency: u64,
    /// The same at the barrier of a cluster.
    cluster_latency: u64,
    clock_ghz: f64,
    /// By warp slot: whose warp it is.
    slots: Vec<Tenant>,
    free_slots: Vec<usize>,
    /// What each slot's warp has done ahead of its time.
    ahead: Vec<Ahead>,
    /// The cycle at which it stands in the queue.
    queued: Option<u64>,
}

/// The warp in a slot. What timing needs of it stands here, where it costs no look at the warp.
#[derive(Debug, Clone, Copy, Default)]
struct Tenant {
    resident: u32,
    /// Index in the cluster.
    warp: u32,
    /// Rank of its block.
    rank: u32,
}

/// A cluster, or a block of a launch without clusters.
struct Resident {
    cluster: Cluster,
    /// SM and slot of each warp.
    homes: Vec<(usize, usize)>,
    /// When the last store of each block was accepted.
    done: Vec<u64>,
    /// Warps of each block whose exit has not been timed.
    live: Vec<usize>,
    /// When all had last arrived at the cluster's barrier.
    completed: u64,
}

/// A warp on another SM that a cluster's barrier lets go.
struct Release {
    sm: usize,
    slot: usize,
    at: u64,
}

/// What the SMs share besides memory.
#[derive(Default)]
struct Common {
    /// What warps that run let go on other SMs.
    releases: Vec<Release>,
    /// Registers of finished warps. Whichever SM starts a warp takes those that were used last,
    /// which the host's caches still hold.
    spare_registers: Vec<Registers>,
}

/// The resident clusters and the places for more.
struct Residents<'a> {
    list: Vec<Resident>,
    free: Vec<usize>,
    spare: &'a mut Vec<Cluster>,
    /// SMs of the blocks of the cluster that starts.
    sms: Vec<usize>,
    next: u64,
}

/// Runs all blocks.
pub(crate) fn run(
    launch: &LaunchContext,
    chip: &Chip,
    blocks_per_sm: u32,
    memory: &mut Memory,
    system: &mut MemorySystem,
    spare_clusters: &mut Vec<Cluster>,
) -> Result<Ran, Box<Fault>> {
    system.begin_launch();
    let mut log = AccessLog::new(true);
    let mut progress = Progress::new();
    let bound = ahead::bound_to_time(launch.program);
    let quantum = match ahead::observes_order(launch.program) {
        true => QUANTUM,
        false => LONG_QUANTUM,
    };
    let mut dispatch = Dispatch::new(chip, blocks_per_sm, launch.cluster_blocks());
    let mut sms: Vec<Sm> = (0..chip.sms)
        .map(|_| Sm::new(chip, launch.cluster_blocks()))
        .collect();
    let mut queue = BinaryHeap::new();
    let mut residents = Residents {
        list: Vec::new(),
        free: Vec::new(),
        spare: spare_clusters,
        sms: Vec::new(),
        next: 0,
    };
    let mut common = Common::default();
    let costs = Costs::new(chip);
    let costs: Vec<Cost> = launch
        .program
        .instructions
        .iter()
        .map(|instruction| costs.of(instruction))
        .collect();
    let mut ran = Ran {
        cycles: 0,
        warp_instructions: 0,
    };
    progress.blocks_started(residents.start(launch, &mut dispatch, &mut sms, &mut queue));
    while let Some(Reverse((key, index))) = queue.pop() {
        if sms[index].queued != Some(key) {
            // A release has put it further forward since.
            continue;
        }
        let mut limit = queue.peek().map_or(u64::MAX, |Reverse((cycle, _))| {
            cycle.saturating_add(quantum)
        });
        sms[index].queued = None;
        while let Some((cycle, slot)) = sms[index].clock.next() {
            if cycle > limit {
                break;
            }
            let sm = &mut sms[index];
            let resident = &mut residents.list[sm.slots[slot].resident as usize];
            if sm.ahead[slot].is_empty() {
                let mut around = Surroundings {
                    launch,
                    memory,
                    log: &mut log,
                    sm: index as u32,
                    warp_slot: slot as u32,
                    clock: launch.clock_start + cycle,
                };
                ran.warp_instructions += sm.execute(
                    slot,
                    resident,
                    &bound,
                    &mut around,
                    &mut progress,
                    &mut common,
                )?;
                if progress.stalled() {
                    let clusters = residents.list.iter().map(|resident| &resident.cluster);
                    return Err(progress.fault(clusters, launch));
                }
            }
            let end = sm.time(cycle, slot, resident, launch.program, &costs, system);
            for Release { sm, slot, at } in common.releases.drain(..) {
                sms[sm].release(slot, at);
                if let Some(cycle) = sms[sm].enqueue_again(sm, &mut queue) {
                    limit = limit.min(cycle.saturating_add(quantum));
                }
            }
            if let Some(end) = end {
                ran.cycles = ran.cycles.max(end);
                dispatch.finish(index, end);
                residents.retire(sms[index].slots[slot].resident as usize);
                let started = residents.start(launch, &mut dispatch, &mut sms, &mut queue);
                progress.blocks_started(started);
            }
        }
        sms[index].enqueue(index, &mut queue);
    }
    let Residents { list, spare, .. } = residents;
    spare.extend(list.into_iter().map(|resident| resident.cluster));
    Ok(ran)
}

impl Residents<'_> {
    /// Makes clusters resident while there is room. Gives the number of blocks started so far.
    fn start(
        &mut self,
        launch: &LaunchContext,
        dispatch: &mut Dispatch,
        sms: &mut [Sm],
        queue: &mut BinaryHeap<Reverse<(u64, usize)>>,
    ) -> u64 {
        while self.next < launch.clusters() {
            let Some(cycle) = dispatch.start(&mut self.sms) else {
                break;
            };
            let index = self.free.pop().unwrap_or_else(|| {
                self.list.push(Resident {
                    cluster: self.spare.pop().unwrap_or_else(Cluster::new),
                    homes: Vec::new(),
                    done: Vec::new(),
                    live: Vec::new(),
                    completed: 0,
                });
                self.list.len() - 1
            });
            let resident = &mut self.list[index];
            resident.cluster.start(self.next, launch);
            resident.homes.clear();
            resident.done.clear();
            resident.live.clear();
            resident.completed = 0;
            for &sm in &self.sms {
                sms[sm].start(sm, cycle, index, resident, launch);
                sms[sm].enqueue(sm, queue);
            }
            self.next += 1;
        }
        self.next * u64::from(launch.cluster_blocks())
    }

    /// Frees a cluster, if all its blocks have ended.
    fn retire(&mut self, index: usize) {
        if self.list[index].live.iter().all(|&warps| warps == 0) {
            self.free.push(index);
        }
    }
}

impl Sm {
    fn new(chip: &Chip, cluster_blocks: u32) -> Self {
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
    fn start(
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
    fn execute(
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
    fn release(&mut self, slot: usize, at: u64) {
        if self.ahead[slot].is_empty() {
            self.clock.resume(slot, at);
        } else {
            self.ahead[slot].release();
        }
    }

    /// Times the oldest instruction of a slot that has run. Gives the end of its block, if it was
    /// the last.
    fn time(
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
    fn enqueue(&mut self, index: usize, queue: &mut BinaryHeap<Reverse<(u64, usize)>>) {
        if self.queued.is_none() {
            self.enqueue_again(index, queue);
        }
    }

    /// Puts the SM further forward, if its next event is earlier than its place; gives the cycle.
    fn enqueue_again(
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
