//! Integer arithmetic (PTX ISA 9.7.1): `add` to `max`, and their packed 16-bit forms.

use super::lanes::{Lane, for_type, lanes};
use super::modifiers::{BINARY, Modifiers, TERNARY, UNARY};
use super::{Class, Decoded, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    row("add", Class::Integer, |m| add_or_sub(m, true)),
    row("sub", Class::Integer, |m| add_or_sub(m, false)),
    row("mul", Class::IntegerMultiply, multiply),
    row("mad", Class::IntegerMultiply, multiply_add),
    row("mul24", Class::IntegerMultiply, multiply24),
    row("mad24", Class::IntegerMultiply, multiply_add24),
    row("sad", Class::Integer, sum_of_absolute_difference),
    row("div", Class::IntegerMultiply, divide),
    row("rem", Class::IntegerMultiply, remainder),
    row("abs", Class::Integer, absolute),
    row("neg", Class::Integer, negate),
    row("min", Class::Integer, minimum),
    row("max", Class::Integer, maximum),
];

/// Applies a function to both 16-bit halves.
macro_rules! halves {
    (|$($source:ident: $ty:ty),+| $body:expr) => {
        lanes!(|$($source: u32),+| {
            let low = { $(let $source = $source as $ty;)+ $body };
            let high = { $(let $source = ($source >> 16) as $ty;)+ $body };
            low as u16 as u32 | (high as u16 as u32) << 16
        })
    };
}

/// What the arithmetic below needs beyond the operators.
trait Integer: Lane {
    type Wide: Lane;
    fn multiply_low(self, other: Self) -> Self;
    fn multiply_high(self, other: Self) -> Self;
    fn multiply_wide(self, other: Self) -> Self::Wide;
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ident wide $wide:ident),*) => {$(
        impl Integer for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn multiply_low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn multiply_high(self, other: Self) -> Self {
                integers!(@product $ty self other) as Self
            }
            #[inline(always)]
            fn multiply_wide(self, other: Self) -> $wide {
                (self as $wide).wrapping_mul(other as $wide)
            }
            /// Division by zero gives all ones, as GPUs do; the PTX ISA leaves it unspecified.
            #[inline(always)]
            fn quotient(self, other: Self) -> Self {
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                if other == 0 { !0 } else { self.wrapping_rem(other) }
            }
        }
    )*};
    (@product u64 $a:ident $b:ident) => { (($a as u128 * $b as u128) >> 64) };
    (@product i64 $a:ident $b:ident) => { (($a as i128 * $b as i128) >> 64) };
    (@product u32 $a:ident $b:ident) => { (($a as u64 * $b as u64) >> 32) };
    (@product i32 $a:ident $b:ident) => { (($a as i64 * $b as i64) >> 32) };
    (@product $ty:ident $a:ident $b:ident) => { (($a as i64 * $b as i64) >> 16) };
}

integers!(u16 wide u32, i16 wide i32, u32 wide u64, i32 wide i64, u64 wide u64, i64 wide i64);

/// `add{.sat}.type`, `sub{.sat}.type`; `.sat` clamps and is for `.s32`.
fn add_or_sub(modifiers: &[&str], add: bool) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if modifiers.contains(&"cc") {
        return Err(String::new());
    }
    let compute = match (m.ty(), add) {
        ("s32", true) if m.flag("sat") => lanes!(|a: i32, b: i32| a.saturating_add(b)),
        ("s32", false) if m.flag("sat") => lanes!(|a: i32, b: i32| a.saturating_sub(b)),
        ("u16x2" | "s16x2", true) => halves!(|a: u16, b: u16| a.wrapping_add(b)),
        (ty, true) => for_type!(ty; T in 16..64 => lanes!(|a: T, b: T| a.wrapping_add(b)))?,
        (ty, false) => for_type!(ty; T in 16..64 => lanes!(|a: T, b: T| a.wrapping_sub(b)))?,
    };
    m.integer(compute, BINARY)
}

/// Which half of a product is kept.
#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
    Wide,
}

fn half(m: &mut Modifiers) -> Result<Half, String> {
    match m.one_of(&["hi", "lo", "wide"]) {
        Some(0) => Ok(Half::High),
        Some(1) => Ok(Half::Low),
        Some(_) => Ok(Half::Wide),
        None => Err("no .hi, .lo or .wide".into()),
    }
}

/// `mul.{hi,lo,wide}.type`
fn multiply(modifiers: &[&str]) -> Result<Decoded, String> {
    fn instance<T: Integer>(half: Half) -> Compute {
        match half {
            Half::High => lanes!(|a: T, b: T| a.multiply_high(b)),
            Half::Low => lanes!(|a: T, b: T| a.multiply_low(b)),
            Half::Wide => lanes!(|a: T, b: T| a.multiply_wide(b)),
        }
    }
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    for_type!(ty; T in 16..64 => instance::<T>(Half::Low))?;
    let half = half(&mut m)?;
    if matches!(half, Half::Wide) && ty.ends_with("64") {
        return Err("`.wide` of a 64-bit product".into());
    }
    let compute = for_type!(ty; T in 16..64 => instance::<T>(half))?;
    m.integer(compute, BINARY)
}

/// `mad.{hi,lo,wide}.type`, `mad.hi.sat.s32`; the sum wraps unless saturating.
fn multiply_add(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if modifiers.contains(&"cc") {
        return Err(String::new());
    }
    let ty = m.ty();
    for_type!(ty; T in 16..64 => lanes!(|a: T| a))?;
    let compute = match half(&mut m)? {
        Half::High if ty == "s32" && m.flag("sat") => {
            lanes!(|a: i32, b: i32, c: i32| a.multiply_high(b).saturating_add(c))
        }
        Half::High => for_type!(ty; T in 16..64 =>
            lanes!(|a: T, b: T, c: T| a.multiply_high(b).wrapping_add(c)))?,
        Half::Low => for_type!(ty; T in 16..64 =>
            lanes!(|a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c)))?,
        Half::Wide => for_type!(ty; T in "u16" = u16, "s16" = i16, "u32" = u32, "s32" = i32 =>
            lanes!(|a: T, b: T, c: <T as Integer>::Wide| a.multiply_wide(b).wrapping_add(c)))
        .map_err(|_| "`.wide` of a 64-bit product".to_string())?,
    };
    m.integer(compute, TERNARY)
}

/// The low 24 bits, sign-extended or not, and the 48-bit product's bits 16..48 or 0..32.
fn product24_unsigned(a: u32, b: u32, high: bool) -> u32 {
    let product = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
    (product >> if high { 16 } else { 0 }) as u32
}

fn product24_signed(a: i32, b: i32, high: bool) -> i32 {
    let product = i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8);
    (product >> if high { 16 } else { 0 }) as i32
}

/// `mul24.{hi,lo}.{u32,s32}`
fn multiply24(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match (m.ty(), half(&mut m)?) {
        ("u32", Half::High) => lanes!(|a: u32, b: u32| product24_unsigned(a, b, true)),
        ("u32", Half::Low) => lanes!(|a: u32, b: u32| product24_unsigned(a, b, false)),
        ("s32", Half::High) => lanes!(|a: i32, b: i32| product24_signed(a, b, true)),
        ("s32", Half::Low) => lanes!(|a: i32, b: i32| product24_signed(a, b, false)),
        _ => return Err(String::new()),
    };
    m.integer(compute, BINARY)
}

/// `mad24.{hi,lo}.{u32,s32}`, `mad24.hi.sat.s32`
fn multiply_add24(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match (m.ty(), half(&mut m)?) {
        ("s32", Half::High) if m.flag("sat") => {
            lanes!(|a: i32, b: i32, c: i32| product24_signed(a, b, true).saturating_add(c))
        }
        ("u32", Half::High) => {
            lanes!(|a: u32, b: u32, c: u32| product24_unsigned(a, b, true).wrapping_add(c))
        }
        ("u32", Half::Low) => {
            lanes!(|a: u32, b: u32, c: u32| product24_unsigned(a, b, false).wrapping_add(c))
        }
        ("s32", Half::High) => {
            lanes!(|a: i32, b: i32, c: i32| product24_signed(a, b, true).wrapping_add(c))
        }
        ("s32", Half::Low) => {
            lanes!(|a: i32, b: i32, c: i32| product24_signed(a, b, false).wrapping_add(c))
        }
        _ => return Err(String::new()),
    };
    m.integer(compute, TERNARY)
}

/// `sad.type d, a, b, c`: `c + |a - b|`
fn sum_of_absolute_difference(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in 16..64 =>
        lanes!(|a: T, b: T, c: T| c.wrapping_add(a.abs_diff(b) as T)))?;
    m.integer(compute, TERNARY)
}

/// `div.type`: rounds toward zero.
fn divide(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in 16..64 => lanes!(|a: T, b: T| a.quotient(b)))?;
    m.integer(compute, BINARY)
}

/// `rem.type`: the sign of the dividend.
fn remainder(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in 16..64 => lanes!(|a: T, b: T| a.remainder(b)))?;
    m.integer(compute, BINARY)
}

/// `abs.{s16,s32,s64}`; of the smallest number it is that number.
fn absolute(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in "s16" = i16, "s32" = i32, "s64" = i64 =>
        lanes!(|a: T| a.wrapping_abs()))?;
    m.integer(compute, UNARY)
}

/// `neg.{s16,s32,s64}`
fn negate(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in "s16" = i16, "s32" = i32, "s64" = i64 =>
        lanes!(|a: T| a.wrapping_neg()))?;
    m.integer(compute, UNARY)
}

macro_rules! minimum_or_maximum {
    ($name:ident, $method:ident) => {
        /// `.type`, `.{u16x2,s16x2}`; `.relu` (`.s32`, `.s16x2`) clamps negative results to 0.
        fn $name(modifiers: &[&str]) -> Result<Decoded, String> {
            let mut m = Modifiers::new(modifiers);
            let compute = match m.ty() {
                "s32" if m.flag("relu") => lanes!(|a: i32, b: i32| a.$method(b).max(0)),
                "s16x2" if m.flag("relu") => halves!(|a: i16, b: i16| a.$method(b).max(0)),
                "s16x2" => halves!(|a: i16, b: i16| a.$method(b)),
                "u16x2" => halves!(|a: u16, b: u16| a.$method(b)),
                ty => for_type!(ty; T in 16..64 => lanes!(|a: T, b: T| a.$method(b)))?,
            };
            m.integer(compute, BINARY)
        }
    };
}

minimum_or_maximum!(minimum, min);
minimum_or_maximum!(maximum, max);
