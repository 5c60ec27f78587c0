//! One warp scheduler of an SM.

use crate::timing::pipes::PIPES;

/// Time of a warp that cannot issue.
pub(super) const NEVER: u64 = u64::MAX;

/// A scheduler, its warps and its pipes.
pub(super) struct Scheduler {
    /// By position. Earliest cycle the warp's next instruction can issue, pipes apart; `NEVER` if
    /// there is no warp or it waits. Apart from the rest because every issue looks at all of them.
    pub(super) ready: Box<[u64]>,
    /// By position: the rest.
    pub(super) warps: Box<[Warp]>,
    /// Positions of the warps that have started and not exited, the oldest first.
    pub(super) order: Vec<u8>,
    /// When each pipe takes its next instruction.
    pub(super) pipes: [u64; PIPES],
    /// When the scheduler can issue again.
    pub(super) free: u64,
    /// Cached: the warp that issues next. Its time is `NEVER` if there is none.
    pub(super) best: Candidate,
}

/// One of its warps.
#[derive(Clone, Copy)]
pub(super) struct Warp {
    /// Counts up with each start: the oldest warp has the lowest.
    pub(super) age: u64,
    /// Registers that may be pending, by number modulo 64: most are not, and need no look at the
    /// scoreboard.
    pub(super) pending: u64,
    /// From this cycle on none is pending.
    pub(super) settled: u64,
    /// What `ready` was before the warp began to wait, `NEVER` if it does not wait.
    pub(super) before_wait: u64,
    pub(super) pipe: u8,
    pub(super) slot: u16,
}

/// A warp that may issue next; candidates are in the order of issue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) cycle: u64,
    pub(super) age: u64,
    pub(super) slot: u16,
}

/// No warp can issue.
pub(super) const NOBODY: Candidate = Candidate {
    cycle: NEVER,
    age: NEVER,
    slot: 0,
};

impl Scheduler {
    /// Finds the warp that issues next.
    #[inline]
    pub(super) fn choose(&mut self) {
        let mut best = NOBODY;
        for &position in &self.order {
            let ready = self.ready[usize::from(position)];
            // Most warps wait for memory: they are ruled out without a look at their pipe, and of
            // several at one time the oldest, which came first, issues.
            if ready >= best.cycle {
                continue;
            }
            let warp = &self.warps[usize::from(position)];
            let cycle = ready.max(self.pipes[usize::from(warp.pipe)]).max(self.free);
            if cycle < best.cycle {
                best = Candidate {
                    cycle,
                    age: warp.age,
                    slot: warp.slot,
                };
                if cycle == self.free {
                    // None can issue earlier.
                    break;
                }
            }
        }
        self.best = best;
    }

    /// A warp starts, the youngest of all.
    pub(super) fn add(&mut self, position: u8) {
        self.remove(position);
        self.order.push(position);
    }

    /// A warp has exited.
    pub(super) fn remove(&mut self, position: u8) {
        self.order.retain(|&other| other != position);
    }
}
