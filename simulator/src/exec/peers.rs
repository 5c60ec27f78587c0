//! The shared memory of the other blocks of a cluster (PTX ISA 5.1.7, `.shared::cluster`).
//!
//! An address in the cluster's window is an offset in a block's shared memory, with the block's rank
//! plus one above it. Without a rank it is the executing block's own: the window of `.shared::cta` is
//! part of the cluster's.

use super::{
    Stopped,
    block::SharedMemory,
    lanes,
    launch::Place,
    lookup::{Spot, owner},
    stop,
    warp::Warp,
};
use crate::{
    fault::FaultKind,
    program::{Access, Instruction, Lanes, SHARED_WINDOW, Space, WINDOW_BYTES},
};

/// Where the rank begins: shared memory is far smaller than 2^24 bytes.
const RANK_SHIFT: u32 = 24;

/// An address of the cluster's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InCluster {
    /// Offset in the block's own shared memory.
    Own(u64),
    /// In another block's.
    Peer { rank: u32, offset: u64 },
}

/// The address of an offset in a block's shared memory.
pub(super) fn address(rank: u32, offset: u64) -> u64 {
    u64::from(rank + 1) << RANK_SHIFT | offset
}

/// Finds the block an address points into. One that points into no block of the cluster is far
/// outside the block's own memory.
#[inline]
pub(super) fn locate(address: u64, place: &Place) -> InCluster {
    let above = address >> RANK_SHIFT;
    if above == 0 || above > place.shared.len() as u64 {
        return InCluster::Own(address);
    }
    let (rank, offset) = (above as u32 - 1, address & ((1 << RANK_SHIFT) - 1));
    if rank == place.rank {
        InCluster::Own(offset)
    } else {
        InCluster::Peer { rank, offset }
    }
}

/// Finds an aligned access of one lane to another block's shared memory. `given` is the address as
/// the instruction gave it, `address` that in the cluster's window.
pub(super) fn find(
    place: &Place,
    access: Access,
    given: u64,
    address: u64,
    write: bool,
) -> Result<Spot, FaultKind> {
    let InCluster::Peer { rank, offset } = locate(address, place) else {
        unreachable!("the caller saw that it is another block's");
    };
    let shared = &place.shared[rank as usize];
    if access.space == Space::Shared {
        return Err(FaultKind::PeerMemory {
            detail: format!(
                "{given:#x} is in the shared memory of block {:?}, and the instruction accesses \
                 the block's own (.shared::cta): .shared::cluster is required",
                shared.block
            ),
        });
    }
    if shared.ended {
        return Err(FaultKind::ended_block(shared.block));
    }
    let bytes = u64::from(access.bytes) * u64::from(access.count);
    if offset + bytes > shared.bytes.len() as u64 {
        return Err(FaultKind::OutOfBounds {
            space: "shared",
            write,
            address: given,
            bytes,
            nearest: nearest(place, address),
        });
    }
    if let (false, true, Some(first)) = (
        write,
        place.launch.checks,
        shared
            .bytes
            .first_unwritten(offset as usize, bytes as usize),
    ) {
        return Err(FaultKind::UninitialisedMemory {
            space: "shared",
            address: given + (first as u64 - offset),
            bytes,
            nearest: nearest(place, address),
        });
    }
    Ok(Spot::Shared(rank, offset as usize))
}

/// Describes what lies at an address of another block's shared memory.
pub(super) fn nearest(place: &Place, address: u64) -> String {
    let InCluster::Peer { rank, offset } = locate(address, place) else {
        unreachable!("the caller saw that it is another block's");
    };
    let SharedMemory { block, bytes, .. } = &place.shared[rank as usize];
    let whole = format!(
        "block {block:?}, rank {rank} in the cluster, has {} bytes of shared memory",
        bytes.len()
    );
    match owner(&place.launch.program.shared, offset, bytes.len()) {
        Some(owner) => format!("offset {offset} is {owner}; {whole}"),
        None => whole,
    }
}

impl Warp {
    /// `mapa`: the address in another block's shared memory of what lies at this address in one's
    /// own.
    pub(super) fn map_to_peer(
        &mut self,
        generic: bool,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<(), Stopped> {
        let mut value = self.value(instruction.sources[0], mask, place)?;
        let ranks = self.value(instruction.sources[1], mask, place)?;
        for lane in lanes(mask) {
            let rank = ranks[lane] & 0xffff_ffff;
            let blocks = place.shared.len();
            if rank >= blocks as u64 {
                let detail =
                    format!("mapa: rank {rank} is outside the cluster, which has {blocks} blocks");
                return Err(stop(lane as u32, FaultKind::PeerMemory { detail }));
            }
            let inside = in_window(generic, value[lane], "mapa", lane)?;
            let InCluster::Own(offset) = locate(inside, place) else {
                let detail = format!(
                    "mapa: {:#x} is an address of another block; one in the block's own shared \
                     memory is required",
                    value[lane]
                );
                return Err(stop(lane as u32, FaultKind::PeerMemory { detail }));
            };
            let mapped = address(rank as u32, offset);
            value[lane] = if generic {
                SHARED_WINDOW + mapped
            } else {
                mapped
            };
        }
        self.assign(instruction.destinations[0], mask, &value);
        Ok(())
    }

    /// `getctarank`: the rank of the block whose shared memory an address is in.
    pub(super) fn peer_rank(
        &mut self,
        generic: bool,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<(), Stopped> {
        let mut value: Lanes = self.value(instruction.sources[0], mask, place)?;
        for lane in lanes(mask) {
            let inside = in_window(generic, value[lane], "getctarank", lane)?;
            value[lane] = match locate(inside, place) {
                InCluster::Own(_) => u64::from(place.rank),
                InCluster::Peer { rank, .. } => u64::from(rank),
            };
        }
        self.assign(instruction.destinations[0], mask, &value);
        Ok(())
    }
}

/// The address in the cluster's window.
fn in_window(generic: bool, address: u64, what: &str, lane: usize) -> Result<u64, Stopped> {
    if !generic {
        return Ok(address & (WINDOW_BYTES - 1));
    }
    let inside = address.wrapping_sub(SHARED_WINDOW);
    if inside < WINDOW_BYTES {
        return Ok(inside);
    }
    let detail = format!("{what}: generic address {address:#x} is not in shared memory");
    Err(stop(lane as u32, FaultKind::PeerMemory { detail }))
}
