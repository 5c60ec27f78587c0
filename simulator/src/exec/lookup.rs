//! From an address and a state space to the bytes behind it, or to the fault that explains why
//! there are none.

use super::{bytes::Bytes, launch::Place, memory::Located, warp::Warp};
use crate::{
    fault::FaultKind,
    program::{Access, LOCAL_WINDOW, Range, SHARED_WINDOW, Space, WINDOW_BYTES},
};

/// The memory behind an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Global,
    Shared,
    Local,
    Parameter,
}

/// A range inside one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spot {
    Global(Located),
    Shared(usize),
    /// Offset in the frames of the whole warp.
    Local(usize),
    Parameter(usize),
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Parameter => "param",
        }
    }
}

/// The memory and the address in it; a generic address is told by its window (PTX ISA 5.1).
#[inline]
pub(crate) fn resolve(space: Space, address: u64) -> (Store, u64) {
    match space {
        Space::Shared => (Store::Shared, address & (WINDOW_BYTES - 1)),
        Space::Local => (Store::Local, address & (WINDOW_BYTES - 1)),
        Space::Parameter => (Store::Parameter, address),
        Space::Generic if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES => {
            (Store::Shared, address - SHARED_WINDOW)
        }
        Space::Generic if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES => {
            (Store::Local, address - LOCAL_WINDOW)
        }
        Space::Generic | Space::Global | Space::Constant | Space::Register => {
            (Store::Global, address)
        }
    }
}

/// Finds an access of one lane and checks alignment, bounds and, for a read, that every byte was
/// written.
pub(crate) fn find(
    warp: &Warp,
    place: &Place,
    access: Access,
    lane: usize,
    address: u64,
    write: bool,
) -> Result<Spot, FaultKind> {
    // A vector access must be aligned to the whole vector (PTX ISA 6.4.1).
    let bytes = u64::from(access.bytes) * u64::from(access.count);
    let (store, offset) = resolve(access.space, address);
    if offset % bytes != 0 {
        return Err(FaultKind::Misaligned {
            space: store.name(),
            write,
            address,
            required: bytes,
            nearest: nearest(warp, place, store, offset, bytes),
        });
    }
    let limit = match store {
        Store::Global => {
            let located = place.memory.locate(offset, bytes, write)?;
            if let Some(first) = place.memory.first_unwritten(located, bytes as usize)
                && !write
                && place.launch.checks
            {
                return Err(FaultKind::UninitialisedMemory {
                    space: "global",
                    address: first,
                    bytes,
                    nearest: place.memory.nearest(offset, bytes),
                });
            }
            return Ok(Spot::Global(located));
        }
        Store::Shared => place.shared.len() as u64,
        Store::Local => u64::from(place.launch.program.local_bytes),
        Store::Parameter => place.launch.parameters.len() as u64,
    };
    if offset + bytes > limit {
        return Err(FaultKind::OutOfBounds {
            space: store.name(),
            write,
            address,
            bytes,
            nearest: nearest(warp, place, store, offset, bytes),
        });
    }
    let (spot, tracked): (_, Option<&Bytes>) = match store {
        Store::Shared => (Spot::Shared(offset as usize), Some(place.shared)),
        Store::Local => {
            let at = lane * limit as usize + offset as usize;
            (Spot::Local(at), Some(&warp.local))
        }
        _ => (Spot::Parameter(offset as usize), None),
    };
    if let (false, true, Some(memory), Spot::Shared(at) | Spot::Local(at)) =
        (write, place.launch.checks, tracked, spot)
        && let Some(first) = memory.first_unwritten(at, bytes as usize)
    {
        return Err(FaultKind::UninitialisedMemory {
            space: store.name(),
            address: address + (first - at) as u64,
            bytes,
            nearest: nearest(warp, place, store, offset, bytes),
        });
    }
    Ok(spot)
}

/// Describes what lies at or next to an offset.
pub(super) fn nearest(warp: &Warp, place: &Place, store: Store, offset: u64, bytes: u64) -> String {
    let program = place.launch.program;
    let (ranges, total): (&[Range], usize) = match store {
        Store::Global => return place.memory.nearest(offset, bytes),
        Store::Shared => (&program.shared, place.shared.len()),
        Store::Local => (&program.local, warp.local.len() / crate::program::WARP_SIZE),
        Store::Parameter => {
            return format!(
                "the kernel has {} parameter bytes",
                place.launch.parameters.len()
            );
        }
    };
    let whole = match store {
        Store::Shared => format!("the block has {total} bytes of shared memory"),
        _ => format!("the thread has {total} bytes of local memory"),
    };
    let owner = ranges
        .iter()
        .rev()
        .find(|range| u64::from(range.offset) <= offset);
    match owner {
        Some(range) => format!(
            "offset {offset} is byte {} of or after {} ({} bytes); {whole}",
            offset - u64::from(range.offset),
            range.name,
            if range.bytes == 0 {
                total as u64 - u64::from(range.offset)
            } else {
                u64::from(range.bytes)
            },
        ),
        None => whole,
    }
}
