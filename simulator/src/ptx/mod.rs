//! From PTX text to programs: lexer, syntax tree, parser, lowering.

pub mod ast;
mod lexer;
mod lower;
mod parser;
mod print;

pub use lower::{LoadedText, load};
pub use parser::parse;
