//! `cvt` to pairs of 16-bit floats and `.tf32`, and `cvt.pack` (PTX ISA 9.7.9).

use super::convert::Float;
use super::exact::{self, AWAY, Format};
use super::half::{Brain, Half};
use super::lanes::lanes;
use super::modifiers::{BINARY, DOWN, Modifiers, TERNARY, UNARY, UP, instance};
use super::{Decoded, Immediate};
use crate::program::Compute;

/// One rounding from single precision, then `.relu`.
#[inline(always)]
fn narrowed<D: Float, const R: u8, const RELU: bool>(a: u32) -> u32 {
    let bits = exact::round(exact::unpack(a.into(), exact::F32), D::FORMAT, R);
    if RELU && !D::FORMAT.is_nan(bits) && bits & D::FORMAT.sign() != 0 {
        0
    } else {
        bits as u32
    }
}

fn narrowed_pair<D: Float, const R: u8, const RELU: bool>() -> Compute {
    lanes!(|a: u32, b: u32| narrowed::<D, R, RELU>(a) << 16 | narrowed::<D, R, RELU>(b))
}

fn narrowed_single<D: Float, const R: u8, const RELU: bool>() -> Compute {
    lanes!(|a: u32| narrowed::<D, R, RELU>(a))
}

/// `.tf32` has the exponent of `.f32` and 10 stored bits of mantissa, at the top of 32 bits.
struct Tensor;

impl Float for Tensor {
    const FORMAT: Format = Format {
        precision: 11,
        max_exponent: 127,
    };
}

fn tensor<const R: u8, const RELU: bool>() -> Compute {
    lanes!(|a: u32| {
        if exact::F32.is_nan(a.into()) {
            0x7fff_ffff
        } else {
            narrowed::<Tensor, R, RELU>(a) << 13
        }
    })
}

/// `cvt.{rn,rz}{.relu}.{f16x2,bf16x2}.f32 d, a, b` (`a` in the upper half), `.{f16,bf16}`,
/// `cvt.rna.tf32.f32`, `cvt.{rn,rz}{.relu}.tf32.f32`.
pub(super) fn from_single(mut m: Modifiers, destination: &str) -> Result<Decoded, String> {
    if destination == "tf32" && m.flag("rna") {
        return m.finish(tensor::<AWAY, false>(), UNARY, Immediate::Float32);
    }
    let mode = m.required_rounding()?;
    if mode == DOWN || mode == UP {
        return Err("a rounding other than `.rn` and `.rz`".into());
    }
    let relu = m.flag("relu");
    let compute = match destination {
        "f16x2" => instance!(narrowed_pair<Half>[mode; relu]),
        "bf16x2" => instance!(narrowed_pair<Brain>[mode; relu]),
        "f16" => instance!(narrowed_single<Half>[mode; relu]),
        "bf16" => instance!(narrowed_single<Brain>[mode; relu]),
        _ => instance!(tensor[mode; relu]),
    };
    let roles = if destination.ends_with("x2") {
        BINARY
    } else {
        UNARY
    };
    m.finish(compute, roles, Immediate::Float32)
}

/// Clamps to `bits` bits of a signed or unsigned integer.
#[inline(always)]
fn saturated(a: i32, bits: u32, signed: bool) -> u32 {
    let (min, max) = if signed {
        (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    i64::from(a).clamp(min, max) as u32 & ((1u64 << bits) - 1) as u32
}

fn pack_lanes<const BITS: u32, const SIGNED: bool>() -> Compute {
    lanes!(|a: i32, b: i32| saturated(a, BITS, SIGNED) << BITS | saturated(b, BITS, SIGNED))
}

fn pack_with<const BITS: u32, const SIGNED: bool>() -> Compute {
    lanes!(|a: i32, b: i32, c: u32| c << (2 * BITS)
        | saturated(a, BITS, SIGNED) << BITS
        | saturated(b, BITS, SIGNED))
}

/// `cvt.pack.sat.{u16,s16}.s32 d, a, b`, `cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 d, a, b, c`:
/// `a` above `b`, and above both what `c` has in its low bits.
pub(super) fn pack(mut m: Modifiers) -> Result<Decoded, String> {
    if !m.flag("sat") {
        return Err("`cvt.pack` without `.sat`".into());
    }
    let with_c = m.flag("b32");
    if !m.flag("s32") {
        return Err("`cvt.pack` from a type other than `.s32`".into());
    }
    let compute = match (m.ty(), with_c) {
        ("u16", false) => pack_lanes::<16, false>(),
        ("s16", false) => pack_lanes::<16, true>(),
        ("u8", true) => pack_with::<8, false>(),
        ("s8", true) => pack_with::<8, true>(),
        ("u4", true) => pack_with::<4, false>(),
        ("s4", true) => pack_with::<4, true>(),
        ("u2", true) => pack_with::<2, false>(),
        ("s2", true) => pack_with::<2, true>(),
        (ty, _) => return Err(format!("`cvt.pack` to `.{ty}`")),
    };
    m.integer(compute, if with_c { TERNARY } else { BINARY })
}
