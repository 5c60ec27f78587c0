//! `cvt` (PTX ISA 9.7.9): between all integer and floating-point types.
//!
//! Float to integer clamps to the destination's range; NaN gives 0, or the sign bit alone where
//! the source is `.f64` or the destination has 64 bits. `.sat` clamps an integer to its type's
//! range and a float to [0.0, 1.0], NaN to +0.0. `.relu` clamps negative results to 0.

use super::convert_packed::{from_single, pack};
use super::exact::{self, Exact, Format, Value};
use super::float32::output;
use super::float64::canonical;
use super::half::{Brain, Half, Sixteen, narrow};
use super::lanes::{Lane, lanes};
use super::modifiers::{Modifiers, NEAREST, UNARY, ZERO, instance};
use super::{Class, Decoded, Immediate, Opcode, row};
use crate::program::Compute;

pub(super) static ROWS: &[Opcode] = &[row("cvt", Class::Convert, convert)];

/// An integer type of `cvt`.
trait Integer: Lane {
    const BITS: u32;
    const MIN: i128;
    const MAX: i128;
    fn wide(self) -> i128;
    fn truncated(value: i128) -> Self;
    /// The result's bits: registers may be wider than 8- and 16-bit types, which are extended by
    /// their sign.
    fn extended(self) -> u64;
}

macro_rules! integers {
    ($($ty:ident as $register:ty),*) => {$(
        impl Integer for $ty {
            const BITS: u32 = $ty::BITS;
            const MIN: i128 = $ty::MIN as i128;
            const MAX: i128 = $ty::MAX as i128;
            #[inline(always)]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn truncated(value: i128) -> Self {
                value as $ty
            }
            #[inline(always)]
            fn extended(self) -> u64 {
                (self as $register).to_lane()
            }
        }
    )*};
}

integers!(
    u8 as u32, i8 as i32, u16 as u32, i16 as i32, u32 as u32, i32 as i32, u64 as u64, i64 as i64
);

/// A floating-point type of `cvt`.
pub(super) trait Float {
    const FORMAT: Format;
}

struct Single;
struct Double;

impl Float for Half {
    const FORMAT: Format = exact::F16;
}
impl Float for Brain {
    const FORMAT: Format = exact::BF16;
}
impl Float for Single {
    const FORMAT: Format = exact::F32;
}
impl Float for Double {
    const FORMAT: Format = exact::F64;
}

fn is_integer(ty: &str) -> bool {
    matches!(
        ty,
        "u8" | "s8" | "u16" | "s16" | "u32" | "s32" | "u64" | "s64"
    )
}

fn is_float(ty: &str) -> bool {
    matches!(ty, "f16" | "bf16" | "f32" | "f64")
}

/// The body with `T` for the named integer type.
macro_rules! with_integer {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            "u8" => {
                type $T = u8;
                $body
            }
            "s8" => {
                type $T = i8;
                $body
            }
            "u16" => {
                type $T = u16;
                $body
            }
            "s16" => {
                type $T = i16;
                $body
            }
            "u32" => {
                type $T = u32;
                $body
            }
            "s32" => {
                type $T = i32;
                $body
            }
            "u64" => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = i64;
                $body
            }
        }
    };
}

/// The body with `F` for the named floating-point type.
macro_rules! with_float {
    ($ty:expr, $F:ident => $body:expr) => {
        match $ty {
            "f16" => {
                type $F = Half;
                $body
            }
            "bf16" => {
                type $F = Brain;
                $body
            }
            "f32" => {
                type $F = Single;
                $body
            }
            _ => {
                type $F = Double;
                $body
            }
        }
    };
}

fn integer_to_integer<S: Integer, D: Integer, const SAT: bool>() -> Compute {
    lanes!(|a: S| if SAT {
        D::truncated(a.wide().clamp(D::MIN, D::MAX)).extended()
    } else {
        D::truncated(a.wide()).extended()
    })
}

fn integer_to_float<S: Integer, D: Float, const R: u8, const SAT: bool>() -> Compute {
    lanes!(|a: S| {
        let bits = exact::round(Value::integer(a.wide()), D::FORMAT, R);
        if SAT { D::FORMAT.saturate(bits) } else { bits }
    })
}

/// Float to integer bits in a rounding mode.
fn to_integer<S: Float, D: Integer>(bits: u64, mode: u8) -> u64 {
    let value = match exact::unpack(bits, S::FORMAT) {
        Value::Nan => {
            let zero = S::FORMAT.precision < exact::F64.precision && D::BITS < 64;
            return if zero {
                0
            } else {
                D::truncated(1 << (D::BITS - 1)).extended()
            };
        }
        Value::Infinite(true) => D::MIN,
        Value::Infinite(false) => D::MAX,
        Value::Finite(exact) => exact.to_integer(mode).clamp(D::MIN, D::MAX),
    };
    D::truncated(value).extended()
}

fn float_to_integer<S: Float, D: Integer, const R: u8, const FTZ: bool>() -> Compute {
    lanes!(|a: u64| to_integer::<S, D>(if FTZ { S::FORMAT.flush(a) } else { a }, R))
}

/// A double-precision NaN as single precision: quiet, with its sign and the upper bits of its
/// payload. PTX ISA 9.7.9 leaves the bits open; these are the ones an H200 gives.
#[inline(always)]
fn quieted(bits: u64) -> Option<u64> {
    f64::from_bits(bits)
        .is_nan()
        .then_some(bits >> 32 & 0x8000_0000 | 0x7fc0_0000 | bits >> 29 & 0x003f_ffff)
}

/// Any floating-point type to any, `.ftz` on the single-precision side.
fn float_to_float<S: Float, D: Float, const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: u64| {
        let single = exact::F32.precision;
        let narrows = S::FORMAT.precision == exact::F64.precision && D::FORMAT.precision == single;
        let nan = quieted(a).filter(|_| narrows && !SAT);
        let source = if FTZ && S::FORMAT.precision == single {
            exact::F32.flush(a)
        } else {
            a
        };
        let mut bits = exact::round(exact::unpack(source, S::FORMAT), D::FORMAT, R);
        if FTZ && D::FORMAT.precision == single {
            bits = exact::F32.flush(bits);
        }
        nan.unwrap_or(if SAT { D::FORMAT.saturate(bits) } else { bits })
    })
}

/// Rounds to an integral value of the same type, keeping the sign of zero.
fn integral<F: Float, const R: u8, const FTZ: bool, const SAT: bool>() -> Compute {
    lanes!(|a: u64| {
        let bits = if FTZ { F::FORMAT.flush(a) } else { a };
        let rounded = match exact::unpack(bits, F::FORMAT) {
            Value::Finite(x) if x.exponent < 0 => {
                let integer = x.to_integer(R).unsigned_abs();
                Value::Finite(Exact {
                    mantissa: integer,
                    exponent: 0,
                    ..x
                })
            }
            value => value,
        };
        let bits = exact::round(rounded, F::FORMAT, NEAREST);
        if SAT { F::FORMAT.saturate(bits) } else { bits }
    })
}

/// Conversions that the host's own instructions do exactly as PTX has them.
fn native(destination: &str, source: &str, mode: u8, ftz: bool, sat: bool) -> Option<Compute> {
    if sat || ftz {
        return None;
    }
    Some(match (destination, source, mode) {
        ("f64", "f32", _) => lanes!(|a: f32| canonical(f64::from(a))),
        ("f32", "f64", NEAREST) => lanes!(|a: u64| match quieted(a) {
            Some(nan) => nan,
            None => u64::from((f64::from_bits(a) as f32).to_bits()),
        }),
        ("f32", "f16", _) => lanes!(|a: u16| output::<false, false>(Half::widen(a))),
        ("f32", "bf16", _) => lanes!(|a: u16| output::<false, false>(Brain::widen(a))),
        ("f16", "f32", NEAREST) => lanes!(|a: f32| narrow::<Half>(f64::from(a))),
        ("bf16", "f32", NEAREST) => lanes!(|a: f32| narrow::<Brain>(f64::from(a))),
        ("f32", "u16", NEAREST) => lanes!(|a: u16| f32::from(a)),
        ("f32", "s16", NEAREST) => lanes!(|a: i16| f32::from(a)),
        ("f32", "u32", NEAREST) => lanes!(|a: u32| a as f32),
        ("f32", "s32", NEAREST) => lanes!(|a: i32| a as f32),
        ("f32", "u64", NEAREST) => lanes!(|a: u64| a as f32),
        ("f32", "s64", NEAREST) => lanes!(|a: i64| a as f32),
        ("f64", "u32", _) => lanes!(|a: u32| f64::from(a)),
        ("f64", "s32", _) => lanes!(|a: i32| f64::from(a)),
        ("f64", "u64", NEAREST) => lanes!(|a: u64| a as f64),
        ("f64", "s64", NEAREST) => lanes!(|a: i64| a as f64),
        // Rust's `as` truncates, clamps and turns NaN into 0.
        ("u32", "f32", ZERO) => lanes!(|a: f32| a as u32),
        ("s32", "f32", ZERO) => lanes!(|a: f32| a as i32),
        _ => return None,
    })
}

/// `cvt{.irnd|.frnd}{.relu}{.ftz}{.sat}.dtype.atype`, the pairs from `.f32`, `.tf32`, `cvt.pack`.
fn convert(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    if m.flag("pack") {
        return pack(m);
    }
    let (source, destination) = (m.ty(), m.ty());
    if source == "f32" && matches!(destination, "f16x2" | "bf16x2" | "tf32") {
        return from_single(m, destination);
    }
    let immediate = match source {
        "f64" => Immediate::Float64,
        "f32" => Immediate::Float32,
        _ => Immediate::Integer,
    };
    if !(is_integer(source) || is_float(source))
        || !(is_integer(destination) || is_float(destination))
    {
        return Err(format!("conversion from `.{source}` to `.{destination}`"));
    }
    if source == "f32" && matches!(destination, "f16" | "bf16") && modifiers.contains(&"relu") {
        return from_single(m, destination);
    }
    let integer_rounding = m
        .one_of(&["rni", "rzi", "rmi", "rpi"])
        .map(|index| index as u8);
    let rounding = m.rounding();
    let single = source == "f32" || destination == "f32";
    let (ftz, sat) = (single && m.flag("ftz"), m.flag("sat"));
    let missing = |kind: &str| {
        format!("conversion from `.{source}` to `.{destination}` without {kind} rounding modifier")
    };
    let compute = match (is_integer(source), is_integer(destination)) {
        (true, true) => with_integer!(source, S => with_integer!(destination, D =>
            instance!(integer_to_integer<S, D>[; sat]))),
        (true, false) => {
            let mode = rounding.ok_or_else(|| missing("a"))?;
            native(destination, source, mode, ftz, sat).unwrap_or_else(|| {
                with_integer!(source, S => with_float!(destination, D =>
                    instance!(integer_to_float<S, D>[mode; sat])))
            })
        }
        (false, true) => {
            let mode = integer_rounding.ok_or_else(|| missing("an integer"))?;
            // The clamping that `.sat` asks for happens anyway.
            native(destination, source, mode, ftz, false).unwrap_or_else(|| {
                with_float!(source, S => with_integer!(destination, D =>
                    instance!(float_to_integer<S, D>[mode; ftz])))
            })
        }
        (false, false) if source == destination => match integer_rounding {
            Some(mode) => with_float!(source, F => instance!(integral<F>[mode; ftz, sat])),
            None => with_float!(source, F => instance!(float_to_float<F, F>[NEAREST; ftz, sat])),
        },
        (false, false) => {
            let exact = exact_widening(source, destination);
            let mode = match rounding {
                Some(_) if exact => return Err("a rounding modifier on an exact conversion".into()),
                None if !exact => return Err(missing("a")),
                mode => mode.unwrap_or(NEAREST),
            };
            native(destination, source, mode, ftz, sat).unwrap_or_else(|| {
                with_float!(source, S => with_float!(destination, D =>
                    instance!(float_to_float<S, D>[mode; ftz, sat])))
            })
        }
    };
    m.finish(compute, UNARY, immediate)
}

/// Whether every value of the source is one of the destination.
fn exact_widening(source: &str, destination: &str) -> bool {
    matches!(
        (source, destination),
        ("f16" | "bf16", "f32" | "f64") | ("f32", "f64")
    )
}
