//! Extended-precision integer arithmetic (PTX ISA 9.7.2): sums and products with the carry flag.
//!
//! The flag is a hidden register: [`Role::CarryIn`] is the last source, [`Role::CarryOut`] the
//! last destination. For subtractions it holds the borrow.

use super::lanes::{for_type, lanes, two_lanes};
use super::modifiers::Modifiers;
use super::{Class, Decoded, Opcode, Role, row};
use Role::{CarryIn, CarryOut, Destination, Source};

pub(super) static ROWS: &[Opcode] = &[
    row("add", Class::Integer, |m| sum(m, Operation::Add, false)),
    row("addc", Class::Integer, |m| sum(m, Operation::Add, true)),
    row("sub", Class::Integer, |m| sum(m, Operation::Sub, false)),
    row("subc", Class::Integer, |m| sum(m, Operation::Sub, true)),
    row("mad", Class::IntegerMultiply, |m| multiply_add(m, false)),
    row("madc", Class::IntegerMultiply, |m| multiply_add(m, true)),
];

#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
}

/// The unsigned arithmetic behind both signednesses: a sum with carry in and out.
trait Carrying: Sized {
    fn add_with(self, other: Self, carry: bool) -> (Self, bool);
    fn subtract_with(self, other: Self, borrow: bool) -> (Self, bool);
    fn product_low(self, other: Self) -> Self;
    fn product_high(self, other: Self) -> Self;
    fn product_high_signed(self, other: Self) -> Self;
}

macro_rules! carrying {
    ($($ty:ident $signed:ident $wide:ident $signed_wide:ident),*) => {$(
        impl Carrying for $ty {
            #[inline(always)]
            fn add_with(self, other: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(carry as Self);
                (sum, first | second)
            }
            #[inline(always)]
            fn subtract_with(self, other: Self, borrow: bool) -> (Self, bool) {
                let (difference, first) = self.overflowing_sub(other);
                let (difference, second) = difference.overflowing_sub(borrow as Self);
                (difference, first | second)
            }
            #[inline(always)]
            fn product_low(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn product_high(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> <$ty>::BITS) as Self
            }
            #[inline(always)]
            fn product_high_signed(self, other: Self) -> Self {
                let product = self as $signed as $signed_wide * other as $signed as $signed_wide;
                (product >> <$ty>::BITS) as Self
            }
        }
    )*};
}

carrying!(u32 i32 u64 i64, u64 i64 u128 i128);

/// `add.cc`, `addc{.cc}`, `sub.cc`, `subc{.cc}` on 32 and 64 bits.
fn sum(modifiers: &[&str], operation: Operation, carry_in: bool) -> Result<Decoded, String> {
    use Operation::{Add, Sub};
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let carry_out = m.flag("cc");
    if !carry_in && !carry_out {
        return Err(String::new());
    }
    let compute = for_type!(ty; T in "u32" = u32, "s32" = u32, "u64" = u64, "s64" = u64 =>
    match (operation, carry_in, carry_out) {
        (Add, false, _) => two_lanes!(|a: T, b: T| a.add_with(b, false)),
        (Add, true, true) => two_lanes!(|a: T, b: T, carry: bool| a.add_with(b, carry)),
        (Add, true, false) => lanes!(|a: T, b: T, carry: bool| a.add_with(b, carry).0),
        (Sub, false, _) => two_lanes!(|a: T, b: T| a.subtract_with(b, false)),
        (Sub, true, true) => two_lanes!(|a: T, b: T, carry: bool| a.subtract_with(b, carry)),
        (Sub, true, false) => lanes!(|a: T, b: T, carry: bool| a.subtract_with(b, carry).0),
    })?;
    let roles: &[Role] = match (carry_in, carry_out) {
        (false, _) => &[Destination, Source, Source, CarryOut],
        (true, true) => &[Destination, Source, Source, CarryIn, CarryOut],
        (true, false) => &[Destination, Source, Source, CarryIn],
    };
    m.integer(compute, roles)
}

/// `mad.{hi,lo}.cc`, `madc.{hi,lo}{.cc}`: the carry is that of adding `c` and the carry-in to the
/// kept half of the product.
fn multiply_add(modifiers: &[&str], carry_in: bool) -> Result<Decoded, String> {
    let mut m = Modifiers::new(modifiers);
    let ty = m.ty();
    let carry_out = m.flag("cc");
    if !carry_in && !carry_out {
        return Err(String::new());
    }
    let half = m.one_of(&["lo", "hi"]).ok_or("no .hi or .lo")?;
    let signed = ty.starts_with('s');
    macro_rules! with_product {
        ($T:ident, $product:ident) => {
            match (carry_in, carry_out) {
                (false, _) => {
                    two_lanes!(|a: $T, b: $T, c: $T| a.$product(b).add_with(c, false))
                }
                (true, true) => {
                    two_lanes!(|a: $T, b: $T, c: $T, carry: bool| a.$product(b).add_with(c, carry))
                }
                (true, false) => {
                    lanes!(|a: $T, b: $T, c: $T, carry: bool| a.$product(b).add_with(c, carry).0)
                }
            }
        };
    }
    let compute = for_type!(ty; T in "u32" = u32, "s32" = u32, "u64" = u64, "s64" = u64 =>
    match (half, signed) {
        (0, _) => with_product!(T, product_low),
        (_, false) => with_product!(T, product_high),
        (_, true) => with_product!(T, product_high_signed),
    })?;
    let roles: &[Role] = match (carry_in, carry_out) {
        (false, _) => &[Destination, Source, Source, Source, CarryOut],
        (true, true) => &[Destination, Source, Source, Source, CarryIn, CarryOut],
        (true, false) => &[Destination, Source, Source, Source, CarryIn],
    };
    m.integer(compute, roles)
}
