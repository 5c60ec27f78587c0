//! `mov` (PTX ISA 9.7.9): copies, and packing and unpacking of vectors.

use super::modifiers::{Modifiers, UNARY};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::{Compute, WARP_SIZE};

pub(super) static ROWS: &[Opcode] = &[row("mov", Class::Integer, mov)];

/// Packs and unpacks `BITS` bits: a vector operand is flattened, so the number of operands tells
/// its elements, the first in the lowest bits.
fn move_bits<const BITS: usize>() -> Compute {
    |sources, destinations| {
        let mask = |bits: usize| u64::MAX >> (64 - bits);
        match (sources, destinations) {
            ([source], [destination]) => {
                for lane in 0..WARP_SIZE {
                    destination[lane] = source[lane] & mask(BITS);
                }
            }
            (elements, [destination]) => {
                let width = BITS / elements.len();
                *destination = [0; WARP_SIZE];
                for (index, element) in elements.iter().enumerate() {
                    for lane in 0..WARP_SIZE {
                        destination[lane] |= (element[lane] & mask(width)) << (index * width);
                    }
                }
            }
            ([source], elements) => {
                let width = BITS / elements.len();
                for (index, element) in elements.iter_mut().enumerate() {
                    for lane in 0..WARP_SIZE {
                        element[lane] = source[lane] >> (index * width) & mask(width);
                    }
                }
            }
            // A vector to a vector, element by element.
            (sources, destinations) => {
                for (destination, source) in destinations.iter_mut().zip(sources) {
                    *destination = **source;
                }
            }
        }
    }
}

/// `mov.type d, a`; the sources are registers, special registers, immediates, addresses.
fn mov(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let immediate = match ty {
        "f32" => Immediate::Float32,
        "f64" => Immediate::Float64,
        _ => Immediate::Integer,
    };
    let compute = match ty {
        "pred" => move_bits::<1>(),
        "b16" | "u16" | "s16" | "f16" | "bf16" => move_bits::<16>(),
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" => move_bits::<32>(),
        "b64" | "u64" | "s64" | "f64" => move_bits::<64>(),
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate)
}
