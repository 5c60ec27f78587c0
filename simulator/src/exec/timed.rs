//! Runs a launch in order of modelled time.

mod sm;

use std::{cmp::Reverse, collections::BinaryHeap};

use sm::{Common, Release, Sm};

use super::{
    access::AccessLog,
    ahead,
    cluster::{Cluster, Surroundings},
    launch::LaunchContext,
    memory::Memory,
    progress::Progress,
};
use crate::{
    chip::Chip,
    fault::Fault,
    timing::{Cost, Costs, Dispatch, MemorySystem},
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
