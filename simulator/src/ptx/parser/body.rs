//! Function bodies: declarations, labels, instructions, nested scopes.
//!
//! Scopes are flattened. A register or variable is declared before it is used, so a name is
//! resolved when it is read; a label may be used before it stands, so labels of an inner scope
//! are renamed when the scope ends.

use std::collections::{HashMap, HashSet};

use super::super::ast::{Item, Operand, Statement, Variable};
use super::super::lexer::Kind;
use super::variable::scalar;
use super::{Parsed, Parser};

/// More registers in one declaration are refused: no compiler writes them, memory would go.
const MAX_REGISTERS: u64 = 1 << 20;

/// Open scopes of a function, outermost first.
pub(super) struct Scopes {
    stack: Vec<Scope>,
    /// Every name declared so far in the function, final form.
    declared: HashSet<String>,
}

struct Scope {
    /// Declared name to final name.
    names: HashMap<String, String>,
    labels: Vec<String>,
    /// First item of the scope.
    start: usize,
}

impl Scopes {
    /// The final name of a register or variable.
    pub(super) fn resolve(&self, name: &str) -> String {
        let renamed = self
            .stack
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name));
        renamed.map_or(name, String::as_str).to_owned()
    }

    fn nested(&self) -> bool {
        self.stack.len() > 1
    }
}

impl<'a> Parser<'a> {
    /// A body at its `{`. Problems are noted, the rest is still read.
    pub(super) fn body(&mut self, returns: &[Variable], parameters: &[Variable]) -> Vec<Item> {
        let mut items = Vec::new();
        let formals = returns.iter().chain(parameters);
        let mut scopes = Scopes {
            stack: Vec::new(),
            declared: formals.map(|formal| formal.name.clone()).collect(),
        };
        loop {
            if self.take(b'{') {
                let start = items.len();
                scopes.stack.push(Scope {
                    names: HashMap::new(),
                    labels: Vec::new(),
                    start,
                });
            } else if self.take(b'}') {
                self.close(&mut scopes, &mut items);
                if scopes.stack.is_empty() {
                    return items;
                }
            } else if self.peek().is_none() {
                self.unexpected("`}`");
                return items;
            } else if self.item(&mut scopes, &mut items).is_err() {
                self.recover();
                // A brace after a problem belongs to the faulty statement unless it closes.
                if self.is(b'{') {
                    self.skip_block();
                    self.take(b';');
                }
            }
        }
    }

    fn item(&mut self, scopes: &mut Scopes, items: &mut Vec<Item>) -> Parsed<()> {
        if self.take(b';') {
            return Ok(());
        }
        if self.kind() == Some(Kind::Directive) {
            return self.directive(scopes, items);
        }
        if self.kind() == Some(Kind::Word) && self.is_after(b':') {
            return self.label(scopes, items);
        }
        let statement = self.statement(scopes)?;
        items.push(Item::Statement(statement));
        Ok(())
    }

    fn directive(&mut self, scopes: &mut Scopes, items: &mut Vec<Item>) -> Parsed<()> {
        let line = self.line();
        match self.word() {
            ".reg" => {
                self.next += 1;
                self.registers(scopes, items)
            }
            ".loc" | ".file" => {
                self.skip_line(line);
                Ok(())
            }
            ".pragma" => {
                self.recover();
                Ok(())
            }
            ".section" => {
                self.next += 1;
                self.skip_block();
                Ok(())
            }
            ".extern" => {
                self.next += 1;
                self.body_variables(true, scopes, items)
            }
            _ => self.body_variables(false, scopes, items),
        }
    }

    fn body_variables(
        &mut self,
        external: bool,
        scopes: &mut Scopes,
        items: &mut Vec<Item>,
    ) -> Parsed<()> {
        let mut variables = Vec::new();
        self.variables(external, &mut variables)?;
        for mut variable in variables {
            variable.name = self.declare(&variable.name, scopes, variable.line)?;
            items.push(Item::Variable(variable));
        }
        Ok(())
    }

    /// Registers a declaration and gives its final name.
    fn declare(&mut self, name: &str, scopes: &mut Scopes, line: u32) -> Parsed<String> {
        let mut last = name.to_owned();
        let Some(scope) = scopes.stack.last() else {
            return Ok(last);
        };
        if scope.names.contains_key(name) {
            return Err(self.note(line, format!("`{name}` is declared twice in one scope")));
        }
        if !scopes.declared.insert(last.clone()) {
            let mut number = 1;
            loop {
                last = format!("{name}${number}");
                if !self.taken.contains(last.as_str()) && scopes.declared.insert(last.clone()) {
                    break;
                }
                number += 1;
            }
        }
        if let Some(scope) = scopes.stack.last_mut() {
            scope.names.insert(name.to_owned(), last.clone());
        }
        Ok(last)
    }

    /// `.reg .b32 %r<10>, x;` after `.reg`.
    fn registers(&mut self, scopes: &mut Scopes, items: &mut Vec<Item>) -> Parsed<()> {
        let line = self.line();
        let ty = match self.word().strip_prefix('.').and_then(scalar) {
            Some(ty) => ty,
            None => return Err(self.unexpected("a register type")),
        };
        self.next += 1;
        let mut names = Vec::new();
        loop {
            let name = self.identifier()?;
            if self.take(b'<') {
                let count = self.unsigned()?;
                if count > MAX_REGISTERS {
                    self.next -= 1;
                    return Err(self.unexpected("at most 1048576 registers"));
                }
                self.expect(b'>')?;
                for number in 0..count {
                    names.push(self.declare(&format!("{name}{number}"), scopes, line)?);
                }
            } else {
                names.push(self.declare(name, scopes, line)?);
            }
            if self.take(b';') {
                items.push(Item::Registers { ty, names });
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    fn label(&mut self, scopes: &mut Scopes, items: &mut Vec<Item>) -> Parsed<()> {
        let label = self.identifier()?;
        self.expect(b':')?;
        if let Some(scope) = scopes.stack.last_mut() {
            scope.labels.push(label.to_owned());
        }
        if self.take_directive(".branchtargets") {
            let mut targets = Vec::new();
            loop {
                targets.push(self.identifier()?.to_owned());
                if self.take(b';') {
                    break;
                }
                self.expect(b',')?;
            }
            items.push(Item::BranchTargets {
                label: label.to_owned(),
                targets,
            });
        } else if matches!(self.word(), ".callprototype" | ".calltargets") {
            // Of indirect calls, which the lowering reports.
            self.recover();
        } else {
            items.push(Item::Label(label.to_owned()));
        }
        Ok(())
    }

    fn statement(&mut self, scopes: &Scopes) -> Parsed<Statement> {
        let first = self.next;
        let guard = if self.take(b'@') {
            let negated = self.take(b'!');
            Some((scopes.resolve(self.identifier()?), negated))
        } else {
            None
        };
        let line = self.line();
        let mnemonic = self.identifier()?;
        let mut parts = mnemonic.split('.');
        let opcode = parts.next().unwrap_or("").to_owned();
        let modifiers = parts.map(str::to_owned).collect();
        let operands = self.operands(scopes)?;
        let text = self.written(first);
        self.expect(b';')?;
        Ok(Statement {
            guard,
            opcode,
            modifiers,
            operands,
            line,
            text,
        })
    }

    /// The source from a token up to the next one, on one line, without comments.
    fn written(&self, first: usize) -> String {
        let tokens = &self.tokens[first..self.next];
        let mut text = String::new();
        let mut end = None;
        for token in tokens {
            if end.is_some_and(|end| end < token.start) {
                text.push(' ');
            }
            text.push_str(self.word_of(*token));
            end = Some(token.end);
        }
        text
    }

    /// Ends the innermost scope: its labels get names of their own.
    fn close(&mut self, scopes: &mut Scopes, items: &mut [Item]) {
        let nested = scopes.nested();
        let Some(scope) = scopes.stack.pop() else {
            return;
        };
        if !nested || scope.labels.is_empty() {
            return;
        }
        let mut renamed: HashMap<String, String> = HashMap::new();
        for label in scope.labels {
            let mut number = 1;
            let fresh = loop {
                let fresh = format!("{label}${number}");
                if !self.taken.contains(fresh.as_str()) && scopes.declared.insert(fresh.clone()) {
                    break fresh;
                }
                number += 1;
            };
            if renamed.insert(label.clone(), fresh).is_some() {
                self.note(
                    self.line(),
                    format!("label `{label}` stands twice in one scope"),
                );
            }
        }
        for item in &mut items[scope.start..] {
            rename(item, &renamed);
        }
    }
}

fn rename(item: &mut Item, renamed: &HashMap<String, String>) {
    let swap = |name: &mut String| {
        if let Some(fresh) = renamed.get(name) {
            name.clone_from(fresh);
        }
    };
    match item {
        Item::Label(label) => swap(label),
        Item::BranchTargets { label, targets } => {
            swap(label);
            targets.iter_mut().for_each(swap);
        }
        Item::Statement(statement) => {
            for operand in &mut statement.operands {
                if let Operand::Name(name) = operand {
                    swap(name);
                }
            }
        }
        Item::Registers { .. } | Item::Variable(_) => {}
    }
}
