//! One SM: which warp issues next, and when.

mod scheduler;

use scheduler::{NEVER, NOBODY, Scheduler, Warp};

use super::{
    cost::Cost,
    pipes::{NO_PIPE, PIPES},
};
use crate::chip::{Chip, Latencies};

/// The warps of one SM: scoreboard, schedulers and pipes.
///
/// Warp `slot` belongs to scheduler `slot % schedulers`. A scheduler issues one instruction per
/// cycle, of the oldest warp among those that can issue first. A warp issues in order; an
/// instruction waits until the registers it reads and writes are no longer pending and until its
/// pipe is free.
pub struct SmClock {
    schedulers: Vec<Scheduler>,
    /// Scheduler of a slot and position in it.
    places: Vec<(u8, u8)>,
    /// When each register's value is there: `registers` entries per slot.
    scoreboard: Vec<u64>,
    registers: usize,
    latency: Latencies,
    /// Cycles between the starts of two warps.
    warp_start: u64,
    /// When the next warp can start.
    next_start: u64,
    /// Warps started: their age.
    started: u64,
}

impl SmClock {
    /// An SM without warps, at cycle 0.
    pub fn new(chip: &Chip) -> Self {
        let count = chip.schedulers as usize;
        let slots = chip.limits.max_warps_per_sm as usize;
        let scheduler = |first: usize| Scheduler {
            ready: (first..slots).step_by(count).map(|_| NEVER).collect(),
            warps: (first..slots)
                .step_by(count)
                .map(|slot| Warp {
                    age: NEVER,
                    pending: 0,
                    settled: 0,
                    before_wait: NEVER,
                    pipe: NO_PIPE,
                    slot: slot as u16,
                })
                .collect(),
            order: Vec::new(),
            pipes: [0; PIPES],
            free: 0,
            best: NOBODY,
        };
        Self {
            schedulers: (0..count).map(scheduler).collect(),
            places: (0..slots)
                .map(|slot| ((slot % count) as u8, (slot / count) as u8))
                .collect(),
            scoreboard: Vec::new(),
            registers: 0,
            latency: chip.latency,
            warp_start: chip.warp_start.into(),
            next_start: 0,
            started: 0,
        }
    }

    /// Starts a warp of a block that was dispatched at cycle `at`, in `slot` (below
    /// [`max_warps_per_sm`](crate::chip::Limits::max_warps_per_sm)), with `registers` registers
    /// per lane. Warps of one SM start one after the other. Returns the cycle of its start.
    pub fn start_warp(&mut self, slot: usize, at: u64, registers: u32) -> u64 {
        let start = at.max(self.next_start);
        self.next_start = start + self.warp_start;
        self.reserve(registers as usize);
        self.scoreboard[slot * self.registers..][..self.registers].fill(0);
        let (scheduler, position) = self.places[slot];
        let scheduler = &mut self.schedulers[scheduler as usize];
        scheduler.ready[position as usize] = start;
        scheduler.warps[position as usize] = Warp {
            age: self.started,
            pending: 0,
            settled: 0,
            before_wait: NEVER,
            pipe: NO_PIPE,
            slot: slot as u16,
        };
        self.started += 1;
        scheduler.add(position);
        scheduler.choose();
        start
    }

    /// Makes room for `registers` registers per warp.
    fn reserve(&mut self, registers: usize) {
        if registers <= self.registers {
            return;
        }
        let mut scoreboard = vec![0; self.places.len() * registers];
        if self.registers != 0 {
            let rows = self.scoreboard.chunks(self.registers);
            for (new, old) in scoreboard.chunks_mut(registers).zip(rows) {
                new[..old.len()].copy_from_slice(old);
            }
        }
        self.scoreboard = scoreboard;
        self.registers = registers;
    }

    /// The warp in `slot` has exited.
    pub fn stop_warp(&mut self, slot: usize) {
        let (scheduler, position) = self.places[slot];
        self.schedulers[scheduler as usize].remove(position);
        self.change(slot, |ready, warp| {
            *ready = NEVER;
            warp.before_wait = NEVER;
        });
    }

    /// The warp in `slot` waits (at a barrier): it does not issue until [`resume`](Self::resume).
    pub fn wait(&mut self, slot: usize) {
        self.change(slot, |ready, warp| {
            if *ready != NEVER {
                warp.before_wait = std::mem::replace(ready, NEVER);
            }
        });
    }

    /// The warp in `slot` goes on, at `at` or when its next instruction can issue. Does nothing to
    /// a warp that does not wait.
    pub fn resume(&mut self, slot: usize, at: u64) {
        self.change(slot, |ready, warp| {
            if warp.before_wait != NEVER {
                *ready = std::mem::replace(&mut warp.before_wait, NEVER).max(at);
            }
        });
    }

    /// The warp that issues next: cycle and slot. `None` if no warp can issue.
    #[inline]
    pub fn next(&self) -> Option<(u64, usize)> {
        let best = self
            .schedulers
            .iter()
            .map(|scheduler| scheduler.best)
            .min()?;
        (best.cycle != NEVER).then_some((best.cycle, usize::from(best.slot)))
    }

    /// The warp in `slot` issued `instruction` at `cycle`, and will issue `next` next.
    /// [`Costs`](super::Costs) of the same chip says what they cost.
    ///
    /// `data_ready` is when a memory action's data are there ([`MemorySystem::access`], or
    /// [`shared_ready`](Self::shared_ready)); without it, parameters and constants take the
    /// parameter latency and anything else the shared latency.
    ///
    /// [`MemorySystem::access`]: super::MemorySystem::access
    pub fn issue(
        &mut self,
        slot: usize,
        cycle: u64,
        instruction: &Cost,
        data_ready: Option<u64>,
        next: &Cost,
    ) {
        let ready = data_ready.unwrap_or(cycle + u64::from(instruction.latency));
        let (scheduler, position) = self.places[slot];
        let scheduler = &mut self.schedulers[scheduler as usize];
        let warp = &mut scheduler.warps[position as usize];
        let scoreboard = &mut self.scoreboard[slot * self.registers..][..self.registers];
        if cycle >= warp.settled {
            warp.pending = 0;
        }
        for &register in instruction.written() {
            scoreboard[register as usize] = ready;
            warp.pending |= 1 << (register % 64);
            warp.settled = warp.settled.max(ready);
        }
        let mut issue = cycle + u64::from(instruction.delay);
        if warp.pending & next.mask != 0 {
            for &register in &next.registers {
                if warp.pending >> (register % 64) & 1 != 0 {
                    issue = issue.max(scoreboard[register as usize]);
                }
            }
        }
        warp.pipe = next.pipe;
        // A warp's first instruction may find its pipe busy: it queues there.
        let free = &mut scheduler.pipes[usize::from(instruction.pipe)];
        *free = (*free).max(cycle) + u64::from(instruction.busy);
        scheduler.free = cycle + 1;
        scheduler.ready[position as usize] = issue;
        scheduler.choose();
    }

    /// When a shared memory access issued at `cycle` is done, if the fullest bank has to serve
    /// `ways` different words of it (1: no conflict).
    pub fn shared_ready(&self, cycle: u64, ways: u32) -> u64 {
        // Each further way takes one more pass over the banks.
        cycle + u64::from(self.latency.shared) + 2 * u64::from(ways.saturating_sub(1))
    }

    /// The same for the shared memory of another block of the cluster.
    pub fn peer_ready(&self, cycle: u64, ways: u32) -> u64 {
        cycle + u64::from(self.latency.peer_shared) + 2 * u64::from(ways.saturating_sub(1))
    }

    fn change(&mut self, slot: usize, change: impl FnOnce(&mut u64, &mut Warp)) {
        let (scheduler, position) = self.places[slot];
        let scheduler = &mut self.schedulers[scheduler as usize];
        let position = position as usize;
        change(
            &mut scheduler.ready[position],
            &mut scheduler.warps[position],
        );
        scheduler.choose();
    }
}

#[cfg(test)]
mod tests;
