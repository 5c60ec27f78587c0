//! From an address and a state space to the bytes behind it, or to the fault that explains why
//! there are none.

use super::{
    bytes::Bytes,
    launch::Place,
    memory::Located,
    peers::{self, InCluster},
    warp::Warp,
};
use crate::{
    fault::FaultKind,
    program::{Access, LOCAL_WINDOW, Range, SHARED_WINDOW, Space, WINDOW_BYTES},
};

/// The memory behind an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Global,
    /// The block's own shared memory.
    Shared,
    /// That of another block of the cluster.
    Peer,
    Local,
    Parameter,
}

/// A range inside one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spot {
    Global(Located),
    /// Rank of the block and offset in its shared memory.
    Shared(u32, usize),
    /// Offset in the frames of the whole warp.
    Local(usize),
    Parameter(usize),
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared | Self::Peer => "shared",
            Self::Local => "local",
            Self::Parameter => "param",
        }
    }
}

/// The memory and the address in it; a generic address is told by its window (PTX ISA 5.1). The
/// address in another block's shared memory is that in the cluster's window ([`peers`]).
#[inline]
pub(crate) fn resolve(space: Space, address: u64, place: &Place) -> (Store, u64) {
    match space {
        Space::Shared | Space::SharedCluster => shared(address & (WINDOW_BYTES - 1), place),
        Space::Local => (Store::Local, address & (WINDOW_BYTES - 1)),
        Space::Parameter => (Store::Parameter, address),
        Space::Generic if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES => {
            shared(address - SHARED_WINDOW, place)
        }
        Space::Generic if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES => {
            (Store::Local, address - LOCAL_WINDOW)
        }
        Space::Generic | Space::Global | Space::Constant | Space::Register => {
            (Store::Global, address)
        }
    }
}

#[inline]
fn shared(address: u64, place: &Place) -> (Store, u64) {
    match peers::locate(address, place) {
        InCluster::Own(offset) => (Store::Shared, offset),
        InCluster::Peer { .. } => (Store::Peer, address),
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
    let (store, offset) = resolve(access.space, address, place);
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
        Store::Shared => place.shared[place.rank as usize].bytes.len() as u64,
        Store::Peer => return peers::find(place, access, address, offset, write),
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
        Store::Shared => (
            Spot::Shared(place.rank, offset as usize),
            Some(&place.shared[place.rank as usize].bytes),
        ),
        Store::Local => {
            let at = lane * limit as usize + offset as usize;
            (Spot::Local(at), Some(&warp.local))
        }
        _ => (Spot::Parameter(offset as usize), None),
    };
    if let (false, true, Some(memory), Spot::Shared(_, at) | Spot::Local(at)) =
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
        Store::Shared => (
            &program.shared,
            place.shared[place.rank as usize].bytes.len(),
        ),
        Store::Peer => return peers::nearest(place, offset),
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
    match owner(ranges, offset, total) {
        Some(owner) => format!("offset {offset} is {owner}; {whole}"),
        None => whole,
    }
}

/// Says which variable an offset is in or after, of a memory of `total` bytes.
pub(super) fn owner(ranges: &[Range], offset: u64, total: usize) -> Option<String> {
    let range = ranges
        .iter()
        .rev()
        .find(|range| u64::from(range.offset) <= offset)?;
    let bytes = match range.bytes {
        0 => total as u64 - u64::from(range.offset),
        bytes => u64::from(bytes),
    };
    Some(format!(
        "byte {} of or after {} ({bytes} bytes)",
        offset - u64::from(range.offset),
        range.name,
    ))
}
