//! Notices a launch that can never end: warps that run and change nothing.

use std::collections::BTreeMap;

use super::{access::AccessLog, cluster::Cluster, launch::LaunchContext, split::State};
use crate::{
    fault::{Fault, FaultKind, Stall, Wait},
    program::{Action, Program},
};

/// Strong reads (volatile, relaxed, acquire or atomic: what one waits with) without a change to
/// memory, a barrier's release or an exit after which a launch counts as stuck.
const READS: u64 = 4_000_000;

/// The same in warp instructions of any kind, for kernels that wait with plain loads. A launch that
/// only computes in registers for longer would be stopped too.
const INSTRUCTIONS: u64 = 2_000_000_000;

/// Blocks named in the message.
const NAMED: usize = 8;

/// Counts since something changed.
pub(crate) struct Progress {
    reads: u64,
    instructions: u64,
    started: u64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            reads: 0,
            instructions: 0,
            started: 0,
        }
    }

    /// Blocks `0..started` have become resident.
    pub(crate) fn blocks_started(&mut self, started: u64) {
        self.started = started;
    }

    /// Takes note of an instruction that has run.
    #[inline]
    pub(crate) fn count(&mut self, log: &mut AccessLog) {
        if std::mem::take(&mut log.progress) {
            self.reads = 0;
            self.instructions = 0;
        } else {
            self.reads += u64::from(log.strong_read);
            self.instructions += 1;
        }
    }

    /// Whether the launch counts as stuck.
    #[inline]
    pub(crate) fn stalled(&self) -> bool {
        self.reads >= READS || self.instructions >= INSTRUCTIONS
    }

    /// The deadlock, with the blocks that spin and those that never started.
    pub(crate) fn fault<'a>(
        &self,
        resident: impl Iterator<Item = &'a Cluster>,
        launch: &LaunchContext,
    ) -> Box<Fault> {
        let mut blocks: Vec<(&Cluster, usize)> = resident
            .flat_map(|cluster| cluster.running().map(move |rank| (cluster, rank)))
            .collect();
        let index = |&(cluster, rank): &(&Cluster, usize)| cluster.blocks[rank].index;
        blocks.sort_by_key(|block| {
            let [x, y, z] = index(block);
            (z, y, x)
        });
        let mut fault = blocks.first().map_or_else(
            || unreachable!("instructions run in some block"),
            |(cluster, rank)| cluster.whereabouts(*rank, launch),
        );
        let named: Vec<String> = blocks
            .iter()
            .take(NAMED)
            .map(|block| format!("{:?}", index(block)))
            .collect();
        let more = if blocks.len() > NAMED { ", …" } else { "" };
        let never = launch.blocks() - self.started.max(blocks.len() as u64);
        let waiting = match never {
            0 => "every block of the grid has started".to_owned(),
            1 => format!(
                "block {:?} never started",
                launch.block_index(launch.blocks() - 1)
            ),
            _ => format!(
                "blocks {:?} to {:?} ({never}) never started: no SM has room for them",
                launch.block_index(launch.blocks() - never),
                launch.block_index(launch.blocks() - 1)
            ),
        };
        fault.kind = FaultKind::Deadlock {
            detail: format!(
                "nothing changed in memory over {} warp instructions; {} resident blocks \
                 spin ({}{more}); {waiting}",
                self.instructions,
                blocks.len(),
                named.join(", ")
            ),
            stall: Some(Box::new(Stall {
                waiting_blocks: blocks.len() as u64,
                never_started: never,
                waits: waits(&blocks, launch.program),
            })),
        };
        Box::new(fault)
    }
}

/// Where the warps of these blocks are.
fn waits(blocks: &[(&Cluster, usize)], program: &Program) -> Vec<Wait> {
    let mut warps = BTreeMap::<(u32, State), u64>::new();
    for warp in blocks
        .iter()
        .flat_map(|(cluster, rank)| cluster.block_warps(*rank))
    {
        let mut places: Vec<(u32, State)> = warp
            .splits
            .iter()
            .map(|split| match split.state {
                State::Running => (read_near(split.pc, program), State::Running),
                state => (split.pc, state),
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            *warps.entry(place).or_default() += 1;
        }
    }
    warps
        .into_iter()
        .map(|((pc, state), warps)| {
            let instruction = &program.instructions[pc as usize];
            Wait {
                how: match state {
                    State::Running => "spinning".to_owned(),
                    state => format!("waiting {state}"),
                },
                warps,
                line: instruction.line,
                instruction: program.texts[instruction.text as usize].clone(),
                origin: None,
            }
        })
        .collect()
}

/// The strong read nearest to an instruction of a loop that waits: what the loop waits with. The
/// instruction itself if there is none.
fn read_near(pc: u32, program: &Program) -> u32 {
    let is_read = |index: &usize| match program.instructions[*index].action {
        Action::Load(access) | Action::Atomic(access, _) => access.strong,
        _ => false,
    };
    let distance = |index: &usize| index.abs_diff(pc as usize);
    (0..program.instructions.len())
        .filter(is_read)
        .min_by_key(distance)
        .map_or(pc, |index| index as u32)
}
