//! A warp: its registers, and the execution of one instruction by the lanes that are at it.

use arrayvec::ArrayVec;

use super::{
    Stopped,
    bytes::Bytes,
    lanes,
    launch::{LaunchContext, Place},
    passed::Passes,
    registers::Registers,
    special,
    split::Split,
    stop,
};
use crate::{
    fault::FaultKind,
    program::{
        Action, BarrierOperation, ClusterBarrier, Compute, Guard, Instruction, Lanes, Operand,
        WARP_SIZE,
    },
};

/// What a warp can do after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// Go on.
    Continue,
    /// The current split has reached a barrier of its block or cluster, which the cluster handles.
    Arrive,
    /// No split can run until another warp acts.
    Blocked,
    /// Some lanes have exited; perhaps all.
    Exited,
    /// Go on after so many nanoseconds.
    Sleep(u32),
}

/// A warp of a resident block.
#[derive(Debug)]
pub(crate) struct Warp {
    /// Index in the block.
    pub(crate) index: u32,
    /// Rank of the block in its cluster.
    pub(crate) rank: u32,
    /// Index in the cluster, block after block.
    pub(crate) id: u32,
    /// Lanes that exist and have not exited.
    pub(crate) live: u32,
    /// Lanes that have arrived at the cluster's barrier, where others are still awaited.
    pub(crate) arrived: u32,
    /// Lanes that have arrived there with all others, and have yet to wait: they will pass.
    pub(crate) passing: u32,
    pub(crate) splits: ArrayVec<Split, WARP_SIZE>,
    /// The split that runs next.
    pub(crate) current: usize,
    pub(crate) registers: Registers,
    /// How often each lane went past each barrier that can be passed by.
    pub(crate) passes: Passes,
    /// The lanes' local frames, one after the other.
    pub(crate) local: Bytes,
}

impl Warp {
    pub(crate) fn new(tracked: bool) -> Self {
        Self {
            index: 0,
            rank: 0,
            id: 0,
            live: 0,
            arrived: 0,
            passing: 0,
            splits: ArrayVec::new(),
            current: 0,
            registers: Registers::default(),
            passes: Passes::new(),
            local: Bytes::new(0, tracked),
        }
    }

    /// Makes it the `id`-th warp of a cluster, at the first instruction.
    pub(crate) fn start(&mut self, id: u32, launch: &LaunchContext) {
        let (rank, index) = (id / launch.warps(), id % launch.warps());
        let here = (launch.threads - index * WARP_SIZE as u32).min(WARP_SIZE as u32);
        self.index = index;
        self.rank = rank;
        self.id = id;
        self.live = u32::MAX >> (WARP_SIZE as u32 - here);
        self.arrived = 0;
        self.passing = 0;
        self.splits.clear();
        self.splits.push(Split::at(0, self.live));
        self.current = 0;
        if !self.registers.is_empty() {
            self.registers.reset(launch.program.registers);
        }
        self.passes.clear();
        self.passes.resize(launch.sites.sites.len(), [0; WARP_SIZE]);
        self.local
            .reset(launch.program.local_bytes as usize * WARP_SIZE);
    }

    /// The instruction that runs next.
    pub(crate) fn pc(&self) -> u32 {
        self.splits[self.current].pc
    }

    /// The instruction a lane is at.
    pub(crate) fn pc_of(&self, lane: u32) -> Option<u32> {
        self.splits
            .iter()
            .find(|split| split.mask >> lane & 1 == 1)
            .map(|split| split.pc)
    }

    /// Runs one instruction of the current split.
    #[inline]
    pub(crate) fn step(&mut self, place: &mut Place) -> Result<Outcome, Stopped> {
        let launch = place.launch;
        let Split { pc, mask: here, .. } = self.splits[self.current];
        let instruction = &launch.program.instructions[pc as usize];
        launch.sites.count(pc, here, &mut self.passes);
        let mask = match instruction.guard {
            None => here,
            Some(guard) => self.guarded(guard, here, place)?,
        };
        if mask == 0 {
            return self.go_to(pc + 1);
        }
        match instruction.action {
            Action::Compute(function) => self.compute(function, instruction, mask, place)?,
            Action::Load(access) => self.load(access, instruction, mask, place)?,
            Action::Store(access) => self.store(access, instruction, mask, place)?,
            Action::Atomic(access, operation) => {
                self.atomic(access, operation, instruction, mask, place)?;
            }
            Action::ToGeneric(space) => self.convert_to_generic(space, instruction, mask, place)?,
            Action::FromGeneric(space) => {
                self.convert_from_generic(space, instruction, mask, place)?
            }
            Action::IsSpace(space) => self.is_space(space, instruction, mask, place)?,
            Action::MapToPeer { generic } => self.map_to_peer(generic, instruction, mask, place)?,
            Action::PeerRank { generic } => self.peer_rank(generic, instruction, mask, place)?,
            Action::Fence => {
                if let Some(races) = &mut place.races {
                    races.fence(self.id);
                }
            }
            Action::Nothing => {}
            Action::ActiveMask => {
                self.assign(
                    instruction.destinations[0],
                    mask,
                    &[u64::from(mask); WARP_SIZE],
                );
            }
            Action::Branch(target) => {
                return self.scatter(here, mask, &[u64::from(target); WARP_SIZE]);
            }
            Action::BranchIndexed(table) => {
                let table = &launch.program.branch_tables[table as usize];
                let index = self.value(instruction.sources[0], mask, place)?;
                let mut targets = [0; WARP_SIZE];
                for lane in lanes(mask) {
                    let Some(&target) = table.get(index[lane] as usize) else {
                        let detail = format!(
                            "branch index {} is outside its table of {} targets",
                            index[lane],
                            table.len()
                        );
                        return Err(stop(lane as u32, FaultKind::Other { detail }));
                    };
                    targets[lane] = u64::from(target);
                }
                return self.scatter(here, mask, &targets);
            }
            Action::Call {
                target,
                return_register,
            } => {
                let back = [u64::from(pc + 1); WARP_SIZE];
                self.assign(Operand::Register(return_register), mask, &back);
                return self.scatter(here, mask, &[u64::from(target); WARP_SIZE]);
            }
            Action::Return { return_register } => {
                let targets = self.value(Operand::Register(return_register), mask, place)?;
                return self.scatter(here, mask, &targets);
            }
            Action::Exit => return Ok(self.exit(here, mask)),
            Action::Trap => return Err(stop(mask.trailing_zeros(), FaultKind::Trap)),
            Action::Barrier(BarrierOperation { aligned, .. })
            | Action::ClusterBarrier(
                ClusterBarrier::Arrive { aligned, .. } | ClusterBarrier::Wait { aligned },
            ) => {
                self.narrow(here, mask);
                if aligned && mask != self.live {
                    return self.converge();
                }
                return Ok(Outcome::Arrive);
            }
            Action::Nanosleep => {
                let time = self.value(instruction.sources[0], mask, place)?;
                self.go_to(pc + 1)?;
                return Ok(Outcome::Sleep(time[mask.trailing_zeros() as usize] as u32));
            }
            Action::WarpBarrier
            | Action::Shuffle(_)
            | Action::Vote(_)
            | Action::Match { .. }
            | Action::Reduce(_)
            | Action::Elect => {
                self.narrow(here, mask);
                return self.rendezvous(instruction, mask, place);
            }
        }
        self.go_to(pc + 1)
    }

    fn compute(
        &mut self,
        function: Compute,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        let mut specials = ArrayVec::<Lanes, 10>::new();
        for operand in &instruction.sources {
            if let Operand::Special(register) = *operand {
                specials.push(special::value(register, self.index, place));
            }
        }
        let mut specials = specials.iter();
        let mut sources = ArrayVec::<&Lanes, 10>::new();
        for operand in &instruction.sources {
            sources.push(match *operand {
                Operand::Register(register) => self.register(register, mask, place)?,
                Operand::Constant(constant) => &place.launch.program.constants[constant as usize],
                Operand::Special(_) => specials.next().expect("collected above"),
                Operand::Discard => unreachable!("`_` is never a source"),
            });
        }
        let results = &mut place.log.results[..instruction.destinations.len()];
        function(&sources, results);
        drop(sources);
        for (destination, value) in instruction.destinations.iter().zip(results) {
            self.assign(*destination, mask, value);
        }
        Ok(())
    }

    /// A register's lanes; those of `mask` must have been written.
    #[inline]
    pub(crate) fn register(
        &self,
        register: u32,
        mask: u32,
        place: &Place,
    ) -> Result<&Lanes, Stopped> {
        let missing = mask & !self.registers.written(register);
        if missing != 0 && place.launch.checks {
            let register = place.launch.program.register_names[register as usize].clone();
            return Err(stop(
                missing.trailing_zeros(),
                FaultKind::UninitialisedRegister { register },
            ));
        }
        Ok(self.registers.get(register))
    }

    /// A source's value in every lane.
    pub(crate) fn value(
        &self,
        operand: Operand,
        mask: u32,
        place: &Place,
    ) -> Result<Lanes, Stopped> {
        Ok(match operand {
            Operand::Register(register) => *self.register(register, mask, place)?,
            Operand::Constant(constant) => place.launch.program.constants[constant as usize],
            Operand::Special(register) => special::value(register, self.index, place),
            Operand::Discard => unreachable!("`_` is never a source"),
        })
    }

    /// Writes a destination in the lanes of `mask`.
    #[inline]
    pub(crate) fn assign(&mut self, destination: Operand, mask: u32, value: &Lanes) {
        self.registers.assign(destination, mask, value);
    }

    fn guarded(&self, guard: Guard, here: u32, place: &Place) -> Result<u32, Stopped> {
        let predicate = self.register(guard.register, here, place)?;
        let set = predicate
            .iter()
            .rev()
            .fold(0u32, |mask, &bit| mask << 1 | bit as u32);
        Ok(here & if guard.negated { !set } else { set })
    }
}
