//! Runs warps ahead of their modelled time.
//!
//! What an instruction computes seldom depends on when it runs. So a warp executes until an
//! instruction whose result others or the clock decide, and the timing model then takes its time
//! over what was done. A warp's registers are so used in one go, while the host's caches hold
//! them, and the order of everything that threads can observe is still the order of time.

use super::{access::AccessLog, cluster::Step, lookup::Store};
use crate::program::{Action, Instruction, Operand, Program, Space, Special};

/// Instructions a warp may be ahead of its time.
const LIMIT: usize = 64;

/// An instruction that has run and is yet to be timed. Small, because every one is written and
/// read once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executed {
    pub(crate) pc: u32,
    pub(crate) step: Step,
    pub(crate) store: Option<Store>,
    pub(crate) passes: u16,
    /// Range of its sectors in [`Ahead::sectors`]: at most 64 for each of [`LIMIT`] instructions.
    sectors: (u16, u16),
}

/// What a warp has done ahead of its time, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    executed: Vec<Executed>,
    /// How many of them have been timed. A warp runs again only when all have, so what it did
    /// stands in the same few cache lines every time.
    timed: usize,
    sectors: Vec<u64>,
}

impl Ahead {
    pub(crate) fn is_empty(&self) -> bool {
        self.timed == self.executed.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.executed.len() >= LIMIT
    }

    /// Records an instruction that has just run.
    pub(crate) fn push(&mut self, pc: u32, step: Step, log: &AccessLog) {
        if self.is_empty() {
            self.executed.clear();
            self.sectors.clear();
            self.timed = 0;
        }
        let first = self.sectors.len() as u16;
        if !log.sectors.is_empty() {
            self.sectors.extend_from_slice(&log.sectors);
        }
        self.executed.push(Executed {
            pc,
            step,
            store: log.store,
            passes: log.passes as u16,
            sectors: (first, self.sectors.len() as u16),
        });
    }

    /// The instruction to be timed next, and the sectors of global memory it touched.
    pub(crate) fn pop(&mut self) -> Option<(Executed, &[u64])> {
        let executed = *self.executed.get(self.timed)?;
        self.timed += 1;
        let (first, last) = executed.sectors;
        Some((
            executed,
            &self.sectors[usize::from(first)..usize::from(last)],
        ))
    }

    /// The instruction to be timed after that, if it has run.
    pub(crate) fn next_pc(&self) -> Option<u32> {
        self.executed.get(self.timed).map(|executed| executed.pc)
    }

    /// The warp was released before its wait was timed: it never waited.
    pub(crate) fn release(&mut self) {
        if let Some(last) = self.executed.last_mut() {
            last.step = Step::Continue;
        }
    }
}

/// Whether threads of different SMs can observe each other's order: through atomics and strong
/// accesses of global memory or of other blocks' shared memory, and at clusters' barriers.
pub(crate) fn observes_order(program: &Program) -> bool {
    program
        .instructions
        .iter()
        .any(|instruction| match instruction.action {
            Action::Load(access) | Action::Store(access) => {
                access.strong && access.space != Space::Shared
            }
            Action::Atomic(access, _) => access.space != Space::Shared,
            Action::ClusterBarrier(_) => true,
            _ => false,
        })
}

/// By instruction: whether it may only run when its time has come.
pub(crate) fn bound_to_time(program: &Program) -> Vec<bool> {
    let is_barrier = |instruction: &Instruction| {
        matches!(
            instruction.action,
            Action::Barrier(_) | Action::ClusterBarrier(_)
        )
    };
    let has_barrier = program.instructions.iter().any(is_barrier);
    let bound = |instruction: &Instruction| match instruction.action {
        Action::Load(access) | Action::Store(access) => access.strong,
        Action::Atomic(..) | Action::Barrier(_) | Action::ClusterBarrier(_) | Action::Nanosleep => {
            true
        }
        // Barriers do not wait for exited threads.
        Action::Exit => has_barrier,
        _ => instruction.sources.iter().any(|source| {
            matches!(
                source,
                Operand::Special(
                    Special::Clock
                        | Special::ClockHi
                        | Special::Clock64
                        | Special::GlobalTimer
                        | Special::GlobalTimerLo
                        | Special::GlobalTimerHi
                )
            )
        }),
    };
    program.instructions.iter().map(bound).collect()
}
