//! Recursive calls, which the simulator's frames do not allow, found on the call graph.

use std::collections::HashSet;

use super::super::ast::{Function, Item, Operand, Statement};
use super::Problems;
use super::variables::Symbols;

/// The name a `call` names, if it is a direct one.
pub(super) fn callee(statement: &Statement) -> Option<&str> {
    if statement.opcode != "call" {
        return None;
    }
    statement.operands.iter().find_map(|operand| match operand {
        Operand::Name(name) => Some(name.as_str()),
        _ => None,
    })
}

fn calls<'a>(function: &'a Function, symbols: &Symbols<'a>) -> Vec<(&'a Function, &'a Statement)> {
    let statements = function.body.iter().filter_map(|item| match item {
        Item::Statement(statement) => Some(statement),
        _ => None,
    });
    let edge = |statement| {
        let callee = symbols.functions.get(callee(statement)?)?;
        Some((*callee, statement))
    };
    statements.filter_map(edge).collect()
}

/// Notes every call that closes a cycle.
pub(super) fn report<'a>(entry: &'a Function, symbols: &Symbols<'a>, problems: &mut Problems) {
    // An explicit stack: chains of calls may be long.
    let mut open: HashSet<&str> = HashSet::from([entry.name.as_str()]);
    let mut done: HashSet<&str> = HashSet::new();
    let mut stack = vec![(entry, calls(entry, symbols), 0usize)];
    while let Some((function, edges, next)) = stack.last_mut() {
        let Some(&(callee, statement)) = edges.get(*next) else {
            open.remove(function.name.as_str());
            done.insert(&function.name);
            stack.pop();
            continue;
        };
        *next += 1;
        if open.contains(callee.name.as_str()) {
            let message = format!(
                "recursion is not supported: `{}` is called while it is running",
                callee.name
            );
            problems.add(statement.line, &message, &statement.text);
        } else if !done.contains(callee.name.as_str()) {
            open.insert(&callee.name);
            stack.push((callee, calls(callee, symbols), 0));
        }
    }
}
