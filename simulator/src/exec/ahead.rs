//! Runs warps ahead of their modelled time.
//!
//! What an instruction computes seldom depends on when it runs. So a warp executes until an
//! instruction whose result others or the clock decide, and the timing model then takes its time
//! over what was done. A warp's registers are so used in one go, while the host's caches hold
//! them, and the order of everything that threads can observe is still the order of time.

use super::{access::AccessLog, cluster::Step, lookup::Store};
use crate::program::{Action, Instruction, Operand, Program, Space, Special};

/// Instructions a warp may be ahead of its time.
const LIMIT: u16 = 64;

/// An instruction that has run and is yet to be timed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executed {
    pub(crate) pc: u32,
    pub(crate) step: Step,
    pub(crate) store: Option<Store>,
    pub(crate) passes: u16,
}

/// Successive instructions that have run one after the other. Small and few, because those of all
/// resident warps together exceed the host's caches.
#[derive(Debug)]
struct Run {
    /// The first.
    pc: u32,
    count: u16,
    /// What became of the last; all others went on, and only computed.
    step: Step,
    store: Option<Store>,
    passes: u16,
    /// Range of its sectors in [`Ahead::sectors`]: at most 64 for each of [`LIMIT`] instructions.
    sectors: (u16, u16),
}

impl Run {
    /// The instruction that would continue it, if its last one allows that.
    fn continued_by(&self) -> Option<u32> {
        let computed = !matches!(
            self.store,
            Some(Store::Global | Store::Shared | Store::Peer)
        );
        (computed && self.step == Step::Continue).then_some(self.pc + u32::from(self.count))
    }
}

/// What a warp has done ahead of its time, oldest first. A warp runs again only when all of it has
/// been timed, so it stands in the same few cache lines every time.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    runs: Vec<Run>,
    sectors: Vec<u64>,
    /// Instructions in all runs.
    executed: u16,
    /// How many of them have been timed.
    timed: u16,
    /// The run that is being timed.
    run: u16,
    /// How many of its instructions have been timed.
    timed_of_run: u16,
}

impl Ahead {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.timed == self.executed
    }

    pub(crate) fn is_full(&self) -> bool {
        self.executed >= LIMIT
    }

    /// Records an instruction that has just run.
    #[inline]
    pub(crate) fn push(&mut self, pc: u32, step: Step, log: &AccessLog) {
        if self.is_empty() {
            self.runs.clear();
            self.sectors.clear();
            self.executed = 0;
            self.timed = 0;
            self.run = 0;
            self.timed_of_run = 0;
        }
        self.executed += 1;
        let first = self.sectors.len() as u16;
        if !log.sectors.is_empty() {
            self.sectors.extend_from_slice(&log.sectors);
        }
        let mut run = Run {
            pc,
            count: 1,
            step,
            store: log.store,
            passes: log.passes as u16,
            sectors: (first, self.sectors.len() as u16),
        };
        match self.runs.last_mut() {
            Some(last) if last.continued_by() == Some(pc) => {
                run.pc = last.pc;
                run.count += last.count;
                *last = run;
            }
            _ => self.runs.push(run),
        }
    }

    /// The instruction to be timed next, that which follows it if it has run, and the sectors of
    /// global memory it touched.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Executed, Option<u32>, &[u64])> {
        let run = self.runs.get(usize::from(self.run))?;
        let pc = run.pc + u32::from(self.timed_of_run);
        self.timed += 1;
        self.timed_of_run += 1;
        if self.timed_of_run < run.count {
            let executed = Executed {
                pc,
                step: Step::Continue,
                store: None,
                passes: 0,
            };
            return Some((executed, Some(pc + 1), &[]));
        }
        self.run += 1;
        self.timed_of_run = 0;
        let next = self.runs.get(usize::from(self.run)).map(|next| next.pc);
        let (first, last) = run.sectors;
        let executed = Executed {
            pc,
            step: run.step,
            store: run.store,
            passes: run.passes,
        };
        let sectors = &self.sectors[usize::from(first)..usize::from(last)];
        Some((executed, next, sectors))
    }

    /// The warp was released before its wait was timed: it never waited.
    pub(crate) fn release(&mut self) {
        if let Some(last) = self.runs.last_mut() {
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
