//! From PTX text to programs: lexer, syntax tree, parser, lowering.

pub mod ast;
