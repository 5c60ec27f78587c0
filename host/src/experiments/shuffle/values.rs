//! The types that lanes exchange, and the values: bits in the low end of a `u64`, so that the model
//! needs no type parameter and no NaN gets lost in a comparison.

use std::rc::Rc;

use kernels::{self, handle::Kernel};

use crate::{
    device::{Buffer, Device, Result},
    random::Stream,
};

/// A type of 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LaneType {
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Calls with `T` as the Rust type of a [`LaneType`].
macro_rules! with_type {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            $crate::experiments::shuffle::values::LaneType::I32 => {
                type $T = i32;
                $body
            }
            $crate::experiments::shuffle::values::LaneType::U32 => {
                type $T = u32;
                $body
            }
            $crate::experiments::shuffle::values::LaneType::I64 => {
                type $T = i64;
                $body
            }
            $crate::experiments::shuffle::values::LaneType::U64 => {
                type $T = u64;
                $body
            }
            $crate::experiments::shuffle::values::LaneType::F32 => {
                type $T = f32;
                $body
            }
            $crate::experiments::shuffle::values::LaneType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(super) use with_type;

/// A Rust type with its kernels.
pub(super) trait LaneValue: bytemuck::Pod {
    const SHUFFLE: Kernel<(
        u32,
        u32,
        *const u32,
        *const u32,
        *const Self,
        *mut Self,
        *mut u32,
    )>;
    const MATCH: Kernel<(*const u32, *const Self, *mut u32, *mut u32)>;
    const REDUCE: Kernel<(u32, u32, *const Self, *mut Self, *mut Self)>;
    const SCAN: Kernel<(u32, *const Self, *mut Self, *mut Self)>;
    const BROADCAST: Kernel<(*const u32, *const u32, *const Self, *mut u32, *mut Self)>;
    fn whole(number: u32) -> Self;
    fn of_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn text(self) -> String;
}

macro_rules! lane_values {
    ($($ty:ty: $shuffle:ident $matching:ident $reduce:ident $scan:ident $broadcast:ident,
        $whole:expr, $of_bits:expr, $bits:expr, $plus:expr, $text:expr;)*) => {$(
        impl LaneValue for $ty {
            const SHUFFLE: Kernel<(
                u32, u32, *const u32, *const u32, *const Self, *mut Self, *mut u32,
            )> = kernels::$shuffle;
            const MATCH: Kernel<(*const u32, *const Self, *mut u32, *mut u32)> =
                kernels::$matching;
            const REDUCE: Kernel<(u32, u32, *const Self, *mut Self, *mut Self)> =
                kernels::$reduce;
            const SCAN: Kernel<(u32, *const Self, *mut Self, *mut Self)> = kernels::$scan;
            const BROADCAST: Kernel<(
                *const u32, *const u32, *const Self, *mut u32, *mut Self,
            )> = kernels::$broadcast;

            fn whole(number: u32) -> Self {
                let convert: fn(u32) -> Self = $whole;
                convert(number)
            }

            fn of_bits(bits: u64) -> Self {
                let convert: fn(u64) -> Self = $of_bits;
                convert(bits)
            }

            fn bits(self) -> u64 {
                let convert: fn(Self) -> u64 = $bits;
                convert(self)
            }

            fn plus(self, other: Self) -> Self {
                let add: fn(Self, Self) -> Self = $plus;
                add(self, other)
            }

            fn text(self) -> String {
                let text: fn(Self) -> String = $text;
                text(self)
            }
        }
    )*};
}

lane_values! {
    i32: SHUFFLE_I32 WARP_MATCH_I32 SHUFFLE_REDUCE_I32 SHUFFLE_SCAN_I32 SHUFFLE_BROADCAST_I32,
        |number| number as i32, |bits| bits as i32, |value| u64::from(value as u32), i32::wrapping_add, |value| value.to_string();
    u32: SHUFFLE_U32 WARP_MATCH_U32 SHUFFLE_REDUCE_U32 SHUFFLE_SCAN_U32 SHUFFLE_BROADCAST_U32,
        |number| number, |bits| bits as u32, u64::from, u32::wrapping_add, |value| value.to_string();
    i64: SHUFFLE_I64 WARP_MATCH_I64 SHUFFLE_REDUCE_I64 SHUFFLE_SCAN_I64 SHUFFLE_BROADCAST_I64,
        i64::from, |bits| bits as i64, |value| value as u64, i64::wrapping_add, |value| value.to_string();
    u64: SHUFFLE_U64 WARP_MATCH_U64 SHUFFLE_REDUCE_U64 SHUFFLE_SCAN_U64 SHUFFLE_BROADCAST_U64,
        u64::from, |bits| bits, |value| value, u64::wrapping_add, |value| value.to_string();
    f32: SHUFFLE_F32 WARP_MATCH_F32 SHUFFLE_REDUCE_F32 SHUFFLE_SCAN_F32 SHUFFLE_BROADCAST_F32,
        |number| number as f32, |bits| f32::from_bits(bits as u32), |value| u64::from(value.to_bits()),
        |a, b| a + b, |value| float_text(value.into(), format!("{value:e}"));
    f64: SHUFFLE_F64 WARP_MATCH_F64 SHUFFLE_REDUCE_F64 SHUFFLE_SCAN_F64 SHUFFLE_BROADCAST_F64,
        f64::from, f64::from_bits, f64::to_bits, |a, b| a + b,
        |value| float_text(value, format!("{value:e}"));
}

/// A float's text: without an exponent where it is a whole number of few digits.
fn float_text(value: f64, exponential: String) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        value.to_string()
    } else {
        exponential
    }
}

impl LaneType {
    /// Every type.
    pub const ALL: [Self; 6] = [
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        with_type!(self, T => std::any::type_name::<T>())
    }

    /// Its size in bits.
    pub fn size(self) -> u32 {
        with_type!(self, T => 8 * size_of::<T>() as u32)
    }

    /// A whole number below 2^24, which every type has.
    pub fn whole(self, number: u32) -> u64 {
        with_type!(self, T => T::whole(number).bits())
    }

    /// The sum of two values: integers wrap around, floats are rounded to the nearest.
    pub fn add(self, a: u64, b: u64) -> u64 {
        with_type!(self, T => T::of_bits(a).plus(T::of_bits(b)).bits())
    }

    /// A value in decimal, as short as it can be and still name this value alone.
    pub fn text(self, bits: u64) -> String {
        with_type!(self, T => T::of_bits(bits).text())
    }

    /// A value's bits in hexadecimal, all of them.
    pub fn hexadecimal(self, bits: u64) -> String {
        let digits = self.size() as usize / 4;
        format!("{bits:#0width$x}", width = digits + 2)
    }

    /// What an output holds that nothing was written to: every byte is 0xff.
    pub fn poison(self) -> u64 {
        self.cut(u64::MAX)
    }

    /// The bits that this type has.
    pub fn cut(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (64 - self.size()))
    }

    /// Random bits for so many warps, no two alike within a warp, so that a value tells which lane it
    /// is from. A shuffle moves bits: some are NaNs as floats.
    pub fn distinct(self, stream: Stream, warps: usize) -> Vec<u64> {
        let mut values = Vec::with_capacity(32 * warps);
        let mut drawn = 0..;
        for _ in 0..warps {
            let first = values.len();
            while values.len() < first + 32 {
                let bits = self.cut(stream.bits(drawn.next().unwrap_or(0)));
                if bits != self.poison() && !values[first..].contains(&bits) {
                    values.push(bits);
                }
            }
        }
        values
    }

    /// Random values for so many warps whose sums are finite: all bits of integers; floats of either
    /// sign, with random mantissas and magnitudes from 2^-15 to 2.
    pub fn summands(self, stream: Stream, warps: usize) -> Vec<u64> {
        (0..32 * warps as u64)
            .map(|index| match self {
                Self::F32 => stream.f32(index).bits(),
                Self::F64 => {
                    // The exponent as for f32, the rest of the mantissa from other bits.
                    let coarse = f64::from(stream.f32(index)).bits();
                    coarse | stream.bits(index ^ 1 << 63) & 0x1fff_ffff
                }
                _ => self.cut(stream.bits(index)),
            })
            .collect()
    }
}

/// Device memory with these values.
pub(super) fn upload<T: LaneValue>(device: &Rc<dyn Device>, bits: &[u64]) -> Result<Buffer<T>> {
    let values: Vec<T> = bits.iter().map(|&bits| T::of_bits(bits)).collect();
    Buffer::from_slice(device, &values)
}

/// The bits of what device memory holds.
pub(super) fn download<T: LaneValue>(buffer: &Buffer<T>) -> Result<Vec<u64>> {
    Ok(buffer.to_vec()?.into_iter().map(T::bits).collect())
}
