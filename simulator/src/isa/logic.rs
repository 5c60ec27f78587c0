//! Logic, shifts and byte permutation (PTX ISA 9.7.8 and 9.7.9: prmt).

use super::lanes::{for_type, lanes, two_lanes};
use super::modifiers::{BINARY, Modifiers, TERNARY, UNARY};
use super::{Class, Decoded, Opcode, Role, row};

pub(super) static ROWS: &[Opcode] = &[
    row("and", Class::Integer, and),
    row("or", Class::Integer, or),
    row("xor", Class::Integer, xor),
    row("not", Class::Integer, not),
    row("cnot", Class::Integer, logical_not),
    row("lop3", Class::Integer, lookup3),
    row("shf", Class::Integer, funnel_shift),
    row("shl", Class::Integer, shift_left),
    row("shr", Class::Integer, shift_right),
    row("prmt", Class::Integer, permute),
];

macro_rules! bitwise {
    ($name:ident, $operator:tt) => {
        /// On `.pred`, `.b16`, `.b32` and `.b64`.
        fn $name(modifiers: &[&str]) -> Result<Decoded, String> {
            let mut m = Modifiers::new(modifiers);
            let compute = for_type!(m.ty(); T in "pred" = bool, "b16" = u16, "b32" = u32, "b64" = u64 =>
                lanes!(|a: T, b: T| a $operator b))?;
            m.integer(compute, BINARY)
        }
    };
}

bitwise!(and, &);
bitwise!(or, |);
bitwise!(xor, ^);

/// `not.{pred,b16,b32,b64}`
fn not(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in "pred" = bool, "b16" = u16, "b32" = u32, "b64" = u64 =>
        lanes!(|a: T| !a))?;
    m.integer(compute, UNARY)
}

/// `cnot.{b16,b32,b64}`: 1 for 0, else 0.
fn logical_not(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in bits => lanes!(|a: T| T::from(a == 0)))?;
    m.integer(compute, UNARY)
}

/// Bit `4a + 2b + c` of the table for every bit position: the or of the selected minterms.
#[inline(always)]
fn table3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let minterm = |index: u32| {
        let selected = 0u32.wrapping_sub(table >> index & 1);
        let a = if index & 4 != 0 { a } else { !a };
        let b = if index & 2 != 0 { b } else { !b };
        let c = if index & 1 != 0 { c } else { !c };
        selected & a & b & c
    };
    (0..8).fold(0, |all, index| all | minterm(index))
}

/// `lop3.b32 d, a, b, c, table`, `lop3.{or,and}.b32 d|p, a, b, c, table, q`: `p = (d != 0) op q`.
fn lookup3(modifiers: &[&str]) -> Result<Decoded, String> {
    use Role::{Destination, DestinationAndPredicate, PredicateSource, Source};
    let mut m = Modifiers::new(modifiers);
    if m.ty() != "b32" {
        return Err(String::new());
    }
    let with_predicate = &[
        DestinationAndPredicate,
        Source,
        Source,
        Source,
        Source,
        PredicateSource,
    ];
    match m.one_of(&["or", "and"]) {
        None => {
            let compute = lanes!(|a: u32, b: u32, c: u32, table: u32| table3(a, b, c, table));
            m.integer(compute, &[Destination, Source, Source, Source, Source])
        }
        Some(0) => {
            let compute = two_lanes!(|a: u32, b: u32, c: u32, table: u32, q: bool| {
                let d = table3(a, b, c, table);
                (d, (d != 0) | q)
            });
            m.integer(compute, with_predicate)
        }
        Some(_) => {
            let compute = two_lanes!(|a: u32, b: u32, c: u32, table: u32, q: bool| {
                let d = table3(a, b, c, table);
                (d, (d != 0) & q)
            });
            m.integer(compute, with_predicate)
        }
    }
}

/// `shf.{l,r}.{clamp,wrap}.b32 d, low, high, amount`: the upper word of `high:low << n`, the lower
/// word of `high:low >> n`; `.clamp` bounds n to 32, `.wrap` takes it modulo 32.
fn funnel_shift(modifiers: &[&str]) -> Result<Decoded, String> {
    #[inline(always)]
    fn left(low: u32, high: u32, amount: u32) -> u32 {
        ((u64::from(high) << 32 | u64::from(low)) << amount >> 32) as u32
    }
    #[inline(always)]
    fn right(low: u32, high: u32, amount: u32) -> u32 {
        ((u64::from(high) << 32 | u64::from(low)) >> amount) as u32
    }
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let direction = m.one_of(&["l", "r"]).ok_or("no .l or .r")?;
    let wrap = m.one_of(&["clamp", "wrap"]).ok_or("no .clamp or .wrap")? == 1;
    let compute = match (ty, direction, wrap) {
        ("b32", 0, false) => lanes!(|a: u32, b: u32, c: u32| left(a, b, c.min(32))),
        ("b32", 0, true) => lanes!(|a: u32, b: u32, c: u32| left(a, b, c & 31)),
        ("b32", _, false) => lanes!(|a: u32, b: u32, c: u32| right(a, b, c.min(32))),
        ("b32", _, true) => lanes!(|a: u32, b: u32, c: u32| right(a, b, c & 31)),
        _ => return Err(String::new()),
    };
    m.integer(compute, TERNARY)
}

/// `shl.{b16,b32,b64}`: amounts from the width on give 0.
fn shift_left(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = for_type!(m.ty(); T in bits =>
        lanes!(|a: T, b: u32| if b < T::BITS { a << b } else { 0 }))?;
    m.integer(compute, BINARY)
}

/// `shr.type`: amounts from the width on give 0, or the sign for signed types.
fn shift_right(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match m.ty() {
        "s16" => lanes!(|a: i16, b: u32| a >> b.min(15)),
        "s32" => lanes!(|a: i32, b: u32| a >> b.min(31)),
        "s64" => lanes!(|a: i64, b: u32| a >> b.min(63)),
        ty => for_type!(ty; T in "b16" = u16, "u16" = u16, "b32" = u32, "u32" = u32,
            "b64" = u64, "u64" = u64 => lanes!(|a: T, b: u32| if b < T::BITS { a >> b } else { 0 }))?,
    };
    m.integer(compute, BINARY)
}

/// Four bytes of `{b, a}`; `selector` gives for result byte `i` a byte index, and bit 3 set
/// replicates that byte's sign.
#[inline(always)]
fn select_bytes(a: u32, b: u32, selector: impl Fn(u32) -> u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, i| {
        let select = selector(i);
        let byte = (bytes >> (8 * (select & 7))) as u8;
        let byte = if select & 8 != 0 {
            (byte as i8 >> 7) as u8
        } else {
            byte
        };
        result | u32::from(byte) << (8 * i)
    })
}

/// `prmt.b32{.mode} d, a, b, c`; the modes look at `c[1:0]` alone (PTX ISA 9.7.9, prmt).
fn permute(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let mode = m.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    if m.ty() != "b32" {
        return Err(String::new());
    }
    let compute = match mode {
        None => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| c >> (4 * i) & 15)),
        Some(0) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| (c & 3) + i)),
        Some(1) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| ((c & 3) + 8 - i) & 7)),
        Some(2) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |_| c & 3)),
        Some(3) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| (c & 3).max(i))),
        Some(4) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| (c & 3).min(i))),
        Some(_) => lanes!(|a: u32, b: u32, c: u32| select_bytes(a, b, |i| (c & 1) * 2 + (i & 1))),
    };
    m.integer(compute, TERNARY)
}
