//! A warp: 32-lane registers and the groups its lanes have split into.
//!
//! Lanes have program counters of their own, as independent thread scheduling gives them (PTX ISA
//! 9.5): a *split* is a set of lanes at one instruction. Splits that meet become one again. The
//! lowest program counter runs first, which reconverges structured code where its branches join;
//! a split that keeps branching backwards lets the others run, so a spinning lane cannot starve
//! the lane it waits for. Warp operations wait until all members of their mask have arrived.

use arrayvec::ArrayVec;

use super::{
    Stopped,
    bytes::Bytes,
    collective, lanes,
    launch::{LaunchContext, Place},
    passed::Passes,
    registers::Registers,
    special, stop,
};
use crate::{
    fault::FaultKind,
    program::{Action, Compute, Guard, Instruction, Lanes, Operand, WARP_SIZE},
};

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
}

/// What a warp can do after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// Go on.
    Continue,
    /// The current split has reached a block barrier, which the block must handle.
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
    /// Lanes that exist and have not exited.
    pub(crate) live: u32,
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
            live: 0,
            splits: ArrayVec::new(),
            current: 0,
            registers: Registers::default(),
            passes: Passes::new(),
            local: Bytes::new(0, tracked),
        }
    }

    /// Makes it the `index`-th warp of a block, at the first instruction.
    pub(crate) fn start(&mut self, index: u32, launch: &LaunchContext) {
        let here = (launch.threads - index * WARP_SIZE as u32).min(WARP_SIZE as u32);
        self.index = index;
        self.live = u32::MAX >> (WARP_SIZE as u32 - here);
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
            Action::ToGeneric(space) => self.to_generic(space, instruction, mask, place)?,
            Action::FromGeneric(space) => self.from_generic(space, instruction, mask, place)?,
            Action::IsSpace(space) => self.is_space(space, instruction, mask, place)?,
            Action::Fence => {
                if let Some(races) = &mut place.races {
                    races.fence(self.index);
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
            Action::Barrier(operation) => {
                self.narrow(here, mask);
                if operation.aligned && mask != self.live {
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
        place: &Place,
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
        if let [destination] = instruction.destinations[..] {
            let mut out = [[0; WARP_SIZE]; 1];
            function(&sources, &mut out);
            drop(sources);
            self.assign(destination, mask, &out[0]);
        } else {
            let mut out = [[0; WARP_SIZE]; 8];
            function(&sources, &mut out[..instruction.destinations.len()]);
            drop(sources);
            for (destination, value) in instruction.destinations.iter().zip(&out) {
                self.assign(*destination, mask, value);
            }
        }
        Ok(())
    }

    /// A register's lanes; those of `mask` must have been written.
    #[inline]
    fn register(&self, register: u32, mask: u32, place: &Place) -> Result<&Lanes, Stopped> {
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

impl Split {
    fn at(pc: u32, mask: u32) -> Self {
        Self {
            pc,
            mask,
            state: State::Running,
            yielded: false,
            spins: 0,
        }
    }
}

/// Control flow: how lanes split, meet and wait.
impl Warp {
    /// Moves the current split to an instruction.
    #[inline]
    fn go_to(&mut self, pc: u32) -> Result<Outcome, Stopped> {
        self.splits[self.current].pc = pc;
        if self.splits.len() == 1 {
            Ok(Outcome::Continue)
        } else {
            self.choose()
        }
    }

    /// Sends the lanes of `mask` to their targets and the rest of `here` to the next instruction.
    fn scatter(&mut self, here: u32, mask: u32, targets: &Lanes) -> Result<Outcome, Stopped> {
        let from = self.splits[self.current].pc;
        let mut next = *targets;
        for lane in lanes(here & !mask) {
            next[lane] = u64::from(from + 1);
        }
        let mut rest = here;
        let mut first = true;
        while rest != 0 {
            let pc = next[rest.trailing_zeros() as usize];
            let group = lanes(rest)
                .filter(|&l| next[l] == pc)
                .fold(0, |m, l| m | 1u32 << l);
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
        if self.splits.len() == 1 {
            Ok(Outcome::Continue)
        } else {
            self.choose()
        }
    }

    /// Leaves only the lanes of `mask` in the current split; the others go on behind it.
    fn narrow(&mut self, here: u32, mask: u32) {
        if here != mask {
            let pc = self.splits[self.current].pc;
            self.splits[self.current].mask = mask;
            self.splits.push(Split::at(pc + 1, here & !mask));
        }
    }

    fn exit(&mut self, here: u32, mask: u32) -> Outcome {
        self.live &= !mask;
        if here == mask {
            self.splits.swap_remove(self.current);
        } else {
            self.splits[self.current].mask = here & !mask;
            self.splits[self.current].pc += 1;
        }
        // Whoever waits for an exited lane looks again.
        for split in &mut self.splits {
            if !matches!(split.state, State::Barrier(_)) {
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
        let outside = self
            .splits
            .iter()
            .any(|split| matches!(split.state, State::Barrier(_)));
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

    fn converge(&mut self) -> Result<Outcome, Stopped> {
        self.splits[self.current].state = State::Converging;
        self.choose()
    }

    /// A warp operation: runs for every group of lanes whose mask is complete.
    fn rendezvous(
        &mut self,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<Outcome, Stopped> {
        let member_operand = *instruction
            .sources
            .last()
            .expect("warp operations name members");
        let members = self.value(member_operand, mask, place)?;
        let members_of = members[mask.trailing_zeros() as usize] as u32;
        let group = lanes(mask)
            .filter(|&l| members[l] as u32 == members_of)
            .fold(0, |m, l| m | 1u32 << l);
        if let Some(outsider) = lanes(group & !members_of).next() {
            let detail = format!(
                "lane {outsider} executes it, but its member mask {members_of:#010x} does not \
                 name that lane"
            );
            return Err(stop(outsider as u32, FaultKind::WarpOperation { detail }));
        }
        if group != mask {
            let pc = self.splits[self.current].pc;
            self.splits[self.current].mask = group;
            self.splits.push(Split::at(pc, mask & !group));
        }
        let state = State::Members(members_of);
        self.splits[self.current].state = state;
        let same = |split: &Split| {
            let other = &place.launch.program.instructions[split.pc as usize];
            split.state == state
                && std::mem::discriminant(&other.action)
                    == std::mem::discriminant(&instruction.action)
        };
        let present = self
            .splits
            .iter()
            .filter(|s| same(s))
            .fold(0, |m, split| m | split.mask);
        if members_of & self.live & !present == 0 {
            let complete: ArrayVec<usize, WARP_SIZE> = (0..self.splits.len())
                .filter(|&index| same(&self.splits[index]))
                .collect();
            self.exchange(&complete, present, place)?;
            if let (Action::WarpBarrier, Some(races)) = (instruction.action, &mut place.races) {
                races.warp_barrier(self.index, present, self.live);
            }
            for index in complete {
                self.splits[index].state = State::Running;
                self.splits[index].pc += 1;
            }
        }
        if self.splits.len() == 1 && self.splits[0].state == State::Running {
            return Ok(Outcome::Continue);
        }
        self.choose()
    }

    /// Performs a warp operation for the lanes of the given splits together.
    fn exchange(&mut self, splits: &[usize], present: u32, place: &Place) -> Result<(), Stopped> {
        let program = place.launch.program;
        let zero = [0; WARP_SIZE];
        let mut inputs = collective::Inputs {
            present,
            a: zero,
            b: zero,
            c: zero,
        };
        for &index in splits {
            let Split { pc, mask, .. } = self.splits[index];
            let sources = &program.instructions[pc as usize].sources;
            let values = &sources[..sources.len() - 1];
            for (operand, input) in values
                .iter()
                .zip([&mut inputs.a, &mut inputs.b, &mut inputs.c])
            {
                let value = self.value(*operand, mask, place)?;
                for lane in lanes(mask) {
                    input[lane] = value[lane];
                }
            }
        }
        for &index in splits {
            let Split { pc, mask, .. } = self.splits[index];
            let instruction = &program.instructions[pc as usize];
            let (value, predicate) = match instruction.action {
                Action::Shuffle(mode) => collective::shuffle(mode, &inputs)?,
                Action::Vote(mode) => ([collective::vote(mode, &inputs); WARP_SIZE], zero),
                Action::Match { all, bits } => collective::matching(all, bits, &inputs),
                Action::Reduce(operation) => {
                    ([collective::reduce(operation, &inputs); WARP_SIZE], zero)
                }
                Action::Elect => {
                    let leader = present.trailing_zeros() as usize;
                    let elected = std::array::from_fn(|lane| u64::from(lane == leader));
                    ([leader as u64; WARP_SIZE], elected)
                }
                _ => (zero, zero),
            };
            for (destination, result) in instruction.destinations.iter().zip([&value, &predicate]) {
                self.assign(*destination, mask, result);
            }
        }
        Ok(())
    }
}
