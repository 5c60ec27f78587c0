//! Atomic read-modify-write operations. Lanes act in ascending order.

use half::{bf16, f16};

use super::{
    Stopped, lanes,
    launch::Place,
    lookup::{self, Spot},
    racing::Direction,
    stop,
    warp::Warp,
};
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
            // PTX ISA 9.7.13, `atom`: wherever the address points, shared memory keeps subnormals.
            let flush = !matches!(spot, Spot::Shared(..));
            let new = combine(operation, size, [old[lane], b[lane], c[lane]], flush);
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

/// The value an atomic operation of `size` bytes stores (PTX ISA 9.7.13, `atom`). `flush`: sums of
/// single precision take and give no subnormals.
fn combine(operation: AtomicOperation, size: usize, [old, b, c]: [u64; 3], flush: bool) -> u64 {
    let keep = u64::MAX >> (64 - 8 * size);
    let (old, b) = (old & keep, b & keep);
    let signed = |value: u64| ((value << (64 - 8 * size)) as i64) >> (64 - 8 * size);
    let result = match operation {
        AtomicOperation::Add(number) => add(number, size, old, b, flush),
        AtomicOperation::Min(Number::Signed) => signed(old).min(signed(b)) as u64,
        AtomicOperation::Max(Number::Signed) => signed(old).max(signed(b)) as u64,
        AtomicOperation::Min(_) => old.min(b),
        AtomicOperation::Max(_) => old.max(b),
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

fn add(number: Number, size: usize, x: u64, y: u64, flush: bool) -> u64 {
    match number {
        Number::Unsigned | Number::Signed => x.wrapping_add(y),
        Number::Float if size == 8 => (f64::from_bits(x) + f64::from_bits(y)).to_bits(),
        Number::Float => {
            let flushed = |value: f32| {
                if flush && value.is_subnormal() {
                    0.0f32.copysign(value)
                } else {
                    value
                }
            };
            let sum = flushed(f32::from_bits(x as u32)) + flushed(f32::from_bits(y as u32));
            u64::from(if sum.is_nan() {
                0x7fff_ffff
            } else {
                flushed(sum).to_bits()
            })
        }
        // A sum of two 16-bit floats rounds once: f64 holds it exactly, or with more than twice
        // the digits, where rounding twice gives the same.
        Number::Half => halves(size, x, y, |x, y| {
            let sum = f16::from_bits(x).to_f64() + f16::from_bits(y).to_f64();
            (!sum.is_nan()).then(|| f16::from_f64(sum).to_bits())
        }),
        Number::BFloat => halves(size, x, y, |x, y| {
            let sum = bf16::from_bits(x).to_f64() + bf16::from_bits(y).to_f64();
            (!sum.is_nan()).then(|| bf16::from_f64(sum).to_bits())
        }),
    }
}

/// Adds each 16-bit half of a 16- or 32-bit value; `None` from `add` is a NaN.
fn halves(size: usize, x: u64, y: u64, add: impl Fn(u16, u16) -> Option<u16>) -> u64 {
    (0..size / 2).fold(0, |result, index| {
        let shift = 16 * index;
        let sum = add((x >> shift) as u16, (y >> shift) as u16).unwrap_or(0x7fff);
        result | u64::from(sum) << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_its_width() {
        let add = AtomicOperation::Add(Number::Unsigned);
        assert_eq!(combine(add, 4, [0xffff_ffff, 2, 0], true), 1);
        let minimum = AtomicOperation::Min(Number::Signed);
        assert_eq!(combine(minimum, 4, [1, 0xffff_ffff, 0], true), 0xffff_ffff);
        assert_eq!(combine(AtomicOperation::Increment, 4, [7, 7, 0], true), 0);
        assert_eq!(combine(AtomicOperation::Increment, 4, [6, 7, 0], true), 7);
        assert_eq!(combine(AtomicOperation::Decrement, 4, [0, 7, 0], true), 7);
        assert_eq!(combine(AtomicOperation::Decrement, 4, [9, 7, 0], true), 7);
        assert_eq!(
            combine(AtomicOperation::CompareAndSwap, 8, [5, 5, 9], true),
            9
        );
        assert_eq!(
            combine(AtomicOperation::CompareAndSwap, 8, [6, 5, 9], true),
            6
        );
    }

    #[test]
    fn floats_flush_only_when_told() {
        let bits = |value: f32| u64::from(value.to_bits());
        let add = AtomicOperation::Add(Number::Float);
        let tiny = bits(f32::from_bits(1));
        assert_eq!(combine(add, 4, [tiny, tiny, 0], false), 2);
        assert_eq!(combine(add, 4, [tiny, tiny, 0], true), 0);
        assert_eq!(combine(add, 4, [bits(1.5), bits(2.0), 0], true), bits(3.5));
        let both = 0x3c00_4000; // 1.0 and 2.0 as f16
        assert_eq!(
            combine(AtomicOperation::Add(Number::Half), 4, [both, both, 0], true),
            0x4000_4400
        );
    }
}
