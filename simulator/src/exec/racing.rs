//! Memory instructions under the race check, and the faults it gives.

use super::{
    Stopped, lanes,
    launch::Place,
    lookup::{self, Spot, Store},
    peers::{self, InCluster},
    races::{Conflict, Races, SharedAccess, Unwritten},
    stop,
    warp::Warp,
};
use crate::{
    fault::{FaultKind, RacingAccess},
    program::{Access, Lanes, Space, WARP_SIZE, WINDOW_BYTES},
};

/// What an instruction does to the memory it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    /// An atomic operation.
    ReadWrite,
}

impl Warp {
    /// Checks an access whose bytes are in bounds: its lanes that go to shared memory are compared
    /// with all accesses before, and a strong one publishes or acquires, wherever it goes.
    #[inline]
    pub(super) fn check_races(
        &self,
        access: Access,
        mask: u32,
        at: &Lanes,
        direction: Direction,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        if place.races.is_none() {
            return Ok(());
        }
        let in_shared = matches!(
            access.space,
            Space::Shared | Space::SharedCluster | Space::Generic
        );
        if !access.strong && !in_shared {
            return Ok(());
        }
        let (mut shared, mut offsets) = (mask, [0; WARP_SIZE]);
        if access.space == Space::Shared && place.shared.len() == 1 {
            offsets = at.map(|address| address & (WINDOW_BYTES - 1));
        } else {
            shared = self.offsets_in_cluster(access, mask, at, &mut offsets, place)?;
            if shared == 0 && !access.strong {
                return Ok(());
            }
        }
        let Some(races) = place.races.as_deref_mut() else {
            return Ok(());
        };
        if access.strong && direction != Direction::Write {
            races.hear(self.rank);
        }
        let publishes = access.strong && place.launch.races.is_some_and(|check| check.publishes);
        let elsewhere = mask & !shared != 0;
        if publishes && direction != Direction::Write {
            races.acquire(self.id, access.acquire, Some((shared, &offsets)));
            if elsewhere {
                races.acquire(self.id, access.acquire, None);
            }
        }
        let bytes = u32::from(access.bytes) * u32::from(access.count);
        let found = races.access(SharedAccess {
            warp: self.id,
            pc: self.pc(),
            mask: shared,
            at: &offsets,
            bytes,
            write: direction != Direction::Read,
            strong: access.strong,
        });
        if publishes && direction != Direction::Read {
            races.publish(self.id, access.release, Some((shared, &offsets)));
            if elsewhere {
                races.publish(self.id, access.release, None);
            }
        }
        found.map_err(|conflict| {
            let kind = self.race(
                access,
                direction,
                at[conflict.lane as usize],
                conflict,
                place,
            );
            stop(conflict.lane, kind)
        })
    }

    /// The lanes that go to shared memory, of whichever block, and their offsets in that of the
    /// whole cluster. Another block's may only be accessed when that block has begun.
    fn offsets_in_cluster(
        &self,
        access: Access,
        mask: u32,
        at: &Lanes,
        offsets: &mut Lanes,
        place: &mut Place,
    ) -> Result<u32, Stopped> {
        let mut shared = 0;
        for lane in lanes(mask) {
            let (store, address) = lookup::resolve(access.space, at[lane], place);
            let (rank, offset) = match (store, peers::locate(address, place)) {
                (Store::Shared, _) => (place.rank, address),
                (Store::Peer, InCluster::Peer { rank, offset }) => (rank, offset),
                _ => continue,
            };
            shared |= 1 << lane;
            let Some(races) = place.races.as_deref_mut() else {
                return Ok(shared);
            };
            offsets[lane] = races.in_cluster(rank, offset);
            if rank != place.rank && !races.reach(self.id, rank, self.pc(), lane as u32) {
                let detail = format!(
                    "block {:?} may not have begun: a cluster barrier (barrier.cluster.arrive and \
                     .wait) before the first access to its shared memory is required",
                    place.shared[rank as usize].block
                );
                return Err(stop(lane as u32, FaultKind::PeerMemory { detail }));
            }
        }
        Ok(shared)
    }

    /// The fault of a race.
    #[cold]
    fn race(
        &self,
        access: Access,
        direction: Direction,
        address: u64,
        conflict: Conflict,
        place: &Place,
    ) -> FaultKind {
        let launch = place.launch;
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        let instruction = &launch.program.instructions[conflict.pc as usize];
        let warps = launch.warps();
        let other = conflict.warp / warps;
        let (store, offset) = match place.races.as_deref() {
            Some(races) => match races.in_block(conflict.offset) {
                (rank, offset) if rank == place.rank => (Store::Shared, offset),
                (rank, offset) => (Store::Peer, peers::address(rank, offset)),
            },
            None => (Store::Shared, conflict.offset.into()),
        };
        FaultKind::DataRace {
            write: direction != Direction::Read,
            strong: access.strong,
            address,
            bytes,
            nearest: lookup::nearest(self, place, store, offset, bytes),
            other: Box::new(RacingAccess {
                write: conflict.write,
                strong: conflict.strong,
                thread: launch.thread_index(conflict.warp % warps, conflict.other_lane),
                block: (other != place.rank).then(|| place.shared[other as usize].block),
                line: instruction.line,
                instruction: launch.program.texts[instruction.text as usize].clone(),
            }),
            same_warp: conflict.warp == self.id,
        }
    }

    /// A read of shared memory that nothing has written goes on under the race check, which may
    /// find the write that should have come before.
    #[cold]
    pub(super) fn unwritten(
        &self,
        kind: FaultKind,
        access: Access,
        lane: usize,
        address: u64,
        place: &mut Place,
    ) -> Result<Spot, FaultKind> {
        let shared = matches!(
            kind,
            FaultKind::UninitialisedMemory {
                space: "shared",
                ..
            }
        );
        if !shared || place.races.is_none() {
            return Err(kind);
        }
        // In bounds and aligned, as a write must be, too.
        let spot = lookup::find(self, place, access, lane, address, true)?;
        let remember = |races: &mut Races| {
            races.unwritten.get_or_insert(Unwritten {
                warp: self.id,
                lane: lane as u32,
                pc: self.pc(),
                kind,
            });
        };
        place.races.as_deref_mut().map(remember);
        Ok(spot)
    }
}
