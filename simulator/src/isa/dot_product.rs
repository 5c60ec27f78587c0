//! Dot products of packed bytes and halves, accumulated in 32 bits (PTX ISA 9.7.1: dp4a, dp2a).

use super::lanes::lanes;
use super::modifiers::{Modifiers, TERNARY};
use super::{Class, Decoded, Opcode, row};

pub(super) static ROWS: &[Opcode] = &[
    row("dp4a", Class::IntegerMultiply, dot4),
    row("dp2a", Class::IntegerMultiply, dot2),
];

/// Byte `index`, extended by its type.
#[inline(always)]
fn byte<const SIGNED: bool>(value: u32, index: usize) -> i64 {
    let byte = value.to_le_bytes()[index];
    if SIGNED {
        i64::from(byte as i8)
    } else {
        i64::from(byte)
    }
}

/// Half `index`, extended by its type.
#[inline(always)]
fn half<const SIGNED: bool>(value: u32, index: usize) -> i64 {
    let half = (value >> (16 * index)) as u16;
    if SIGNED {
        i64::from(half as i16)
    } else {
        i64::from(half)
    }
}

#[inline(always)]
fn dot4_lane<const A: bool, const B: bool>(a: u32, b: u32, c: u32) -> u32 {
    let sum: i64 = (0..4).map(|i| byte::<A>(a, i) * byte::<B>(b, i)).sum();
    c.wrapping_add(sum as u32)
}

#[inline(always)]
fn dot2_lane<const A: bool, const B: bool>(a: u32, b: u32, c: u32, first: usize) -> u32 {
    let sum: i64 = (0..2)
        .map(|i| half::<A>(a, i) * byte::<B>(b, first + i))
        .sum();
    c.wrapping_add(sum as u32)
}

/// Whether the two type modifiers at the end are signed.
fn signedness(m: &mut Modifiers) -> Result<(bool, bool), String> {
    let (b, a) = (m.ty(), m.ty());
    match (a, b) {
        ("u32", "u32") => Ok((false, false)),
        ("u32", "s32") => Ok((false, true)),
        ("s32", "u32") => Ok((true, false)),
        ("s32", "s32") => Ok((true, true)),
        _ => Err(format!("types `.{a}.{b}` (.u32 or .s32 each)")),
    }
}

/// `dp4a.atype.btype d, a, b, c`
fn dot4(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match signedness(&mut m)? {
        (false, false) => lanes!(|a: u32, b: u32, c: u32| dot4_lane::<false, false>(a, b, c)),
        (false, true) => lanes!(|a: u32, b: u32, c: u32| dot4_lane::<false, true>(a, b, c)),
        (true, false) => lanes!(|a: u32, b: u32, c: u32| dot4_lane::<true, false>(a, b, c)),
        (true, true) => lanes!(|a: u32, b: u32, c: u32| dot4_lane::<true, true>(a, b, c)),
    };
    m.integer(compute, TERNARY)
}

/// `dp2a.{lo,hi}.atype.btype d, a, b, c`: the halves of `a` with the low or high bytes of `b`.
fn dot2(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let types = signedness(&mut m)?;
    let high = m.one_of(&["lo", "hi"]).ok_or("no .lo or .hi")? == 1;
    let compute = match (types, high) {
        ((false, false), false) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<false, false>(a, b, c, 0))
        }
        ((false, true), false) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<false, true>(a, b, c, 0))
        }
        ((true, false), false) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<true, false>(a, b, c, 0))
        }
        ((true, true), false) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<true, true>(a, b, c, 0))
        }
        ((false, false), true) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<false, false>(a, b, c, 2))
        }
        ((false, true), true) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<false, true>(a, b, c, 2))
        }
        ((true, false), true) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<true, false>(a, b, c, 2))
        }
        ((true, true), true) => {
            lanes!(|a: u32, b: u32, c: u32| dot2_lane::<true, true>(a, b, c, 2))
        }
    };
    m.integer(compute, TERNARY)
}
