//! Loads, stores and the conversions of addresses between windows and generic.

use arrayvec::ArrayVec;

use super::{
    Stopped, lanes,
    launch::Place,
    lookup::{self, Spot, Store},
    peers::{self, InCluster},
    racing::Direction,
    stop,
    warp::Warp,
};
use crate::{
    fault::FaultKind,
    program::{
        Access, Instruction, LOCAL_WINDOW, Lanes, Operand, SHARED_WINDOW, Space, WARP_SIZE,
        WINDOW_BYTES,
    },
};

/// What the last instruction did to memory, for the timing model and the watch for progress.
#[derive(Debug)]
pub(crate) struct AccessLog {
    /// The memory it went to, if it was an access.
    pub(crate) store: Option<Store>,
    /// Global memory: the 32-byte sectors touched, ascending.
    pub(crate) sectors: ArrayVec<u64, 64>,
    /// Shared memory: how many passes the 32 banks need, at least 1.
    pub(crate) passes: u32,
    /// It read memory in a way that another thread's write is waited for.
    pub(crate) strong_read: bool,
    /// Something changed that another warp could wait for.
    pub(crate) progress: bool,
    /// Where computed values stand until they are assigned; what they were before does not matter.
    pub(crate) results: [Lanes; 8],
    /// Whether anybody reads sectors and passes.
    pub(crate) detailed: bool,
}

impl AccessLog {
    pub(crate) fn new(detailed: bool) -> Self {
        Self {
            store: None,
            sectors: ArrayVec::new(),
            passes: 1,
            strong_read: false,
            progress: false,
            results: [[0; WARP_SIZE]; 8],
            detailed,
        }
    }

    /// Forgets the last instruction's access.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.store = None;
        self.strong_read = false;
        self.sectors.clear();
    }

    /// Records an access of the lanes of `mask`, `bytes` each.
    pub(crate) fn record(&mut self, store: Store, mask: u32, at: &Lanes, bytes: u64) {
        self.store = Some(store);
        if !self.detailed {
            return;
        }
        match store {
            Store::Global => {
                let mut ascending = true;
                for lane in lanes(mask) {
                    let last_byte = at[lane].wrapping_add(bytes - 1);
                    for sector in [at[lane] / 32, last_byte / 32] {
                        match self.sectors.last() {
                            Some(&last) if last == sector => {}
                            Some(&last) => {
                                ascending &= last < sector;
                                self.sectors.push(sector);
                            }
                            None => self.sectors.push(sector),
                        }
                    }
                }
                if !ascending {
                    self.sectors.sort_unstable();
                    let mut kept = 0;
                    for index in 0..self.sectors.len() {
                        if index == 0 || self.sectors[index] != self.sectors[kept - 1] {
                            self.sectors[kept] = self.sectors[index];
                            kept += 1;
                        }
                    }
                    self.sectors.truncate(kept);
                }
            }
            Store::Shared | Store::Peer => self.passes = bank_passes(mask, at, bytes),
            Store::Local | Store::Parameter => {}
        }
    }
}

/// How many passes 32 banks of 4 bytes need: each serves one word at a time, whichever lanes ask
/// for it (CUDA C++ Programming Guide, shared memory of compute capability 5.x and later).
fn bank_passes(mask: u32, at: &Lanes, bytes: u64) -> u32 {
    let mut words = ArrayVec::<u64, 256>::new();
    for lane in lanes(mask) {
        words.extend((at[lane] / 4..=(at[lane] + bytes - 1) / 4).take(8));
    }
    words.sort_unstable();
    let mut used = [0u32; WARP_SIZE];
    let mut previous = None;
    for word in words {
        if previous != Some(word) {
            used[(word % 32) as usize] += 1;
            previous = Some(word);
        }
    }
    used.into_iter().max().unwrap_or(1).max(1)
}

impl Warp {
    /// The addresses a memory instruction's lanes access.
    pub(crate) fn addresses(
        &self,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<Lanes, Stopped> {
        let offset = instruction.offset;
        if let Operand::Register(register) = instruction.sources[0] {
            let base = self.register(register, mask, place)?;
            return Ok(base.map(|address| address.wrapping_add_signed(offset)));
        }
        let base = self.value(instruction.sources[0], mask, place)?;
        Ok(base.map(|address| address.wrapping_add_signed(offset)))
    }

    pub(crate) fn load(
        &mut self,
        access: Access,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        let at = self.addresses(instruction, mask, place)?;
        let (size, count) = (usize::from(access.bytes), usize::from(access.count));
        let bytes = size * count;
        let store = self.log(access, mask, &at, bytes as u64, place);
        place.log.strong_read = access.strong;
        let mut values = ArrayVec::<Lanes, 8>::new();
        (0..count).for_each(|_| values.push([0; WARP_SIZE]));
        if let Some(located) = contiguous(access, store, mask, &at, place, false) {
            let data = place.memory.slice(located, bytes * WARP_SIZE);
            match (size, count) {
                (4, 1) => {
                    for (value, chunk) in values[0].iter_mut().zip(data.as_chunks().0) {
                        *value = u64::from(u32::from_le_bytes(*chunk));
                    }
                }
                _ => {
                    for (lane, chunk) in data.chunks_exact(bytes).enumerate() {
                        for (element, part) in chunk.chunks_exact(size).enumerate() {
                            values[element][lane] = little_endian(part);
                        }
                    }
                }
            }
        } else if let (Store::Parameter, Operand::Constant(_)) = (store, instruction.sources[0]) {
            let lane = mask.trailing_zeros() as usize;
            let spot = lookup::find(self, place, access, lane, at[lane], false)
                .map_err(|kind| stop(lane as u32, kind))?;
            for element in 0..count {
                values[element] = [self.element(spot, element * size, size, place); WARP_SIZE];
            }
        } else {
            for lane in lanes(mask) {
                let spot = lookup::find(self, place, access, lane, at[lane], false)
                    .or_else(|kind| self.unwritten(kind, access, lane, at[lane], place))
                    .map_err(|kind| stop(lane as u32, kind))?;
                for element in 0..count {
                    values[element][lane] = self.element(spot, element * size, size, place);
                }
            }
            self.check_races(access, mask, &at, Direction::Read, place)?;
        }
        for (destination, value) in instruction.destinations.iter().zip(values.iter_mut()) {
            if access.sign_extend_to != 0 {
                sign_extend(value, access);
            }
            self.assign(*destination, mask, value);
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        access: Access,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        let at = self.addresses(instruction, mask, place)?;
        let (size, count) = (usize::from(access.bytes), usize::from(access.count));
        let bytes = size * count;
        let store = self.log(access, mask, &at, bytes as u64, place);
        let mut values = ArrayVec::<Lanes, 8>::new();
        for operand in &instruction.sources[1..=count] {
            values.push(self.value(*operand, mask, place)?);
        }
        if let Some(located) = contiguous(access, store, mask, &at, place, true) {
            let data = place.memory.slice_mut(located, bytes * WARP_SIZE);
            match (size, count) {
                (4, 1) => {
                    for (value, chunk) in values[0].iter().zip(data.as_chunks_mut().0) {
                        *chunk = (*value as u32).to_le_bytes();
                    }
                }
                _ => {
                    for (lane, chunk) in data.chunks_exact_mut(bytes).enumerate() {
                        for (element, part) in chunk.chunks_exact_mut(size).enumerate() {
                            part.copy_from_slice(&values[element][lane].to_le_bytes()[..size]);
                        }
                    }
                }
            }
            place.log.progress = true;
            return Ok(());
        }
        for lane in lanes(mask) {
            let spot = lookup::find(self, place, access, lane, at[lane], true)
                .map_err(|kind| stop(lane as u32, kind))?;
            for (element, value) in values.iter().enumerate() {
                self.set_element(spot, element * size, size, value[lane], place)
                    .map_err(|kind| stop(lane as u32, kind))?;
            }
        }
        self.check_races(access, mask, &at, Direction::Write, place)
    }

    /// Records the access; the memory is that of the first lane.
    pub(crate) fn log(
        &self,
        access: Access,
        mask: u32,
        at: &Lanes,
        bytes: u64,
        place: &mut Place,
    ) -> Store {
        let first = at[mask.trailing_zeros() as usize];
        let (store, _) = lookup::resolve(access.space, first, place);
        place.log.record(store, mask, at, bytes);
        store
    }

    /// Reads 1 to 8 bytes at an offset in a found range.
    pub(crate) fn element(&self, spot: Spot, offset: usize, size: usize, place: &Place) -> u64 {
        match spot {
            Spot::Global(at) => place.memory.bytes(at).get(at.offset() + offset, size),
            Spot::Shared(rank, at) => place.shared[rank as usize].bytes.get(at + offset, size),
            Spot::Local(at) => self.local.get(at + offset, size),
            Spot::Parameter(at) => {
                little_endian(&place.launch.parameters[at + offset..at + offset + size])
            }
        }
    }

    /// Writes 1 to 8 bytes at an offset in a found range.
    pub(crate) fn set_element(
        &mut self,
        spot: Spot,
        offset: usize,
        size: usize,
        value: u64,
        place: &mut Place,
    ) -> Result<(), FaultKind> {
        let (memory, at) = match spot {
            Spot::Global(at) => (place.memory.bytes_mut(at), at.offset() + offset),
            Spot::Shared(rank, at) => (&mut place.shared[rank as usize].bytes, at + offset),
            Spot::Local(at) => (&mut self.local, at + offset),
            Spot::Parameter(_) => {
                let detail = "kernel parameters are read-only".to_owned();
                return Err(FaultKind::Other { detail });
            }
        };
        if !place.log.progress {
            let keep = u64::MAX >> (64 - 8 * size);
            place.log.progress = memory.get(at, size) != value & keep;
        }
        memory.set(at, size, value);
        Ok(())
    }

    pub(crate) fn convert_to_generic(
        &mut self,
        space: Space,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<(), Stopped> {
        let mut value = self.addresses(instruction, mask, place)?;
        if let Some(window) = window(space) {
            value
                .iter_mut()
                .for_each(|address| *address = (*address & (WINDOW_BYTES - 1)) + window);
        }
        self.assign(instruction.destinations[0], mask, &value);
        Ok(())
    }

    pub(crate) fn convert_from_generic(
        &mut self,
        space: Space,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<(), Stopped> {
        let mut value = self.addresses(instruction, mask, place)?;
        if let Some(window) = window(space) {
            for lane in lanes(mask) {
                let offset = value[lane].wrapping_sub(window);
                if offset >= WINDOW_BYTES {
                    let detail = format!(
                        "cvta.to: generic address {:#x} is outside the window of the state space",
                        value[lane]
                    );
                    return Err(stop(lane as u32, FaultKind::Other { detail }));
                }
                value[lane] = match (space, peers::locate(offset, place)) {
                    (Space::Shared, InCluster::Own(offset)) => offset,
                    (Space::Shared, InCluster::Peer { rank, .. }) => {
                        let detail = format!(
                            "cvta.to.shared::cta: generic address {:#x} is in the shared memory \
                             of another block (rank {rank}): cvta.to.shared::cluster is required",
                            value[lane]
                        );
                        return Err(stop(lane as u32, FaultKind::PeerMemory { detail }));
                    }
                    _ => offset,
                };
            }
        }
        self.assign(instruction.destinations[0], mask, &value);
        Ok(())
    }

    pub(crate) fn is_space(
        &mut self,
        space: Space,
        instruction: &Instruction,
        mask: u32,
        place: &Place,
    ) -> Result<(), Stopped> {
        let mut value = self.addresses(instruction, mask, place)?;
        for address in &mut value {
            let (store, _) = lookup::resolve(Space::Generic, *address, place);
            *address = u64::from(match space {
                Space::Shared => store == Store::Shared,
                Space::SharedCluster => matches!(store, Store::Shared | Store::Peer),
                Space::Local => store == Store::Local,
                Space::Global => store == Store::Global,
                _ => false,
            });
        }
        self.assign(instruction.destinations[0], mask, &value);
        Ok(())
    }
}

fn window(space: Space) -> Option<u64> {
    match space {
        Space::Shared | Space::SharedCluster => Some(SHARED_WINDOW),
        Space::Local => Some(LOCAL_WINDOW),
        _ => None,
    }
}

/// The common case in one look-up: a full warp accesses adjacent, aligned, valid global memory, and
/// orders nothing by it.
#[inline]
fn contiguous(
    access: Access,
    store: Store,
    mask: u32,
    at: &Lanes,
    place: &Place,
    write: bool,
) -> Option<super::memory::Located> {
    let bytes = usize::from(access.bytes) * usize::from(access.count);
    let stride = bytes as u64;
    let adjacent = store == Store::Global
        && mask == u32::MAX
        && !(access.strong && place.races.is_some())
        && at[0].is_multiple_of(stride)
        && at
            .iter()
            .enumerate()
            .fold(true, |so_far, (lane, &address)| {
                so_far & (address == at[0].wrapping_add(lane as u64 * stride))
            });
    if !adjacent {
        return None;
    }
    let total = bytes * WARP_SIZE;
    let located = place.memory.locate(at[0], total as u64, write).ok()?;
    (write || place.memory.first_unwritten(located, total).is_none()).then_some(located)
}

fn little_endian(data: &[u8]) -> u64 {
    data.iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn sign_extend(value: &mut Lanes, access: Access) {
    let unused = 64 - 8 * u32::from(access.bytes);
    let keep = u64::MAX >> (64 - 8 * u32::from(access.sign_extend_to));
    for lane in value {
        *lane = (((*lane << unused) as i64 >> unused) as u64) & keep;
    }
}
