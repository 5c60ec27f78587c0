//! One function: its items in order, each statement to an instruction.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::super::ast::{Function, Item, Operand as Written, Statement, Type};
use super::builder::Builder;
use super::check::{immediate_bits, negation};
use super::decode::decode;
use super::frame::{Frame, Symbol, small};
use crate::isa::{Decoded, Opcode, Role};
use crate::program::{Action, Guard, Instruction, Operand};

/// Where the statement that is being lowered stands and what it is guarded by.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) guard: Option<Guard>,
    pub(super) line: u32,
    pub(super) text: u32,
}

impl<'a> Builder<'a> {
    /// Lowers a function to the end of the program: the range of its instructions.
    pub(super) fn function(&mut self, function: &'a Function) -> Range<usize> {
        let start = self.program.instructions.len();
        if let Some(signature) = self.signatures.get_mut(function.name.as_str()) {
            signature.start = small(start as u64);
        }
        let places = self.arguments_in_place(function);
        let mut frame = self.frame(function, &places);
        for symbol in frame.names.values() {
            if let Symbol::Register(register, ty) = symbol {
                self.width(*register, *ty);
            }
        }
        let mut flow = super::control::Flow::new(function);
        for item in &function.body {
            match item {
                Item::Label(label) => {
                    let at = small(self.program.instructions.len() as u64);
                    if flow.labels.insert(label, at).is_some() {
                        let message = format!("label `{label}` stands twice");
                        self.problems.add(function.line, &message, "");
                    }
                }
                Item::Statement(statement) => {
                    if let Err(message) = self.statement(statement, &mut frame, &mut flow) {
                        self.problems.add(statement.line, &message, &statement.text);
                    }
                }
                _ => {}
            }
        }
        self.end(function);
        flow.resolve(self);
        start..self.program.instructions.len()
    }

    fn width(&mut self, register: u32, ty: Type) {
        let register = register as usize;
        if self.widths.len() <= register {
            self.widths.resize(register + 1, 0);
        }
        self.widths[register] = ty.bits() as u8;
    }

    /// A body that runs off its end returns (PTX ISA 9.7.12, `ret`).
    fn end(&mut self, function: &'a Function) {
        let last = self
            .program
            .instructions
            .last()
            .map_or(1, |instruction| instruction.line);
        self.program
            .texts
            .push("ret (implied at the end of the body)".to_owned());
        let text = small(self.program.texts.len() as u64 - 1);
        let place = Place {
            guard: None,
            line: last.max(function.line),
            text,
        };
        if let Ok((opcode, _)) = decode("ret", &[]) {
            let action = self.return_action(function);
            self.push(opcode, action, place);
        }
    }

    pub(super) fn return_action(&self, function: &Function) -> Action {
        match self.signatures.get(function.name.as_str()) {
            Some(signature) if !function.entry => Action::Return {
                return_register: signature.return_register,
            },
            _ => Action::Exit,
        }
    }

    /// Appends an instruction without operands; they are filled in afterwards.
    pub(super) fn push(
        &mut self,
        opcode: &'static Opcode,
        action: Action,
        place: Place,
    ) -> &mut Instruction {
        self.program.instructions.push(Instruction {
            opcode,
            action,
            guard: place.guard,
            destinations: ArrayVec::new(),
            sources: ArrayVec::new(),
            offset: 0,
            line: place.line,
            text: place.text,
        });
        let last = self.program.instructions.len() - 1;
        &mut self.program.instructions[last]
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        frame: &mut Frame<'a>,
        flow: &mut super::control::Flow<'a>,
    ) -> Result<(), String> {
        let (opcode, decoded) = decode(&statement.opcode, &statement.modifiers)?;
        self.program.texts.push(statement.text.clone());
        let text = small(self.program.texts.len() as u64 - 1);
        let guard = match &statement.guard {
            Some((name, negated)) => Some(Guard {
                register: self.predicate(frame, name)?,
                negated: *negated,
            }),
            None => None,
        };
        let place = Place {
            guard,
            line: statement.line,
            text,
        };
        match decoded.action {
            Action::Call { .. } => self.call(statement, frame, opcode, place),
            Action::Return { .. } => {
                self.count(statement, &[])?;
                let action = self.return_action(frame.function);
                self.push(opcode, action, place);
                Ok(())
            }
            _ => self.plain(statement, frame, flow, opcode, decoded, place),
        }
    }

    /// Refuses a number of operands that does not fit the roles; gives the roles present.
    fn count(&self, statement: &Statement, roles: &[Role]) -> Result<Vec<Role>, String> {
        let hidden = |role: &Role| matches!(role, Role::CarryIn | Role::CarryOut);
        let optional = |role: &Role| {
            matches!(
                role,
                Role::OptionalSource | Role::OptionalPredicateSource | Role::Ignored
            )
        };
        let given = statement.operands.len();
        let most = roles.iter().filter(|role| !hidden(role)).count();
        let least = roles
            .iter()
            .filter(|role| !hidden(role) && !optional(role))
            .count();
        if given < least || given > most {
            let required = if least == most {
                least.to_string()
            } else {
                format!("{least} to {most}")
            };
            return Err(format!(
                "{required} operands are required, {given} are given"
            ));
        }
        let mut spare = given - least;
        let mut present = Vec::with_capacity(roles.len());
        for role in roles {
            if optional(role) {
                if spare == 0 {
                    continue;
                }
                spare -= 1;
            }
            present.push(*role);
        }
        Ok(present)
    }

    fn plain(
        &mut self,
        statement: &'a Statement,
        frame: &mut Frame<'a>,
        flow: &mut super::control::Flow<'a>,
        opcode: &'static Opcode,
        decoded: Decoded,
        place: Place,
    ) -> Result<(), String> {
        let present = self.count(statement, decoded.roles)?;
        let mut action = decoded.action;
        let mut written = statement.operands.iter();
        let mut destinations: ArrayVec<Operand, 8> = ArrayVec::new();
        let mut sources: ArrayVec<Operand, 10> = ArrayVec::new();
        let mut offset = 0;
        let too_many = |_| "too many operands".to_owned();
        let mut label = None;
        for role in present {
            if role == Role::CarryIn {
                let carry = self.carry(frame);
                sources
                    .try_push(Operand::Register(carry))
                    .map_err(too_many)?;
                continue;
            }
            if role == Role::CarryOut {
                let carry = self.carry(frame);
                destinations
                    .try_push(Operand::Register(carry))
                    .map_err(|_| "too many operands")?;
                continue;
            }
            let Some(operand) = written.next() else {
                return Err("an operand is missing".to_owned());
            };
            match role {
                Role::Destination => self.destinations(frame, operand, &mut destinations)?,
                Role::DestinationAndPredicate => {
                    let (first, second) = match operand {
                        Written::Pair(first, second) => (first.as_ref(), second.as_ref()),
                        operand => (operand, &Written::Sink),
                    };
                    self.destinations(frame, first, &mut destinations)?;
                    self.destinations(frame, second, &mut destinations)?;
                }
                Role::Source | Role::OptionalSource => {
                    let bits = immediate_bits(&action, &statement.modifiers, sources.len());
                    let kind = (decoded.immediate, bits);
                    self.sources(frame, operand, kind, &mut sources)?;
                }
                Role::PredicateSource | Role::OptionalPredicateSource => {
                    let source = match (operand, negation(&mut action)) {
                        (Written::Negated(name), Some(negated)) => {
                            *negated = true;
                            Operand::Register(self.predicate(frame, name)?)
                        }
                        (Written::Negated(name), None) => self.negated(frame, name, place)?,
                        _ => self.value(frame, operand, (decoded.immediate, 32))?,
                    };
                    sources.try_push(source).map_err(too_many)?;
                }
                Role::Address => {
                    let base = self.address(frame, operand, &mut action, &mut offset)?;
                    sources.try_push(base).map_err(too_many)?;
                }
                Role::Label => match operand {
                    Written::Name(name) => label = Some(name.as_str()),
                    _ => return Err("a label is required".to_owned()),
                },
                Role::Ignored | Role::CarryIn | Role::CarryOut => {}
            }
        }
        self.check(frame, statement, &mut action, &destinations, &sources)?;
        if let Some(label) = label {
            flow.refer(label, self.program.instructions.len(), statement);
        }
        let instruction = self.push(opcode, action, place);
        instruction.destinations = destinations;
        instruction.sources = sources;
        instruction.offset = offset;
        Ok(())
    }

    fn carry(&mut self, frame: &mut Frame<'a>) -> u32 {
        *frame
            .carry
            .get_or_insert_with(|| self.register("carry flag".to_owned()))
    }
}
