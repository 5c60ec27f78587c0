//! Loads, stores, atomics, address conversions and cache hints (PTX ISA 9.7.9, 9.7.13).

use super::{Class, Decoded, Immediate, Opcode, Role};
use crate::program::{Access, Action, AtomicOperation, CacheHint, Lanes, Number, Space};

/// The rows.
pub(super) static ROWS: &[Opcode] = &[
    row("ld", load),
    row("ldu", load),
    row("st", store),
    row("atom", |modifiers| atomic(modifiers, true)),
    row("red", |modifiers| atomic(modifiers, false)),
    Opcode {
        name: "cvta",
        class: Class::Integer,
        decode: convert_address,
    },
    Opcode {
        name: "isspacep",
        class: Class::Integer,
        decode: is_space,
    },
    Opcode {
        name: "mapa",
        class: Class::Integer,
        decode: |modifiers| {
            let action = |generic| Action::MapToPeer { generic };
            in_cluster(
                modifiers,
                action,
                &[Role::Destination, Role::Source, Role::Source],
            )
        },
    },
    Opcode {
        name: "getctarank",
        class: Class::Integer,
        decode: |modifiers| {
            let action = |generic| Action::PeerRank { generic };
            in_cluster(modifiers, action, &[Role::Destination, Role::Source])
        },
    },
    row("prefetch", |_| Ok(nothing(&[Role::Address]))),
    row("prefetchu", |_| Ok(nothing(&[Role::Address]))),
    row("discard", |_| Ok(nothing(&[Role::Address, Role::Ignored]))),
    row("applypriority", |_| {
        Ok(nothing(&[Role::Address, Role::Ignored]))
    }),
    Opcode {
        name: "createpolicy",
        class: Class::Integer,
        decode: create_policy,
    },
];

const fn row(name: &'static str, decode: fn(&[&str]) -> Result<Decoded, String>) -> Opcode {
    Opcode {
        name,
        class: Class::Memory,
        decode,
    }
}

fn nothing(roles: &'static [Role]) -> Decoded {
    Decoded {
        action: Action::Nothing,
        roles,
        immediate: Immediate::Integer,
    }
}

/// A state space as a modifier. `.shared` alone is the block's own.
fn space(modifier: &str) -> Option<Space> {
    Some(match modifier {
        "const" => Space::Constant,
        "global" => Space::Global,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Parameter,
        "shared" | "shared::cta" => Space::Shared,
        "shared::cluster" => Space::SharedCluster,
        _ => return None,
    })
}

/// Bytes of a type and whether it is signed.
fn element(ty: &str) -> Option<(u8, bool)> {
    let (kind, bits) = ty.split_at_checked(1)?;
    let bytes = match bits {
        "8" => 1,
        "16" => 2,
        "32" => 4,
        "64" => 8,
        "128" if kind == "b" => 16,
        _ => return None,
    };
    match kind {
        "b" | "u" | "s" => Some((bytes, kind == "s")),
        "f" if bytes >= 4 => Some((bytes, false)),
        _ => None,
    }
}

/// What `ld` and `st` have in common.
fn access(modifiers: &[&str], store: bool) -> Result<Access, String> {
    let Some((ty, modifiers)) = modifiers.split_last() else {
        return Err("a type is required".to_owned());
    };
    let Some((bytes, signed)) = element(ty) else {
        return Err(format!("type `.{ty}`"));
    };
    let mut access = Access {
        space: Space::Generic,
        bytes,
        count: 1,
        sign_extend_to: if signed && bytes < 8 && !store { 8 } else { 0 },
        strong: false,
        acquire: false,
        release: false,
        cache: CacheHint::Default,
    };
    for &modifier in modifiers {
        if let Some(space) = space(modifier) {
            access.space = space;
            continue;
        }
        match modifier {
            "weak" | "cta" | "cluster" | "gpu" | "sys" | "ca" | "wb" | "unified" => {}
            "nc" if !store => {}
            "volatile" | "relaxed" | "mmio" => access.strong = true,
            "acquire" if !store => (access.strong, access.acquire) = (true, true),
            "release" if store => (access.strong, access.release) = (true, true),
            "cg" | "cv" | "wt" => access.cache = CacheHint::L2Only,
            "cs" | "lu" | "L1::no_allocate" | "L1::evict_first" => {
                access.cache = CacheHint::Streaming;
            }
            "v2" => access.count = 2,
            "v4" => access.count = 4,
            "v8" => access.count = 8,
            _ if modifier.starts_with("L1::") || modifier.starts_with("L2::") => {}
            _ => return Err(format!("modifier `.{modifier}`")),
        }
    }
    if u32::from(access.bytes) * u32::from(access.count) > 32 {
        return Err(format!("vectors of {} elements of `.{ty}`", access.count));
    }
    Ok(access)
}

fn load(modifiers: &[&str]) -> Result<Decoded, String> {
    Ok(Decoded {
        action: Action::Load(access(modifiers, false)?),
        roles: &[Role::Destination, Role::Address, Role::Ignored],
        immediate: Immediate::Integer,
    })
}

fn store(modifiers: &[&str]) -> Result<Decoded, String> {
    if modifiers.contains(&"async") || modifiers.contains(&"bulk") {
        return Err("asynchronous stores".to_owned());
    }
    Ok(Decoded {
        action: Action::Store(access(modifiers, true)?),
        roles: &[Role::Address, Role::Source, Role::Ignored],
        immediate: Immediate::Integer,
    })
}

fn atomic(modifiers: &[&str], returns: bool) -> Result<Decoded, String> {
    let Some((ty, modifiers)) = modifiers.split_last() else {
        return Err("a type is required".to_owned());
    };
    let mut at = Space::Generic;
    let mut operation = None;
    for &modifier in modifiers {
        match modifier {
            "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "cluster" | "gpu" | "sys"
            | "noftz" | "L2::cache_hint" => {}
            "global" | "shared" | "shared::cta" | "shared::cluster" => {
                at = space(modifier).unwrap_or(Space::Generic);
            }
            "add" | "min" | "max" | "and" | "or" | "xor" | "inc" | "dec" => {
                operation = Some(modifier);
            }
            "exch" | "cas" if returns => operation = Some(modifier),
            "v2" | "v4" | "v8" => return Err("vector atomics".to_owned()),
            "async" => return Err("asynchronous reductions".to_owned()),
            _ => return Err(format!("modifier `.{modifier}`")),
        }
    }
    let Some(operation) = operation else {
        return Err("an operation (`.add`, `.cas`, …) is required".to_owned());
    };
    let (bytes, number) = match *ty {
        "u32" => (4, Some(Number::Unsigned)),
        "u64" => (8, Some(Number::Unsigned)),
        "s32" => (4, Some(Number::Signed)),
        "s64" => (8, Some(Number::Signed)),
        "f32" => (4, Some(Number::Float)),
        "f64" => (8, Some(Number::Float)),
        "f16" => (2, Some(Number::Half)),
        "f16x2" => (4, Some(Number::Half)),
        "bf16" => (2, Some(Number::BFloat)),
        "bf16x2" => (4, Some(Number::BFloat)),
        "b16" => (2, None),
        "b32" => (4, None),
        "b64" => (8, None),
        _ => return Err(format!("type `.{ty}`")),
    };
    let integer = matches!(number, Some(Number::Unsigned | Number::Signed));
    let decoded = match (operation, number) {
        ("add", Some(number)) => AtomicOperation::Add(number),
        ("min", Some(number)) if integer => AtomicOperation::Min(number),
        ("max", Some(number)) if integer => AtomicOperation::Max(number),
        ("and", None) if bytes >= 4 => AtomicOperation::And,
        ("or", None) if bytes >= 4 => AtomicOperation::Or,
        ("xor", None) if bytes >= 4 => AtomicOperation::Xor,
        ("inc", Some(Number::Unsigned)) if bytes == 4 => AtomicOperation::Increment,
        ("dec", Some(Number::Unsigned)) if bytes == 4 => AtomicOperation::Decrement,
        // Code before PTX 3.1 types these by number.
        ("exch", None) if bytes >= 4 => AtomicOperation::Exchange,
        ("exch", Some(_)) if integer || *ty == "f32" => AtomicOperation::Exchange,
        ("cas", None) => AtomicOperation::CompareAndSwap,
        ("cas", Some(_)) if integer => AtomicOperation::CompareAndSwap,
        _ => return Err(format!("type `.{ty}` of `.{operation}`")),
    };
    let has_order = |orders: &[&str]| modifiers.iter().any(|modifier| orders.contains(modifier));
    let access = Access {
        space: at,
        bytes,
        count: 1,
        sign_extend_to: 0,
        strong: true,
        acquire: has_order(&["acquire", "acq_rel"]),
        release: has_order(&["release", "acq_rel"]),
        cache: CacheHint::L2Only,
    };
    let roles: &[Role] = match (returns, decoded) {
        (true, AtomicOperation::CompareAndSwap) => &[
            Role::Destination,
            Role::Address,
            Role::Source,
            Role::Source,
            Role::Ignored,
        ],
        (true, _) => &[
            Role::Destination,
            Role::Address,
            Role::Source,
            Role::Ignored,
        ],
        (false, _) => &[Role::Address, Role::Source, Role::Ignored],
    };
    let immediate = match number {
        Some(Number::Float) if bytes == 4 => Immediate::Float32,
        Some(Number::Float) => Immediate::Float64,
        _ => Immediate::Integer,
    };
    Ok(Decoded {
        action: Action::Atomic(access, decoded),
        roles,
        immediate,
    })
}

fn convert_address(modifiers: &[&str]) -> Result<Decoded, String> {
    let action = match modifiers {
        ["to", from, "u64"] => space(from).map(Action::FromGeneric),
        [from, "u64"] => space(from).map(Action::ToGeneric),
        _ => None,
    };
    let Some(action) = action else {
        return Err(format!(
            "form `.{}` (64-bit addresses are required)",
            modifiers.join(".")
        ));
    };
    if matches!(
        action,
        Action::ToGeneric(Space::Parameter) | Action::FromGeneric(Space::Parameter)
    ) {
        return Err("kernel parameters have no generic address here".to_owned());
    }
    let roles = &[Role::Destination, Role::Source];
    Ok(Decoded {
        action,
        roles,
        immediate: Immediate::Integer,
    })
}

/// `mapa` and `getctarank`: addresses are generic, or in the shared window.
fn in_cluster(
    modifiers: &[&str],
    action: fn(bool) -> Action,
    roles: &'static [Role],
) -> Result<Decoded, String> {
    let generic = match modifiers {
        ["shared::cluster", "u32" | "u64"] => false,
        ["u64"] => true,
        _ => {
            return Err(format!(
                "form `.{}` (generic addresses have 64 bits)",
                modifiers.join(".")
            ));
        }
    };
    Ok(Decoded {
        action: action(generic),
        roles,
        immediate: Immediate::Integer,
    })
}

fn is_space(modifiers: &[&str]) -> Result<Decoded, String> {
    let [modifier] = modifiers else {
        return Err("one state space is required".to_owned());
    };
    let Some(space) = space(modifier) else {
        return Err(format!("state space `.{modifier}`"));
    };
    Ok(Decoded {
        action: Action::IsSpace(space),
        roles: &[Role::Destination, Role::Source],
        immediate: Immediate::Integer,
    })
}

/// A cache policy has no effect on values here, so every policy is 0.
fn no_policy(_: &[&Lanes], destinations: &mut [Lanes]) {
    for lanes in destinations {
        lanes.fill(0);
    }
}

fn create_policy(modifiers: &[&str]) -> Result<Decoded, String> {
    if modifiers.last() != Some(&"b64") {
        return Err("type `.b64` is required".to_owned());
    }
    Ok(Decoded {
        action: Action::Compute(no_policy),
        roles: &[
            Role::Destination,
            Role::Ignored,
            Role::Ignored,
            Role::Ignored,
        ],
        immediate: Immediate::Float32,
    })
}
