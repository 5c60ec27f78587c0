//! Reciprocals, roots, transcendental functions and `copysign` (PTX ISA 9.7.3 and 9.7.4).
//!
//! `.approx` results are computed in double precision and rounded once, which is inside every
//! bound the PTX ISA documents; a GPU's may differ from them by up to the bound given at each row.

use super::exact::Value;
use super::float32::{self, input, output};
use super::float64;
use super::half::{Brain, Half, Sixteen, narrow, sixteen};
use super::lanes::{for_type, lanes};
use super::modifiers::{BINARY, Modifiers, NEAREST, UNARY, instance};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[
    // 1 ulp; `.approx.ftz.f64` from the upper 32 bits alone.
    row("rcp", Class::Special, reciprocal),
    // Relative error 2^-23.
    row("sqrt", Class::Special, square_root),
    // Relative error 2^-22.9; `.approx.f64` 2^-22.4 (`.ftz` from the upper 32 bits).
    row("rsqrt", Class::Special, reciprocal_root),
    // Absolute error 2^-20.5 in [-2 pi, 2 pi].
    row("sin", Class::Special, |m| approximate(m, Function::Sin)),
    // Absolute error 2^-20.5 in [-2 pi, 2 pi].
    row("cos", Class::Special, |m| approximate(m, Function::Cos)),
    // Absolute error 2^-22 in (0.5, 2), relative 2^-22 outside.
    row("lg2", Class::Special, |m| approximate(m, Function::Lg2)),
    // 2 ulp; f16 relative error 2^-9.9, bf16 2^-7.
    row("ex2", Class::Special, exponential),
    // Relative error 2^-11; f16 absolute 2^-10.987, bf16 2^-8.
    row("tanh", Class::Special, hyperbolic_tangent),
    row("copysign", Class::Float32, copy_sign),
];

fn reciprocal32<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: f32| {
        let a = input::<FTZ>(a);
        output::<FTZ, false>(if R == NEAREST {
            1.0 / a
        } else {
            float32::round(Value::integer(1).divide(float32::unpack(a)), R)
        })
    })
}

fn reciprocal64<const R: u8>() -> Compute {
    lanes!(|a: f64| float64::canonical(if R == NEAREST {
        1.0 / a
    } else {
        float64::round(Value::integer(1).divide(float64::unpack(a)), R)
    }))
}

/// Flushes a subnormal and drops the lower word, as the `.approx.ftz.f64` functions do with their
/// operands and results.
#[inline(always)]
fn upper_word(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    let tiny = a.abs() < f64::MIN_POSITIVE;
    f64::from_bits(if tiny { bits & (1 << 63) } else { bits })
}

/// `rcp.{approx,rnd}{.ftz}.f32`, `rcp.rnd.f64`, `rcp.approx.ftz.f64`
fn reciprocal(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let approx = m.flag("approx");
    let rounding = if approx {
        NEAREST
    } else {
        m.required_rounding()?
    };
    let (compute, immediate): (Compute, _) = match ty {
        "f32" => {
            let ftz = m.flag("ftz");
            (instance!(reciprocal32[rounding; ftz]), Immediate::Float32)
        }
        "f64" if approx && m.flag("ftz") => {
            let compute = lanes!(|a: f64| float64::canonical(upper_word(1.0 / upper_word(a))));
            (compute, Immediate::Float64)
        }
        "f64" if !approx => (instance!(reciprocal64[rounding;]), Immediate::Float64),
        "f64" => return Err("`rcp.approx.f64` without `.ftz`".into()),
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate)
}

fn square_root32<const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: f32| {
        let a = input::<FTZ>(a);
        // In bits and by the operand: LLVM takes `if a < 0.0 { NAN } else { a.sqrt() }` in floats
        // for `a.sqrt()`, which leaves the host's NaN. No root is subnormal.
        if a.is_nan() || a < 0.0 {
            0x7fff_ffff
        } else if R == NEAREST {
            a.sqrt().to_bits()
        } else {
            float32::round(float32::unpack(a).square_root(), R).to_bits()
        }
    })
}

fn square_root64<const R: u8>() -> Compute {
    lanes!(|a: f64| float64::canonical(if R == NEAREST {
        a.sqrt()
    } else {
        float64::round(float64::unpack(a).square_root(), R)
    }))
}

/// `sqrt.{approx,rnd}{.ftz}.f32`, `sqrt.rnd.f64`
fn square_root(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let (compute, immediate): (Compute, _) = match ty {
        "f32" => {
            let approx = m.flag("approx");
            let rounding = if approx {
                NEAREST
            } else {
                m.required_rounding()?
            };
            let ftz = m.flag("ftz");
            (instance!(square_root32[rounding; ftz]), Immediate::Float32)
        }
        "f64" => {
            let rounding = m.required_rounding()?;
            (instance!(square_root64[rounding;]), Immediate::Float64)
        }
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate)
}

/// The reciprocal keeps the zero's sign: `rsqrt(-0.0)` is -infinity.
fn reciprocal_root32<const FTZ: bool>() -> Compute {
    lanes!(|a: f32| output::<FTZ, false>((1.0 / f64::from(input::<FTZ>(a)).sqrt()) as f32))
}

/// `rsqrt.approx{.ftz}.f32`, `rsqrt.approx{.ftz}.f64`
fn reciprocal_root(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    if !m.flag("approx") {
        return Err("no `.approx`, the one form of rsqrt".into());
    }
    let ftz = m.flag("ftz");
    let (compute, immediate): (Compute, _) = match (ty, ftz) {
        ("f32", _) => (instance!(reciprocal_root32[; ftz]), Immediate::Float32),
        ("f64", false) => {
            let compute = lanes!(|a: f64| float64::canonical(1.0 / a.sqrt()));
            (compute, Immediate::Float64)
        }
        ("f64", true) => {
            let compute =
                lanes!(|a: f64| float64::canonical(upper_word(1.0 / upper_word(a).sqrt())));
            (compute, Immediate::Float64)
        }
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate)
}

#[derive(Clone, Copy)]
enum Function {
    Sin,
    Cos,
    Lg2,
}

fn sine<const FTZ: bool>() -> Compute {
    lanes!(|a: f32| output::<FTZ, false>(f64::from(input::<FTZ>(a)).sin() as f32))
}

fn cosine<const FTZ: bool>() -> Compute {
    lanes!(|a: f32| output::<FTZ, false>(f64::from(input::<FTZ>(a)).cos() as f32))
}

fn logarithm<const FTZ: bool>() -> Compute {
    lanes!(|a: f32| output::<FTZ, false>(f64::from(input::<FTZ>(a)).log2() as f32))
}

/// `{sin,cos,lg2}.approx{.ftz}.f32`
fn approximate(modifiers: &[&str], function: Function) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "f32" {
        return Err(String::new());
    }
    if !m.flag("approx") {
        return Err("no `.approx`, the one form of this function".into());
    }
    let ftz = m.flag("ftz");
    let compute = match function {
        Function::Sin => instance!(sine[; ftz]),
        Function::Cos => instance!(cosine[; ftz]),
        Function::Lg2 => instance!(logarithm[; ftz]),
    };
    m.finish(compute, UNARY, Immediate::Float32)
}

fn exponential32<const FTZ: bool>() -> Compute {
    lanes!(|a: f32| output::<FTZ, false>(f64::from(input::<FTZ>(a)).exp2() as f32))
}

/// `ex2.approx.ftz.bf16` flushes, `ex2.approx.f16` does not.
#[inline(always)]
fn exponential16<F: Sixteen, const FTZ: bool>(a: u16) -> u16 {
    let a = if FTZ {
        F::FORMAT.flush(a.into()) as u16
    } else {
        a
    };
    let result = narrow::<F>(f64::from(F::widen(a)).exp2());
    if FTZ {
        F::FORMAT.flush(result.into()) as u16
    } else {
        result
    }
}

#[inline(always)]
fn tangent16<F: Sixteen>(a: u16) -> u16 {
    narrow::<F>(f64::from(F::widen(a)).tanh())
}

/// Applies a function to both halves.
#[inline(always)]
fn both(a: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f(a as u16)) | u32::from(f((a >> 16) as u16)) << 16
}

/// `ex2.approx{.ftz}.f32`, `ex2.approx.f16{x2}`, `ex2.approx.ftz.bf16{x2}`
fn exponential(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    if !m.flag("approx") {
        return Err("no `.approx`, the one form of ex2".into());
    }
    let ftz = ty != "f16" && ty != "f16x2" && m.flag("ftz");
    let compute: Compute = match (ty, sixteen(ty)) {
        ("f32", _) => instance!(exponential32[; ftz]),
        (_, Ok((false, false))) => lanes!(|a: u16| exponential16::<Half, false>(a)),
        (_, Ok((false, true))) => lanes!(|a: u32| both(a, exponential16::<Half, false>)),
        (_, Ok((true, _))) if !ftz => return Err("`ex2.approx` on bf16 without `.ftz`".into()),
        (_, Ok((true, false))) => lanes!(|a: u16| exponential16::<Brain, true>(a)),
        (_, Ok((true, true))) => lanes!(|a: u32| both(a, exponential16::<Brain, true>)),
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate(ty))
}

/// Of the 16-bit formats an immediate is its bits.
fn immediate(ty: &str) -> Immediate {
    if ty == "f32" {
        Immediate::Float32
    } else {
        Immediate::Integer
    }
}

/// `tanh.approx.{f32,f16,f16x2,bf16,bf16x2}`
fn hyperbolic_tangent(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    if !m.flag("approx") {
        return Err("no `.approx`, the one form of tanh".into());
    }
    let compute: Compute = match (ty, sixteen(ty)) {
        ("f32", _) => lanes!(|a: f32| output::<false, false>(f64::from(a).tanh() as f32)),
        (_, Ok((false, false))) => lanes!(|a: u16| tangent16::<Half>(a)),
        (_, Ok((false, true))) => lanes!(|a: u32| both(a, tangent16::<Half>)),
        (_, Ok((true, false))) => lanes!(|a: u16| tangent16::<Brain>(a)),
        (_, Ok((true, true))) => lanes!(|a: u32| both(a, tangent16::<Brain>)),
        _ => return Err(String::new()),
    };
    m.finish(compute, UNARY, immediate(ty))
}

/// `copysign.{f32,f64} d, a, b`: `b` with the sign of `a`.
fn copy_sign(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let compute =
        for_type!(ty; T in "f32" = f32, "f64" = f64 => lanes!(|a: T, b: T| b.copysign(a)))?;
    let immediate = if ty == "f64" {
        Immediate::Float64
    } else {
        Immediate::Float32
    };
    m.finish(compute, BINARY, immediate)
}
