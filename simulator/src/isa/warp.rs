//! Operations among the lanes of a warp (PTX ISA 9.7.9.6, 9.7.13).

use super::{Class, Decoded, Immediate, Opcode, Role};
use crate::program::{Action, AtomicOperation, Number, ShuffleMode, VoteMode};

/// The rows.
pub(super) static ROWS: &[Opcode] = &[
    row("shfl", shuffle),
    row("vote", vote),
    row("match", match_any),
    row("redux", reduce),
    row("elect", |modifiers| match modifiers {
        ["sync"] => Ok(decoded(
            Action::Elect,
            &[Role::DestinationAndPredicate, Role::Source],
        )),
        _ => Err(form(modifiers)),
    }),
    row("activemask", |modifiers| match modifiers {
        ["b32"] => Ok(decoded(Action::ActiveMask, &[Role::Destination])),
        _ => Err(form(modifiers)),
    }),
];

const fn row(name: &'static str, decode: fn(&[&str]) -> Result<Decoded, String>) -> Opcode {
    Opcode {
        name,
        class: Class::Warp,
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

fn form(modifiers: &[&str]) -> String {
    format!("form `.{}`", modifiers.join("."))
}

/// The forms without `.sync` are gone from sm_70 on.
fn removed(name: &str) -> String {
    format!(
        "`{name}` without `.sync`, removed for sm_70 and later (write `{name}.sync` with a member mask)"
    )
}

fn shuffle(modifiers: &[&str]) -> Result<Decoded, String> {
    let ["sync", mode, "b32"] = modifiers else {
        return Err(match modifiers {
            ["sync", ..] => form(modifiers),
            _ => removed("shfl"),
        });
    };
    let mode = match *mode {
        "up" => ShuffleMode::Up,
        "down" => ShuffleMode::Down,
        "bfly" => ShuffleMode::Butterfly,
        "idx" => ShuffleMode::Index,
        _ => return Err(form(modifiers)),
    };
    Ok(decoded(
        Action::Shuffle(mode),
        &[
            Role::DestinationAndPredicate,
            Role::Source,
            Role::Source,
            Role::Source,
            Role::Source,
        ],
    ))
}

fn vote(modifiers: &[&str]) -> Result<Decoded, String> {
    // `!p` shows in the operands: the lowering sets `negated`.
    let negated = false;
    let mode = match modifiers {
        ["sync", "all", "pred"] => VoteMode::All { negated },
        ["sync", "any", "pred"] => VoteMode::Any { negated },
        ["sync", "uni", "pred"] => VoteMode::Uniform { negated },
        ["sync", "ballot", "b32"] => VoteMode::Ballot { negated },
        ["sync", ..] => return Err(form(modifiers)),
        _ => return Err(removed("vote")),
    };
    let roles = &[Role::Destination, Role::PredicateSource, Role::Source];
    Ok(decoded(Action::Vote(mode), roles))
}

fn match_any(modifiers: &[&str]) -> Result<Decoded, String> {
    let (all, bits) = match modifiers {
        ["any", "sync", "b32"] => (false, 32),
        ["any", "sync", "b64"] => (false, 64),
        ["all", "sync", "b32"] => (true, 32),
        ["all", "sync", "b64"] => (true, 64),
        _ => return Err(form(modifiers)),
    };
    let roles: &[Role] = if all {
        &[Role::DestinationAndPredicate, Role::Source, Role::Source]
    } else {
        &[Role::Destination, Role::Source, Role::Source]
    };
    Ok(decoded(Action::Match { all, bits }, roles))
}

fn reduce(modifiers: &[&str]) -> Result<Decoded, String> {
    let operation = match modifiers {
        ["sync", "add", "u32"] => AtomicOperation::Add(Number::Unsigned),
        ["sync", "add", "s32"] => AtomicOperation::Add(Number::Signed),
        ["sync", "min", "u32"] => AtomicOperation::Min(Number::Unsigned),
        ["sync", "min", "s32"] => AtomicOperation::Min(Number::Signed),
        ["sync", "max", "u32"] => AtomicOperation::Max(Number::Unsigned),
        ["sync", "max", "s32"] => AtomicOperation::Max(Number::Signed),
        ["sync", "and", "b32"] => AtomicOperation::And,
        ["sync", "or", "b32"] => AtomicOperation::Or,
        ["sync", "xor", "b32"] => AtomicOperation::Xor,
        _ => return Err(form(modifiers)),
    };
    let roles = &[Role::Destination, Role::Source, Role::Source];
    Ok(decoded(Action::Reduce(operation), roles))
}
