//! Module scope: `.version`, `.target`, variables, entries and functions (PTX ISA 11).

use super::super::ast::{Function, Module, Space, Variable};
use super::super::lexer::Kind;
use super::{Parsed, Parser};

/// Directives before a body that take numbers (PTX ISA 11.4, 11.7).
const PERFORMANCE: &[&str] = &[
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".noreturn",
    ".explicitcluster",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".blocksareclusters",
    ".abi_preserve",
    ".abi_preserve_control",
    ".unique",
];

/// Directives that begin something new at module scope.
const BEGINS: &[&str] = &[
    ".version",
    ".target",
    ".address_size",
    ".file",
    ".section",
    ".alias",
    ".extern",
    ".visible",
    ".weak",
    ".common",
    ".entry",
    ".func",
    ".global",
    ".const",
    ".shared",
    ".local",
];

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::default();
        while self.peek().is_some() {
            if self.module_item(&mut module).is_err() {
                self.recover_module();
            }
        }
        if self.problems.is_empty() && (module.version == (0, 0) || module.target.is_empty()) {
            let message = "a module begins with `.version` and `.target`";
            self.note(1, message.to_owned());
        }
        module
    }

    /// Skips past the next `;` or block, or to the next line that begins a declaration.
    fn recover_module(&mut self) {
        let line = self.line();
        while let Some(token) = self.peek() {
            match token.kind {
                Kind::Punctuation(b'{') => return self.skip_block(),
                Kind::Punctuation(b';' | b'}') => {
                    self.next += 1;
                    return;
                }
                Kind::Directive if token.line > line && BEGINS.contains(&self.word()) => return,
                _ => self.next += 1,
            }
        }
    }

    fn module_item(&mut self, module: &mut Module) -> Parsed<()> {
        let line = self.line();
        if self.take(b';') {
            return Ok(());
        }
        if self.kind() != Some(Kind::Directive) {
            return Err(self.unexpected("a directive at module scope"));
        }
        match self.word() {
            ".version" => {
                self.next += 1;
                module.version = self.version()?;
            }
            ".target" => {
                self.next += 1;
                module.target = self.identifier()?.to_owned();
                while self.take(b',') {
                    self.identifier()?;
                }
            }
            ".address_size" => {
                self.next += 1;
                if self.unsigned()? != 64 {
                    self.next -= 1;
                    return Err(self.unexpected("address size 64"));
                }
            }
            ".file" => self.skip_line(line),
            ".section" => {
                while self.peek().is_some() && !self.is(b'{') && !self.is(b';') {
                    self.next += 1;
                }
                self.skip_block();
            }
            ".pragma" => self.recover(),
            ".alias" => {
                return Err(self.note(line, "`.alias` is not supported".to_owned()));
            }
            _ => self.declaration(module)?,
        }
        Ok(())
    }

    /// The number after `.version`: `8.3`; a lone `9` is refused as ptxas does.
    fn version(&mut self) -> Parsed<(u32, u32)> {
        if self.kind() == Some(Kind::Number) {
            if let Some((major, minor)) = self.word().split_once('.') {
                if let (Ok(major), Ok(minor)) = (major.parse(), minor.parse()) {
                    self.next += 1;
                    return Ok((major, minor));
                }
            }
        }
        Err(self.unexpected("a version such as 8.3"))
    }

    /// A variable or a function after its linking directives.
    fn declaration(&mut self, module: &mut Module) -> Parsed<()> {
        let mut external = false;
        loop {
            match self.word() {
                ".extern" => external = true,
                ".visible" | ".weak" | ".common" => {}
                _ => break,
            }
            self.next += 1;
        }
        match self.word() {
            ".entry" | ".func" => {
                if let Some(function) = self.function()? {
                    module.functions.push(function);
                }
                Ok(())
            }
            ".global" | ".const" | ".shared" | ".local" => {
                self.variables(external, &mut module.variables)
            }
            _ => Err(self.unexpected("a variable or function")),
        }
    }

    /// `.entry name (parameters) directives { body }`; `None` for a prototype.
    fn function(&mut self) -> Parsed<Option<Function>> {
        let line = self.line();
        let entry = self.take_directive(".entry");
        if !entry {
            self.next += 1;
        }
        let mut directives = Vec::new();
        self.attributes()?;
        self.performance(&mut directives)?;
        let returns = if self.is(b'(') {
            self.formals()?
        } else {
            Vec::new()
        };
        let name = self.identifier()?.to_owned();
        let parameters = if self.is(b'(') {
            self.formals()?
        } else {
            Vec::new()
        };
        self.performance(&mut directives)?;
        if self.take(b';') {
            return Ok(None);
        }
        if !self.is(b'{') {
            return Err(self.unexpected("a body `{`, or `;`"));
        }
        let body = self.body(&returns, &parameters);
        Ok(Some(Function {
            name,
            entry,
            returns,
            parameters,
            directives,
            body,
            line,
        }))
    }

    fn performance(&mut self, directives: &mut Vec<(String, Vec<u32>)>) -> Parsed<()> {
        loop {
            let word = self.word();
            if word == ".pragma" {
                self.recover();
            } else if PERFORMANCE.contains(&word) {
                self.next += 1;
                let mut values = Vec::new();
                while self.kind() == Some(Kind::Number) {
                    match u32::try_from(self.unsigned()?) {
                        Ok(value) => values.push(value),
                        Err(_) => {
                            self.next -= 1;
                            return Err(self.unexpected("a 32-bit number"));
                        }
                    }
                    if !self.take(b',') {
                        break;
                    }
                }
                directives.push((word[1..].to_owned(), values));
            } else {
                return Ok(());
            }
        }
    }

    fn formals(&mut self) -> Parsed<Vec<Variable>> {
        self.expect(b'(')?;
        let mut formals = Vec::new();
        if self.take(b')') {
            return Ok(formals);
        }
        loop {
            let space = match self.word() {
                ".param" => Space::Parameter,
                ".reg" => Space::Register,
                _ => return Err(self.unexpected("`.param` or `.reg`")),
            };
            self.next += 1;
            formals.push(self.formal(space)?);
            if self.take(b')') {
                return Ok(formals);
            }
            self.expect(b',')?;
        }
    }
}
