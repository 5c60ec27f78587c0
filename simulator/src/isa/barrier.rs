//! Block and warp barriers, fences (PTX ISA 9.7.13).

use super::{Class, Decoded, Immediate, Opcode, Role};
use crate::program::{Action, BarrierKind, BarrierOperation, ClusterBarrier};

/// The rows.
pub(super) static ROWS: &[Opcode] = &[
    row("bar", |modifiers| match modifiers {
        ["warp", "sync"] => Ok(decoded(Action::WarpBarrier, &[Role::Source])),
        _ => block(modifiers, true),
    }),
    row("barrier", |modifiers| match modifiers {
        ["cluster", rest @ ..] => cluster(rest),
        [rest @ .., "aligned"] => block(rest, true),
        [rest @ .., "aligned", ty] => block(&[rest, &[*ty]].concat(), true),
        _ => block(modifiers, false),
    }),
    row("membar", fence),
    row("fence", fence),
];

const fn row(name: &'static str, decode: fn(&[&str]) -> Result<Decoded, String>) -> Opcode {
    Opcode {
        name,
        class: Class::Barrier,
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

fn block(modifiers: &[&str], aligned: bool) -> Result<Decoded, String> {
    const REDUCE: &[Role] = &[
        Role::Destination,
        Role::Source,
        Role::OptionalSource,
        Role::PredicateSource,
    ];
    let modifiers = modifiers.strip_prefix(&["cta"]).unwrap_or(modifiers);
    let (kind, roles): (_, &[Role]) = match modifiers {
        ["sync"] => (BarrierKind::Sync, &[Role::Source, Role::OptionalSource]),
        ["arrive"] => (BarrierKind::Arrive, &[Role::Source, Role::Source]),
        ["red", "popc", "u32"] => (BarrierKind::ReducePopc, REDUCE),
        ["red", "and", "pred"] => (BarrierKind::ReduceAnd, REDUCE),
        ["red", "or", "pred"] => (BarrierKind::ReduceOr, REDUCE),
        _ => return Err(format!("form `.{}`", modifiers.join("."))),
    };
    // Whether there is a count and a negation shows in the operands: the lowering fills it in.
    let operation = BarrierOperation {
        kind,
        aligned,
        has_count: false,
        negated: false,
    };
    Ok(decoded(Action::Barrier(operation), roles))
}

/// `barrier.cluster.arrive` releases and `.wait` acquires unless it says otherwise.
fn cluster(modifiers: &[&str]) -> Result<Decoded, String> {
    let (aligned, rest) = match modifiers {
        [rest @ .., "aligned"] => (true, rest),
        _ => (false, modifiers),
    };
    let operation = match rest {
        ["arrive"] | ["arrive", "release"] => ClusterBarrier::Arrive {
            aligned,
            release: true,
        },
        ["arrive", "relaxed"] => ClusterBarrier::Arrive {
            aligned,
            release: false,
        },
        ["wait"] | ["wait", "acquire"] => ClusterBarrier::Wait { aligned },
        _ => return Err(format!("form `.cluster.{}`", modifiers.join("."))),
    };
    Ok(decoded(Action::ClusterBarrier(operation), &[]))
}

/// All fences are one: this memory is sequentially consistent. Some proxy forms name a range.
fn fence(modifiers: &[&str]) -> Result<Decoded, String> {
    let known = |modifier: &&str| {
        let part = modifier.split("::").next().unwrap_or("");
        [
            "cta",
            "cluster",
            "gpu",
            "gl",
            "sys",
            "sc",
            "acq_rel",
            "acquire",
            "release",
            "proxy",
            "alias",
            "async",
            "tensormap",
            "generic",
            "global",
            "shared",
            "mbarrier_init",
            "sync_restrict",
        ]
        .contains(&part)
    };
    if modifiers.is_empty() {
        return Err("a scope or proxy is required".to_owned());
    }
    match modifiers.iter().find(|modifier| !known(modifier)) {
        Some(modifier) => Err(format!("modifier `.{modifier}`")),
        None => Ok(decoded(Action::Fence, &[Role::Ignored, Role::Ignored])),
    }
}
