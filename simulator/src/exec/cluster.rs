//! The resident blocks of a cluster, their warps and barriers. In a launch without clusters every
//! block is a cluster of its own.

mod faults;

use std::ops::Range;

use super::{
    Stopped,
    access::AccessLog,
    barrier::{BARRIERS, Barrier},
    block::{Block, SharedMemory},
    launch::{LaunchContext, Place},
    memory::Memory,
    races::Races,
    registers::Registers,
    warp::{Outcome, Warp},
};
use crate::{
    fault::Fault,
    program::{Action, BarrierKind, ClusterBarrier},
};

/// A cluster's blocks, on one SM or several.
pub(crate) struct Cluster {
    /// By rank.
    pub(crate) blocks: Vec<Block>,
    /// By rank.
    shared: Vec<SharedMemory>,
    /// Block after block.
    pub(crate) warps: Vec<Warp>,
    races: Races,
    /// Whether the cluster's barrier has been arrived at and not yet completed.
    arriving: bool,
    live_warps: usize,
    blocked: Vec<bool>,
    blocked_warps: usize,
    /// Nanoseconds that the last `nanosleep` asked for.
    pub(crate) sleep: u32,
    /// Warps that the last step released from a block's barrier.
    pub(crate) released: Vec<u32>,
    /// Warps that the last step released from the cluster's barrier.
    pub(crate) released_by_cluster: Vec<u32>,
    /// Whether the last step completed the cluster's barrier.
    pub(crate) completed: bool,
}

/// What surrounds a step besides the cluster.
pub(crate) struct Surroundings<'a> {
    pub(crate) launch: &'a LaunchContext<'a>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) log: &'a mut AccessLog,
    pub(crate) sm: u32,
    pub(crate) warp_slot: u32,
    pub(crate) clock: u64,
}

impl Surroundings<'_> {
    /// With the cluster's own memory, where an instruction of the block of that rank runs.
    #[inline]
    fn place<'a>(
        &'a mut self,
        shared: &'a mut [SharedMemory],
        races: &'a mut Races,
        rank: u32,
    ) -> Place<'a> {
        Place {
            launch: self.launch,
            memory: self.memory,
            block: shared[rank as usize].block,
            shared,
            rank,
            races: self.launch.races.map(|_| races),
            log: self.log,
            sm: self.sm,
            warp_slot: self.warp_slot,
            clock: self.clock,
        }
    }
}

/// What became of the warp that stepped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Continue,
    /// Passed a barrier of its block that its arrival released.
    Released,
    /// Passed the cluster's barrier, which all had reached.
    Joined,
    /// Waits; `Cluster::released` or `Cluster::released_by_cluster` will name it later.
    Blocked,
    /// All its lanes have exited.
    Finished,
    /// Goes on after [`Cluster::sleep`] nanoseconds.
    Sleep,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self {
            blocks: Vec::new(),
            shared: Vec::new(),
            warps: Vec::new(),
            races: Races::default(),
            arriving: false,
            live_warps: 0,
            blocked: Vec::new(),
            blocked_warps: 0,
            sleep: 0,
            released: Vec::new(),
            released_by_cluster: Vec::new(),
            completed: false,
        }
    }

    /// Makes it the `linear`-th cluster of the grid, at its start.
    pub(crate) fn start(&mut self, linear: u64, launch: &LaunchContext) {
        let blocks = launch.cluster_blocks() as usize;
        let warps = launch.warps() as usize;
        self.blocks.resize_with(blocks, Block::new);
        self.shared
            .resize_with(blocks, || SharedMemory::new(launch.checks));
        for (rank, (block, shared)) in self.blocks.iter_mut().zip(&mut self.shared).enumerate() {
            let index = launch.block_index(linear * blocks as u64 + rank as u64);
            block.start(index, warps);
            shared.start(index, launch.shared_bytes as usize);
        }
        match launch.races {
            Some(check) => self.races.reset(blocks, warps, launch.shared_bytes, check),
            None => self.races.unwritten = None,
        }
        let total = blocks * warps;
        self.warps.resize_with(total, || Warp::new(launch.checks));
        for (id, warp) in self.warps.iter_mut().enumerate() {
            warp.start(id as u32, launch);
        }
        self.arriving = false;
        self.live_warps = total;
        self.blocked.clear();
        self.blocked.resize(total, false);
        self.blocked_warps = 0;
    }

    /// The warps of the block of that rank.
    fn warps_of(&self, rank: usize) -> Range<usize> {
        let warps = self.warps.len() / self.blocks.len();
        rank * warps..(rank + 1) * warps
    }

    /// The same, to look at.
    pub(crate) fn block_warps(&self, rank: usize) -> &[Warp] {
        &self.warps[self.warps_of(rank)]
    }

    /// Takes the registers of a warp that has finished.
    pub(crate) fn take_registers(&mut self, warp: usize) -> Registers {
        std::mem::take(&mut self.warps[warp].registers)
    }

    /// Gives a warp that has just started registers, unless it has them.
    pub(crate) fn provide_registers(
        &mut self,
        warp: usize,
        spare: &mut Vec<Registers>,
        count: u32,
    ) {
        let registers = &mut self.warps[warp].registers;
        if registers.is_empty() {
            *registers = spare.pop().unwrap_or_default();
            registers.reset(count);
        }
    }

    /// Whether every warp has exited.
    pub(crate) fn finished(&self) -> bool {
        self.live_warps == 0
    }

    pub(crate) fn is_blocked(&self, warp: usize) -> bool {
        self.blocked[warp] || self.warps[warp].live == 0
    }

    /// Runs one instruction of a warp.
    #[inline]
    pub(crate) fn step(
        &mut self,
        id: usize,
        around: &mut Surroundings,
    ) -> Result<Step, Box<Fault>> {
        around.log.clear();
        self.released.clear();
        self.released_by_cluster.clear();
        self.completed = false;
        let warp = &mut self.warps[id];
        let mut place = around.place(&mut self.shared, &mut self.races, warp.rank);
        match warp.step(&mut place) {
            Ok(Outcome::Continue) => Ok(Step::Continue),
            Ok(Outcome::Sleep(nanoseconds)) => {
                self.sleep = nanoseconds;
                Ok(Step::Sleep)
            }
            Ok(outcome) => {
                let step = self
                    .wait(id, outcome, around)
                    .map_err(|stopped| self.fault(id, *stopped, around.launch))?;
                if let Some(fault) = self.outlived(id, around.launch) {
                    return Err(fault);
                }
                self.unwritten_for_good(around.launch).map_or(Ok(step), Err)
            }
            Err(stopped) => Err(self.fault(id, *stopped, around.launch)),
        }
    }

    /// Handles what concerns more than the warp: arrivals, exits, and warps that cannot go on.
    fn wait(
        &mut self,
        id: usize,
        outcome: Outcome,
        around: &mut Surroundings,
    ) -> Result<Step, Stopped> {
        let launch = around.launch;
        let rank = self.warps[id].rank as usize;
        let own_warps = self.warps_of(rank);
        let alone = self.blocks.len() == 1;
        let mut joined = false;
        let mut place = around.place(&mut self.shared, &mut self.races, rank as u32);
        if outcome == Outcome::Arrive {
            let pc = self.warps[id].pc() as usize;
            let warp = &mut self.warps[id];
            match launch.program.instructions[pc].action {
                Action::Barrier(operation) => {
                    let block = &mut self.blocks[rank];
                    let name = Barrier::arrive(&mut block.barriers, warp, operation, &place)?;
                    if let Some(races) = &mut place.races
                        && !block.barriers[name].whole_block()
                    {
                        races.arrive(rank * BARRIERS + name, id as u32);
                    }
                    block.waiting = true;
                    if operation.kind == BarrierKind::Arrive {
                        self.warps[id].choose()?;
                    }
                }
                Action::ClusterBarrier(ClusterBarrier::Arrive { release, .. }) => {
                    warp.arrive_at_cluster(release, &mut place)?;
                    self.arriving = true;
                }
                Action::ClusterBarrier(ClusterBarrier::Wait { .. }) => {
                    joined = warp.wait_at_cluster(&mut place)?;
                }
                _ => unreachable!("only barriers arrive"),
            }
        }
        let finished = outcome == Outcome::Exited && self.warps[id].live == 0;
        if finished {
            self.live_warps -= 1;
            self.blocks[rank].live_warps -= 1;
            place.shared[rank].ended = self.blocks[rank].live_warps == 0;
            place.log.progress = true;
        }
        let block = &mut self.blocks[rank];
        if block.waiting {
            block.waiting = false;
            let warps = &mut self.warps[own_warps.clone()];
            for name in 0..BARRIERS {
                if block.barriers[name].complete(name, warps) {
                    Barrier::check_passed(name, warps, launch)?;
                    let barrier = &mut block.barriers[name];
                    let (before, whole_block) = (self.released.len(), barrier.whole_block());
                    barrier.release(name, warps, &place, &mut self.released);
                    if let Some(races) = &mut place.races {
                        match (whole_block, alone) {
                            (true, true) => races.all_met(),
                            (true, false) => races.met(own_warps.clone()),
                            (false, _) => {
                                races.release(rank * BARRIERS + name, &self.released[before..]);
                            }
                        }
                    }
                    place.log.progress = true;
                } else {
                    block.waiting |= block.barriers[name].in_use();
                }
            }
        }
        if self.arriving && self.warps.iter().all(Warp::has_arrived) {
            self.arriving = false;
            self.completed = true;
            if let Some(races) = &mut place.races {
                let exited = self.warps.iter().filter(|warp| warp.live == 0);
                races.cluster_complete(exited.map(|warp| warp.id));
            }
            for warp in &mut self.warps {
                if warp.pass_cluster() {
                    self.released_by_cluster.push(warp.id);
                    if let Some(races) = &mut place.races {
                        races.cluster_wait(warp.id);
                    }
                }
            }
            place.log.progress = true;
        }
        for &warp in self.released.iter().chain(&self.released_by_cluster) {
            if std::mem::take(&mut self.blocked[warp as usize]) {
                self.blocked_warps -= 1;
            }
        }
        if finished {
            return self.unless_stuck(Step::Finished, launch);
        }
        let step = match self.warps[id].choose()? {
            Outcome::Continue if joined || self.released_by_cluster.contains(&(id as u32)) => {
                Step::Joined
            }
            Outcome::Continue if self.released.contains(&(id as u32)) => Step::Released,
            Outcome::Continue => Step::Continue,
            _ => {
                self.blocked[id] = true;
                self.blocked_warps += 1;
                Step::Blocked
            }
        };
        for &warp in self.released.iter().chain(&self.released_by_cluster) {
            if warp as usize != id {
                self.warps[warp as usize].choose()?;
            }
        }
        self.unless_stuck(step, launch)
    }

    /// Ranks of the blocks that have not ended.
    pub(crate) fn running(&self) -> impl Iterator<Item = usize> {
        (0..self.blocks.len()).filter(|&rank| self.blocks[rank].live_warps > 0)
    }
}
