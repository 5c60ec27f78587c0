//! Selection and floating-point properties (PTX ISA 9.7.6: selp, slct; 9.7.3: testp).

use super::compare::{Flushed, immediate};
use super::lanes::{for_type, lanes};
use super::modifiers::{Modifiers, TERNARY, UNARY};
use super::{Class, Decoded, Opcode, Role, row};

pub(super) static ROWS: &[Opcode] = &[
    row("selp", Class::Integer, select),
    row("slct", Class::Integer, select_by_sign),
    row("testp", Class::Float32, test_property),
];

/// `selp.type d, a, b, c`
fn select(modifiers: &[&str]) -> Result<Decoded, String> {
    use Role::{Destination, PredicateSource, Source};
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let compute = for_type!(ty;
        T in "b16" = u16, "u16" = u16, "s16" = u16, "b32" = u32, "u32" = u32, "s32" = u32,
            "f32" = u32, "b64" = u64, "u64" = u64, "s64" = u64, "f64" = u64 =>
        lanes!(|a: T, b: T, c: bool| if c { a } else { b }))?;
    m.finish(
        compute,
        &[Destination, Source, Source, PredicateSource],
        immediate(ty),
    )
}

/// `slct{.ftz}.dtype.{s32,f32} d, a, b, c`: `a` where `c >= 0`; -0.0 counts as 0, NaN selects `b`.
fn select_by_sign(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let (sign, ty) = (m.ty(), m.ty());
    let ftz = sign == "f32" && m.flag("ftz");
    macro_rules! by {
        ($S:ty, $is_positive:expr) => {
            for_type!(ty;
                T in "b16" = u16, "u16" = u16, "s16" = u16, "b32" = u32, "u32" = u32, "s32" = u32,
                    "f32" = u32, "b64" = u64, "u64" = u64, "s64" = u64, "f64" = u64 =>
                lanes!(|a: T, b: T, c: $S| if $is_positive(c) { a } else { b }))
        };
    }
    let compute = match (sign, ftz) {
        ("s32", _) => by!(i32, |c| c >= 0)?,
        ("f32", false) => by!(f32, |c| c >= 0.0)?,
        ("f32", true) => by!(Flushed, |c: Flushed| c.0 >= 0.0)?,
        _ => return Err(String::new()),
    };
    m.finish(compute, TERNARY, immediate(ty))
}

/// `testp.property.{f32,f64}`
fn test_property(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let property = m
        .one_of(&[
            "finite",
            "infinite",
            "number",
            "notanumber",
            "normal",
            "subnormal",
        ])
        .ok_or("no property")?;
    let compute = for_type!(ty; T in "f32" = f32, "f64" = f64 => match property {
        0 => lanes!(|a: T| a.is_finite()),
        1 => lanes!(|a: T| a.is_infinite()),
        2 => lanes!(|a: T| !a.is_nan()),
        3 => lanes!(|a: T| a.is_nan()),
        // Zero counts as normal (PTX ISA 9.7.3).
        4 => lanes!(|a: T| a.is_normal() || a == 0.0),
        _ => lanes!(|a: T| a.is_subnormal()),
    })?;
    m.finish(compute, UNARY, immediate(ty))
}
