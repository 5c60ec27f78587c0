//! What the timing model has to know of an instruction, worked out once per launch.

use arrayvec::ArrayVec;

use super::pipes::{self, PIPES};
use crate::{
    chip::Chip,
    isa::Class,
    program::{Action, Instruction, Operand, Space},
};

/// What instructions cost on a chip.
pub struct Costs {
    /// Cycles an instruction keeps its pipe busy, by pipe.
    intervals: [u32; PIPES],
    /// Cycles until a result can be used, by class.
    results: [u32; PIPES],
    /// The same for loads of parameters and constants.
    parameter: u32,
    control: u32,
}

/// What one instruction costs.
#[derive(Debug, Clone)]
pub struct Cost {
    /// Registers it reads or writes, modulo 64, as a set: together with those a warp waits for, it
    /// tells at once whether a look at the scoreboard is needed.
    pub(super) mask: u64,
    pub(super) pipe: u8,
    writes: u8,
    /// Cycles it keeps its pipe busy.
    pub(super) busy: u32,
    /// Cycles until its result can be used, unless memory says when.
    pub(super) latency: u32,
    /// Cycles until the warp's next instruction can issue.
    pub(super) delay: u32,
    /// The registers it writes, then those it reads.
    pub(super) registers: ArrayVec<u32, 19>,
}

impl Costs {
    /// Those of a chip.
    pub fn new(chip: &Chip) -> Self {
        let latency = chip.latency;
        let mut results = [0; PIPES];
        for (class, cycles) in [
            (Class::Integer, latency.integer),
            (Class::IntegerMultiply, latency.integer_multiply),
            (Class::Float32, latency.float32),
            (Class::Float64, latency.float64),
            (Class::Special, latency.special),
            (Class::Convert, latency.convert),
            (Class::Memory, latency.shared),
            (Class::Control, latency.control),
            (Class::Barrier, latency.barrier),
            (Class::Warp, latency.shuffle),
        ] {
            results[class as usize] = cycles;
        }
        Self {
            intervals: pipes::intervals(chip.compute_capability, chip.schedulers),
            results,
            parameter: latency.parameter,
            control: latency.control,
        }
    }

    /// That of an instruction.
    pub fn of(&self, instruction: &Instruction) -> Cost {
        let class = instruction.opcode.class;
        let pipe = pipes::pipe(instruction);
        let register = |operand: &Operand| match operand {
            Operand::Register(register) => Some(*register),
            _ => None,
        };
        let written = instruction.destinations.iter().filter_map(register);
        let read = instruction.sources.iter().filter_map(register);
        let guard = instruction.guard.map(|guard| guard.register);
        let registers: ArrayVec<u32, 19> = written.clone().chain(read).chain(guard).collect();
        Cost {
            mask: registers
                .iter()
                .fold(0, |mask, register| mask | 1 << (register % 64)),
            pipe,
            writes: written.count() as u8,
            busy: self.intervals[usize::from(pipe)] * pipes::passes(instruction),
            latency: match instruction.action {
                Action::Load(access)
                    if matches!(access.space, Space::Parameter | Space::Constant) =>
                {
                    self.parameter
                }
                _ => self.results[class as usize],
            },
            // After a branch the instructions of its target have to be fetched.
            delay: match class {
                Class::Control => self.control,
                _ => 1,
            },
            registers,
        }
    }
}

impl Cost {
    /// The registers it writes.
    pub(super) fn written(&self) -> &[u32] {
        &self.registers[..usize::from(self.writes)]
    }
}
