//! Half precision and bfloat16, alone and in pairs (PTX ISA 9.7.4): add, sub, mul, fma, neg, abs,
//! min, max.
//!
//! Every operation is done in f64, rounded to odd where it is not exact, and rounded once to
//! 16 bits. A NaN result is 0x7fff.

use super::exact::{BF16, F16, Format};
use super::extremum::{extremum, extremum_xorsign};
use super::float32::sum_to_odd;
use super::lanes::{Lane, lanes};
use super::modifiers::{BINARY, Modifiers, TERNARY, UNARY, instance};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    row("add", Class::Float32, |m| arithmetic(m, Operation::Add)),
    row("sub", Class::Float32, |m| arithmetic(m, Operation::Sub)),
    row("mul", Class::Float32, |m| arithmetic(m, Operation::Mul)),
    row("fma", Class::Float32, |m| arithmetic(m, Operation::Fma)),
    row("abs", Class::Float32, |m| sign(m, true)),
    row("neg", Class::Float32, |m| sign(m, false)),
    row("min", Class::Float32, |m| minimum_or_maximum(m, false)),
    row("max", Class::Float32, |m| minimum_or_maximum(m, true)),
];

/// A 16-bit format as a type.
pub(super) trait Sixteen: Copy {
    const FORMAT: Format;
    fn widen(bits: u16) -> f32;
}

/// `.f16`
#[derive(Clone, Copy)]
pub(super) struct Half;

/// `.bf16`
#[derive(Clone, Copy)]
pub(super) struct Brain;

impl Sixteen for Half {
    const FORMAT: Format = F16;
    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        let magnitude = u32::from(bits & 0x7fff) << 13;
        let sign = u32::from(bits & 0x8000) << 16;
        // The exponent's bias grows by 112; a multiplication also normalises subnormals.
        let scaled = f32::from_bits(magnitude) * f32::from_bits((112 + 127) << 23);
        let special = magnitude | 0x7f80_0000;
        let finite = magnitude < 0x7c00 << 13;
        f32::from_bits(sign | if finite { scaled.to_bits() } else { special })
    }
}

impl Sixteen for Brain {
    const FORMAT: Format = BF16;
    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }
}

/// Rounds to nearest even. Adding a power of two whose last place is the format's rounds there.
#[inline(always)]
pub(super) fn narrow<F: Sixteen>(x: f64) -> u16 {
    let format = F::FORMAT;
    let stored = format.precision - 1;
    let magnitude = x.abs();
    let smallest = (1 - format.max_exponent + 1023) as u64;
    let exponent = (magnitude.to_bits() >> 52).max(smallest).min(1023 + 900);
    let magic = f64::from_bits((exponent + 52 - u64::from(stored)) << 52);
    let rounded = ((magnitude + magic) - magic).to_bits();
    // Rebiased, the bits above the format's precision are the result; below the smallest normal
    // number there is no hidden bit, and the value counts units of the last place.
    let normal = (rounded >> (52 - stored)).wrapping_sub((smallest - 1) << stored);
    let unit = f64::from_bits((1023 + format.max_exponent as u64 - 1 + u64::from(stored)) << 52);
    let subnormal = (f64::from_bits(rounded) * unit) as u32 as u64;
    let finite = if rounded >> 52 < smallest {
        subnormal
    } else {
        normal
    };
    let limited = if magnitude < 1e300 {
        finite.min(format.infinity())
    } else {
        format.infinity()
    };
    let sign = (x.to_bits() >> 48) & 0x8000;
    if x.is_nan() {
        format.nan() as u16
    } else {
        (limited | sign) as u16
    }
}

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
    Mul,
    Fma,
}

/// An operand as `.ftz` sees it.
#[inline(always)]
fn input<F: Sixteen, const FTZ: bool>(bits: u16) -> f64 {
    let bits = if FTZ {
        F::FORMAT.flush(bits.into()) as u16
    } else {
        bits
    };
    f64::from(F::widen(bits))
}

/// A result after rounding, `.ftz`, `.sat` and `.relu`.
#[inline(always)]
fn output<F: Sixteen, const FTZ: bool, const SAT: bool, const RELU: bool>(x: f64) -> u16 {
    let mut bits = u64::from(narrow::<F>(x));
    if FTZ {
        bits = F::FORMAT.flush(bits);
    }
    if SAT {
        bits = F::FORMAT.saturate(bits);
    }
    if RELU && bits & 0x8000 != 0 {
        bits = 0;
    }
    bits as u16
}

/// Applies a function of 16 bits to the low half, or to both (`$x2`).
macro_rules! one_or_both {
    ($x2:expr; |$($source:ident),+| $body:expr) => {
        if $x2 {
            lanes!(|$($source: u32),+| {
                let low = { $(let $source = $source as u16;)+ $body };
                let high = { $(let $source = ($source >> 16) as u16;)+ $body };
                u32::from(low) | u32::from(high) << 16
            })
        } else {
            lanes!(|$($source: u16),+| $body)
        }
    };
}

fn add<F: Sixteen, const FTZ: bool, const SAT: bool, const X2: bool>() -> Compute {
    one_or_both!(X2; |a, b| output::<F, FTZ, SAT, false>(
        sum_to_odd(input::<F, FTZ>(a), input::<F, FTZ>(b))))
}

fn sub<F: Sixteen, const FTZ: bool, const SAT: bool, const X2: bool>() -> Compute {
    one_or_both!(X2; |a, b| output::<F, FTZ, SAT, false>(
        sum_to_odd(input::<F, FTZ>(a), -input::<F, FTZ>(b))))
}

fn mul<F: Sixteen, const FTZ: bool, const SAT: bool, const X2: bool>() -> Compute {
    one_or_both!(X2; |a, b| output::<F, FTZ, SAT, false>(
        input::<F, FTZ>(a) * input::<F, FTZ>(b)))
}

fn fma<F: Sixteen, const FTZ: bool, const SAT: bool, const RELU: bool, const X2: bool>() -> Compute
{
    one_or_both!(X2; |a, b, c| output::<F, FTZ, SAT, RELU>(
        sum_to_odd(input::<F, FTZ>(a) * input::<F, FTZ>(b), input::<F, FTZ>(c))))
}

/// The type modifier: whether it is `.bf16`, and whether it is a pair.
pub(super) fn sixteen(ty: &str) -> Result<(bool, bool), String> {
    match ty {
        "f16" => Ok((false, false)),
        "f16x2" => Ok((false, true)),
        "bf16" => Ok((true, false)),
        "bf16x2" => Ok((true, true)),
        _ => Err(String::new()),
    }
}

/// `{add,sub,mul}{.rn}{.ftz}{.sat}`, `fma.rn{.ftz}{.sat|.relu}` on `.f16{x2}`; on `.bf16{x2}`
/// without `.ftz` and `.sat`.
fn arithmetic(modifiers: &[&str], operation: Operation) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let (brain, x2) = sixteen(m.ty())?;
    if !m.flag("rn") && matches!(operation, Operation::Fma) {
        return Err("no `.rn`, the one rounding of 16-bit fma".into());
    }
    let (ftz, sat) = if brain {
        (false, false)
    } else {
        (m.flag("ftz"), m.flag("sat"))
    };
    let relu = matches!(operation, Operation::Fma) && !sat && m.flag("relu");
    macro_rules! of {
        ($F:ty) => {
            match operation {
                Operation::Add => instance!(add<$F>[; ftz, sat, x2]),
                Operation::Sub => instance!(sub<$F>[; ftz, sat, x2]),
                Operation::Mul => instance!(mul<$F>[; ftz, sat, x2]),
                Operation::Fma => instance!(fma<$F>[; ftz, sat, relu, x2]),
            }
        };
    }
    let compute = if brain { of!(Brain) } else { of!(Half) };
    let roles = if matches!(operation, Operation::Fma) {
        TERNARY
    } else {
        BINARY
    };
    m.finish(compute, roles, Immediate::Integer)
}

/// Sets or flips the sign of a number; a NaN becomes the canonical one.
fn sign_compute<F: Sixteen, const ABS: bool, const FTZ: bool, const X2: bool>() -> Compute {
    one_or_both!(X2; |a| {
        let a = if FTZ { F::FORMAT.flush(a.into()) as u16 } else { a };
        if F::FORMAT.is_nan(a.into()) {
            F::FORMAT.nan() as u16
        } else if ABS {
            a & 0x7fff
        } else {
            a ^ 0x8000
        }
    })
}

/// `{abs,neg}{.ftz}.f16{x2}`, `{abs,neg}.bf16{x2}`
fn sign(modifiers: &[&str], abs: bool) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let (brain, x2) = sixteen(m.ty())?;
    let ftz = !brain && m.flag("ftz");
    let compute = if brain {
        instance!(sign_compute<Brain>[; abs, ftz, x2])
    } else {
        instance!(sign_compute<Half>[; abs, ftz, x2])
    };
    m.finish(compute, UNARY, Immediate::Integer)
}

/// The result of [`extremum`] is an operand or NaN, so that narrowing it is exact.
fn extremum_compute<
    F: Sixteen,
    const MAX: bool,
    const FTZ: bool,
    const NAN: bool,
    const XORSIGN: bool,
    const X2: bool,
>() -> Compute {
    one_or_both!(X2; |a, b| {
        let (a, b) = (input::<F, FTZ>(a) as f32, input::<F, FTZ>(b) as f32);
        let result = if XORSIGN {
            extremum_xorsign::<MAX, NAN>(a, b)
        } else {
            extremum::<MAX, NAN>(a, b)
        };
        narrow::<F>(f64::from(result))
    })
}

/// `{min,max}{.ftz}{.NaN}{.xorsign.abs}` on `.f16{x2}`; on `.bf16{x2}` without `.ftz`.
fn minimum_or_maximum(modifiers: &[&str], max: bool) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let (brain, x2) = sixteen(m.ty())?;
    let (ftz, nan) = (!brain && m.flag("ftz"), m.flag("NaN"));
    let xorsign = m.flag("xorsign");
    if xorsign && !m.flag("abs") {
        return Err("`.xorsign` without `.abs`".into());
    }
    let compute = if brain {
        instance!(extremum_compute<Brain>[; max, ftz, nan, xorsign, x2])
    } else {
        instance!(extremum_compute<Half>[; max, ftz, nan, xorsign, x2])
    };
    m.finish(compute, BINARY, Immediate::Integer)
}

/// A 16-bit float as the single-precision number it stands for; `FTZ` flushes subnormals.
#[derive(Clone, Copy)]
pub(super) struct Widened<F: Sixteen, const FTZ: bool>(pub(super) f32, std::marker::PhantomData<F>);

impl<F: Sixteen, const FTZ: bool> Lane for Widened<F, FTZ> {
    #[inline(always)]
    fn from_lane(bits: u64) -> Self {
        Self(
            input::<F, FTZ>(bits as u16) as f32,
            std::marker::PhantomData,
        )
    }
    #[inline(always)]
    fn to_lane(self) -> u64 {
        narrow::<F>(f64::from(self.0)).into()
    }
}
