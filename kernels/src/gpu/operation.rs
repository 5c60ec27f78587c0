//! The operations that values are combined with, and the types that can be reduced by them.

use super::{
    shared::SharedValue,
    vector::{Double2, Float4, Int4, Longlong2, Uint4},
    warp::WarpShuffleValue,
};

/// An associative and commutative combination of two values (of floats: up to rounding).
pub trait Operation<T>: Copy {
    /// What changes no value it is combined with; the result where there is nothing to reduce.
    const IDENTITY: T;
    /// The combination of two values.
    fn combine(a: T, b: T) -> T;
}

/// Addition; integers wrap.
#[derive(Clone, Copy)]
pub struct Sum;
/// The smaller value; of floats the one that is not NaN (`min.f32`).
#[derive(Clone, Copy)]
pub struct Min;
/// The larger value; of floats the one that is not NaN (`max.f32`).
#[derive(Clone, Copy)]
pub struct Max;

macro_rules! operations {
    ($($ty:ty { $zero:expr, $lowest:expr, $highest:expr, $add:expr })*) => {$(
        impl Operation<$ty> for Sum {
            const IDENTITY: $ty = $zero;
            #[inline(always)]
            fn combine(a: $ty, b: $ty) -> $ty {
                $add(a, b)
            }
        }

        impl Operation<$ty> for Min {
            const IDENTITY: $ty = $highest;
            #[inline(always)]
            fn combine(a: $ty, b: $ty) -> $ty {
                a.min(b)
            }
        }

        impl Operation<$ty> for Max {
            const IDENTITY: $ty = $lowest;
            #[inline(always)]
            fn combine(a: $ty, b: $ty) -> $ty {
                a.max(b)
            }
        }
    )*};
}

operations! {
    i32 { 0, i32::MIN, i32::MAX, i32::wrapping_add }
    u32 { 0, u32::MIN, u32::MAX, u32::wrapping_add }
    i64 { 0, i64::MIN, i64::MAX, i64::wrapping_add }
    u64 { 0, u64::MIN, u64::MAX, u64::wrapping_add }
    f32 { 0.0, f32::NEG_INFINITY, f32::INFINITY, |a, b| a + b }
    f64 { 0.0, f64::NEG_INFINITY, f64::INFINITY, |a, b| a + b }
}

/// A type that can be reduced, and the 16-byte vector of it.
pub trait Element: WarpShuffleValue + SharedValue {
    /// 16 bytes of elements.
    type Vector: Copy;
    /// Elements in a vector.
    const LANES: u64 = 16 / size_of::<Self>() as u64;
    /// The vector's elements combined, neighbours first.
    fn fold<O: Operation<Self>>(vector: Self::Vector) -> Self;
}

macro_rules! elements {
    ($($ty:ty, $vector:ty, |$v:ident, $o:ident| $fold:expr;)*) => {$(
        impl Element for $ty {
            type Vector = $vector;

            #[inline(always)]
            fn fold<$o: Operation<Self>>($v: Self::Vector) -> Self {
                $fold
            }
        }
    )*};
}

elements! {
    i32, Int4, |v, O| O::combine(O::combine(v.x, v.y), O::combine(v.z, v.w));
    u32, Uint4, |v, O| O::combine(O::combine(v.x, v.y), O::combine(v.z, v.w));
    f32, Float4, |v, O| O::combine(O::combine(v.x, v.y), O::combine(v.z, v.w));
    i64, Longlong2, |v, O| O::combine(v.x, v.y);
    f64, Double2, |v, O| O::combine(v.x, v.y);
}
