//! Where the names of one function live: its registers and its variables.

use std::collections::HashMap;

use super::super::ast::{Function, Item, Space, Type, Variable};
use super::builder::Builder;

/// What a name of a function stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A register and its type.
    Register(u32, Type),
    /// A kernel parameter: byte offset in the parameter block.
    Parameter(u32),
    /// Byte offset in the thread's local frame.
    Local(u32),
    /// Byte offset in the block's shared memory.
    Shared(u32),
    /// Dynamic shared memory, whose place is known at the end.
    DynamicShared,
    /// Index of a device variable, and its space.
    Device(u32, Space),
}

/// A formal parameter of a `.func`.
#[derive(Debug, Clone)]
pub(super) struct Formal {
    pub(super) symbol: Symbol,
    pub(super) bytes: u64,
    pub(super) align: u64,
}

/// A function that the program contains: fixed before its body is lowered, so that callers know
/// where arguments go.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) returns: Vec<Formal>,
    pub(super) parameters: Vec<Formal>,
    pub(super) return_register: u32,
    /// First instruction, once lowered.
    pub(super) start: u32,
}

/// Names of the function that is being lowered.
pub(super) struct Frame<'a> {
    pub(super) function: &'a Function,
    pub(super) names: HashMap<&'a str, Symbol>,
    /// Hidden carry flag, once used.
    pub(super) carry: Option<u32>,
}

impl<'a> Builder<'a> {
    /// Places the formal parameters of a `.func`, once.
    pub(super) fn signature(&mut self, function: &'a Function) {
        if self.signatures.contains_key(function.name.as_str()) {
            return;
        }
        let returns = function
            .returns
            .iter()
            .map(|formal| self.formal(function, formal))
            .collect();
        let parameters = function
            .parameters
            .iter()
            .map(|formal| self.formal(function, formal))
            .collect();
        let return_register = self.register(format!("return address of {}", function.name));
        let signature = Signature {
            returns,
            parameters,
            return_register,
            start: 0,
        };
        self.signatures.insert(&function.name, signature);
        self.queue.push(function);
    }

    fn formal(&mut self, function: &Function, formal: &Variable) -> Formal {
        let bytes = formal.bytes.unwrap_or(0);
        let symbol = if formal.space == Space::Register {
            Symbol::Register(self.register(formal.name.clone()), formal.ty)
        } else {
            if formal.bytes.is_none() {
                let message = format!("`{}` has no size (variable arguments)", formal.name);
                self.problems.add(formal.line, &message, "");
            }
            // Aligned for every caller, so that arguments can be written in place.
            let name = format!("{} of {}", formal.name, function.name);
            Symbol::Local(self.local(name, bytes, formal.align.max(16), formal.line))
        };
        Formal {
            symbol,
            bytes,
            align: formal.align,
        }
    }

    /// Declares all names of a function. `places` gives arguments a place in their callee.
    pub(super) fn frame(
        &mut self,
        function: &'a Function,
        places: &HashMap<&'a str, Symbol>,
    ) -> Frame<'a> {
        let mut names: HashMap<&'a str, Symbol> = HashMap::new();
        if function.entry {
            self.entry_parameters(function, &mut names);
        } else if let Some(signature) = self.signatures.get(function.name.as_str()) {
            let formals = signature.returns.iter().chain(&signature.parameters);
            let declared = function.returns.iter().chain(&function.parameters);
            for (formal, declared) in formals.zip(declared) {
                names.insert(&declared.name, formal.symbol);
            }
        }
        for item in &function.body {
            match item {
                Item::Registers {
                    ty,
                    names: declared,
                } => {
                    for name in declared {
                        let register = self.register(name.clone());
                        names.insert(name, Symbol::Register(register, *ty));
                    }
                }
                Item::Variable(variable) => {
                    let symbol = match places.get(variable.name.as_str()) {
                        Some(place) => *place,
                        None => self.body_variable(function, variable),
                    };
                    names.insert(&variable.name, symbol);
                }
                _ => {}
            }
        }
        Frame {
            function,
            names,
            carry: None,
        }
    }

    /// The parameter block: each parameter at the next multiple of its alignment.
    fn entry_parameters(&mut self, function: &'a Function, names: &mut HashMap<&'a str, Symbol>) {
        let mut end = 0u64;
        for formal in &function.parameters {
            let bytes = formal.bytes.unwrap_or(0);
            let offset = end.next_multiple_of(formal.align.max(1));
            end = offset + bytes;
            if formal.space == Space::Register || formal.bytes.is_none() || end > 32_764 {
                let message = format!(
                    "kernel parameter `{}`: a `.param` of known size is required, 32764 bytes in all",
                    formal.name
                );
                self.problems.add(formal.line, &message, "");
                end = offset.min(32_764);
                continue;
            }
            names.insert(&formal.name, Symbol::Parameter(small(offset)));
            self.program
                .parameters
                .push(crate::program::ParameterLayout {
                    name: formal.name.clone(),
                    offset: small(offset),
                    bytes: small(bytes),
                    align: small(formal.align),
                });
        }
        self.program.parameter_bytes = small(end);
    }

    fn body_variable(&mut self, function: &'a Function, variable: &'a Variable) -> Symbol {
        match variable.space {
            Space::Shared => self.shared(variable),
            Space::Global | Space::Constant => {
                let key = (function.name.as_str(), variable.name.as_str());
                let index = self.symbols.in_body.get(&key).copied().unwrap_or(0);
                Symbol::Device(index, variable.space)
            }
            _ => {
                if !variable.initial.is_empty() {
                    let message =
                        format!("`{}`: local memory has no initial values", variable.name);
                    self.problems.add(variable.line, &message, "");
                }
                let bytes = variable.bytes.unwrap_or(0);
                let name = variable.name.clone();
                Symbol::Local(self.local(name, bytes, variable.align, variable.line))
            }
        }
    }

    /// A name of the function, of the module, or nothing. Module-scope shared and local
    /// variables take up room once a program uses them.
    pub(super) fn lookup(&mut self, frame: &mut Frame<'a>, name: &str) -> Option<Symbol> {
        if let Some(symbol) = frame.names.get(name) {
            return Some(*symbol);
        }
        if let Some(&index) = self.symbols.device.get(name) {
            return Some(Symbol::Device(index, self.symbols.spaces[index as usize]));
        }
        let (&name, &variable) = self.symbols.scoped.get_key_value(name)?;
        let symbol = match self.placed.get(name) {
            Some(symbol) => *symbol,
            None => {
                let symbol = if variable.space == Space::Shared {
                    self.shared(variable)
                } else {
                    let bytes = variable.bytes.unwrap_or(0);
                    Symbol::Local(self.local(name.to_owned(), bytes, variable.align, variable.line))
                };
                self.placed.insert(name, symbol);
                symbol
            }
        };
        frame.names.insert(name, symbol);
        Some(symbol)
    }
}

/// Sizes are checked against 4 GiB windows before they get here.
pub(super) fn small(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
