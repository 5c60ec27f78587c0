//! How long an instruction keeps its execution pipe busy.
//!
//! Results per clock and SM are those of the CUDA C++ Programming Guide, "Arithmetic
//! Instructions", table "Throughput of Native Arithmetic Instructions"; each scheduler owns an
//! equal part of every pipe (NVIDIA's architecture whitepapers show four such partitions).

use crate::{
    isa::Class,
    program::{Action, Instruction, Space},
};

/// Pipes of one scheduler, one per [`Class`]; the last is always free.
pub(super) const PIPES: usize = 11;
/// Pipe of a warp whose first instruction is not known yet.
pub(super) const NO_PIPE: u8 = PIPES as u8 - 1;

/// Results per clock and SM.
struct Throughput {
    integer: u32,
    integer_multiply: u32,
    float32: u32,
    float64: u32,
    special: u32,
    convert: u32,
    /// Lanes of the load/store units: 32 per SM in every capability since 5.0 (whitepapers).
    memory: u32,
    /// Estimate: one branch per scheduler every other cycle; the guide does not list it.
    control: u32,
    warp: u32,
}

/// The guide's column of a compute capability; newer ones behave as the newest listed.
fn throughput((major, minor): (u32, u32)) -> Throughput {
    let since_volta = Throughput {
        integer: 64,
        integer_multiply: 64,
        float32: 64,
        float64: 32,
        special: 16,
        convert: 16,
        memory: 32,
        control: 64,
        warp: 32,
    };
    match (major, minor) {
        // The guide says "multiple instructions" for the multiply: three XMADs on Pascal.
        (..=6, _) => Throughput {
            integer: 128,
            integer_multiply: 128 / 3,
            float32: 128,
            float64: 4,
            special: 32,
            convert: 32,
            ..since_volta
        },
        (7, 5) => Throughput {
            float64: 2,
            ..since_volta
        },
        (8, 6..) => Throughput {
            float32: 128,
            float64: 2,
            ..since_volta
        },
        (9.., _) => Throughput {
            float32: 128,
            float64: 64,
            convert: 64,
            ..since_volta
        },
        _ => since_volta,
    }
}

/// Cycles one warp instruction keeps its pipe busy, by pipe.
pub(super) fn intervals(capability: (u32, u32), schedulers: u32) -> [u32; PIPES] {
    let rates = throughput(capability);
    let mut intervals = [0; PIPES];
    for (class, rate) in [
        (Class::Integer, rates.integer),
        (Class::IntegerMultiply, rates.integer_multiply),
        (Class::Float32, rates.float32),
        (Class::Float64, rates.float64),
        (Class::Special, rates.special),
        (Class::Convert, rates.convert),
        (Class::Memory, rates.memory),
        (Class::Control, rates.control),
        // Barriers go through the same unit as branches.
        (Class::Barrier, rates.control),
        (Class::Warp, rates.warp),
    ] {
        intervals[class as usize] = (32 * schedulers).div_ceil(rate);
    }
    intervals
}

/// The pipe an instruction issues to. Parameters and constants are operands that come with the
/// instruction, not accesses of the load/store unit.
pub(super) fn pipe(instruction: &Instruction) -> u8 {
    match instruction.action {
        Action::Load(access) if matches!(access.space, Space::Parameter | Space::Constant) => {
            Class::Integer as u8
        }
        _ => instruction.opcode.class as u8,
    }
}

/// How many times its usual interval an instruction keeps its pipe busy: the load/store unit moves
/// 4 bytes per lane at a time.
pub(super) fn passes(instruction: &Instruction) -> u32 {
    match instruction.action {
        Action::Load(access) | Action::Store(access) | Action::Atomic(access, _) => {
            (u32::from(access.bytes) * u32::from(access.count)).div_ceil(4)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_takes_32_lanes_over_the_lanes_of_its_scheduler() {
        let hopper = intervals((9, 0), 4);
        assert_eq!(hopper[Class::Float32 as usize], 1);
        assert_eq!(hopper[Class::Integer as usize], 2);
        assert_eq!(hopper[Class::Float64 as usize], 2);
        assert_eq!(hopper[Class::Special as usize], 8);
        let turing = intervals((7, 5), 4);
        assert_eq!(turing[Class::Float32 as usize], 2);
        assert_eq!(turing[Class::Float64 as usize], 64);
        assert_eq!(intervals((6, 1), 4)[Class::Float64 as usize], 32);
    }
}
