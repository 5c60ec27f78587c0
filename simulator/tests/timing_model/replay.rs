//! Plays the executor's part: takes warps through their instructions in order of time.

use std::{cmp::Reverse, collections::BinaryHeap};

use simulator::{
    chip::Chip,
    occupancy,
    program::{Action, Instruction, Operand, Space},
    timing::{AccessKind, Costs, Dispatcher, MemorySystem, SmClock},
};

/// A warp's place in an SM.
#[derive(Clone, Copy)]
struct Warp {
    next: usize,
    block: u64,
    number: u64,
    first_slot: usize,
}

/// A block's place, kept at its first slot.
#[derive(Clone, Copy, Default)]
struct Resident {
    running: usize,
    end: u64,
}

pub(crate) struct Replay {
    /// GB/s between a quarter and three quarters of the blocks.
    pub(crate) steady: f64,
    /// Cycles from the launch to the last block's end.
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
}

/// Runs `grid` blocks of `threads` threads, whose accesses move `bytes` per thread. An SM runs
/// `ahead` cycles before it is the next one's turn.
pub(crate) fn replay(
    chip: &Chip,
    memory: &mut MemorySystem,
    code: &[Instruction],
    bytes: u64,
    threads: u32,
    grid: u64,
    ahead: u64,
) -> Replay {
    let warps = threads.div_ceil(32) as usize;
    let per_sm = occupancy::blocks_per_sm(&chip.limits, threads, 24, 0, 0).blocks;
    let sms = chip.sms as usize;
    let mut dispatcher = Dispatcher::new(chip, per_sm);
    let mut clocks: Vec<_> = (0..sms).map(|_| SmClock::new(chip)).collect();
    let costs = Costs::new(chip);
    let costs: Vec<_> = code
        .iter()
        .map(|instruction| costs.of(instruction))
        .collect();
    let slots = chip.limits.max_warps_per_sm as usize;
    let idle = Warp {
        next: 0,
        block: 0,
        number: 0,
        first_slot: 0,
    };
    let mut states = vec![vec![idle; slots]; sms];
    let mut residents = vec![vec![Resident::default(); slots]; sms];
    let mut places: Vec<Vec<usize>> = vec![
        (0..per_sm as usize)
            .rev()
            .map(|place| place * warps)
            .collect();
        sms
    ];
    let mut events = BinaryHeap::new();
    let (mut started, mut cycles, mut instructions) = (0, 0, 0);
    let mut ends = Vec::new();
    let mut sectors = Vec::new();
    memory.begin_launch();
    loop {
        let event = loop {
            match events.peek() {
                Some(&Reverse((cycle, sm))) => {
                    if clocks[sm as usize]
                        .next()
                        .is_some_and(|(next, _)| next == cycle)
                    {
                        break Some(cycle);
                    }
                    events.pop();
                }
                None => break None,
            }
        };
        if started < grid
            && let Some((start, _)) = dispatcher.next()
            && event.is_none_or(|cycle| start <= cycle)
        {
            let (start, sm) = dispatcher.start().unwrap();
            let first_slot = places[sm].pop().unwrap();
            residents[sm][first_slot] = Resident {
                running: warps,
                end: 0,
            };
            for number in 0..warps {
                let slot = first_slot + number;
                clocks[sm].start_warp(slot, start, 64);
                states[sm][slot] = Warp {
                    next: 0,
                    block: started,
                    number: number as u64,
                    first_slot,
                };
            }
            started += 1;
            events.push(Reverse((clocks[sm].next().unwrap().0, sm as u32)));
            continue;
        }
        let Some(Reverse((first, sm))) = events.pop() else {
            break;
        };
        let sm = sm as usize;
        let until = first + ahead;
        while let Some((cycle, slot)) = clocks[sm].next()
            && cycle <= until
        {
            let warp = &mut states[sm][slot];
            let current = &code[warp.next];
            instructions += 1;
            let resident = &mut residents[sm][warp.first_slot];
            let data_ready = match current.action {
                Action::Load(access) | Action::Store(access) if access.space == Space::Global => {
                    let Operand::Register(address) = current.sources[0] else {
                        unreachable!()
                    };
                    let bytes = u64::from(access.bytes) * u64::from(access.count);
                    let first = (u64::from(address) << 40)
                        + current.offset as u64
                        + (warp.block * u64::from(threads) + warp.number * 32) * bytes;
                    sectors.clear();
                    sectors.extend(first / 32..(first + 32 * bytes) / 32);
                    let store = matches!(current.action, Action::Store(_));
                    let kind = if store {
                        AccessKind::Store
                    } else {
                        AccessKind::Load
                    };
                    let done = memory.access(cycle, kind, &sectors);
                    if store {
                        resident.end = resident.end.max(done);
                    }
                    Some(done)
                }
                _ => None,
            };
            if matches!(current.action, Action::Exit) {
                clocks[sm].stop_warp(slot);
                resident.running -= 1;
                resident.end = resident.end.max(cycle);
                if resident.running == 0 {
                    cycles = cycles.max(resident.end);
                    ends.push(resident.end);
                    dispatcher.finish(sm, resident.end);
                    places[sm].push(warp.first_slot);
                }
            } else {
                warp.next += 1;
                let next = &costs[warp.next];
                clocks[sm].issue(slot, cycle, &costs[warp.next - 1], data_ready, next);
            }
        }
        if let Some((next, _)) = clocks[sm].next() {
            events.push(Reverse((next, sm as u32)));
        }
    }
    assert_eq!(ends.len() as u64, grid);
    ends.sort_unstable();
    let (from, to) = (ends.len() / 4, ends.len() * 3 / 4);
    let moved = (to - from) as f64 * f64::from(threads) * bytes as f64;
    let nanoseconds = (ends[to] - ends[from]) as f64 / chip.clock_ghz;
    Replay {
        steady: moved / nanoseconds,
        cycles,
        instructions,
    }
}
