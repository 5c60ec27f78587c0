//! What is wrong with a cluster, and where.

use std::{collections::BTreeMap, fmt::Write};

use super::{Cluster, Step};
use crate::{
    exec::{
        LaneFault, Stopped, lanes,
        launch::LaunchContext,
        races::{Outlived, Unwritten},
        split::State,
        stop,
        warp::Warp,
    },
    fault::{Fault, FaultKind},
};

impl Cluster {
    /// An access to the shared memory of a block that has just ended which nothing orders before
    /// its end.
    pub(super) fn outlived(&self, id: usize, launch: &LaunchContext) -> Option<Box<Fault>> {
        let rank = self.warps[id].rank;
        if self.blocks.len() == 1 || launch.races.is_none() || !self.shared[rank as usize].ended {
            return None;
        }
        let Outlived { warp, pc, lane } = self.races.outlived(rank)?;
        let kind = FaultKind::ended_block(self.blocks[rank as usize].index);
        Some(self.fault_at(warp, lane, pc, kind, launch))
    }

    /// A read of unwritten shared memory that no later write can be unordered with: its warp has
    /// passed a barrier since, or the cluster is at its end.
    pub(super) fn unwritten_for_good(&self, launch: &LaunchContext) -> Option<Box<Fault>> {
        let unwritten = self.races.unwritten.as_ref()?;
        let settled = self.live_warps == 0
            || self.released.contains(&unwritten.warp)
            || self.released_by_cluster.contains(&unwritten.warp);
        settled.then(|| self.unwritten_fault(unwritten, launch))
    }

    pub(super) fn unwritten_fault(
        &self,
        unwritten: &Unwritten,
        launch: &LaunchContext,
    ) -> Box<Fault> {
        let Unwritten {
            warp,
            lane,
            pc,
            kind,
        } = unwritten.clone();
        self.fault_at(warp, lane, pc, kind, launch)
    }

    /// A cluster all of whose warps wait can never go on: only its own warps could release it.
    pub(super) fn unless_stuck(&self, step: Step, launch: &LaunchContext) -> Result<Step, Stopped> {
        if self.live_warps == 0 || self.blocked_warps < self.live_warps {
            return Ok(step);
        }
        let alone = self.blocks.len() == 1;
        let mut groups = BTreeMap::<(u32, State), Vec<String>>::new();
        for warp in &self.warps {
            for split in &warp.splits {
                let mut who = format!("warp {} lanes {:#010x}", warp.index, split.mask);
                if !alone {
                    let block = self.blocks[warp.rank as usize].index;
                    who = format!("block {block:?} {who}");
                }
                let line = launch.program.instructions[split.pc as usize].line;
                groups.entry((line, split.state)).or_default().push(who);
            }
        }
        let whole = if alone { "block" } else { "cluster" };
        let mut detail = format!("every warp of the {whole} waits");
        for ((line, state), who) in &groups {
            let _ = write!(detail, "\n    {state}, PTX line {line}: {}", who.join(", "));
        }
        let at_barrier = |state: &State| matches!(state, State::Barrier(_) | State::Converging);
        let at_cluster = groups.keys().any(|(_, state)| *state == State::Cluster);
        let kind = if !at_cluster && groups.keys().any(|(_, state)| at_barrier(state)) {
            FaultKind::DivergentBarrier { detail }
        } else {
            FaultKind::Deadlock {
                detail,
                stall: None,
            }
        };
        Err(stop(u32::MAX, kind))
    }

    /// Adds the place to a fault. A lane of `u32::MAX` means the first waiting lane.
    pub(super) fn fault(
        &self,
        id: usize,
        stopped: LaneFault,
        launch: &LaunchContext,
    ) -> Box<Fault> {
        if let Some(unwritten) = &self.races.unwritten
            && !matches!(stopped.kind, FaultKind::DataRace { .. })
        {
            // What went wrong since may well follow from the value that nothing had written.
            return self.unwritten_fault(unwritten, launch);
        }
        let waiting = |warp: &&Warp| warp.live != 0;
        let (warp, lane) = if stopped.lane == u32::MAX {
            let warp = self.warps.iter().find(waiting).unwrap_or(&self.warps[id]);
            (warp, lanes(warp.live).next().unwrap_or(0) as u32)
        } else {
            (&self.warps[id], stopped.lane)
        };
        let pc = warp.pc_of(lane).unwrap_or(0);
        self.fault_at(warp.id, lane, pc, stopped.kind, launch)
    }

    pub(super) fn fault_at(
        &self,
        id: u32,
        lane: u32,
        pc: u32,
        kind: FaultKind,
        launch: &LaunchContext,
    ) -> Box<Fault> {
        let program = launch.program;
        let instruction = &program.instructions[pc as usize];
        let warp = &self.warps[id as usize];
        Box::new(Fault {
            kind,
            kernel: program.name.clone(),
            instruction: program.texts[instruction.text as usize].clone(),
            line: instruction.line,
            origin: None,
            block: self.blocks[warp.rank as usize].index,
            thread: launch.thread_index(warp.index, lane),
        })
    }

    /// Where a block's warps are, for a launch that makes no progress.
    pub(crate) fn whereabouts(&self, rank: usize, launch: &LaunchContext) -> Fault {
        let warps = self.block_warps(rank);
        let warp = warps
            .iter()
            .find(|warp| warp.live != 0)
            .unwrap_or(&warps[0]);
        let lane = lanes(warp.live).next().unwrap_or(0) as u32;
        let kind = FaultKind::Deadlock {
            detail: String::new(),
            stall: None,
        };
        *self.fault(warp.id as usize, LaneFault { lane, kind }, launch)
    }
}
