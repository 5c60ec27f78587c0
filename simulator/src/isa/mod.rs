//! The instruction table: an opcode is declared once, in one row; the parser's lowering, the
//! executor, the coverage list and the fixtures' test all follow from it.

mod barrier;
mod bits;
mod compare;
mod control;
mod convert;
mod convert_packed;
mod dot_product;
mod exact;
mod extended;
mod extremum;
mod float32;
mod float64;
mod half;
mod integer;
mod lanes;
mod logic;
mod memory;
mod modifiers;
mod moves;
#[cfg(test)]
mod proofs;
mod select;
mod special;
mod warp;

use crate::program::Action;

/// One row: everything the simulator knows about an opcode in one type family. A name may have
/// several rows, for example `add` on integers and on single precision: their resources differ.
pub struct Opcode {
    /// First part of the mnemonic.
    pub name: &'static str,
    /// Execution resource, for the timing model.
    pub class: Class,
    /// Interprets the modifiers. An error says what is not supported, for example
    /// "rounding `.rm` of `add.f32`"; line and text are added by the caller. An empty error says that the type belongs to
    /// another row of this name.
    pub decode: fn(&[&str]) -> Result<Decoded, String>,
}

impl std::fmt::Debug for Opcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What the modifiers mean.
pub struct Decoded {
    /// What to do; branch and call targets are filled in by the lowering.
    pub action: Action,
    /// What each operand is, in order. `Optional…` and `Ignored` roles may be absent, also in the
    /// middle: with fewer operands than roles, the last ones of these stay empty.
    pub roles: &'static [Role],
    /// Type of immediates: how a decimal float literal is converted.
    pub immediate: Immediate,
}

/// What an operand of an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Written: a register or a vector of registers, or `_`.
    Destination,
    /// Written: `d` or `d|p`; without `|p` the second destination is `Discard`.
    DestinationAndPredicate,
    /// Read: register, special register, immediate, variable's address, or a vector of these.
    Source,
    /// Read if present.
    OptionalSource,
    /// Read as a predicate that may be written `!p`: decoding inserts a negated copy.
    PredicateSource,
    /// The same, if present.
    OptionalPredicateSource,
    /// `[base+offset]`.
    Address,
    /// A label.
    Label,
    /// Ignored, and may be absent (cache policy operands and the like).
    Ignored,
    /// The carry flag as a hidden extra source (`addc`); takes no operand of the text.
    CarryIn,
    /// The carry flag as a hidden extra destination (`add.cc`); takes no operand of the text.
    CarryOut,
}

/// The type decimal float literals are converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Immediate {
    Integer,
    Float32,
    Float64,
}

/// Execution resources that the timing model tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// 32-bit integer and logic, moves, comparisons, selects.
    Integer,
    /// Integer multiplies and multiply-adds.
    IntegerMultiply,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
    /// `rcp`, `sqrt`, `sin`, `ex2`, …: the special function unit.
    Special,
    /// Conversions between types.
    Convert,
    /// Loads, stores and atomics: the load/store unit.
    Memory,
    /// Branches, calls, returns.
    Control,
    /// Block and warp barriers.
    Barrier,
    /// Shuffles, votes, match, redux.
    Warp,
}

/// All rows. Each file of this folder holds the rows of one chapter of the PTX ISA.
pub fn opcodes() -> impl Iterator<Item = &'static Opcode> {
    let chapters: [&'static [Opcode]; 18] = [
        integer::ROWS,
        extended::ROWS,
        dot_product::ROWS,
        bits::ROWS,
        logic::ROWS,
        float32::ROWS,
        extremum::ROWS,
        float64::ROWS,
        half::ROWS,
        special::ROWS,
        compare::ROWS,
        select::ROWS,
        convert::ROWS,
        moves::ROWS,
        memory::ROWS,
        control::ROWS,
        barrier::ROWS,
        warp::ROWS,
    ];
    chapters.into_iter().flatten()
}

/// A row of the table.
const fn row(
    name: &'static str,
    class: Class,
    decode: fn(&[&str]) -> Result<Decoded, String>,
) -> Opcode {
    Opcode {
        name,
        class,
        decode,
    }
}
