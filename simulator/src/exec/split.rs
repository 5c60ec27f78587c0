//! How a warp's lanes split, meet and wait.
//!
//! Lanes have program counters of their own, as independent thread scheduling gives them (PTX ISA
//! 9.5): a *split* is a set of lanes at one instruction. Splits that meet become one again. The
//! lowest program counter runs first, which reconverges structured code where its branches join;
//! a split that keeps branching backwards lets the others run, so a spinning lane cannot starve
//! the lane it waits for.

use std::fmt;

use super::{
    Stopped, lanes, lanes_where, stop,
    warp::{Outcome, Warp},
};
use crate::{fault::FaultKind, program::Lanes};

/// Backward branches a split may take before other splits get their turn.
const SPIN_LIMIT: u32 = 32;

/// Lanes at one instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) state: State,
    /// It spun and lets the others run.
    yielded: bool,
    spins: u32,
}

/// What a split does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Running,
    /// At a warp operation: waits for the other lanes of this mask.
    Members(u32),
    /// At an aligned block barrier: waits for the warp's other lanes to reach it too.
    Converging,
    /// Has arrived at this block barrier.
    Barrier(u8),
    /// Waits at the cluster's barrier.
    Cluster,
}

impl State {
    /// Whether it is for other warps to end it.
    fn awaits_others(self) -> bool {
        matches!(self, Self::Barrier(_) | Self::Cluster)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("runnable"),
            Self::Members(mask) => write!(f, "for the other lanes of mask {mask:#010x}"),
            Self::Converging => f.write_str("for the rest of their warp to reach a barrier"),
            Self::Barrier(name) => write!(f, "at barrier {name}"),
            Self::Cluster => {
                f.write_str("at the cluster barrier, which waits for every thread of the cluster")
            }
        }
    }
}

impl Split {
    pub(crate) fn at(pc: u32, mask: u32) -> Self {
        Self {
            pc,
            mask,
            state: State::Running,
            yielded: false,
            spins: 0,
        }
    }
}

impl Warp {
    /// Moves the current split to an instruction.
    #[inline]
    pub(crate) fn go_to(&mut self, pc: u32) -> Result<Outcome, Stopped> {
        self.splits[self.current].pc = pc;
        self.go_on()
    }

    /// Goes on with the only split, or with the one whose turn it is.
    #[inline]
    fn go_on(&mut self) -> Result<Outcome, Stopped> {
        if self.splits.len() == 1 {
            Ok(Outcome::Continue)
        } else {
            self.choose()
        }
    }

    /// Sends the lanes of `mask` to their targets and the rest of `here` to the next instruction.
    pub(crate) fn scatter(
        &mut self,
        here: u32,
        mask: u32,
        targets: &Lanes,
    ) -> Result<Outcome, Stopped> {
        let from = self.splits[self.current].pc;
        let mut next = *targets;
        for lane in lanes(here & !mask) {
            next[lane] = u64::from(from + 1);
        }
        let mut rest = here;
        let mut first = true;
        while rest != 0 {
            let pc = next[rest.trailing_zeros() as usize];
            let group = lanes_where(rest, |lane| next[lane] == pc);
            rest &= !group;
            if first {
                let split = &mut self.splits[self.current];
                split.mask = group;
                split.pc = pc as u32;
                first = false;
                if pc as u32 <= from {
                    split.spins += 1;
                }
            } else {
                self.splits.push(Split::at(pc as u32, group));
            }
        }
        self.go_on()
    }

    /// Leaves only the lanes of `mask` in the current split; the others go on behind it.
    pub(crate) fn narrow(&mut self, here: u32, mask: u32) {
        if here != mask {
            let pc = self.splits[self.current].pc;
            self.splits[self.current].mask = mask;
            self.splits.push(Split::at(pc + 1, here & !mask));
        }
    }

    pub(crate) fn exit(&mut self, here: u32, mask: u32) -> Outcome {
        self.live &= !mask;
        if here == mask {
            self.splits.swap_remove(self.current);
        } else {
            self.splits[self.current].mask = here & !mask;
            self.splits[self.current].pc += 1;
        }
        // Whoever waits for an exited lane looks again.
        for split in &mut self.splits {
            if !split.state.awaits_others() {
                split.state = State::Running;
            }
        }
        self.current = 0;
        Outcome::Exited
    }

    /// Merges splits that have met and chooses which runs next.
    pub(crate) fn choose(&mut self) -> Result<Outcome, Stopped> {
        self.merge();
        let spinning = self.splits.len() > 1;
        if let Some(split) = self.splits.get_mut(self.current)
            && spinning
            && split.spins >= SPIN_LIMIT
        {
            split.spins = 0;
            split.yielded = true;
        }
        let ready = |split: &Split| split.state == State::Running;
        if self
            .splits
            .iter()
            .all(|split| !ready(split) || split.yielded)
        {
            self.splits
                .iter_mut()
                .for_each(|split| split.yielded = false);
        }
        let next = (0..self.splits.len())
            .filter(|&index| ready(&self.splits[index]) && !self.splits[index].yielded)
            .min_by_key(|&index| self.splits[index].pc);
        match next {
            Some(next) => {
                self.current = next;
                Ok(Outcome::Continue)
            }
            None => self.stuck(),
        }
    }

    fn merge(&mut self) {
        let mut index = 0;
        while index < self.splits.len() {
            let mut other = index + 1;
            while other < self.splits.len() {
                let (a, b) = (self.splits[index], self.splits[other]);
                if a.pc == b.pc && a.state == b.state {
                    self.splits[index].mask |= b.mask;
                    self.splits[index].spins = a.spins.max(b.spins);
                    self.splits[index].yielded = a.yielded && b.yielded;
                    self.splits.swap_remove(other);
                    if self.current == other {
                        self.current = index;
                    } else if self.current == self.splits.len() {
                        self.current = other;
                    }
                } else {
                    other += 1;
                }
            }
            index += 1;
        }
        if self.splits.len() == 1 && self.splits[0].state == State::Converging {
            self.splits[0].state = State::Running;
        }
    }

    /// No split can run: either another warp can change that, or the barrier is divergent.
    fn stuck(&self) -> Result<Outcome, Stopped> {
        let outside = self.splits.iter().any(|split| split.state.awaits_others());
        match self
            .splits
            .iter()
            .find(|split| split.state == State::Converging)
        {
            Some(split) if !outside => {
                let detail = format!(
                    "lanes {:#010x} of warp {} are at it, lanes {:#010x} wait elsewhere and \
                     cannot reach it",
                    split.mask,
                    self.index,
                    self.live & !split.mask
                );
                Err(stop(
                    split.mask.trailing_zeros(),
                    FaultKind::DivergentBarrier { detail },
                ))
            }
            _ => Ok(Outcome::Blocked),
        }
    }

    pub(crate) fn converge(&mut self) -> Result<Outcome, Stopped> {
        self.splits[self.current].state = State::Converging;
        self.choose()
    }
}
