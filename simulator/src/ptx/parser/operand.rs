//! Operands of an instruction (PTX ISA 6).

use super::super::ast::Operand;
use super::super::lexer::Kind;
use super::body::Scopes;
use super::literal::literal;
use super::{Parsed, Parser};

/// Nesting of braces, brackets and parentheses that is followed; real code needs two.
const MAX_DEPTH: usize = 8;

impl Parser<'_> {
    /// Operands up to the `;`, which is left.
    pub(super) fn operands(&mut self, scopes: &Scopes) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::new();
        if self.is(b';') {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(scopes, 0)?);
            if !self.take(b',') {
                return Ok(operands);
            }
        }
    }

    fn operand(&mut self, scopes: &Scopes, depth: usize) -> Parsed<Operand> {
        let first = self.single(scopes, depth)?;
        if self.take(b'|') {
            let second = self.single(scopes, depth)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single(&mut self, scopes: &Scopes, depth: usize) -> Parsed<Operand> {
        if depth > MAX_DEPTH {
            return Err(self.unexpected("an operand that is nested less deeply"));
        }
        match self.kind() {
            Some(Kind::Number) => self.number(false),
            Some(Kind::Word) => {
                let name = self.word();
                self.next += 1;
                if name == "_" {
                    return Ok(Operand::Sink);
                }
                let name = scopes.resolve(name);
                match self.sum()? {
                    None => Ok(Operand::Name(name)),
                    Some(offset) => Ok(Operand::Sum(name, offset)),
                }
            }
            Some(Kind::Punctuation(b'-')) => {
                self.next += 1;
                self.number(true)
            }
            Some(Kind::Punctuation(b'!')) => {
                self.next += 1;
                let name = self.identifier()?;
                Ok(Operand::Negated(scopes.resolve(name)))
            }
            Some(Kind::Punctuation(b'[')) => self.address(scopes, depth),
            Some(Kind::Punctuation(b'{')) => {
                self.next += 1;
                Ok(Operand::Vector(self.until(b'}', scopes, depth)?))
            }
            Some(Kind::Punctuation(b'(')) => {
                self.next += 1;
                Ok(Operand::List(self.until(b')', scopes, depth)?))
            }
            _ => Err(self.unexpected("an operand")),
        }
    }

    /// `[base]`, `[base+8]`, `[base+-8]`, `[8]`; `[a, {b, c}]` of textures becomes a list.
    fn address(&mut self, scopes: &Scopes, depth: usize) -> Parsed<Operand> {
        self.next += 1;
        let (base, offset) = match self.single(scopes, depth + 1)? {
            Operand::Sum(name, offset) => (Operand::Name(name), offset),
            Operand::List(_) => return Err(self.unexpected("a base without parentheses")),
            base => (base, 0),
        };
        if self.take(b',') {
            let mut list = vec![match offset {
                0 => base,
                _ => return Err(self.unexpected("`]`")),
            }];
            list.extend(self.until(b']', scopes, depth)?);
            let base = Box::new(Operand::List(list));
            return Ok(Operand::Address { base, offset: 0 });
        }
        self.expect(b']')?;
        Ok(Operand::Address {
            base: Box::new(base),
            offset,
        })
    }

    fn until(&mut self, end: u8, scopes: &Scopes, depth: usize) -> Parsed<Vec<Operand>> {
        let mut list = Vec::new();
        if self.take(end) {
            return Ok(list);
        }
        loop {
            list.push(self.operand(scopes, depth + 1)?);
            if self.take(end) {
                return Ok(list);
            }
            self.expect(b',')?;
        }
    }

    /// `+8`, `-8`, `+-8` after a name.
    pub(super) fn sum(&mut self) -> Parsed<Option<i64>> {
        let negative = match self.kind() {
            Some(Kind::Punctuation(b'+')) => {
                self.next += 1;
                self.take(b'-')
            }
            Some(Kind::Punctuation(b'-')) => {
                self.next += 1;
                true
            }
            _ => return Ok(None),
        };
        match self.number(negative)? {
            Operand::Integer(value) => Ok(Some(value.cast_signed())),
            _ => {
                self.next -= 1;
                Err(self.unexpected("an integer offset"))
            }
        }
    }

    pub(super) fn number(&mut self, negative: bool) -> Parsed<Operand> {
        if self.kind() == Some(Kind::Number) {
            if let Some(value) = literal(self.word(), negative) {
                self.next += 1;
                return Ok(value);
            }
        }
        Err(self.unexpected("a number"))
    }

    /// A plain unsigned integer.
    pub(super) fn unsigned(&mut self) -> Parsed<u64> {
        match self.number(false)? {
            Operand::Integer(value) => Ok(value),
            _ => {
                self.next -= 1;
                Err(self.unexpected("an integer"))
            }
        }
    }
}
