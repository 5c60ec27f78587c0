//! Operands as written to operands as executed.

use arrayvec::ArrayVec;

use super::super::ast::{Operand as Written, Space, Type};
use super::builder::Builder;
use super::frame::{Frame, Symbol};
use super::function::Place;
use super::special::special;
use crate::isa::{Class, Immediate, Opcode};
use crate::program::{Action, Lanes, Operand};

/// How an immediate is read: its type, and for integers the bits that count.
pub(super) type Kind = (Immediate, u32);

/// Copies that the lowering inserts.
pub(super) static COPY: Opcode = Opcode {
    name: "mov",
    class: Class::Integer,
    decode: |_| Err("inserted by the lowering".to_owned()),
};

/// Negations of predicates that the lowering inserts.
static NEGATE: Opcode = Opcode {
    name: "not",
    class: Class::Integer,
    decode: |_| Err("inserted by the lowering".to_owned()),
};

pub(super) fn copy(sources: &[&Lanes], destinations: &mut [Lanes]) {
    for (source, destination) in sources.iter().zip(destinations) {
        *destination = **source;
    }
}

fn negate(sources: &[&Lanes], destinations: &mut [Lanes]) {
    for (source, destination) in sources.iter().zip(destinations) {
        *destination = source.map(|predicate| (predicate & 1) ^ 1);
    }
}

impl<'a> Builder<'a> {
    /// The register of a guard or predicate operand.
    pub(super) fn predicate(&mut self, frame: &mut Frame<'a>, name: &str) -> Result<u32, String> {
        match self.lookup(frame, name) {
            Some(Symbol::Register(register, Type::Predicate)) => Ok(register),
            Some(_) => Err(format!("`{name}` is not a predicate register")),
            None => Err(unknown(name)),
        }
    }

    /// A negated copy of a predicate, made under the statement's guard.
    pub(super) fn negated(
        &mut self,
        frame: &mut Frame<'a>,
        name: &str,
        place: Place,
    ) -> Result<Operand, String> {
        let source = self.predicate(frame, name)?;
        let hidden = Operand::Register(self.register(format!("!{name}")));
        let instruction = self.push(&NEGATE, Action::Compute(negate), place);
        instruction.sources.push(Operand::Register(source));
        instruction.destinations.push(hidden);
        Ok(hidden)
    }

    /// What an instruction writes: a register, `_`, or a vector of these.
    pub(super) fn destinations(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Written,
        out: &mut ArrayVec<Operand, 8>,
    ) -> Result<(), String> {
        if let Written::Vector(elements) = operand {
            for element in elements {
                if matches!(element, Written::Vector(_)) {
                    return Err("a vector inside a vector".to_owned());
                }
                self.destinations(frame, element, out)?;
            }
            return Ok(());
        }
        let destination = match operand {
            Written::Sink => Operand::Discard,
            Written::Name(name) => match self.lookup(frame, name) {
                Some(Symbol::Register(_, Type::B128)) => return Err(wide(name)),
                Some(Symbol::Register(register, _)) => Operand::Register(register),
                Some(_) => return Err(format!("`{name}` is not a register")),
                None => return Err(unknown(name)),
            },
            _ => return Err("a register is required as destination".to_owned()),
        };
        out.try_push(destination)
            .map_err(|_| "too many destinations".to_owned())
    }

    /// What an instruction reads: a value or a vector of values.
    pub(super) fn sources(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Written,
        kind: Kind,
        out: &mut ArrayVec<Operand, 10>,
    ) -> Result<(), String> {
        let elements = match operand {
            Written::Vector(elements) => elements.as_slice(),
            operand => std::slice::from_ref(operand),
        };
        for element in elements {
            let value = self.value(frame, element, kind)?;
            out.try_push(value)
                .map_err(|_| "too many operands".to_owned())?;
        }
        Ok(())
    }

    /// One value.
    pub(super) fn value(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Written,
        kind: Kind,
    ) -> Result<Operand, String> {
        match operand {
            Written::Name(name) => self.named(frame, name, 0),
            Written::Sum(name, offset) => self.named(frame, name, *offset),
            Written::Integer(_) | Written::Float32(_) | Written::Float64(_) => {
                let bits = immediate(operand, kind)?;
                Ok(self.constant(bits))
            }
            Written::Negated(name) => Err(format!("`!{name}` cannot stand here")),
            Written::Sink => Err("`_` has no value".to_owned()),
            _ => Err(format!("`{operand}` cannot stand here")),
        }
    }

    fn named(&mut self, frame: &mut Frame<'a>, name: &str, offset: i64) -> Result<Operand, String> {
        match self.lookup(frame, name) {
            Some(Symbol::Register(_, Type::B128)) => Err(wide(name)),
            Some(Symbol::Register(register, _)) if offset == 0 => Ok(Operand::Register(register)),
            Some(Symbol::Register(..)) => Err(format!("`{name}` is a register: no offset here")),
            Some(symbol) => self.symbol_address(symbol, offset),
            None if offset == 0 && name == "WARP_SZ" => Ok(self.constant(32)),
            None if self.symbols.functions.contains_key(name) => Err(format!(
                "the address of function `{name}` (indirect calls are not supported)"
            )),
            None => match special(name) {
                Some(register) if offset == 0 => Ok(Operand::Special(register)),
                _ => Err(unknown(name)),
            },
        }
    }

    /// A variable's address in its own space.
    fn symbol_address(&mut self, symbol: Symbol, offset: i64) -> Result<Operand, String> {
        Ok(match symbol {
            Symbol::Register(register, _) => Operand::Register(register),
            Symbol::Parameter(at) | Symbol::Local(at) | Symbol::Shared(at) => {
                self.constant(u64::from(at).wrapping_add_signed(offset))
            }
            Symbol::DynamicShared => self.dynamic_address(offset),
            Symbol::Device(index, _) => {
                if let Some(refusal) = self.symbols.refusal(index) {
                    return Err(refusal.to_owned());
                }
                self.device_address(index, offset)
            }
        })
    }

    /// The base of `[…]`; sets the offset and, for parameters, the action's space.
    pub(super) fn address(
        &mut self,
        frame: &mut Frame<'a>,
        operand: &Written,
        action: &mut Action,
        offset: &mut i64,
    ) -> Result<Operand, String> {
        let Written::Address { base, offset: by } = operand else {
            return Err("an address `[…]` is required".to_owned());
        };
        *offset = *by;
        let name = match base.as_ref() {
            Written::Integer(address) => return Ok(self.constant(*address)),
            Written::Name(name) => name,
            _ => return Err(format!("the address `{operand}`")),
        };
        let Some(symbol) = self.lookup(frame, name) else {
            return Err(unknown(name));
        };
        let parameter = if frame.function.entry {
            Space::Parameter
        } else {
            Space::Local
        };
        let (Action::Load(access) | Action::Store(access) | Action::Atomic(access, _)) = action
        else {
            return self.symbol_address(symbol, 0);
        };
        let lives = match symbol {
            Symbol::Register(..) => access.space,
            Symbol::Parameter(_) => Space::Parameter,
            // Call parameters are local memory that only `ld.param` and `st.param` name.
            Symbol::Local(_) if access.space == Space::Parameter => Space::Parameter,
            Symbol::Local(_) => Space::Local,
            Symbol::Shared(_) | Symbol::DynamicShared => Space::Shared,
            Symbol::Device(_, space) => space,
        };
        let generic =
            access.space == Space::Generic && matches!(lives, Space::Global | Space::Constant);
        if lives != access.space && !generic {
            return Err(format!(
                "`{name}` does not live in the state space of this access"
            ));
        }
        if access.space == Space::Parameter {
            access.space = match symbol {
                Symbol::Parameter(_) => Space::Parameter,
                Symbol::Local(_) => Space::Local,
                _ => parameter,
            };
        }
        self.symbol_address(symbol, 0)
    }

    /// A copy between registers or from a constant, under a guard.
    pub(super) fn copy(&mut self, to: u32, from: Operand, place: Place) {
        let instruction = self.push(&COPY, Action::Compute(copy), place);
        instruction.sources.push(from);
        instruction.destinations.push(Operand::Register(to));
    }
}

/// The bits of a literal as the instruction's type reads it.
pub(super) fn immediate(operand: &Written, (kind, bits): Kind) -> Result<u64, String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "decimal literals round to the type"
    )]
    let single = |bits: u64| u64::from((f64::from_bits(bits) as f32).to_bits());
    let double = |bits: u32| f64::from(f32::from_bits(bits)).to_bits();
    match (operand, kind) {
        (Written::Integer(value), Immediate::Integer) => Ok(if bits >= 64 {
            *value
        } else {
            value & ((1 << bits) - 1)
        }),
        (Written::Integer(_), _) => Err(format!(
            "`{operand}` is an integer, a floating-point literal is required"
        )),
        (Written::Float32(value), Immediate::Float64) => Ok(double(*value)),
        (Written::Float32(value), _) => Ok(u64::from(*value)),
        (Written::Float64(value), Immediate::Float32) => Ok(single(*value)),
        // `mov.b32 r, 1.5` and the like: the bits at the instruction's width.
        (Written::Float64(value), Immediate::Integer) if bits == 32 => Ok(single(*value)),
        (Written::Float64(value), _) => Ok(*value),
        _ => Err(format!("`{operand}` is not a literal")),
    }
}

fn unknown(name: &str) -> String {
    if name.starts_with('%') && !name.contains('.') {
        format!("`{name}` is not a declared register, nor a special register that is supported")
    } else {
        format!("`{name}` is not declared")
    }
}

fn wide(name: &str) -> String {
    format!("`{name}` has 128 bits, which registers here do not have")
}
