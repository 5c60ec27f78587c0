//! Tokens to the syntax tree. A problem does not end the parse: it goes on after the next `;`, so
//! that all problems of a module are reported at once.

mod body;
mod literal;
mod module;
mod operand;
mod variable;

use std::collections::HashSet;

use super::ast::Module;
use super::lexer::{self, Kind, Token};

/// A problem was noted; the caller skips to where it can go on.
struct Noted;

type Parsed<T> = Result<T, Noted>;

/// Parses a module. The error holds one message per problem, each with its line.
pub fn parse(text: &str) -> Result<Module, Vec<String>> {
    let mut parser = Parser::new(text);
    let module = parser.module();
    if parser.problems.is_empty() {
        Ok(module)
    } else {
        Err(parser.problems)
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    problems: Vec<String>,
    /// Names in the text that look like ones made by renaming (`x$1`): never made again.
    taken: HashSet<&'a str>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let tokens = lexer::tokens(text);
        let taken = tokens
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .map(|token| &text[token.start..token.end])
            .filter(|word| word.rfind('$').is_some_and(|at| at > 0))
            .collect();
        Self {
            text,
            tokens,
            next: 0,
            problems: Vec::new(),
            taken,
        }
    }

    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.next).copied()
    }

    fn kind(&self) -> Option<Kind> {
        self.peek().map(|token| token.kind)
    }

    fn word_of(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    /// The next token's text; empty at the end.
    fn word(&self) -> &'a str {
        self.peek().map_or("", |token| self.word_of(token))
    }

    fn line(&self) -> u32 {
        let last = self.tokens.last().map_or(1, |token| token.line);
        self.peek().map_or(last, |token| token.line)
    }

    fn is(&self, byte: u8) -> bool {
        self.kind() == Some(Kind::Punctuation(byte))
    }

    fn is_after(&self, byte: u8) -> bool {
        self.tokens
            .get(self.next + 1)
            .is_some_and(|token| token.kind == Kind::Punctuation(byte))
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.is(byte);
        self.next += usize::from(found);
        found
    }

    /// Takes the directive if it is next.
    fn take_directive(&mut self, name: &str) -> bool {
        let found = self.kind() == Some(Kind::Directive) && self.word() == name;
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.take(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(byte))))
    }

    fn identifier(&mut self) -> Parsed<&'a str> {
        if self.kind() == Some(Kind::Word) {
            let word = self.word();
            self.next += 1;
            return Ok(word);
        }
        Err(self.unexpected("a name"))
    }

    /// Notes that something else stands where `wanted` was required.
    fn unexpected(&mut self, wanted: &str) -> Noted {
        let found = match self.peek() {
            Some(token) => format!("`{}`", self.word_of(token)),
            None => "the end of the text".to_owned(),
        };
        self.note(
            self.line(),
            format!("{wanted} is required, {found} stands here"),
        )
    }

    fn note(&mut self, line: u32, message: String) -> Noted {
        let text = self
            .text
            .lines()
            .nth(line as usize - 1)
            .unwrap_or("")
            .trim();
        let text: String = text.chars().take(120).collect();
        self.problems
            .push(format!("line {line}: {message}: {text}"));
        Noted
    }

    /// Skips past the next `;`, or to a brace.
    fn recover(&mut self) {
        while let Some(token) = self.peek() {
            match token.kind {
                Kind::Punctuation(b'{' | b'}') => return,
                Kind::Punctuation(b';') => {
                    self.next += 1;
                    return;
                }
                _ => self.next += 1,
            }
        }
    }

    /// Skips a `{ … }` block whose opening brace is next.
    fn skip_block(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            self.next += 1;
            match token.kind {
                Kind::Punctuation(b'{') => depth += 1,
                Kind::Punctuation(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// Skips the rest of the line that the last token stands on (`.loc` and `.file` have no `;`).
    fn skip_line(&mut self, line: u32) {
        while self.peek().is_some_and(|token| token.line == line) {
            self.next += 1;
        }
    }
}
