//! Arguments in place. An argument that a caller builds in a `.param` variable of its own, right
//! before the call, is built in the callee's formal parameter: the two share their place, as they
//! would share registers in a real calling convention. Padding is then never copied.

use std::collections::HashMap;

use super::super::ast::{Function, Item, Operand as Written, Space, Statement, Variable};
use super::builder::Builder;
use super::call::parts;
use super::frame::Symbol;
use super::recursion::callee;

/// Where a `.param` variable is used, as item numbers.
#[derive(Default)]
struct Uses {
    first: Option<usize>,
    last: usize,
    calls: Vec<usize>,
    /// Its address is taken, or it stands in a call twice.
    otherwise: bool,
}

impl<'a> Builder<'a> {
    /// Places of those `.param` variables that can be their callee's formal parameters. Also
    /// finds the functions called and places their formals.
    pub(super) fn arguments_in_place(
        &mut self,
        function: &'a Function,
    ) -> HashMap<&'a str, Symbol> {
        let mut uses: HashMap<&str, (&Variable, Uses)> = HashMap::new();
        for item in &function.body {
            if let Item::Variable(variable) = item
                && variable.space == Space::Parameter
            {
                uses.insert(&variable.name, (variable, Uses::default()));
            }
        }
        // Straight-line stretches: a label, branch or call ends one.
        let mut breaks = Vec::new();
        for (number, item) in function.body.iter().enumerate() {
            let statement = match item {
                Item::Statement(statement) => statement,
                Item::Label(_) => {
                    breaks.push(number);
                    continue;
                }
                _ => continue,
            };
            if matches!(
                statement.opcode.as_str(),
                "call" | "bra" | "brx" | "ret" | "exit"
            ) {
                breaks.push(number);
            }
            if let Some(&callee) = callee(statement).and_then(|f| self.symbols.functions.get(f))
                && !callee.entry
            {
                self.signature(callee);
            }
            for operand in &statement.operands {
                note(operand, number, &mut uses);
            }
        }
        let mut places = HashMap::new();
        for (name, (variable, uses)) in uses {
            let [call] = uses.calls.as_slice() else {
                continue;
            };
            let Some(first) = uses.first.filter(|_| !uses.otherwise) else {
                continue;
            };
            let (from, to) = (first.min(*call), uses.last.max(*call));
            let interrupted = breaks
                .iter()
                .any(|at| (from..=to).contains(at) && at != call);
            let Item::Statement(statement) = &function.body[*call] else {
                continue;
            };
            if interrupted {
                continue;
            }
            if let Some(place) =
                self.formal_place(statement, name, variable, first, uses.last, *call)
            {
                places.insert(name, place);
            }
        }
        places
    }

    /// The formal parameter's place for an argument or result, if it fits.
    fn formal_place(
        &self,
        statement: &Statement,
        name: &str,
        variable: &Variable,
        first: usize,
        last: usize,
        call: usize,
    ) -> Option<Symbol> {
        let parts = parts(statement).ok()?;
        let signature = self.signatures.get(parts.callee)?;
        let is_named = |operand: &Written| matches!(operand, Written::Name(n) if n == name);
        let formal = if last <= call {
            let index = parts.arguments.iter().position(is_named)?;
            signature.parameters.get(index)?
        } else if first >= call {
            let index = parts.returns.iter().position(is_named)?;
            signature.returns.get(index)?
        } else {
            return None;
        };
        let fits =
            variable.bytes.is_some_and(|bytes| bytes <= formal.bytes) && variable.align <= 16;
        let in_memory = matches!(formal.symbol, Symbol::Local(_));
        (fits && in_memory).then_some(formal.symbol)
    }
}

fn note(operand: &Written, number: usize, uses: &mut HashMap<&str, (&Variable, Uses)>) {
    let mut touch = |name: &str, call: bool, plain: bool| {
        if let Some((_, uses)) = uses.get_mut(name) {
            if call {
                uses.otherwise |= uses.calls.contains(&number);
                uses.calls.push(number);
            }
            uses.otherwise |= plain;
            uses.first.get_or_insert(number);
            uses.last = number;
        }
    };
    match operand {
        Written::List(list) => {
            for element in list {
                if let Written::Name(name) = element {
                    touch(name, true, false);
                }
            }
        }
        Written::Address { base, .. } => {
            if let Written::Name(name) = base.as_ref() {
                touch(name, false, false);
            }
        }
        Written::Name(name) | Written::Sum(name, _) => touch(name, false, true),
        Written::Vector(list) => {
            for element in list {
                if let Written::Name(name) | Written::Sum(name, _) = element {
                    touch(name, false, true);
                }
            }
        }
        _ => {}
    }
}
