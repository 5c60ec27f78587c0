//! Memory instructions under the race check, and the faults it gives.

use super::{
    Stopped, lanes,
    launch::Place,
    lookup::{self, Spot, Store},
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
        let Some(races) = place.races.as_deref_mut() else {
            return Ok(());
        };
        if !access.strong && !matches!(access.space, Space::Shared | Space::Generic) {
            return Ok(());
        }
        let (mut shared, mut offsets) = (mask, [0; WARP_SIZE]);
        if access.space == Space::Shared {
            offsets = at.map(|address| address & (WINDOW_BYTES - 1));
        } else {
            shared = 0;
            for lane in lanes(mask) {
                let (store, offset) = lookup::resolve(access.space, at[lane]);
                if store == Store::Shared {
                    shared |= 1 << lane;
                    offsets[lane] = offset;
                }
            }
            if shared == 0 && !access.strong {
                return Ok(());
            }
        }
        let publishes = access.strong && place.launch.races.is_some_and(|check| check.publishes);
        let elsewhere = mask & !shared != 0;
        if publishes && direction != Direction::Write {
            races.acquire(self.index, access.acquire, Some((shared, &offsets)));
            if elsewhere {
                races.acquire(self.index, access.acquire, None);
            }
        }
        let bytes = u32::from(access.bytes) * u32::from(access.count);
        let found = races.access(SharedAccess {
            warp: self.index,
            pc: self.pc(),
            mask: shared,
            at: &offsets,
            bytes,
            write: direction != Direction::Read,
            strong: access.strong,
        });
        if publishes && direction != Direction::Read {
            races.publish(self.index, access.release, Some((shared, &offsets)));
            if elsewhere {
                races.publish(self.index, access.release, None);
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
        FaultKind::DataRace {
            write: direction != Direction::Read,
            strong: access.strong,
            address,
            bytes,
            nearest: lookup::nearest(self, place, Store::Shared, conflict.offset.into(), bytes),
            other: Box::new(RacingAccess {
                write: conflict.write,
                strong: conflict.strong,
                thread: launch.thread_index(conflict.warp, conflict.other_lane),
                line: instruction.line,
                instruction: launch.program.texts[instruction.text as usize].clone(),
            }),
            same_warp: conflict.warp == self.index,
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
                warp: self.index,
                lane: lane as u32,
                pc: self.pc(),
                kind,
            });
        };
        place.races.as_deref_mut().map(remember);
        Ok(spot)
    }
}
