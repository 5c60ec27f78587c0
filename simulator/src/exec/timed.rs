//! Runs a launch in order of modelled time.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    access::AccessLog,
    ahead::{self, Ahead},
    block::{Block, Step, Surroundings},
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
    timing::{AccessKind, Dispatcher, MemorySystem, SmClock},
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
    clock_ghz: f64,
    /// Block (index into `blocks`) and warp by warp slot.
    slots: Vec<(usize, usize)>,
    free_slots: Vec<usize>,
    /// What each slot's warp has done ahead of its time.
    ahead: Vec<Ahead>,
    /// Registers of finished warps, the last used last.
    spare_registers: Vec<Registers>,
    /// Resident blocks and, for each, its warps' slots and when its last store was accepted.
    blocks: Vec<Resident>,
    free_blocks: Vec<usize>,
    queued: bool,
}

struct Resident {
    block: Block,
    slots: Vec<usize>,
    done: u64,
    /// Warps whose exit has not been timed.
    live: usize,
}

/// Runs all blocks.
pub(crate) fn run(
    launch: &LaunchContext,
    chip: &Chip,
    blocks_per_sm: u32,
    memory: &mut Memory,
    system: &mut MemorySystem,
    spare_blocks: &mut Vec<Block>,
) -> Result<Ran, Box<Fault>> {
    system.begin_launch();
    let mut log = AccessLog::new(true);
    let mut progress = Progress::new();
    let bound = ahead::bound_to_time(launch.program);
    let quantum = match ahead::observes_order(launch.program) {
        true => QUANTUM,
        false => LONG_QUANTUM,
    };
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
            sms[sm].start(next_block, cycle, launch, spare_blocks);
            sms[sm].enqueue(sm, queue);
            next_block += 1;
        }
        next_block
    };
    progress.blocks_started(start(&mut sms, &mut queue, &mut dispatcher));
    while let Some(Reverse((_, index))) = queue.pop() {
        let limit = queue.peek().map_or(u64::MAX, |Reverse((cycle, _))| {
            cycle.saturating_add(quantum)
        });
        sms[index].queued = false;
        while let Some((cycle, slot)) = sms[index].clock.next() {
            if cycle > limit {
                break;
            }
            let sm = &mut sms[index];
            if sm.ahead[slot].is_empty() {
                let mut around = Surroundings {
                    launch,
                    memory,
                    log: &mut log,
                    sm: index as u32,
                    warp_slot: slot as u32,
                    clock: launch.clock_start + cycle,
                };
                ran.warp_instructions += sm.execute(slot, &bound, &mut around, &mut progress)?;
                if progress.stalled() {
                    let running = sms.iter().flat_map(Sm::running);
                    return Err(progress.fault(running, launch));
                }
            }
            let end = sm.time(cycle, slot, launch.program, system);
            if let Some(end) = end {
                ran.cycles = ran.cycles.max(end);
                dispatcher.finish(index, end);
                let started = start(&mut sms, &mut queue, &mut dispatcher);
                progress.blocks_started(started);
            }
        }
        sms[index].enqueue(index, &mut queue);
    }
    spare_blocks.extend(
        sms.into_iter()
            .flat_map(|sm| sm.blocks)
            .map(|resident| resident.block),
    );
    Ok(ran)
}

impl Sm {
    fn new(chip: &Chip) -> Self {
        let slots = chip.limits.max_warps_per_sm as usize;
        Self {
            clock: SmClock::new(chip),
            barrier_latency: chip.latency.barrier.into(),
            clock_ghz: chip.clock_ghz,
            slots: vec![(0, 0); slots],
            free_slots: (0..slots).rev().collect(),
            ahead: (0..slots).map(|_| Ahead::default()).collect(),
            spare_registers: Vec::new(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            queued: false,
        }
    }

    /// Makes a block resident.
    fn start(
        &mut self,
        linear: u64,
        cycle: u64,
        launch: &LaunchContext,
        spare_blocks: &mut Vec<Block>,
    ) {
        let resident = self.free_blocks.pop().unwrap_or_else(|| {
            let block = spare_blocks
                .pop()
                .unwrap_or_else(|| Block::new(launch.checks));
            self.blocks.push(Resident {
                block,
                slots: Vec::new(),
                done: 0,
                live: 0,
            });
            self.blocks.len() - 1
        });
        let Resident {
            block,
            slots,
            done,
            live,
        } = &mut self.blocks[resident];
        block.start(linear, launch);
        *live = block.warps.len();
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

    /// Runs a warp whose time has come, and on to the next instruction that is bound to time.
    /// Gives the number of instructions.
    fn execute(
        &mut self,
        slot: usize,
        bound: &[bool],
        around: &mut Surroundings,
        progress: &mut Progress,
    ) -> Result<u64, Box<Fault>> {
        let (resident, warp) = self.slots[slot];
        let Resident { block, slots, .. } = &mut self.blocks[resident];
        let registers = around.launch.program.registers;
        block.provide_registers(warp, &mut self.spare_registers, registers);
        let mut count = 0;
        loop {
            let pc = block.warps[warp].pc();
            let step = block.step(warp, around)?;
            count += 1;
            self.ahead[slot].push(pc, step, around.log);
            progress.count(around.log);
            let now = around.clock - around.launch.clock_start;
            for &released in block
                .released
                .iter()
                .filter(|&&other| other as usize != warp)
            {
                let slot = slots[released as usize];
                if self.ahead[slot].is_empty() {
                    self.clock.resume(slot, now + self.barrier_latency);
                } else {
                    self.ahead[slot].release();
                }
            }
            match step {
                Step::Continue | Step::Released => {}
                Step::Finished => {
                    self.spare_registers.push(block.take_registers(warp));
                    return Ok(count);
                }
                Step::Blocked | Step::Sleep => return Ok(count),
            }
            if bound[block.warps[warp].pc() as usize] || self.ahead[slot].is_full() {
                return Ok(count);
            }
        }
    }

    /// Times the oldest instruction of a slot that has run. Gives the end of its block, if it was
    /// the last.
    fn time(
        &mut self,
        cycle: u64,
        slot: usize,
        program: &Program,
        system: &mut MemorySystem,
    ) -> Option<u64> {
        let (resident, warp) = self.slots[slot];
        let Resident {
            block, done, live, ..
        } = &mut self.blocks[resident];
        let (executed, sectors) = self.ahead[slot].pop().expect("the slot's warp has run");
        let instruction = &program.instructions[executed.pc as usize];
        let ready = match executed.store {
            Some(Store::Global) => {
                let kind = match instruction.action {
                    Action::Store(_) => AccessKind::Store,
                    Action::Atomic(..) => AccessKind::Atomic,
                    _ => AccessKind::Load,
                };
                let ready = system.access(cycle, kind, sectors);
                *done = (*done).max(ready);
                Some(ready)
            }
            Some(Store::Shared) => Some(self.clock.shared_ready(cycle, executed.passes.into())),
            _ => None,
        };
        if executed.step == Step::Finished {
            self.clock.stop_warp(slot);
            self.free_slots.push(slot);
            *live -= 1;
            if *live > 0 {
                return None;
            }
            self.free_blocks.push(resident);
            return Some((cycle + 1).max(*done));
        }
        let next = self.ahead[slot]
            .next_pc()
            .unwrap_or_else(|| block.warps[warp].pc());
        self.clock.issue(
            slot,
            cycle,
            instruction,
            ready,
            &program.instructions[next as usize],
        );
        let resume = match executed.step {
            Step::Released => Some(self.barrier_latency),
            // Its time has come when it runs, so the block still knows for how long.
            Step::Sleep => Some((f64::from(block.sleep) * self.clock_ghz) as u64),
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
