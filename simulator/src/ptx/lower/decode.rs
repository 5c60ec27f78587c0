//! A mnemonic to its row of the instruction table.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::isa::{self, Decoded, Opcode};

/// Rows of the table by name: integer and float forms may have rows of their own.
fn rows(name: &str) -> &'static [&'static Opcode] {
    static ROWS: OnceLock<HashMap<&'static str, Vec<&'static Opcode>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let mut rows: HashMap<_, Vec<_>> = HashMap::new();
        for opcode in isa::opcodes() {
            rows.entry(opcode.name).or_default().push(opcode);
        }
        rows
    });
    rows.get(name).map_or(&[], Vec::as_slice)
}

/// Finds the row that takes these modifiers.
pub(super) fn decode(
    name: &str,
    modifiers: &[String],
) -> Result<(&'static Opcode, Decoded), String> {
    let modifiers: Vec<&str> = modifiers.iter().map(String::as_str).collect();
    let mut refusals: Vec<String> = Vec::new();
    for &opcode in rows(name) {
        match (opcode.decode)(&modifiers) {
            Ok(decoded) => return Ok((opcode, decoded)),
            // An empty refusal: the type is another row's.
            Err(refusal) if refusal.is_empty() || refusals.contains(&refusal) => {}
            Err(refusal) => refusals.push(refusal),
        }
    }
    let dot = if modifiers.is_empty() { "" } else { "." };
    let mnemonic = format!("`{name}{dot}{}`", modifiers.join("."));
    if refusals.is_empty() {
        return Err(format!("instruction {mnemonic} is not supported"));
    }
    Err(format!(
        "{mnemonic} is not supported: {}",
        refusals.join("; or ")
    ))
}
