//! Bit fields and bit counts (PTX ISA 9.7.1): popc, clz, bfind, fns, brev, bfe, bfi, szext, bmsk.

use super::lanes::{for_type, lanes};
use super::modifiers::{BINARY, Modifiers, TERNARY, UNARY};
use super::{Class, Decoded, Opcode, Role, row};

pub(super) static ROWS: &[Opcode] = &[
    row("popc", Class::Integer, population_count),
    row("clz", Class::Integer, count_leading_zeros),
    row("bfind", Class::Integer, find_leading),
    row("fns", Class::Integer, find_nth_set),
    row("brev", Class::Integer, reverse),
    row("bfe", Class::Integer, extract_field),
    row("bfi", Class::Integer, insert_field),
    row("szext", Class::Integer, extend),
    row("bmsk", Class::Integer, mask),
];

/// `popc.{b32,b64}`; the result has 32 bits.
fn population_count(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute =
        for_type!(m.ty(); T in "b32" = u32, "b64" = u64 => lanes!(|a: T| a.count_ones()))?;
    m.integer(compute, UNARY)
}

/// `clz.{b32,b64}`; the result has 32 bits.
fn count_leading_zeros(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute =
        for_type!(m.ty(); T in "b32" = u32, "b64" = u64 => lanes!(|a: T| a.leading_zeros()))?;
    m.integer(compute, UNARY)
}

/// Position of the leading one of the `width`-bit value, or its distance from the top
/// (`.shiftamt`); 0xffffffff if there is none.
#[inline(always)]
fn leading(value: u64, width: u32, shift_amount: bool) -> u32 {
    match value.checked_ilog2() {
        None => u32::MAX,
        Some(position) if shift_amount => width - 1 - position,
        Some(position) => position,
    }
}

/// `bfind{.shiftamt}.type`: the most significant bit that is not a sign bit.
fn find_leading(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let compute = match (ty, m.flag("shiftamt")) {
        ("u32", false) => lanes!(|a: u32| leading(a.into(), 32, false)),
        ("u32", true) => lanes!(|a: u32| leading(a.into(), 32, true)),
        ("u64", false) => lanes!(|a: u64| leading(a, 64, false)),
        ("u64", true) => lanes!(|a: u64| leading(a, 64, true)),
        ("s32", false) => lanes!(|a: i32| leading(((a ^ (a >> 31)) as u32).into(), 32, false)),
        ("s32", true) => lanes!(|a: i32| leading(((a ^ (a >> 31)) as u32).into(), 32, true)),
        ("s64", false) => lanes!(|a: i64| leading((a ^ (a >> 63)) as u64, 64, false)),
        ("s64", true) => lanes!(|a: i64| leading((a ^ (a >> 63)) as u64, 64, true)),
        _ => return Err(String::new()),
    };
    m.integer(compute, UNARY)
}

/// Position of the `offset`-th set bit of `mask` from `base` on, upwards or downwards; with offset
/// 0 whether the bit at `base` is set. 0xffffffff if there is none, and for a base beyond 31,
/// which the PTX ISA leaves undefined.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    let is_set = |position: &u32| mask >> position & 1 == 1;
    let nth = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(is_set),
        1.. => (base..32).filter(is_set).nth(nth),
        _ => (0..=base).rev().filter(is_set).nth(nth),
    };
    found.unwrap_or(u32::MAX)
}

/// `fns.b32 d, mask, base, offset`
fn find_nth_set(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match m.ty() {
        "b32" => lanes!(|mask: u32, base: u32, offset: i32| nth_set(mask, base, offset)),
        _ => return Err(String::new()),
    };
    m.integer(compute, TERNARY)
}

/// `brev.{b32,b64}`
fn reverse(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute =
        for_type!(m.ty(); T in "b32" = u32, "b64" = u64 => lanes!(|a: T| a.reverse_bits()))?;
    m.integer(compute, UNARY)
}

/// A mask of the lowest `length` bits.
#[inline(always)]
fn low_bits(length: u32) -> u64 {
    if length >= 64 {
        u64::MAX
    } else {
        (1 << length) - 1
    }
}

/// PTX ISA 9.7.1 restricts position and length to 0 to 255. Beyond, an H200 takes them modulo 256
/// for 32-bit fields and as they are for 64-bit ones.
#[inline(always)]
fn field_operands(position: u32, length: u32, width: u32) -> (u32, u32) {
    if width == 32 {
        (position & 0xff, length & 0xff)
    } else {
        (position.min(0xff), length.min(0xff))
    }
}

/// Bits `position..position + length` of a `width`-bit value. A signed field is extended by its
/// highest bit, or the value's where the field reaches beyond it.
#[inline(always)]
fn field(value: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = field_operands(position, length, width);
    if length == 0 {
        return 0;
    }
    let sign_position = (position + length - 1).min(width - 1);
    let fill = signed && value >> sign_position & 1 == 1;
    let available = width.saturating_sub(position).min(length);
    let mask = low_bits(available);
    let bits = value.checked_shr(position).unwrap_or(0) & mask;
    if fill { bits | !mask } else { bits }
}

/// `bfe.type d, a, position, length`
fn extract_field(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match m.ty() {
        "u32" => lanes!(|a: u32, b: u32, c: u32| field(a.into(), b, c, 32, false) as u32),
        "s32" => lanes!(|a: u32, b: u32, c: u32| field(a.into(), b, c, 32, true) as u32),
        "u64" => lanes!(|a: u64, b: u32, c: u32| field(a, b, c, 64, false)),
        "s64" => lanes!(|a: u64, b: u32, c: u32| field(a, b, c, 64, true)),
        _ => return Err(String::new()),
    };
    m.integer(compute, TERNARY)
}

/// `base` with the low `length` bits of `field` at `position`; what lies beyond 64 bits is lost.
#[inline(always)]
fn inserted(field: u64, base: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = field_operands(position, length, width);
    let mask = low_bits(length).checked_shl(position).unwrap_or(0);
    let field = field.checked_shl(position).unwrap_or(0);
    base & !mask | field & mask
}

/// `bfi.{b32,b64} d, field, base, position, length`
fn insert_field(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let compute = match m.ty() {
        "b32" => {
            lanes!(|a: u32, b: u32, c: u32, d: u32| inserted(a.into(), b.into(), c, d, 32) as u32)
        }
        "b64" => lanes!(|a: u64, b: u64, c: u32, d: u32| inserted(a, b, c, d, 64)),
        _ => return Err(String::new()),
    };
    use Role::{Destination, Source};
    m.integer(compute, &[Destination, Source, Source, Source, Source])
}

/// The low `length` bits, sign- or zero-extended; `.clamp` keeps all bits from 32 on, `.wrap`
/// takes the length modulo 32.
#[inline(always)]
fn extended(value: u32, length: u32, wrap: bool, signed: bool) -> u32 {
    if !wrap && length >= 32 {
        return value;
    }
    let length = length & 31;
    let mask = low_bits(length) as u32;
    let negative = signed && length > 0 && value >> (length - 1) & 1 == 1;
    if negative {
        value | !mask
    } else {
        value & mask
    }
}

/// `szext.{clamp,wrap}.{u32,s32} d, a, length`
fn extend(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let wrap = m.one_of(&["clamp", "wrap"]).ok_or("no .clamp or .wrap")? == 1;
    let compute = match (m.ty(), wrap) {
        ("u32", false) => lanes!(|a: u32, b: u32| extended(a, b, false, false)),
        ("u32", true) => lanes!(|a: u32, b: u32| extended(a, b, true, false)),
        ("s32", false) => lanes!(|a: u32, b: u32| extended(a, b, false, true)),
        ("s32", true) => lanes!(|a: u32, b: u32| extended(a, b, true, true)),
        _ => return Err(String::new()),
    };
    m.integer(compute, BINARY)
}

/// Ones at `position..position + length`, cut off at bit 31; `.wrap` takes both modulo 32.
#[inline(always)]
fn bit_mask(position: u32, length: u32, wrap: bool) -> u32 {
    let (position, length) = if wrap {
        (position & 31, length & 31)
    } else {
        (position, length)
    };
    (low_bits(length) as u32).checked_shl(position).unwrap_or(0)
}

/// `bmsk.{clamp,wrap}.b32 d, position, length`
fn mask(modifiers: &[&str]) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let wrap = m.one_of(&["clamp", "wrap"]).ok_or("no .clamp or .wrap")? == 1;
    let compute = match (m.ty(), wrap) {
        ("b32", false) => lanes!(|a: u32, b: u32| bit_mask(a, b, false)),
        ("b32", true) => lanes!(|a: u32, b: u32| bit_mask(a, b, true)),
        _ => return Err(String::new()),
    };
    m.integer(compute, BINARY)
}
