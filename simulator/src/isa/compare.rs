//! Comparison (PTX ISA 9.7.6 and 9.7.7): setp and set.

use super::float32::flush;
use super::half::{Brain, Half, Sixteen, Widened, sixteen};
use super::lanes::Lane;
use super::modifiers::Modifiers;
use super::{Class, Decoded, Immediate, Opcode, Role, row};
use crate::program::{Compute, WARP_SIZE};

pub(super) static ROWS: &[Opcode] = &[
    row("setp", Class::Integer, set_predicate),
    row("set", Class::Integer, set),
];

/// Two values as a comparison sees them.
trait Comparable: Lane {
    fn equal(self, other: Self) -> bool;
    fn less(self, other: Self) -> bool;
    fn unordered(self, other: Self) -> bool;
}

macro_rules! comparable {
    ($($ty:ty: |$a:ident, $b:ident| $unordered:expr),*) => {$(
        impl Comparable for $ty {
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn unordered(self, other: Self) -> bool {
                let ($a, $b) = (self, other);
                $unordered
            }
        }
    )*};
}

comparable!(
    u16: |_a, _b| false, i16: |_a, _b| false, u32: |_a, _b| false, i32: |_a, _b| false,
    u64: |_a, _b| false, i64: |_a, _b| false,
    f32: |a, b| a.is_nan() || b.is_nan(), f64: |a, b| a.is_nan() || b.is_nan()
);

/// `.ftz.f32`
#[derive(Clone, Copy)]
pub(super) struct Flushed(pub(super) f32);

impl Lane for Flushed {
    #[inline(always)]
    fn from_lane(bits: u64) -> Self {
        Self(flush(f32::from_lane(bits)))
    }
    #[inline(always)]
    fn to_lane(self) -> u64 {
        self.0.to_lane()
    }
}

macro_rules! comparable_as_f32 {
    ($([$($generics:tt)*] $ty:ty),*) => {$(
        impl<$($generics)*> Comparable for $ty {
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self.0 == other.0
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn unordered(self, other: Self) -> bool {
                self.0.is_nan() || other.0.is_nan()
            }
        }
    )*};
}

comparable_as_f32!([] Flushed, [F: Sixteen, const FTZ: bool] Widened<F, FTZ>);

/// Comparison operators: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered holds.
fn comparison(name: &str) -> Option<u8> {
    Some(match name {
        "lt" | "lo" => 1,
        "eq" => 2,
        "le" | "ls" => 3,
        "gt" | "hi" => 4,
        "ne" => 5,
        "ge" | "hs" => 6,
        "num" => 7,
        "nan" => 8,
        "ltu" => 9,
        "equ" => 10,
        "leu" => 11,
        "gtu" => 12,
        "neu" => 13,
        "geu" => 14,
        _ => return None,
    })
}

/// Takes the comparison operator and checks that the type has it.
fn take_comparison(m: &mut Modifiers, ty: &str) -> Result<u8, String> {
    const NAMES: &[&str] = &[
        "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
        "gtu", "geu", "num", "nan",
    ];
    let name = NAMES[m.one_of(NAMES).ok_or("no comparison operator")?];
    let fits = match name {
        "eq" | "ne" => true,
        "lt" | "le" | "gt" | "ge" => !matches!(ty, "b16" | "b32" | "b64"),
        "lo" | "ls" | "hi" | "hs" => matches!(ty, "u16" | "u32" | "u64"),
        _ => matches!(ty, "f32" | "f64" | "f16" | "f16x2" | "bf16" | "bf16x2"),
    };
    match comparison(name) {
        Some(operator) if fits => Ok(operator),
        _ => Err(format!("comparison `.{name}` of type `.{ty}`")),
    }
}

#[inline(always)]
fn holds<T: Comparable, const C: u8>(a: T, b: T) -> bool {
    let (less, equal, unordered) = (a.less(b), a.equal(b), a.unordered(b));
    (C & 1 != 0 && less)
        || (C & 2 != 0 && equal)
        || (C & 4 != 0 && !less && !equal && !unordered)
        || (C & 8 != 0 && unordered)
}

/// How the comparison's result is combined with the predicate operand.
const NO_OPERATOR: u8 = 0;
const AND: u8 = 1;
const OR: u8 = 2;
const XOR: u8 = 3;

#[inline(always)]
fn combined<const B: u8>(result: bool, c: bool) -> bool {
    match B {
        AND => result & c,
        OR => result | c,
        XOR => result ^ c,
        _ => result,
    }
}

/// Takes `.and`, `.or` or `.xor`.
fn take_boolean(m: &mut Modifiers) -> u8 {
    m.one_of(&["and", "or", "xor"])
        .map_or(NO_OPERATOR, |index| index as u8 + 1)
}

/// Picks the instance of a function generic over operand type, boolean and comparison operator.
macro_rules! compared {
    ($f:ident<$T:ty $(, $extra:ident)?>, $boolean:expr, $comparison:expr) => {
        compared!(@boolean $f $T, ($($extra)?) $boolean, $comparison; 0 1 2 3)
    };
    (@boolean $f:ident $T:ty, $extra:tt $boolean:expr, $comparison:expr; $($b:literal)*) => {
        match $boolean {
            $($b => compared!(@comparison $f $T, $extra $b, $comparison;
                1 2 3 4 5 6 7 8 9 10 11 12 13 14),)*
            _ => return Err("boolean operator".into()),
        }
    };
    (@comparison $f:ident $T:ty, $extra:tt $b:literal, $comparison:expr; $($c:literal)*) => {
        match $comparison {
            $($c => $f::<$T, $b, $c> $extra as Compute,)*
            _ => return Err("comparison operator".into()),
        }
    };
}

/// `p = (a op b) bool c`, `q = !(a op b) bool c`.
fn predicate<T: Comparable, const B: u8, const C: u8>() -> Compute {
    |sources, destinations| {
        let ([a, b, rest @ ..], [p, others @ ..]) = (sources, destinations) else {
            panic!("operands disagree with the decoded roles")
        };
        let c = rest.first();
        for lane in 0..WARP_SIZE {
            let result = holds::<T, C>(T::from_lane(a[lane]), T::from_lane(b[lane]));
            let c = c.is_some_and(|c| c[lane] != 0);
            p[lane] = combined::<B>(result, c).into();
            if let [q] = others {
                q[lane] = combined::<B>(!result, c).into();
            }
        }
    }
}

/// Of pairs: `p` of the low halves, `q` of the high ones.
fn predicate_pair<F: Sixteen, const FTZ: bool, const B: u8, const C: u8>() -> Compute {
    |sources, destinations| {
        let ([a, b, rest @ ..], [p, others @ ..]) = (sources, destinations) else {
            panic!("operands disagree with the decoded roles")
        };
        let c = rest.first();
        let half = |bits: u64| Widened::<F, FTZ>::from_lane(bits);
        for lane in 0..WARP_SIZE {
            let c = c.is_some_and(|c| c[lane] != 0);
            let (x, y) = (a[lane], b[lane]);
            p[lane] = combined::<B>(holds::<_, C>(half(x), half(y)), c).into();
            if let [q] = others {
                q[lane] = combined::<B>(holds::<_, C>(half(x >> 16), half(y >> 16)), c).into();
            }
        }
    }
}

/// The type of immediates beside operands of this type.
pub(super) fn immediate(ty: &str) -> Immediate {
    match ty {
        "f64" => Immediate::Float64,
        "f32" => Immediate::Float32,
        _ => Immediate::Integer,
    }
}

/// A pair format with its flushing, for the macro's type position.
trait PairFormat {
    fn predicate<const B: u8, const C: u8>() -> Compute;
    fn truth<const B: u8, const C: u8>() -> Compute;
}

struct Pair<F, const FTZ: bool>(std::marker::PhantomData<F>);

impl<F: Sixteen, const FTZ: bool> PairFormat for Pair<F, FTZ> {
    fn predicate<const B: u8, const C: u8>() -> Compute {
        predicate_pair::<F, FTZ, B, C>()
    }
    fn truth<const B: u8, const C: u8>() -> Compute {
        truth_pair::<F, FTZ, B, C>()
    }
}

fn predicate_of_pair<P: PairFormat, const B: u8, const C: u8>() -> Compute {
    P::predicate::<B, C>()
}

fn truth_of_pair<P: PairFormat, const B: u8, const C: u8>() -> Compute {
    P::truth::<B, C>()
}

/// `setp.CmpOp{.BoolOp}{.ftz}.type p{|q}, a, b{, {!}c}`
fn set_predicate(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let operator = take_comparison(&mut m, ty)?;
    let boolean = take_boolean(&mut m);
    let ftz = matches!(ty, "f32" | "f16" | "f16x2") && m.flag("ftz");
    let compute = match (ty, ftz) {
        ("u16" | "b16", _) => compared!(predicate<u16>, boolean, operator),
        ("s16", _) => compared!(predicate<i16>, boolean, operator),
        ("u32" | "b32", _) => compared!(predicate<u32>, boolean, operator),
        ("s32", _) => compared!(predicate<i32>, boolean, operator),
        ("u64" | "b64", _) => compared!(predicate<u64>, boolean, operator),
        ("s64", _) => compared!(predicate<i64>, boolean, operator),
        ("f32", false) => compared!(predicate<f32>, boolean, operator),
        ("f32", true) => compared!(predicate<Flushed>, boolean, operator),
        ("f64", _) => compared!(predicate<f64>, boolean, operator),
        ("f16", false) => compared!(predicate<Widened<Half, false>>, boolean, operator),
        ("f16", true) => compared!(predicate<Widened<Half, true>>, boolean, operator),
        ("bf16", _) => compared!(predicate<Widened<Brain, false>>, boolean, operator),
        ("f16x2", false) => compared!(predicate_of_pair<Pair<Half, false>>, boolean, operator),
        ("f16x2", true) => compared!(predicate_of_pair<Pair<Half, true>>, boolean, operator),
        ("bf16x2", _) => compared!(predicate_of_pair<Pair<Brain, false>>, boolean, operator),
        _ => return Err(String::new()),
    };
    use Role::{DestinationAndPredicate, PredicateSource, Source};
    let roles: &[Role] = match boolean {
        NO_OPERATOR => &[DestinationAndPredicate, Source, Source],
        _ => &[DestinationAndPredicate, Source, Source, PredicateSource],
    };
    m.finish(compute, roles, immediate(ty))
}

/// What `set` writes for true.
#[derive(Clone, Copy)]
enum Truth {
    /// All ones in 32 bits: `.u32`, `.s32`.
    Ones32,
    /// All ones in 16 bits: `.u16`, `.s16`.
    Ones16,
    /// 1.0: `.f32`, `.f16`, `.bf16`.
    Float32,
    Half,
    Brain,
}

fn truth_lanes<T: Comparable, const B: u8, const C: u8, const TRUE: u64>() -> Compute {
    |sources, destinations| {
        let ([a, b, rest @ ..], [d, ..]) = (sources, destinations) else {
            panic!("operands disagree with the decoded roles")
        };
        let c = rest.first();
        for lane in 0..WARP_SIZE {
            let result = holds::<T, C>(T::from_lane(a[lane]), T::from_lane(b[lane]));
            let c = c.is_some_and(|c| c[lane] != 0);
            d[lane] = if combined::<B>(result, c) { TRUE } else { 0 };
        }
    }
}

fn truth<T: Comparable, const B: u8, const C: u8>(truth: Truth) -> Compute {
    match truth {
        Truth::Ones32 => truth_lanes::<T, B, C, 0xffff_ffff>(),
        Truth::Ones16 => truth_lanes::<T, B, C, 0xffff>(),
        Truth::Float32 => truth_lanes::<T, B, C, 0x3f80_0000>(),
        Truth::Half => truth_lanes::<T, B, C, 0x3c00>(),
        Truth::Brain => truth_lanes::<T, B, C, 0x3f80>(),
    }
}

/// Of pairs: 1.0 or 0.0 in either half.
fn truth_pair<F: Sixteen, const FTZ: bool, const B: u8, const C: u8>() -> Compute {
    |sources, destinations| {
        let ([a, b, rest @ ..], [d, ..]) = (sources, destinations) else {
            panic!("operands disagree with the decoded roles")
        };
        let c = rest.first();
        let half = |bits: u64| Widened::<F, FTZ>::from_lane(bits);
        let one = F::FORMAT.one();
        for lane in 0..WARP_SIZE {
            let c = c.is_some_and(|c| c[lane] != 0);
            let (x, y) = (a[lane], b[lane]);
            let low = combined::<B>(holds::<_, C>(half(x), half(y)), c);
            let high = combined::<B>(holds::<_, C>(half(x >> 16), half(y >> 16)), c);
            d[lane] = (u64::from(low) * one) | ((u64::from(high) * one) << 16);
        }
    }
}

/// `set.CmpOp{.BoolOp}{.ftz}.dtype.stype d, a, b{, {!}c}`
fn set(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let (ty, result) = (m.ty(), m.ty());
    let operator = take_comparison(&mut m, ty)?;
    let boolean = take_boolean(&mut m);
    let ftz = matches!(ty, "f32" | "f16" | "f16x2") && m.flag("ftz");
    let is_sixteen = sixteen(ty).is_ok();
    let kind = match result {
        "u32" | "s32" => Truth::Ones32,
        "f32" if !is_sixteen => Truth::Float32,
        "u16" | "s16" if is_sixteen => Truth::Ones16,
        "f16" if ty == "f16" => Truth::Half,
        "bf16" if ty == "bf16" => Truth::Brain,
        // A pair's result is a pair of the same format.
        "f16x2" | "bf16x2" if ty == result => Truth::Half,
        _ => return Err(format!("result type `.{result}` for operands of `.{ty}`")),
    };
    let compute = match (ty, ftz) {
        ("u16" | "b16", _) => compared!(truth<u16, kind>, boolean, operator),
        ("s16", _) => compared!(truth<i16, kind>, boolean, operator),
        ("u32" | "b32", _) => compared!(truth<u32, kind>, boolean, operator),
        ("s32", _) => compared!(truth<i32, kind>, boolean, operator),
        ("u64" | "b64", _) => compared!(truth<u64, kind>, boolean, operator),
        ("s64", _) => compared!(truth<i64, kind>, boolean, operator),
        ("f32", false) => compared!(truth<f32, kind>, boolean, operator),
        ("f32", true) => compared!(truth<Flushed, kind>, boolean, operator),
        ("f64", _) => compared!(truth<f64, kind>, boolean, operator),
        ("f16", false) => compared!(truth<Widened<Half, false>, kind>, boolean, operator),
        ("f16", true) => compared!(truth<Widened<Half, true>, kind>, boolean, operator),
        ("bf16", _) => compared!(truth<Widened<Brain, false>, kind>, boolean, operator),
        ("f16x2", false) if ty == result => {
            compared!(truth_of_pair<Pair<Half, false>>, boolean, operator)
        }
        ("f16x2", true) if ty == result => {
            compared!(truth_of_pair<Pair<Half, true>>, boolean, operator)
        }
        ("bf16x2", _) if ty == result => {
            compared!(truth_of_pair<Pair<Brain, false>>, boolean, operator)
        }
        _ => return Err(String::new()),
    };
    use Role::{Destination, PredicateSource, Source};
    let roles: &[Role] = match boolean {
        NO_OPERATOR => &[Destination, Source, Source],
        _ => &[Destination, Source, Source, PredicateSource],
    };
    m.finish(compute, roles, immediate(ty))
}
