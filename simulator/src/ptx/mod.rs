//! From PTX text to programs: lexer, syntax tree, parser, lowering.

pub mod ast;
mod lexer;
mod parser;
mod print;

pub use parser::parse;
