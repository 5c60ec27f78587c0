//! Single precision (PTX ISA 9.7.3): add, sub, mul, fma, mad, div, abs, neg, and the packed
//! `.f32x2` forms.
//!
//! A NaN result is the canonical 0x7fffffff. `.ftz` flushes subnormal inputs and results to zero
//! of their sign; `.sat` clamps to [0.0, 1.0] and turns NaN into +0.0.

use super::exact::{self, Value};
use super::lanes::lanes;
use super::modifiers::{BINARY, Modifiers, NEAREST, TERNARY, UNARY, instance};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    row("add", Class::Float32, |m| binary(m, Operation::Add)),
    row("sub", Class::Float32, |m| binary(m, Operation::Sub)),
    row("mul", Class::Float32, |m| binary(m, Operation::Mul)),
    row("fma", Class::Float32, multiply_add),
    row("mad", Class::Float32, multiply_add),
    row("div", Class::Special, divide),
    row("abs", Class::Float32, absolute),
    row("neg", Class::Float32, negate),
];

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
    Mul,
}

/// Replaces a subnormal by zero of its sign.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE {
        f32::from_bits(x.to_bits() & 0x8000_0000)
    } else {
        x
    }
}

/// An operand as `.ftz` sees it.
#[inline(always)]
pub(super) fn input<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

/// A result after `.ftz`, `.sat` and NaN canonicalisation.
#[inline(always)]
pub(super) fn output<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    let x = input::<FTZ>(x);
    if SAT {
        // Comparisons with NaN are false, so it becomes +0.0; so does -0.0.
        if x > 0.0 {
            if x < 1.0 { x } else { 1.0 }
        } else {
            0.0
        }
    } else if x.is_nan() {
        f32::from_bits(0x7fff_ffff)
    } else {
        x
    }
}

/// A value's unpacked form.
pub(super) fn unpack(x: f32) -> Value {
    exact::unpack(x.to_bits().into(), exact::F32)
}

/// Rounds in a directed mode.
pub(super) fn round(value: Value, mode: u8) -> f32 {
    f32::from_bits(exact::round(value, exact::F32, mode) as u32)
}

#[inline(always)]
fn sum<const R: u8>(a: f32, b: f32) -> f32 {
    if R == NEAREST {
        a + b
    } else {
        round(unpack(a).add(unpack(b), R), R)
    }
}

#[inline(always)]
fn product<const R: u8>(a: f32, b: f32) -> f32 {
    if R == NEAREST {
        a * b
    } else {
        round(unpack(a).multiply(unpack(b)), R)
    }
}

/// The sum of two f64 rounded to odd: inexact sums get an odd last bit, so that rounding them once
/// more to a format of at most 50 bits rounds as the exact sum would (Boldo and Melquiond 2008,
/// "Emulation of a FMA and correctly rounded sums"). The error is Knuth's two-sum.
#[inline(always)]
pub(super) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_rounded = sum - a;
    let error = (a - (sum - b_rounded)) + (b - b_rounded);
    let bits = sum.to_bits();
    let away = (error > 0.0) == (sum > 0.0);
    let odd = if away { bits + 1 } else { bits.wrapping_sub(1) };
    // A non-finite sum has a NaN error: the comparison is false.
    let adjust = error.abs() > 0.0 && bits & 1 == 0;
    f64::from_bits(if adjust { odd } else { bits })
}

/// The product is exact in f64; `mul_add` would be a call on targets without the instruction.
#[inline(always)]
fn fused<const R: u8>(a: f32, b: f32, c: f32) -> f32 {
    if R == NEAREST {
        sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
    } else {
        round(unpack(a).multiply(unpack(b)).add(unpack(c), R), R)
    }
}

#[inline(always)]
fn quotient<const R: u8>(a: f32, b: f32) -> f32 {
    if R == NEAREST {
        a / b
    } else {
        round(unpack(a).divide(unpack(b)), R)
    }
}

fn add<const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: f32, b: f32| output::<FTZ, SAT>(sum::<R>(input::<FTZ>(a), input::<FTZ>(b))))
}

fn sub<const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: f32, b: f32| output::<FTZ, SAT>(sum::<R>(input::<FTZ>(a), -input::<FTZ>(b))))
}

fn mul<const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: f32, b: f32| output::<FTZ, SAT>(product::<R>(input::<FTZ>(a), input::<FTZ>(b))))
}

fn fma<const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: f32, b: f32, c: f32| output::<FTZ, SAT>(fused::<R>(
        input::<FTZ>(a),
        input::<FTZ>(b),
        input::<FTZ>(c)
    )))
}

fn div<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: f32, b: f32| output::<FTZ, false>(quotient::<R>(input::<FTZ>(a), input::<FTZ>(b))))
}

/// The low and the high half of a register pair.
#[inline(always)]
fn pair(bits: u64) -> [f32; 2] {
    [bits as u32, (bits >> 32) as u32].map(f32::from_bits)
}

#[inline(always)]
fn packed([low, high]: [f32; 2]) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[inline(always)]
fn fma_lane<const R: u8, const FTZ: bool>(a: f32, b: f32, c: f32) -> f32 {
    output::<FTZ, false>(fused::<R>(
        input::<FTZ>(a),
        input::<FTZ>(b),
        input::<FTZ>(c),
    ))
}

#[inline(always)]
fn sum_lane<const R: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    output::<FTZ, false>(sum::<R>(input::<FTZ>(a), input::<FTZ>(b)))
}

#[inline(always)]
fn product_lane<const R: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    output::<FTZ, false>(product::<R>(input::<FTZ>(a), input::<FTZ>(b)))
}

fn add2<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: u64, b: u64| {
        let (a, b) = (pair(a), pair(b));
        packed([0, 1].map(|i| sum_lane::<R, FTZ>(a[i], b[i])))
    })
}

fn sub2<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: u64, b: u64| {
        let (a, b) = (pair(a), pair(b));
        packed([0, 1].map(|i| sum_lane::<R, FTZ>(a[i], -b[i])))
    })
}

fn mul2<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: u64, b: u64| {
        let (a, b) = (pair(a), pair(b));
        packed([0, 1].map(|i| product_lane::<R, FTZ>(a[i], b[i])))
    })
}

fn fma2<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: u64, b: u64, c: u64| {
        let (a, b, c) = (pair(a), pair(b), pair(c));
        packed([0, 1].map(|i| fma_lane::<R, FTZ>(a[i], b[i], c[i])))
    })
}

/// `{add,sub,mul}{.rnd}{.ftz}{.sat}.f32`, `{.rnd}{.ftz}.f32x2`; `.rn` is the default.
fn binary(modifiers: &[&str], operation: Operation) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    if !matches!(ty, "f32" | "f32x2") {
        return Err(String::new());
    }
    let (rounding, ftz) = (m.rounding().unwrap_or(NEAREST), m.flag("ftz"));
    if ty == "f32x2" {
        let compute = match operation {
            Operation::Add => instance!(add2[rounding; ftz]),
            Operation::Sub => instance!(sub2[rounding; ftz]),
            Operation::Mul => instance!(mul2[rounding; ftz]),
        };
        return m.integer(compute, BINARY);
    }
    let sat = m.flag("sat");
    let compute = match operation {
        Operation::Add => instance!(add[rounding; ftz, sat]),
        Operation::Sub => instance!(sub[rounding; ftz, sat]),
        Operation::Mul => instance!(mul[rounding; ftz, sat]),
    };
    m.finish(compute, BINARY, Immediate::Float32)
}

/// `fma.rnd{.ftz}{.sat}.f32`, `fma.rnd{.ftz}.f32x2`; `mad` is the same from sm_20 on.
fn multiply_add(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    if !matches!(ty, "f32" | "f32x2") {
        return Err(String::new());
    }
    let (rounding, ftz) = (m.required_rounding()?, m.flag("ftz"));
    if ty == "f32x2" {
        return m.integer(instance!(fma2[rounding; ftz]), TERNARY);
    }
    let sat = m.flag("sat");
    m.finish(
        instance!(fma[rounding; ftz, sat]),
        TERNARY,
        Immediate::Float32,
    )
}

/// `a * (1/b)` within 2 ulp for |b| up to 2^126. Beyond it the reciprocal is flushed: an infinite
/// `a` gives NaN and others 0 (PTX ISA 9.7.3, div).
#[inline(always)]
fn approximate_quotient(a: f32, b: f32) -> f32 {
    let limit = f32::from_bits((126 + 127) << 23);
    if b.abs() > limit {
        a * 0.0f32.copysign(b)
    } else {
        a / b
    }
}

/// `div.{rnd}{.ftz}.f32`, and `div.{approx,full}{.ftz}.f32`, both within 2 ulp; here `.full` and,
/// inside its range, `.approx` are correctly rounded.
fn divide(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f32" {
        return Err(String::new());
    }
    let ftz = m.flag("ftz");
    let compute = match (m.one_of(&["approx", "full"]), ftz) {
        (Some(0), false) => {
            lanes!(|a: f32, b: f32| output::<false, false>(approximate_quotient(a, b)))
        }
        (Some(0), true) => {
            lanes!(|a: f32, b: f32| output::<true, false>(approximate_quotient(flush(a), flush(b))))
        }
        (Some(_), ftz) => instance!(div[NEAREST; ftz]),
        (None, ftz) => {
            let rounding = m.required_rounding()?;
            instance!(div[rounding; ftz])
        }
    };
    m.finish(compute, BINARY, Immediate::Float32)
}

/// `abs{.ftz}.f32`
fn absolute(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f32" {
        return Err(String::new());
    }
    let compute = match m.flag("ftz") {
        false => lanes!(|a: f32| output::<false, false>(a.abs())),
        true => lanes!(|a: f32| output::<true, false>(a.abs())),
    };
    m.finish(compute, UNARY, Immediate::Float32)
}

/// `neg{.ftz}.f32`
fn negate(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f32" {
        return Err(String::new());
    }
    let compute = match m.flag("ftz") {
        false => lanes!(|a: f32| output::<false, false>(-a)),
        true => lanes!(|a: f32| output::<true, false>(-a)),
    };
    m.finish(compute, UNARY, Immediate::Float32)
}
