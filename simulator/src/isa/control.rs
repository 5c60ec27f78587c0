//! Branches, calls, ends, and instructions that only hint or wait (PTX ISA 9.7.12, 9.7.19).

use super::{Class, Decoded, Immediate, Opcode, Role};
use crate::program::Action;

/// The rows.
pub(super) static ROWS: &[Opcode] = &[
    row("bra", |modifiers| {
        let decoded = decoded(Action::Branch(0), &[Role::Label]);
        only(modifiers, &[&[], &["uni"]], decoded)
    }),
    row("brx", |modifiers| {
        let decoded = decoded(Action::BranchIndexed(0), &[Role::Source, Role::Label]);
        only(modifiers, &[&["idx"], &["idx", "uni"]], decoded)
    }),
    // Operands of a call are lowered on their own: see ptx/lower/call.rs.
    row("call", |modifiers| {
        let action = Action::Call {
            target: 0,
            return_register: 0,
        };
        only(modifiers, &[&[], &["uni"]], decoded(action, &[]))
    }),
    row("ret", |modifiers| {
        let action = Action::Return { return_register: 0 };
        only(modifiers, &[&[], &["uni"]], decoded(action, &[]))
    }),
    row("exit", |modifiers| {
        only(modifiers, &[&[]], decoded(Action::Exit, &[]))
    }),
    row("trap", |modifiers| {
        only(modifiers, &[&[]], decoded(Action::Trap, &[]))
    }),
    // Without a debugger a breakpoint ends the kernel.
    row("brkpt", |modifiers| {
        only(modifiers, &[&[]], decoded(Action::Trap, &[]))
    }),
    row("nanosleep", |modifiers| {
        only(
            modifiers,
            &[&["u32"]],
            decoded(Action::Nanosleep, &[Role::Source]),
        )
    }),
    row("griddepcontrol", |modifiers| {
        let decoded = decoded(Action::Nothing, &[]);
        only(modifiers, &[&["launch_dependents"], &["wait"]], decoded)
    }),
    row("pmevent", |modifiers| {
        only(
            modifiers,
            &[&[], &["mask"]],
            decoded(Action::Nothing, &[Role::Ignored]),
        )
    }),
];

const fn row(name: &'static str, decode: fn(&[&str]) -> Result<Decoded, String>) -> Opcode {
    Opcode {
        name,
        class: Class::Control,
        decode,
    }
}

fn decoded(action: Action, roles: &'static [Role]) -> Decoded {
    Decoded {
        action,
        roles,
        immediate: Immediate::Integer,
    }
}

/// Refuses all modifiers but the listed ones.
fn only(modifiers: &[&str], allowed: &[&[&str]], decoded: Decoded) -> Result<Decoded, String> {
    if allowed.contains(&modifiers) {
        return Ok(decoded);
    }
    Err(format!("form `.{}`", modifiers.join(".")))
}
