//! Floating-point operations that core does not offer.

use super::intrinsics;

/// A float with a fused multiply-add.
pub trait Fma: Copy {
    /// `a * b + c` with one rounding.
    fn fma(a: Self, b: Self, c: Self) -> Self;
}

impl Fma for f32 {
    #[inline(always)]
    fn fma(a: Self, b: Self, c: Self) -> Self {
        intrinsics::fma_f32(a, b, c)
    }
}

impl Fma for f64 {
    #[inline(always)]
    fn fma(a: Self, b: Self, c: Self) -> Self {
        intrinsics::fma_f64(a, b, c)
    }
}

/// `a * b + c` with one rounding (`fma.rn`).
#[inline(always)]
pub fn fma<T: Fma>(a: T, b: T, c: T) -> T {
    T::fma(a, b, c)
}
