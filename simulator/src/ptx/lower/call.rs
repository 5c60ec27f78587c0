//! Calls: what is not built in place (see `in_place`) is copied. Since recursion is refused, every
//! function has one frame.

use super::super::ast::{Operand as Written, Space, Statement, Type};
use super::builder::Builder;
use super::decode::decode;
use super::frame::{Formal, Frame, Symbol};
use super::function::Place;
use crate::isa::{Immediate, Opcode};
use crate::program::{Access, Action, CacheHint, Operand};

/// A call's operands by their part.
pub(super) struct Parts<'s> {
    pub(super) returns: &'s [Written],
    pub(super) callee: &'s str,
    pub(super) arguments: &'s [Written],
}

pub(super) fn parts(statement: &Statement) -> Result<Parts<'_>, String> {
    match statement.operands.as_slice() {
        [Written::Name(callee)] => Ok(Parts {
            returns: &[],
            callee,
            arguments: &[],
        }),
        [Written::Name(callee), Written::List(arguments)] => Ok(Parts {
            returns: &[],
            callee,
            arguments,
        }),
        [Written::List(returns), Written::Name(callee)] => Ok(Parts {
            returns,
            callee,
            arguments: &[],
        }),
        [
            Written::List(returns),
            Written::Name(callee),
            Written::List(arguments),
        ] => Ok(Parts {
            returns,
            callee,
            arguments,
        }),
        [.., Written::Name(_)] => Err("indirect calls are not supported".to_owned()),
        _ => Err("`call (results), function, (arguments)` is required".to_owned()),
    }
}

impl<'a> Builder<'a> {
    pub(super) fn call(
        &mut self,
        statement: &'a Statement,
        frame: &mut Frame<'a>,
        opcode: &'static Opcode,
        place: Place,
    ) -> Result<(), String> {
        let parts = parts(statement)?;
        let name = parts.callee;
        let Some(signature) = self.signatures.get(name) else {
            return Err(match self.lookup(frame, name) {
                Some(Symbol::Register(..)) => "indirect calls are not supported".to_owned(),
                _ => match self.symbols.functions.get(name) {
                    Some(_) => {
                        format!("`{name}` is an entry: device-side launches are not supported")
                    }
                    None => format!("function `{name}` has no body in this module"),
                },
            });
        };
        let (returns, parameters) = (signature.returns.clone(), signature.parameters.clone());
        let return_register = signature.return_register;
        for (given, formals, what) in [
            (parts.returns, &returns, "results"),
            (parts.arguments, &parameters, "arguments"),
        ] {
            if given.len() != formals.len() {
                return Err(format!(
                    "`{name}` has {} {what}, {} are given",
                    formals.len(),
                    given.len()
                ));
            }
        }
        for (argument, formal) in parts.arguments.iter().zip(&parameters) {
            self.pass(frame, argument, formal, place)?;
        }
        let (&key, _) = self
            .symbols
            .functions
            .get_key_value(name)
            .ok_or("unknown function")?;
        self.calls.push((self.program.instructions.len(), key));
        self.push(
            opcode,
            Action::Call {
                target: 0,
                return_register,
            },
            place,
        );
        for (result, formal) in parts.returns.iter().zip(&returns) {
            self.receive(frame, result, formal, place)?;
        }
        Ok(())
    }

    fn pass(
        &mut self,
        frame: &mut Frame<'a>,
        argument: &Written,
        formal: &Formal,
        place: Place,
    ) -> Result<(), String> {
        if let Written::Name(name) = argument
            && let Some(Symbol::Local(from)) = self.lookup(frame, name)
        {
            self.copy_memory(from, formal, true, place);
            return Ok(());
        }
        let bits = match formal.symbol {
            Symbol::Register(_, ty) => ty.bits(),
            _ => formal.bytes * 8,
        };
        let value = self.value(
            frame,
            argument,
            (Immediate::Integer, bits.clamp(1, 64) as u32),
        )?;
        match formal.symbol {
            Symbol::Register(to, _) => self.copy(to, value, place),
            Symbol::Local(to) => {
                if !matches!(formal.bytes, 1 | 2 | 4 | 8) {
                    return Err("a register cannot be passed for an array".to_owned());
                }
                self.store(to, value, formal.bytes as u8, place);
            }
            _ => {}
        }
        Ok(())
    }

    fn receive(
        &mut self,
        frame: &mut Frame<'a>,
        result: &Written,
        formal: &Formal,
        place: Place,
    ) -> Result<(), String> {
        let Written::Name(name) = result else {
            return if *result == Written::Sink {
                Ok(())
            } else {
                Err("a register or `.param` variable is required for a result".to_owned())
            };
        };
        match (self.lookup(frame, name), formal.symbol) {
            (Some(Symbol::Local(to)), _) => {
                self.copy_memory(to, formal, false, place);
                Ok(())
            }
            (Some(Symbol::Register(to, ty)), Symbol::Register(from, formal_type)) => {
                if ty.bits() != formal_type.bits() {
                    return Err(format!("`{name}` has another width than the result"));
                }
                self.copy(to, Operand::Register(from), place);
                Ok(())
            }
            (Some(Symbol::Register(to, ty)), Symbol::Local(from)) => {
                if ty == Type::Predicate || ty.bits() / 8 != formal.bytes {
                    return Err(format!("`{name}` has another width than the result"));
                }
                self.load(to, from, formal.bytes as u8, place);
                Ok(())
            }
            _ => Err(format!("`{name}` cannot take a result")),
        }
    }

    /// Copies between a variable of the caller and a formal parameter, `to_formal` or back.
    fn copy_memory(&mut self, own: u32, formal: &Formal, to_formal: bool, place: Place) {
        match formal.symbol {
            Symbol::Register(register, ty) => {
                let bytes = (ty.bits() / 8) as u8;
                if to_formal {
                    self.load(register, own, bytes, place);
                } else {
                    self.store(own, Operand::Register(register), bytes, place);
                }
            }
            // Built in place.
            Symbol::Local(at) if at == own => {}
            Symbol::Local(at) => {
                let unit = formal.align.clamp(1, 8);
                let hidden = self.register("argument".to_owned());
                let mut done = 0;
                while done < formal.bytes {
                    let left = formal.bytes - done;
                    let step = if left >= unit { unit } else { 1 };
                    let offset = done as u32;
                    let (from, to) = if to_formal { (own, at) } else { (at, own) };
                    self.load(hidden, from + offset, step as u8, place);
                    self.store(to + offset, Operand::Register(hidden), step as u8, place);
                    done += step;
                }
            }
            _ => {}
        }
    }

    fn load(&mut self, to: u32, from: u32, bytes: u8, place: Place) {
        let address = self.constant(u64::from(from));
        if let Ok((opcode, _)) = decode("ld", &["param".to_owned(), "b32".to_owned()]) {
            let instruction = self.push(opcode, Action::Load(local(bytes)), place);
            instruction.sources.push(address);
            instruction.destinations.push(Operand::Register(to));
        }
    }

    fn store(&mut self, to: u32, value: Operand, bytes: u8, place: Place) {
        let address = self.constant(u64::from(to));
        if let Ok((opcode, _)) = decode("st", &["param".to_owned(), "b32".to_owned()]) {
            let instruction = self.push(opcode, Action::Store(local(bytes)), place);
            instruction.sources.push(address);
            instruction.sources.push(value);
        }
    }
}

fn local(bytes: u8) -> Access {
    Access {
        space: Space::Local,
        bytes,
        count: 1,
        sign_extend_to: 0,
        strong: false,
        acquire: false,
        release: false,
        cache: CacheHint::Default,
    }
}
