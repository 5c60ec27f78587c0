//! Elements and operations: the inputs, and the CPU reference in higher precision.

use bytemuck::Pod;
use rayon::prelude::*;

use super::sum::Compensated;
use crate::random::Stream;

/// Type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ElementType {
    I32,
    U32,
    I64,
    F32,
    F64,
}

/// What values are combined by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Addition; integers wrap.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// Which values the elements have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// All bits in use, signs and magnitudes mixed: what is timed.
    Random,
    /// Small whole numbers, so that sums of floats are exact in any order and one element too many
    /// or too few shows, which it does not beside the rounding of a large sum.
    Whole,
}

/// What the CPU says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The result as the element type's bits; for sums of floats the nearest to [`Self::sum`].
    pub bits: u64,
    /// The sum in double precision, where the type is a float.
    pub sum: f64,
    /// The sum of the absolute values, by which the error of a float sum is bounded.
    pub magnitude: f64,
}

impl ElementType {
    /// Every type.
    pub const ALL: [Self; 5] = [Self::I32, Self::U32, Self::I64, Self::F32, Self::F64];

    /// Its name in Rust, which kernels carry in theirs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Its size in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Elements in 16 bytes.
    pub const fn lanes(self) -> u64 {
        16 / self.bytes()
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Half the distance from 1 to the next value: the relative error of one rounding; 0 for
    /// integers.
    pub const fn unit_roundoff(self) -> f64 {
        match self {
            Self::F32 => f32::EPSILON as f64 / 2.0,
            Self::F64 => f64::EPSILON / 2.0,
            _ => 0.0,
        }
    }

    /// A value of the type, from its bits, as text.
    pub fn display(self, bits: u64) -> String {
        match self {
            Self::I32 => (bits as u32 as i32).to_string(),
            Self::U32 => (bits as u32).to_string(),
            Self::I64 => (bits as i64).to_string(),
            Self::F32 => format!("{:e}", f32::from_bits(bits as u32)),
            Self::F64 => format!("{:e}", f64::from_bits(bits)),
        }
    }

    /// A value of the type, from its bits, as a double; exact for the floats.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self {
            Self::I32 => f64::from(bits as u32 as i32),
            Self::U32 => f64::from(bits as u32),
            Self::I64 => bits as i64 as f64,
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }

    /// The reference for `n` elements of a stream.
    pub fn reference(
        self,
        operation: Operation,
        input: Input,
        stream: Stream,
        n: u64,
    ) -> Reference {
        match self {
            Self::I32 => reference::<i32>(operation, input, stream, n),
            Self::U32 => reference::<u32>(operation, input, stream, n),
            Self::I64 => reference::<i64>(operation, input, stream, n),
            Self::F32 => reference::<f32>(operation, input, stream, n),
            Self::F64 => reference::<f64>(operation, input, stream, n),
        }
    }

    /// The bits of the sum of values: what a device that only reads leaves to the host.
    pub(super) fn sum_of(self, values: &[u8]) -> u64 {
        match self {
            Self::I32 => sum_of::<i32>(values),
            Self::U32 => sum_of::<u32>(values),
            Self::I64 => sum_of::<i64>(values),
            Self::F32 => sum_of::<f32>(values),
            Self::F64 => sum_of::<f64>(values),
        }
    }
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 3] = [Self::Sum, Self::Min, Self::Max];

    /// Its name, which kernels carry in theirs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// An element on the host.
pub(super) trait Value: Pod + Send + Sync {
    fn of(input: Input, stream: Stream, index: u64) -> Self;
    fn identity(operation: Operation) -> Self;
    fn combine(self, other: Self, operation: Operation) -> Self;
    fn to_bits(self) -> u64;
    /// The value as a double; of integers the sum of these is not used.
    fn to_double(self) -> f64;
    fn from_double(sum: f64) -> Option<Self>;
}

macro_rules! integers {
    ($($ty:ident $unsigned:ty;)*) => {$(
        impl Value for $ty {
            fn of(input: Input, stream: Stream, index: u64) -> Self {
                match input {
                    Input::Random => stream.bits(index) as Self,
                    Input::Whole => whole(stream, index) as Self,
                }
            }

            fn identity(operation: Operation) -> Self {
                match operation {
                    Operation::Sum => 0,
                    Operation::Min => Self::MAX,
                    Operation::Max => Self::MIN,
                }
            }

            fn combine(self, other: Self, operation: Operation) -> Self {
                match operation {
                    Operation::Sum => self.wrapping_add(other),
                    Operation::Min => self.min(other),
                    Operation::Max => self.max(other),
                }
            }

            fn to_bits(self) -> u64 {
                u64::from(self as $unsigned)
            }

            fn to_double(self) -> f64 {
                self as f64
            }

            fn from_double(_: f64) -> Option<Self> {
                None
            }
        }
    )*};
}

integers! {
    i32 u32;
    u32 u32;
    i64 u64;
}

macro_rules! floats {
    ($($ty:ident;)*) => {$(
        impl Value for $ty {
            fn of(input: Input, stream: Stream, index: u64) -> Self {
                match input {
                    Input::Random => stream.$ty(index),
                    Input::Whole => whole(stream, index) as Self,
                }
            }

            fn identity(operation: Operation) -> Self {
                match operation {
                    Operation::Sum => 0.0,
                    Operation::Min => Self::INFINITY,
                    Operation::Max => Self::NEG_INFINITY,
                }
            }

            fn combine(self, other: Self, operation: Operation) -> Self {
                match operation {
                    Operation::Sum => self + other,
                    Operation::Min => self.min(other),
                    Operation::Max => self.max(other),
                }
            }

            fn to_bits(self) -> u64 {
                $ty::to_bits(self).into()
            }

            fn to_double(self) -> f64 {
                self.into()
            }

            fn from_double(sum: f64) -> Option<Self> {
                Some(sum as Self)
            }
        }
    )*};
}

floats! {
    f32;
    f64;
}

/// A whole number from -8 to 8, never 0. The sum of 2^33 of them stays below 2^24, since signs
/// alternate at random.
fn whole(stream: Stream, index: u64) -> i64 {
    let bits = stream.bits(index);
    let magnitude = (bits >> 1 & 7) as i64 + 1;
    if bits & 1 == 0 { magnitude } else { -magnitude }
}

/// Elements that one thread of the host takes at a time.
const PIECE: u64 = 1 << 16;

fn reference<T: Value>(operation: Operation, input: Input, stream: Stream, n: u64) -> Reference {
    let empty = || (T::identity(operation), Compensated::default());
    let (value, sum) = (0..n.div_ceil(PIECE))
        .into_par_iter()
        .map(|piece| {
            let elements = piece * PIECE..n.min((piece + 1) * PIECE);
            fold(operation, elements.map(|index| T::of(input, stream, index)))
        })
        // In order, so that the reference has the same bits on every machine.
        .collect::<Vec<_>>()
        .into_iter()
        .fold(empty(), |(value, sum), (other, part)| {
            (value.combine(other, operation), sum.join(part))
        });
    finish(operation, value, sum)
}

fn sum_of<T: Value>(values: &[u8]) -> u64 {
    let values = values
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned::<T>);
    let (value, sum) = fold(Operation::Sum, values);
    finish(Operation::Sum, value, sum).bits
}

fn fold<T: Value>(operation: Operation, values: impl Iterator<Item = T>) -> (T, Compensated) {
    values.fold(
        (T::identity(operation), Compensated::default()),
        |(result, sum), value| (result.combine(value, operation), sum.add(value.to_double())),
    )
}

fn finish<T: Value>(operation: Operation, value: T, sum: Compensated) -> Reference {
    let total = sum.total();
    let rounded = match operation {
        Operation::Sum => T::from_double(total),
        Operation::Min | Operation::Max => None,
    };
    Reference {
        bits: rounded.unwrap_or(value).to_bits(),
        sum: total,
        magnitude: sum.magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_by_hand() {
        let stream = Stream::new(1, 0);
        let values: Vec<i64> = (0..5).map(|i| whole(stream, i)).collect();
        let sum: i64 = values.iter().sum();
        for element in ElementType::ALL {
            let reference = element.reference(Operation::Sum, Input::Whole, stream, 5);
            // The unsigned type wraps.
            if element == ElementType::U32 {
                assert_eq!(reference.bits, u64::from(sum as u32));
            } else {
                assert_eq!(element.to_f64(reference.bits), sum as f64);
            }
            if element.is_float() {
                assert_eq!(
                    reference.magnitude,
                    values.iter().map(|v| v.abs()).sum::<i64>() as f64
                );
            }
        }
        let largest = ElementType::I32.reference(Operation::Max, Input::Whole, stream, 5);
        assert_eq!(
            largest.bits as u32 as i32,
            *values.iter().max().unwrap() as i32
        );
        let least = ElementType::F64.reference(Operation::Min, Input::Whole, stream, 5);
        assert_eq!(
            f64::from_bits(least.bits),
            *values.iter().min().unwrap() as f64
        );
    }

    #[test]
    fn nothing_gives_the_identity() {
        let stream = Stream::new(1, 0);
        let empty = |element: ElementType, operation| {
            element.display(element.reference(operation, Input::Random, stream, 0).bits)
        };
        assert_eq!(empty(ElementType::U32, Operation::Sum), "0");
        assert_eq!(empty(ElementType::U32, Operation::Min), "4294967295");
        assert_eq!(
            empty(ElementType::I64, Operation::Max),
            i64::MIN.to_string()
        );
        assert_eq!(empty(ElementType::F32, Operation::Min), "inf");
    }

    #[test]
    fn sums_keep_what_rounding_would_lose() {
        let values = [1e16_f64, 1.0, -1e16, 1.0];
        let sum = ElementType::F64.sum_of(bytemuck::cast_slice(&values));
        assert_eq!(f64::from_bits(sum), 2.0);
    }

    #[test]
    fn whole_numbers_are_small_and_never_zero() {
        let stream = Stream::new(5, 0);
        assert!((0..10_000).all(|i| (1..=8).contains(&whole(stream, i).abs())));
    }
}
