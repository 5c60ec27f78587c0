//! `min` and `max` in single precision (PTX ISA 9.7.3), with their NaN and sign rules.

use super::float32::input;
use super::lanes::lanes;
use super::modifiers::{BINARY, Modifiers, TERNARY, instance};
use super::{Class, Decoded, Immediate, Opcode, Role, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    row("min", Class::Float32, |m| minimum_or_maximum(m, false)),
    row("max", Class::Float32, |m| minimum_or_maximum(m, true)),
];

/// The smaller or larger of two numbers; -0.0 is smaller than +0.0. A NaN loses against a number,
/// unless `NAN` (`.NaN`) lets it win.
#[inline(always)]
pub(super) fn extremum<const MAX: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let number = if a == b {
        // Equal bits, or zeros of two signs.
        let (a, b) = (a.to_bits(), b.to_bits());
        f32::from_bits(if MAX { a & b } else { a | b })
    } else if (a < b) != MAX {
        a
    } else {
        b
    };
    let nan = if NAN {
        a.is_nan() || b.is_nan()
    } else {
        a.is_nan() && b.is_nan()
    };
    if nan {
        f32::from_bits(0x7fff_ffff)
    } else if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        number
    }
}

/// With `.xorsign.abs`: of the magnitudes, with the product's sign.
#[inline(always)]
pub(super) fn extremum_xorsign<const MAX: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let magnitude = extremum::<MAX, NAN>(a.abs(), b.abs());
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    if magnitude.is_nan() {
        magnitude
    } else {
        f32::from_bits(magnitude.to_bits() | sign)
    }
}

fn extremum_compute<const MAX: bool, const FTZ: bool, const NAN: bool>() -> Compute {
    |sources, destinations| {
        let two = lanes!(|a: f32, b: f32| extremum::<MAX, NAN>(input::<FTZ>(a), input::<FTZ>(b)));
        let three = lanes!(|a: f32, b: f32, c: f32| extremum::<MAX, NAN>(
            extremum::<MAX, NAN>(input::<FTZ>(a), input::<FTZ>(b)),
            input::<FTZ>(c)
        ));
        if sources.len() == 3 {
            three(sources, destinations)
        } else {
            two(sources, destinations)
        }
    }
}

fn extremum_abs_compute<const MAX: bool, const FTZ: bool, const NAN: bool>() -> Compute {
    lanes!(|a: f32, b: f32, c: f32| extremum::<MAX, NAN>(
        extremum::<MAX, NAN>(input::<FTZ>(a).abs(), input::<FTZ>(b).abs()),
        input::<FTZ>(c).abs()
    ))
}

fn extremum_xorsign_compute<const MAX: bool, const FTZ: bool, const NAN: bool>() -> Compute {
    lanes!(|a: f32, b: f32| extremum_xorsign::<MAX, NAN>(input::<FTZ>(a), input::<FTZ>(b)))
}

/// `{min,max}{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b` and, of three, `{.ftz}{.NaN}{.abs}.f32 d, a, b, c`.
fn minimum_or_maximum(modifiers: &[&str], max: bool) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f32" {
        return Err(String::new());
    }
    let (ftz, nan) = (m.flag("ftz"), m.flag("NaN"));
    let (xorsign, abs) = (m.flag("xorsign"), m.flag("abs"));
    let (compute, roles): (Compute, &[Role]) = match (xorsign, abs) {
        (false, false) => {
            use Role::{Destination, OptionalSource, Source};
            let roles = &[Destination, Source, Source, OptionalSource];
            (instance!(extremum_compute[; max, ftz, nan]), roles)
        }
        (false, true) => (instance!(extremum_abs_compute[; max, ftz, nan]), TERNARY),
        (true, true) => (instance!(extremum_xorsign_compute[; max, ftz, nan]), BINARY),
        (true, false) => return Err("`.xorsign` without `.abs`".into()),
    };
    m.finish(compute, roles, Immediate::Float32)
}
