//! Atomic read-modify-write operations. Lanes act in ascending order.

use half::{bf16, f16};

use super::{Stopped, lanes, launch::Place, lookup, racing::Direction, stop, warp::Warp};
use crate::program::{Access, AtomicOperation, Instruction, Number, WARP_SIZE};

impl Warp {
    pub(crate) fn atomic(
        &mut self,
        access: Access,
        operation: AtomicOperation,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        let at = self.addresses(instruction, mask, place)?;
        let size = usize::from(access.bytes);
        self.log(access, mask, &at, size as u64, place);
        place.log.strong_read = true;
        let b = self.value(instruction.sources[1], mask, place)?;
        let c = match instruction.sources.get(2) {
            Some(&operand) => self.value(operand, mask, place)?,
            None => [0; WARP_SIZE],
        };
        let mut old = [0; WARP_SIZE];
        for lane in lanes(mask) {
            // It reads as well as writes, so the bytes must have been written before.
            let spot = lookup::find(self, place, access, lane, at[lane], false)
                .map_err(|kind| stop(lane as u32, kind))?;
            old[lane] = self.element(spot, 0, size, place);
            let new = combine(operation, size, old[lane], b[lane], c[lane]);
            self.set_element(spot, 0, size, new, place)
                .map_err(|kind| stop(lane as u32, kind))?;
        }
        self.check_races(access, mask, &at, Direction::ReadWrite, place)?;
        if let Some(&destination) = instruction.destinations.first() {
            self.assign(destination, mask, &old);
        }
        Ok(())
    }
}

/// The value an atomic operation of `size` bytes stores (PTX ISA 9.7.13, `atom`).
fn combine(operation: AtomicOperation, size: usize, old: u64, b: u64, c: u64) -> u64 {
    let keep = u64::MAX >> (64 - 8 * size);
    let (old, b) = (old & keep, b & keep);
    let signed = |value: u64| ((value << (64 - 8 * size)) as i64) >> (64 - 8 * size);
    let result = match operation {
        AtomicOperation::Add(Number::Unsigned | Number::Signed) => old.wrapping_add(b),
        AtomicOperation::Add(number) => float(number, size, old, b, Float::Add),
        AtomicOperation::Min(Number::Unsigned) => old.min(b),
        AtomicOperation::Max(Number::Unsigned) => old.max(b),
        AtomicOperation::Min(Number::Signed) => signed(old).min(signed(b)) as u64,
        AtomicOperation::Max(Number::Signed) => signed(old).max(signed(b)) as u64,
        AtomicOperation::Min(number) => float(number, size, old, b, Float::Min),
        AtomicOperation::Max(number) => float(number, size, old, b, Float::Max),
        AtomicOperation::And => old & b,
        AtomicOperation::Or => old | b,
        AtomicOperation::Xor => old ^ b,
        AtomicOperation::Exchange => b,
        AtomicOperation::CompareAndSwap if old == b => c,
        AtomicOperation::CompareAndSwap => old,
        // Both wrap over [0..b].
        AtomicOperation::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicOperation::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    };
    result & keep
}

#[derive(Clone, Copy)]
enum Float {
    Add,
    Min,
    Max,
}

fn float(number: Number, size: usize, old: u64, b: u64, operation: Float) -> u64 {
    match (number, size) {
        (Number::Float { .. }, 8) => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(b));
            apply(operation, x, y).to_bits()
        }
        (Number::Float { flush }, _) => {
            let flushed = |value: f32| {
                if flush && value.is_subnormal() {
                    0.0f32.copysign(value)
                } else {
                    value
                }
            };
            let x = flushed(f32::from_bits(old as u32));
            let y = flushed(f32::from_bits(b as u32));
            let sum = match operation {
                Float::Add => x + y,
                Float::Min => x.min(y),
                Float::Max => x.max(y),
            };
            let bits = if sum.is_nan() {
                0x7fff_ffff
            } else {
                flushed(sum).to_bits()
            };
            u64::from(bits)
        }
        // A sum of two 16-bit floats rounds once: f64 holds it exactly, or with more than twice
        // the digits, where rounding twice gives the same.
        (Number::BFloat, _) => halves(size, old, b, |x, y| {
            let value = apply(
                operation,
                bf16::from_bits(x).to_f64(),
                bf16::from_bits(y).to_f64(),
            );
            if value.is_nan() {
                0x7fff
            } else {
                bf16::from_f64(value).to_bits()
            }
        }),
        (_, _) => halves(size, old, b, |x, y| {
            let value = apply(
                operation,
                f16::from_bits(x).to_f64(),
                f16::from_bits(y).to_f64(),
            );
            if value.is_nan() {
                0x7fff
            } else {
                f16::from_f64(value).to_bits()
            }
        }),
    }
}

fn apply(operation: Float, x: f64, y: f64) -> f64 {
    match operation {
        Float::Add => x + y,
        Float::Min => x.min(y),
        Float::Max => x.max(y),
    }
}

/// Applies an operation to each 16-bit half of a 16- or 32-bit value.
fn halves(size: usize, old: u64, b: u64, operation: impl Fn(u16, u16) -> u16) -> u64 {
    (0..size / 2).fold(0, |result, index| {
        let shift = 16 * index;
        result | u64::from(operation((old >> shift) as u16, (b >> shift) as u16)) << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_its_width() {
        let add = AtomicOperation::Add(Number::Unsigned);
        assert_eq!(combine(add, 4, 0xffff_ffff, 2, 0), 1);
        let minimum = AtomicOperation::Min(Number::Signed);
        assert_eq!(combine(minimum, 4, 1, 0xffff_ffff, 0), 0xffff_ffff);
        assert_eq!(combine(AtomicOperation::Increment, 4, 7, 7, 0), 0);
        assert_eq!(combine(AtomicOperation::Increment, 4, 6, 7, 0), 7);
        assert_eq!(combine(AtomicOperation::Decrement, 4, 0, 7, 0), 7);
        assert_eq!(combine(AtomicOperation::Decrement, 4, 9, 7, 0), 7);
        assert_eq!(combine(AtomicOperation::CompareAndSwap, 8, 5, 5, 9), 9);
        assert_eq!(combine(AtomicOperation::CompareAndSwap, 8, 6, 5, 9), 6);
    }

    #[test]
    fn floats_flush_only_when_told() {
        let bits = |value: f32| u64::from(value.to_bits());
        let add = |flush| AtomicOperation::Add(Number::Float { flush });
        let tiny = bits(f32::from_bits(1));
        assert_eq!(combine(add(false), 4, tiny, tiny, 0), 2);
        assert_eq!(combine(add(true), 4, tiny, tiny, 0), 0);
        assert_eq!(combine(add(true), 4, bits(1.5), bits(2.0), 0), bits(3.5));
        let both = 0x3c00_4000; // 1.0 and 2.0 as f16
        assert_eq!(
            combine(AtomicOperation::Add(Number::Half), 4, both, both, 0),
            0x4000_4400
        );
    }
}
