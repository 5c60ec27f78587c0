//! The instruction table: an opcode is declared once, in one row; the parser's lowering, the
//! executor, the coverage list and the fixtures' test all follow from it.

mod bits;
mod compare;
mod convert;
mod dot_product;
mod exact;
mod extended;
mod float32;
mod float64;
mod half;
mod integer;
mod lanes;
mod logic;
mod modifiers;
mod moves;
mod special;

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
    /// another row of this name; [`decode`] then tries that one.
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
    /// What each operand is, in order. Trailing `Optional…` roles may be absent.
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
    /// Present in the text and ignored (cache policy operands and the like).
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
    let chapters: [&'static [Opcode]; 12] = [
        integer::ROWS,
        extended::ROWS,
        dot_product::ROWS,
        bits::ROWS,
        logic::ROWS,
        float32::ROWS,
        float64::ROWS,
        half::ROWS,
        special::ROWS,
        compare::ROWS,
        convert::ROWS,
        moves::ROWS,
    ];
    chapters.into_iter().flat_map(|rows| rows.iter())
}

/// Finds the row for a mnemonic, split at its dots, and decodes the modifiers.
///
/// # Errors
/// What is not supported: the opcode, its type, or a modifier.
pub fn decode(name: &str, modifiers: &[&str]) -> Result<(&'static Opcode, Decoded), String> {
    let mut found = false;
    for opcode in opcodes().filter(|opcode| opcode.name == name) {
        found = true;
        match (opcode.decode)(modifiers) {
            Err(message) if message.is_empty() => {}
            Err(message) => return Err(message),
            Ok(decoded) => return Ok((opcode, decoded)),
        }
    }
    Err(if found {
        format!("`{name}` on type `.{}`", modifiers.last().unwrap_or(&""))
    } else {
        format!("opcode `{name}`")
    })
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
