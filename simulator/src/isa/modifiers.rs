//! Reading a mnemonic's modifiers: each is taken once, and what is left over is an error.

use super::{Decoded, Immediate, Role};
use crate::program::{Action, Compute};

/// Rounding modes as constants for generic functions (PTX ISA 9.7.3: `.rn .rz .rm .rp`).
pub(super) const NEAREST: u8 = 0;
/// `.rz`
pub(super) const ZERO: u8 = 1;
/// `.rm`
pub(super) const DOWN: u8 = 2;
/// `.rp`
pub(super) const UP: u8 = 3;

/// `d, a`
pub(super) const UNARY: &[Role] = &[Role::Destination, Role::Source];
/// `d, a, b`
pub(super) const BINARY: &[Role] = &[Role::Destination, Role::Source, Role::Source];
/// `d, a, b, c`
pub(super) const TERNARY: &[Role] = &[Role::Destination, Role::Source, Role::Source, Role::Source];

/// The modifiers of one mnemonic that are not interpreted yet.
pub(super) struct Modifiers<'a> {
    left: Vec<&'a str>,
}

impl<'a> Modifiers<'a> {
    /// All of them.
    pub(super) fn new(modifiers: &[&'a str]) -> Self {
        Self {
            left: modifiers.to_vec(),
        }
    }

    /// Takes the last one, which is the type.
    pub(super) fn ty(&mut self) -> &'a str {
        self.left.pop().unwrap_or("")
    }

    /// Takes a modifier if it is there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        let position = self.left.iter().position(|&modifier| modifier == name);
        position.map(|index| self.left.remove(index)).is_some()
    }

    /// Takes the first of these that is there: its index.
    pub(super) fn one_of(&mut self, names: &[&str]) -> Option<usize> {
        names.iter().position(|name| self.flag(name))
    }

    /// Takes `.rn`, `.rz`, `.rm` or `.rp`.
    pub(super) fn rounding(&mut self) -> Option<u8> {
        self.one_of(&["rn", "rz", "rm", "rp"])
            .map(|index| index as u8)
    }

    /// Takes `.rn`, `.rz`, `.rm` or `.rp`, which the instruction must have.
    pub(super) fn required_rounding(&mut self) -> Result<u8, String> {
        self.rounding()
            .ok_or_else(|| "no rounding modifier (one of .rn, .rz, .rm, .rp is required)".into())
    }

    /// The decoded instruction, if nothing is left over.
    pub(super) fn finish(
        self,
        compute: Compute,
        roles: &'static [Role],
        immediate: Immediate,
    ) -> Result<Decoded, String> {
        match self.left.first() {
            Some(modifier) => Err(format!("modifier `.{modifier}`")),
            None => Ok(Decoded {
                action: Action::Compute(compute),
                roles,
                immediate,
            }),
        }
    }

    /// [`finish`](Self::finish) with integer immediates.
    pub(super) fn integer(
        self,
        compute: Compute,
        roles: &'static [Role],
    ) -> Result<Decoded, String> {
        self.finish(compute, roles, Immediate::Integer)
    }
}

/// Picks the instance of a function generic over a rounding mode and flags from their values at
/// decode time: `instance!(add[rounding; ftz, sat])` is `add::<ROUNDING, FTZ, SAT>()`.
macro_rules! instance {
    (@flags $f:ident [$($types:ty),*] [$($done:tt)*]) => { $f::<$($types,)* $($done)*>() };
    (@flags $f:ident [$($types:ty),*] [$($done:tt)*] $flag:expr $(, $rest:expr)*) => {
        if $flag {
            instance!(@flags $f [$($types),*] [$($done)* true,] $($rest),*)
        } else {
            instance!(@flags $f [$($types),*] [$($done)* false,] $($rest),*)
        }
    };
    ($f:ident $(<$($types:ty),+>)? [; $($flag:expr),+]) => {
        instance!(@flags $f [$($($types),+)?] [] $($flag),+)
    };
    ($f:ident $(<$($types:ty),+>)? [$rounding:expr; $($flag:expr),*]) => {
        match $rounding {
            $crate::isa::modifiers::ZERO =>
                instance!(@flags $f [$($($types),+)?] [{ $crate::isa::modifiers::ZERO },] $($flag),*),
            $crate::isa::modifiers::DOWN =>
                instance!(@flags $f [$($($types),+)?] [{ $crate::isa::modifiers::DOWN },] $($flag),*),
            $crate::isa::modifiers::UP =>
                instance!(@flags $f [$($($types),+)?] [{ $crate::isa::modifiers::UP },] $($flag),*),
            _ => instance!(@flags $f [$($($types),+)?] [{ $crate::isa::modifiers::NEAREST },] $($flag),*),
        }
    };
}

pub(super) use instance;
