//! A resident block: its warps, shared memory and barriers.

use std::{collections::BTreeMap, fmt::Write};

use super::{
    Stopped,
    access::AccessLog,
    barrier::{BARRIERS, Barrier},
    bytes::Bytes,
    lanes,
    launch::{LaunchContext, Place},
    memory::Memory,
    races::{Races, Unwritten},
    registers::Registers,
    split::State,
    warp::{Outcome, Warp},
};
use crate::{
    fault::{Fault, FaultKind},
    program::{Action, BarrierKind},
};

/// A block on an SM.
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    pub(crate) warps: Vec<Warp>,
    shared: Bytes,
    races: Races,
    barriers: [Barrier; BARRIERS],
    /// Whether any barrier has been arrived at and not yet released.
    waiting: bool,
    live_warps: usize,
    blocked: Vec<bool>,
    blocked_warps: usize,
    /// Nanoseconds that the last `nanosleep` asked for.
    pub(crate) sleep: u32,
    /// Warps that the last step released from a barrier.
    pub(crate) released: Vec<u32>,
}

/// What surrounds a step besides the block.
pub(crate) struct Surroundings<'a> {
    pub(crate) launch: &'a LaunchContext<'a>,
    pub(crate) memory: &'a mut Memory,
    pub(crate) log: &'a mut AccessLog,
    pub(crate) sm: u32,
    pub(crate) warp_slot: u32,
    pub(crate) clock: u64,
}

impl Surroundings<'_> {
    /// With the block's own memory, where an instruction of it runs.
    fn place<'a>(
        &'a mut self,
        shared: &'a mut Bytes,
        races: &'a mut Races,
        block: [u32; 3],
    ) -> Place<'a> {
        Place {
            launch: self.launch,
            memory: self.memory,
            shared,
            races: self.launch.races.map(|_| races),
            log: self.log,
            block,
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
    /// Passed a barrier that its arrival released.
    Released,
    /// Waits; `Block::released` will name it later.
    Blocked,
    /// All its lanes have exited.
    Finished,
    /// Goes on after [`Block::sleep`] nanoseconds.
    Sleep,
}

impl Block {
    pub(crate) fn new(tracked: bool) -> Self {
        Self {
            index: [0; 3],
            warps: Vec::new(),
            shared: Bytes::new(0, tracked),
            races: Races::default(),
            barriers: Default::default(),
            waiting: false,
            live_warps: 0,
            blocked: Vec::new(),
            blocked_warps: 0,
            sleep: 0,
            released: Vec::new(),
        }
    }

    /// Makes it the `linear`-th block of the grid, at its start.
    pub(crate) fn start(&mut self, linear: u64, launch: &LaunchContext) {
        let warps = launch.warps() as usize;
        self.index = launch.block_index(linear);
        self.shared.reset(launch.shared_bytes as usize);
        match launch.races {
            Some(check) => self.races.reset(warps, launch.shared_bytes, check),
            None => self.races.unwritten = None,
        }
        self.warps.resize_with(warps, || Warp::new(launch.checks));
        for (index, warp) in self.warps.iter_mut().enumerate() {
            warp.start(index as u32, launch);
        }
        self.barriers = Default::default();
        self.waiting = false;
        self.live_warps = warps;
        self.blocked.clear();
        self.blocked.resize(warps, false);
        self.blocked_warps = 0;
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
        index: usize,
        around: &mut Surroundings,
    ) -> Result<Step, Box<Fault>> {
        around.log.clear();
        self.released.clear();
        let mut place = around.place(&mut self.shared, &mut self.races, self.index);
        match self.warps[index].step(&mut place) {
            Ok(Outcome::Continue) => Ok(Step::Continue),
            Ok(Outcome::Sleep(nanoseconds)) => {
                self.sleep = nanoseconds;
                Ok(Step::Sleep)
            }
            Ok(outcome) => {
                let step = self
                    .wait(index, outcome, around)
                    .map_err(|stopped| self.fault(index, *stopped, around.launch))?;
                self.unwritten_for_good(around.launch).map_or(Ok(step), Err)
            }
            Err(stopped) => Err(self.fault(index, *stopped, around.launch)),
        }
    }

    /// A read of unwritten shared memory that no later write can be unordered with: its warp has
    /// passed a barrier since, or the block is at its end.
    fn unwritten_for_good(&self, launch: &LaunchContext) -> Option<Box<Fault>> {
        let unwritten = self.races.unwritten.as_ref()?;
        let settled = self.live_warps == 0 || self.released.contains(&unwritten.warp);
        settled.then(|| self.unwritten_fault(unwritten, launch))
    }

    fn unwritten_fault(&self, unwritten: &Unwritten, launch: &LaunchContext) -> Box<Fault> {
        let Unwritten {
            warp,
            lane,
            pc,
            kind,
        } = unwritten.clone();
        self.fault_at(warp, lane, pc, kind, launch)
    }

    /// Handles what concerns the whole block: arrivals, exits, and warps that cannot go on.
    fn wait(
        &mut self,
        index: usize,
        outcome: Outcome,
        around: &mut Surroundings,
    ) -> Result<Step, Stopped> {
        let mut outcome = outcome;
        let launch = around.launch;
        let mut place = around.place(&mut self.shared, &mut self.races, self.index);
        if outcome == Outcome::Arrive {
            let pc = self.warps[index].pc() as usize;
            let Action::Barrier(operation) = launch.program.instructions[pc].action else {
                unreachable!("only barriers arrive");
            };
            let warp = &mut self.warps[index];
            let name = Barrier::arrive(&mut self.barriers, warp, operation, &place)?;
            if let Some(races) = &mut place.races
                && !self.barriers[name].whole_block()
            {
                races.arrive(name, index as u32);
            }
            self.waiting = true;
            outcome = Outcome::Blocked;
            if operation.kind == BarrierKind::Arrive {
                outcome = self.warps[index].choose()?;
            }
        }
        let finished = outcome == Outcome::Exited && self.warps[index].live == 0;
        if finished {
            self.live_warps -= 1;
            place.log.progress = true;
        }
        if self.waiting {
            self.waiting = false;
            for name in 0..BARRIERS {
                if self.barriers[name].complete(name, &self.warps) {
                    Barrier::check_passed(name, &self.warps, launch)?;
                    let barrier = &mut self.barriers[name];
                    let (before, whole_block) = (self.released.len(), barrier.whole_block());
                    barrier.release(name, &mut self.warps, &place, &mut self.released);
                    if let Some(races) = &mut place.races {
                        match whole_block {
                            true => races.all_met(),
                            false => races.release(name, &self.released[before..]),
                        }
                    }
                    place.log.progress = true;
                } else {
                    self.waiting |= self.barriers[name].in_use();
                }
            }
        }
        for &warp in &self.released {
            if std::mem::take(&mut self.blocked[warp as usize]) {
                self.blocked_warps -= 1;
            }
        }
        if finished {
            return self.unless_stuck(Step::Finished, launch);
        }
        let own = self.released.contains(&(index as u32));
        let step = match self.warps[index].choose()? {
            Outcome::Continue if own => Step::Released,
            Outcome::Continue => Step::Continue,
            _ => {
                self.blocked[index] = true;
                self.blocked_warps += 1;
                Step::Blocked
            }
        };
        for position in 0..self.released.len() {
            let warp = self.released[position] as usize;
            if warp != index {
                self.warps[warp].choose()?;
            }
        }
        self.unless_stuck(step, launch)
    }

    /// A block all of whose warps wait can never go on: only its own warps could release it.
    fn unless_stuck(&self, step: Step, launch: &LaunchContext) -> Result<Step, Stopped> {
        if self.live_warps == 0 || self.blocked_warps < self.live_warps {
            return Ok(step);
        }
        let mut groups = BTreeMap::<(u32, State), Vec<String>>::new();
        for warp in &self.warps {
            for split in &warp.splits {
                let who = format!("warp {} lanes {:#010x}", warp.index, split.mask);
                let line = launch.program.instructions[split.pc as usize].line;
                groups.entry((line, split.state)).or_default().push(who);
            }
        }
        let mut detail = String::from("every warp of the block waits");
        for ((line, state), who) in &groups {
            let _ = write!(detail, "\n    {state}, PTX line {line}: {}", who.join(", "));
        }
        let at_barrier = |state: &State| matches!(state, State::Barrier(_) | State::Converging);
        let kind = if groups.keys().any(|(_, state)| at_barrier(state)) {
            FaultKind::DivergentBarrier { detail }
        } else {
            FaultKind::Deadlock {
                detail,
                stall: None,
            }
        };
        Err(super::stop(u32::MAX, kind))
    }

    /// Adds the place to a fault. A lane of `u32::MAX` means the block's first waiting lane.
    fn fault(&self, index: usize, stopped: super::LaneFault, launch: &LaunchContext) -> Box<Fault> {
        if let Some(unwritten) = &self.races.unwritten
            && !matches!(stopped.kind, FaultKind::DataRace { .. })
        {
            // What went wrong since may well follow from the value that nothing had written.
            return self.unwritten_fault(unwritten, launch);
        }
        let waiting = |warp: &&Warp| warp.live != 0;
        let (warp, lane) = if stopped.lane == u32::MAX {
            let warp = self
                .warps
                .iter()
                .find(waiting)
                .unwrap_or(&self.warps[index]);
            (warp, lanes(warp.live).next().unwrap_or(0) as u32)
        } else {
            (&self.warps[index], stopped.lane)
        };
        let pc = warp.pc_of(lane).unwrap_or(0);
        self.fault_at(warp.index, lane, pc, stopped.kind, launch)
    }

    fn fault_at(
        &self,
        warp: u32,
        lane: u32,
        pc: u32,
        kind: FaultKind,
        launch: &LaunchContext,
    ) -> Box<Fault> {
        let program = launch.program;
        let instruction = &program.instructions[pc as usize];
        Box::new(Fault {
            kind,
            kernel: program.name.clone(),
            instruction: program.texts[instruction.text as usize].clone(),
            line: instruction.line,
            origin: None,
            block: self.index,
            thread: launch.thread_index(warp, lane),
        })
    }

    /// Where a block's warps are, for a launch that makes no progress.
    pub(crate) fn whereabouts(&self, launch: &LaunchContext) -> Fault {
        let warp = self
            .warps
            .iter()
            .find(|warp| warp.live != 0)
            .unwrap_or(&self.warps[0]);
        let lane = lanes(warp.live).next().unwrap_or(0) as u32;
        let kind = FaultKind::Deadlock {
            detail: String::new(),
            stall: None,
        };
        *self.fault(warp.index as usize, super::LaneFault { lane, kind }, launch)
    }
}
