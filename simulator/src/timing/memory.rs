//! L2 and device memory, shared by all SMs.

use super::{
    l2::{L2, SECTORS_PER_LINE},
    server::Server,
};
use crate::chip::Chip;

/// What a memory access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
}

/// Bytes of a sector.
const SECTOR_BYTES: u64 = 32;
/// Weight 1 of [`Server::serve`].
const WHOLE: u64 = 1 << 16;
/// Entries of the table that serialises atomics on one sector.
const ATOMIC_ENTRIES: u64 = 1 << 12;
/// Cycles between two atomic operations of different warps on one sector. Estimate: an L2 slice
/// works at about half the SM clock and does one per clock.
const ATOMIC_INTERVAL: u64 = 2;
/// Sectors after which the mix of reads and writes is halved, so that it follows the traffic.
const MIX_WINDOW: u64 = 1 << 14;

/// Shared by all SMs: L2 and device memory. Times are SM cycles since the launch began.
///
/// - Each sector takes its share of the L2's bandwidth; a miss takes its share of the memory's.
/// - Memory that is read and written loses bandwidth to turning the bus around, in proportion to
///   the smaller share of the two.
/// - Above its unloaded latency a miss waits longer the busier memory is. That wait differs from
///   line to line (banks, rows, refresh): it is exponentially distributed over a hash of the line
///   number, with a mean that grows with the square of the load.
///
/// Not modelled: the L1, and that a sector on its way from memory is not there yet for a second
/// access (it counts as a hit).
pub struct MemorySystem {
    l2: L2,
    l2_server: Server,
    memory_server: Server,
    /// When each (hashed) sector is free for the next atomic.
    atomic_free: Vec<u64>,
    l2_latency: u64,
    memory_latency: u64,
    /// Cycles a store needs to be accepted by an idle L2.
    store_latency: u64,
    /// Mean wait in cycles at full load.
    loaded_wait: u64,
    /// Extra cost of the bus turnaround, times 2^16.
    turnaround: u64,
    /// Sectors read and written lately.
    mix: [u64; 2],
    /// Cost of a byte at the present mix, times 2^16.
    weight: u64,
    /// Quantiles of the exponential distribution, mean 256.
    exponential: Box<[u16; 1024]>,
}

impl MemorySystem {
    /// Memory of a device with an empty L2; it lives as long as the device.
    pub fn new(chip: &Chip) -> Self {
        let memory = chip.memory_gb_per_s * chip.memory_efficiency / chip.clock_ghz;
        let mut exponential = Box::new([0; 1024]);
        for (index, quantile) in exponential.iter_mut().enumerate() {
            let below = (index as f64 + 0.5) / 1024.0;
            *quantile = (-256.0 * (1.0 - below).ln()).round() as u16;
        }
        Self {
            l2: L2::new(chip.l2_bytes),
            l2_server: Server::new(chip.l2_gb_per_s / chip.clock_ghz),
            memory_server: Server::new(memory),
            atomic_free: vec![0; ATOMIC_ENTRIES as usize],
            l2_latency: chip.latency.l2.into(),
            memory_latency: chip.latency.memory.into(),
            store_latency: u64::from(chip.latency.l2) / 2,
            loaded_wait: chip.memory_loaded_wait.into(),
            turnaround: (chip.memory_turnaround * WHOLE as f64).round() as u64,
            mix: [1, 0],
            weight: WHOLE,
            exponential,
        }
    }

    /// Empties the L2 of everything kernels use. It is as full as after long other work that wrote
    /// one byte for two it read: a third of its lines are dirty and are written back when they
    /// leave, so that even a short launch sees the traffic of a long one.
    pub fn flush(&mut self) {
        self.l2.flush();
    }

    /// Time restarts at 0; what the L2 holds stays.
    pub fn begin_launch(&mut self) {
        self.l2_server.restart();
        self.memory_server.restart();
        self.atomic_free.fill(0);
        self.mix = [1, 0];
        self.weight = WHOLE;
    }

    /// One warp's access at cycle `now` to `sectors`: sorted, deduplicated sector numbers (address
    /// divided by 32). Returns the cycle at which the data are there (loads, atomics) or the store
    /// is accepted. Calls need not be in order of time: SMs may be a few thousand cycles apart.
    pub fn access(&mut self, now: u64, kind: AccessKind, sectors: &[u64]) -> u64 {
        let arrived = self
            .l2_server
            .serve(now, sectors.len() as u64 * SECTOR_BYTES, WHOLE);
        let write = kind != AccessKind::Load;
        let mut done = match kind {
            AccessKind::Store => arrived + self.store_latency,
            AccessKind::Load | AccessKind::Atomic => arrived + self.l2_latency,
        };
        let mut rest = sectors;
        while let Some(&first) = rest.first() {
            let line = first / SECTORS_PER_LINE;
            let mut mask = 0_u32;
            while let Some((&sector, after)) = rest.split_first()
                && sector / SECTORS_PER_LINE == line
            {
                mask |= 1 << (sector % SECTORS_PER_LINE) as u32;
                rest = after;
            }
            let outcome = self.l2.access(line, mask, write);
            if outcome.evicted_dirty != 0 {
                let sectors = u64::from(outcome.evicted_dirty);
                let written = self.transfer(arrived, sectors, 1);
                if write {
                    // A full queue towards memory holds stores back.
                    done = done.max(written);
                }
            }
            if outcome.missing != 0 && kind != AccessKind::Store {
                let sectors = u64::from(outcome.missing.count_ones());
                let served = self.transfer(arrived, sectors, 0);
                done = done.max(served + self.memory_latency + self.wait(line));
            }
        }
        if kind == AccessKind::Atomic {
            done = self.serialise(arrived, done, sectors);
        }
        done
    }

    /// Reads (`direction` 0) or writes (1) sectors of memory; returns when the bus is done.
    fn transfer(&mut self, now: u64, sectors: u64, direction: usize) -> u64 {
        self.mix[direction] += sectors;
        let total = self.mix[0] + self.mix[1];
        if total >= MIX_WINDOW {
            let smaller = self.mix[0].min(self.mix[1]);
            self.weight = WHOLE + self.turnaround * smaller / total;
            self.mix = self.mix.map(|share| share / 2);
        }
        self.memory_server
            .serve(now, sectors * SECTOR_BYTES, self.weight)
    }

    /// What a miss of `line` waits at the present load.
    fn wait(&self, line: u64) -> u64 {
        let load = self.memory_server.load();
        let mean = (self.loaded_wait * ((load * load) >> 16)) >> 16;
        let hash = (line ^ (line >> 17)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 54;
        (mean * u64::from(self.exponential[hash as usize])) >> 8
    }

    /// Atomics of several warps on one sector follow one another.
    fn serialise(&mut self, arrived: u64, done: u64, sectors: &[u64]) -> u64 {
        let mut turn = arrived;
        for sector in sectors {
            let hash = sector.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
            let free = &mut self.atomic_free[hash as usize];
            turn = turn.max(*free);
            *free = (*free).max(arrived) + ATOMIC_INTERVAL;
        }
        done + (turn - arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::H200;

    fn load(memory: &mut MemorySystem, now: u64, sectors: &[u64]) -> u64 {
        memory.access(now, AccessKind::Load, sectors) - now
    }

    #[test]
    fn a_second_load_hits_until_the_l2_is_flushed_and_across_launches() {
        let mut memory = MemorySystem::new(&H200);
        let (miss, hit) = (u64::from(H200.latency.memory), u64::from(H200.latency.l2));
        let near = |given: u64, latency: u64| (latency..=latency + 8).contains(&given);
        assert!(near(load(&mut memory, 0, &[8, 9, 10, 11]), miss));
        assert!(near(load(&mut memory, 5000, &[8, 9, 10, 11]), hit));
        memory.begin_launch();
        assert!(near(load(&mut memory, 0, &[9]), hit));
        memory.flush();
        assert!(near(load(&mut memory, 5000, &[9]), miss));
    }

    #[test]
    fn one_missing_line_delays_the_whole_access() {
        let mut memory = MemorySystem::new(&H200);
        load(&mut memory, 0, &[0, 1, 2, 3]);
        assert!(load(&mut memory, 5000, &[0, 4]) >= u64::from(H200.latency.memory));
    }

    #[test]
    fn written_sectors_are_in_the_l2() {
        let mut memory = MemorySystem::new(&H200);
        let accepted = memory.access(0, AccessKind::Store, &[64, 65]);
        assert!(accepted < u64::from(H200.latency.l2), "{accepted}");
        assert!(load(&mut memory, 5000, &[64, 65]) < u64::from(H200.latency.memory));
    }

    #[test]
    fn reading_and_writing_is_slower_than_either() {
        let lines = 1 << 21;
        let run = |kinds: [AccessKind; 2]| {
            let mut memory = MemorySystem::new(&H200);
            let (mut end, mut filled) = (0, 0);
            for line in 0..lines {
                let first = line * 4;
                let sectors = [first, first + 1, first + 2, first + 3];
                let kind = kinds[line as usize % 2];
                end = end.max(memory.access(0, kind, &sectors));
                if line == lines / 2 {
                    // The L2 is full by now: what is written makes something else leave.
                    filled = end;
                }
            }
            (lines / 2 * 128) as f64 / ((end - filled) as f64 / H200.clock_ghz)
        };
        let peak = H200.memory_gb_per_s * H200.memory_efficiency;
        let read = run([AccessKind::Load, AccessKind::Load]);
        let copy = run([AccessKind::Load, AccessKind::Store]);
        assert!((read / peak - 1.0).abs() < 0.05, "{read} of {peak}");
        // 4201 GB/s were measured for a copy.
        assert!(
            (copy / 4201.0 - 1.0).abs() < 0.05,
            "copy {copy}, read {read}"
        );
    }

    #[test]
    fn a_busy_memory_answers_later() {
        let mut memory = MemorySystem::new(&H200);
        let mut total = 0;
        let accesses = 200_000;
        // 1600 of the 2339 bytes that memory moves per cycle.
        for index in 0..accesses {
            let now = index * 128 / 1600;
            let first = index * 4;
            total += load(&mut memory, now, &[first, first + 1, first + 2, first + 3]);
        }
        let mean = total / accesses;
        let unloaded = u64::from(H200.latency.memory);
        let wait = u64::from(H200.memory_loaded_wait);
        assert!(
            mean > unloaded + wait / 4 && mean < unloaded + wait,
            "{mean}"
        );
    }

    #[test]
    fn atomics_on_one_sector_take_turns_and_on_many_do_not() {
        let run = |step: u64| {
            let mut memory = MemorySystem::new(&H200);
            (0..1000)
                .map(|warp| memory.access(0, AccessKind::Atomic, &[warp * step]))
                .max()
                .unwrap()
        };
        let (one, many) = (run(0), run(64));
        assert!(
            one >= 999 * ATOMIC_INTERVAL + u64::from(H200.latency.l2),
            "{one}"
        );
        assert!(many < one, "{many} for many sectors, {one} for one");
    }
}
