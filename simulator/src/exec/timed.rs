//! Runs a launch in order of modelled time.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    access::AccessLog,
    block::{Block, Step, Surroundings},
    launch::LaunchContext,
    lookup::Store,
    memory::Memory,
    progress::Progress,
};
use crate::{
    chip::Chip,
    fault::Fault,
    program::Action,
    timing::{AccessKind, Dispatcher, MemorySystem, SmClock},
};

/// Cycles an SM may run ahead of the next one. It bounds how far the order of accesses can differ
/// from the order of time, and lets an SM's registers stay in the host's caches for a while.
const QUANTUM: u64 = 32;

/// What a launch took.
pub(crate) struct Ran {
    /// SM cycles from the launch to the end of the last block.
    pub(crate) cycles: u64,
    pub(crate) warp_instructions: u64,
}

struct Sm {
    clock: SmClock,
    /// Block (index into `blocks`) and warp by warp slot.
    slots: Vec<(usize, usize)>,
    free_slots: Vec<usize>,
    /// Resident blocks and, for each, its warps' slots and when its last store was accepted.
    blocks: Vec<Resident>,
    free_blocks: Vec<usize>,
    queued: bool,
}

struct Resident {
    block: Block,
    slots: Vec<usize>,
    done: u64,
}

/// Runs all blocks.
pub(crate) fn run(
    launch: &LaunchContext,
    chip: &Chip,
    blocks_per_sm: u32,
    memory: &mut Memory,
    system: &mut MemorySystem,
) -> Result<Ran, Box<Fault>> {
    system.begin_launch();
    let mut log = AccessLog::new(true);
    let mut progress = Progress::new();
    let mut dispatcher = Dispatcher::new(chip, blocks_per_sm);
    let mut sms: Vec<Sm> = (0..chip.sms).map(|_| Sm::new(chip)).collect();
    let mut queue = BinaryHeap::new();
    let blocks = launch.blocks();
    let mut next_block = 0;
    let mut ran = Ran {
        cycles: 0,
        warp_instructions: 0,
    };
    let mut start = |sms: &mut [Sm], queue: &mut BinaryHeap<_>, dispatcher: &mut Dispatcher| {
        while next_block < blocks {
            let Some((cycle, sm)) = dispatcher.start() else {
                break;
            };
            sms[sm].start(next_block, cycle, launch);
            sms[sm].enqueue(sm, queue);
            next_block += 1;
        }
        next_block
    };
    progress.blocks_started(start(&mut sms, &mut queue, &mut dispatcher));
    while let Some(Reverse((_, index))) = queue.pop() {
        let limit = queue.peek().map_or(u64::MAX, |Reverse((cycle, _))| {
            cycle.saturating_add(QUANTUM)
        });
        sms[index].queued = false;
        while let Some((cycle, slot)) = sms[index].clock.next() {
            if cycle > limit {
                break;
            }
            let sm = &mut sms[index];
            let (resident, warp) = sm.slots[slot];
            let Resident { block, slots, done } = &mut sm.blocks[resident];
            let pc = block.warps[warp].pc();
            let mut around = Surroundings {
                launch,
                memory,
                log: &mut log,
                sm: index as u32,
                warp_slot: slot as u32,
                clock: launch.clock_start + cycle,
            };
            let step = block.step(warp, &mut around)?;
            ran.warp_instructions += 1;
            let instruction = &launch.program.instructions[pc as usize];
            let ready = match log.store {
                Some(Store::Global) => {
                    let kind = match instruction.action {
                        Action::Store(_) => AccessKind::Store,
                        Action::Atomic(..) => AccessKind::Atomic,
                        _ => AccessKind::Load,
                    };
                    let ready = system.access(cycle, kind, log.cache, &log.sectors);
                    *done = (*done).max(ready);
                    Some(ready)
                }
                Some(Store::Shared) => Some(sm.clock.shared_ready(cycle, log.passes)),
                _ => None,
            };
            if step == Step::Finished {
                sm.clock.stop_warp(slot);
                sm.free_slots.push(slot);
                ran.cycles = ran.cycles.max(cycle + 1);
            } else {
                let next = &launch.program.instructions[block.warps[warp].pc() as usize];
                sm.clock.issue(slot, cycle, instruction, ready, next);
                match step {
                    Step::Blocked => sm.clock.wait(slot),
                    Step::Sleep(nanoseconds) => {
                        let cycles = f64::from(nanoseconds) * chip.clock_ghz;
                        sm.clock.wait(slot);
                        sm.clock.resume(slot, cycle + cycles as u64);
                    }
                    _ => {}
                }
            }
            let released = cycle + u64::from(chip.latency.barrier);
            for &warp in &block.released {
                let slot = slots[warp as usize];
                sm.clock.wait(slot);
                sm.clock.resume(slot, released);
            }
            if block.finished() {
                let end = (cycle + 1).max(*done);
                ran.cycles = ran.cycles.max(end);
                sm.free_blocks.push(resident);
                dispatcher.finish(index, end);
                let started = start(&mut sms, &mut queue, &mut dispatcher);
                progress.blocks_started(started);
            }
            if progress.stalled(&mut log) {
                let resident = sms.iter().flat_map(Sm::running);
                return Err(progress.fault(resident, launch));
            }
        }
        sms[index].enqueue(index, &mut queue);
    }
    Ok(ran)
}

impl Sm {
    fn new(chip: &Chip) -> Self {
        let slots = chip.limits.max_warps_per_sm as usize;
        Self {
            clock: SmClock::new(chip),
            slots: vec![(0, 0); slots],
            free_slots: (0..slots).rev().collect(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            queued: false,
        }
    }

    /// Makes a block resident.
    fn start(&mut self, linear: u64, cycle: u64, launch: &LaunchContext) {
        let resident = self.free_blocks.pop().unwrap_or_else(|| {
            let block = Block::new(launch.checks);
            self.blocks.push(Resident {
                block,
                slots: Vec::new(),
                done: 0,
            });
            self.blocks.len() - 1
        });
        let Resident { block, slots, done } = &mut self.blocks[resident];
        block.start(linear, launch);
        slots.clear();
        *done = 0;
        for warp in 0..block.warps.len() {
            let slot = self
                .free_slots
                .pop()
                .expect("occupancy leaves a slot for every warp");
            slots.push(slot);
            self.slots[slot] = (resident, warp);
            self.clock.start_warp(slot, cycle, launch.program.registers);
        }
    }

    /// Puts the SM where its next event stands in time.
    fn enqueue(&mut self, index: usize, queue: &mut BinaryHeap<Reverse<(u64, usize)>>) {
        if self.queued {
            return;
        }
        if let Some((cycle, _)) = self.clock.next() {
            self.queued = true;
            queue.push(Reverse((cycle, index)));
        }
    }

    fn running(&self) -> impl Iterator<Item = &Block> {
        self.blocks
            .iter()
            .map(|resident| &resident.block)
            .filter(|block| !block.finished())
    }
}
