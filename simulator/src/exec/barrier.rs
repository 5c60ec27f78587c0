//! A block's sixteen barriers (PTX ISA 9.7.13).

use super::{
    Stopped, lanes,
    launch::{LaunchContext, Place},
    split::State,
    stop,
    warp::Warp,
};
use crate::{
    fault::FaultKind,
    program::{Action, BarrierKind, BarrierOperation, Operand, WARP_SIZE},
};

/// Barriers of a block.
pub(crate) const BARRIERS: usize = 16;

/// One barrier between two releases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Barrier {
    /// Threads that have arrived; an aligned warp counts whole.
    arrived: u32,
    /// The thread count its users name; `None` when they mean the whole block.
    count: Option<u32>,
    /// Whether it is used by `.red`; `None` until somebody arrives.
    reducing: Option<bool>,
    set: u32,
    unset: u32,
}

impl Barrier {
    /// Adds the arrival of the warp's current split.
    pub(crate) fn arrive(
        barriers: &mut [Barrier; BARRIERS],
        warp: &mut Warp,
        operation: BarrierOperation,
        place: &Place,
    ) -> Result<usize, Stopped> {
        let split = warp.splits[warp.current];
        let mask = split.mask;
        let first = mask.trailing_zeros();
        let instruction = &place.launch.program.instructions[split.pc as usize];
        let other = |detail: String| stop(first, FaultKind::Other { detail });
        let uniform = |operand: Operand| -> Result<u64, Stopped> {
            let value = warp.value(operand, mask, place)?;
            let wanted = value[first as usize];
            if lanes(mask).any(|lane| value[lane] != wanted) {
                return Err(other(
                    "lanes of one warp name different barriers or counts".into(),
                ));
            }
            Ok(wanted)
        };
        let name = uniform(instruction.sources[0])? as usize;
        let Some(barrier) = barriers.get_mut(name) else {
            return Err(other(format!(
                "barrier {name} does not exist: a block has 0 to 15"
            )));
        };
        let count = match instruction.sources.get(1) {
            Some(&operand) if operation.has_count => Some(uniform(operand)? as u32),
            _ => None,
        };
        if count.is_some_and(|count| count == 0 || count % WARP_SIZE as u32 != 0) {
            let count = count.unwrap_or_default();
            return Err(other(format!(
                "barrier {name} is given {count} threads: a positive multiple of 32 is required"
            )));
        }
        let reducing = !matches!(operation.kind, BarrierKind::Sync | BarrierKind::Arrive);
        if barrier.reducing.is_some_and(|earlier| earlier != reducing) {
            return Err(other(format!(
                "barrier {name} is used by bar.red and by another kind at once"
            )));
        }
        if barrier.reducing.is_some() && barrier.count != count {
            return Err(other(format!(
                "barrier {name} is given {} threads by some warps and {} by others",
                threads(barrier.count),
                threads(count)
            )));
        }
        barrier.reducing = Some(reducing);
        barrier.count = count;
        barrier.arrived += if mask == warp.live {
            WARP_SIZE as u32
        } else {
            mask.count_ones()
        };
        if reducing {
            let operand = *instruction.sources.last().expect("bar.red has a predicate");
            let value = warp.value(operand, mask, place)?;
            let set = lanes(mask)
                .filter(|&lane| (value[lane] != 0) != operation.negated)
                .count() as u32;
            barrier.set += set;
            barrier.unset += mask.count_ones() - set;
        }
        if operation.kind == BarrierKind::Arrive {
            warp.splits[warp.current].pc += 1;
        } else {
            warp.splits[warp.current].state = State::Barrier(name as u8);
        }
        Ok(name)
    }

    /// Whether somebody has arrived since the last release.
    pub(crate) fn in_use(&self) -> bool {
        self.reducing.is_some()
    }

    /// Whether it waits for all threads of the block, rather than for a number of them.
    pub(crate) fn whole_block(&self) -> bool {
        self.count.is_none()
    }

    /// Whether everyone it waits for has arrived. Exited threads are not waited for.
    pub(crate) fn complete(&self, name: usize, warps: &[Warp]) -> bool {
        match (self.reducing, self.count) {
            (None, _) => false,
            (Some(_), Some(count)) => self.arrived >= count,
            (Some(_), None) => warps.iter().all(|warp| {
                let here = warp
                    .splits
                    .iter()
                    .filter(|split| split.state == State::Barrier(name as u8))
                    .fold(0, |mask, split| mask | split.mask);
                here == warp.live
            }),
        }
    }

    /// Reports threads that went past a barrier which the waiting threads are about to leave.
    pub(crate) fn check_passed(
        name: usize,
        warps: &[Warp],
        launch: &LaunchContext,
    ) -> Result<(), Stopped> {
        let waiting = warps
            .iter()
            .flat_map(|warp| warp.splits.iter().map(move |s| (warp, s)));
        for (waiter, split) in waiting.filter(|(_, s)| s.state == State::Barrier(name as u8)) {
            let Some((site, found)) = launch.sites.at(split.pc) else {
                continue;
            };
            let reached = lanes(split.mask)
                .map(|lane| waiter.passes[site][lane])
                .min();
            for warp in warps {
                let here = warp.splits.iter().filter(|other| other.pc == split.pc);
                let with_it = here.fold(0, |mask, other| mask | other.mask);
                let ahead = lanes(!with_it).find(|&l| Some(warp.passes[site][l]) > reached);
                if let Some(lane) = ahead {
                    let line = |pc: u32| launch.program.instructions[pc as usize].line;
                    let detail = format!(
                        "thread {:?} went around it to PTX line {} while thread {:?} waits at \
                         PTX line {}",
                        launch.thread_index(warp.index, lane as u32),
                        line(found.join),
                        launch.thread_index(waiter.index, split.mask.trailing_zeros()),
                        line(found.barrier)
                    );
                    return Err(stop(u32::MAX, FaultKind::DivergentBarrier { detail }));
                }
            }
        }
        Ok(())
    }

    /// Lets everyone go; gives the warps that waited, by their index in the cluster.
    pub(crate) fn release(
        &mut self,
        name: usize,
        warps: &mut [Warp],
        place: &Place,
        released: &mut Vec<u32>,
    ) {
        let done = std::mem::take(self);
        for warp in warps {
            let mut waited = false;
            for index in 0..warp.splits.len() {
                let split = warp.splits[index];
                if split.state != State::Barrier(name as u8) {
                    continue;
                }
                waited = true;
                let instruction = &place.launch.program.instructions[split.pc as usize];
                if let (Some(&destination), Action::Barrier(operation)) =
                    (instruction.destinations.first(), instruction.action)
                {
                    let value = match operation.kind {
                        BarrierKind::ReduceAnd => u64::from(done.unset == 0),
                        BarrierKind::ReduceOr => u64::from(done.set != 0),
                        _ => u64::from(done.set),
                    };
                    warp.assign(destination, split.mask, &[value; WARP_SIZE]);
                }
                warp.splits[index].pc += 1;
                warp.splits[index].state = State::Running;
            }
            if waited {
                released.push(warp.id);
            }
        }
    }
}

fn threads(count: Option<u32>) -> String {
    count.map_or("all".to_owned(), |count| count.to_string())
}
