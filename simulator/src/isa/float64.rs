//! Double precision (PTX ISA 9.7.3): add, sub, mul, fma, mad, div, abs, neg, min, max. Subnormals
//! are always supported; a NaN result is the canonical one.

use super::exact::{self, Value};
use super::lanes::lanes;
use super::modifiers::{BINARY, Modifiers, NEAREST, TERNARY, UNARY, instance};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    row("add", Class::Float64, |m| binary(m, Operation::Add)),
    row("sub", Class::Float64, |m| binary(m, Operation::Sub)),
    row("mul", Class::Float64, |m| binary(m, Operation::Mul)),
    row("fma", Class::Float64, multiply_add),
    row("mad", Class::Float64, multiply_add),
    row("div", Class::Float64, divide),
    row("abs", Class::Float64, absolute),
    row("neg", Class::Float64, negate),
    row("min", Class::Float64, minimum),
    row("max", Class::Float64, maximum),
];

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
    Mul,
}

/// NaN as the canonical NaN.
#[inline(always)]
pub(super) fn canonical(x: f64) -> f64 {
    if x.is_nan() {
        f64::from_bits(exact::F64.nan())
    } else {
        x
    }
}

/// A value's unpacked form.
pub(super) fn unpack(x: f64) -> Value {
    exact::unpack(x.to_bits(), exact::F64)
}

/// Rounds in a directed mode.
pub(super) fn round(value: Value, mode: u8) -> f64 {
    f64::from_bits(exact::round(value, exact::F64, mode))
}

#[inline(always)]
fn sum<const R: u8>(a: f64, b: f64) -> f64 {
    if R == NEAREST {
        a + b
    } else {
        round(unpack(a).add(unpack(b), R), R)
    }
}

fn add<const R: u8>() -> Compute {
    lanes!(|a: f64, b: f64| canonical(sum::<R>(a, b)))
}

fn sub<const R: u8>() -> Compute {
    lanes!(|a: f64, b: f64| canonical(sum::<R>(a, -b)))
}

fn mul<const R: u8>() -> Compute {
    lanes!(|a: f64, b: f64| canonical(if R == NEAREST {
        a * b
    } else {
        round(unpack(a).multiply(unpack(b)), R)
    }))
}

fn fma<const R: u8>() -> Compute {
    lanes!(|a: f64, b: f64, c: f64| canonical(if R == NEAREST {
        a.mul_add(b, c)
    } else {
        round(unpack(a).multiply(unpack(b)).add(unpack(c), R), R)
    }))
}

fn div<const R: u8>() -> Compute {
    lanes!(|a: f64, b: f64| canonical(if R == NEAREST {
        a / b
    } else {
        round(unpack(a).divide(unpack(b)), R)
    }))
}

/// `{add,sub,mul}{.rnd}.f64`; `.rn` is the default.
fn binary(modifiers: &[&str], operation: Operation) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    let rounding = m.rounding().unwrap_or(NEAREST);
    let compute = match operation {
        Operation::Add => instance!(add[rounding;]),
        Operation::Sub => instance!(sub[rounding;]),
        Operation::Mul => instance!(mul[rounding;]),
    };
    m.finish(compute, BINARY, Immediate::Float64)
}

/// `fma.rnd.f64`; `mad` is the same.
fn multiply_add(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    let rounding = m.required_rounding()?;
    m.finish(instance!(fma[rounding;]), TERNARY, Immediate::Float64)
}

/// `div.rnd.f64`
fn divide(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    let rounding = m.required_rounding()?;
    m.finish(instance!(div[rounding;]), BINARY, Immediate::Float64)
}

/// `abs.f64`
fn absolute(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    m.finish(lanes!(|a: f64| a.abs()), UNARY, Immediate::Float64)
}

/// `neg.f64`
fn negate(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    m.finish(lanes!(|a: f64| -a), UNARY, Immediate::Float64)
}

/// The smaller or larger of two numbers; -0.0 is smaller than +0.0, and a NaN loses.
#[inline(always)]
fn extremum<const MAX: bool>(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        canonical(b)
    } else if b.is_nan() {
        a
    } else if a == b {
        let (a, b) = (a.to_bits(), b.to_bits());
        f64::from_bits(if MAX { a & b } else { a | b })
    } else if (a < b) != MAX {
        a
    } else {
        b
    }
}

/// `min.f64`
fn minimum(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    let compute = lanes!(|a: f64, b: f64| extremum::<false>(a, b));
    m.finish(compute, BINARY, Immediate::Float64)
}

/// `max.f64`
fn maximum(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f64" {
        return Err(String::new());
    }
    let compute = lanes!(|a: f64, b: f64| extremum::<true>(a, b));
    m.finish(compute, BINARY, Immediate::Float64)
}
