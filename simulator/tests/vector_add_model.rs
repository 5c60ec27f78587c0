//! Does the timing model show what an H200 does on vector addition?
//!
//! No PTX is run here: the warp instructions of the kernel are replayed through the dispatcher, the
//! SMs' clocks and the memory system, in order of time, as the executor does it. Measured on an
//! H200 (2^28 elements, CUDA C++, GB/s at block 32 to 1024): one float per thread 638, 1276, 2535,
//! 3496, 3281, 3002; four floats per thread 2552, 4384, 4384, 4384, 4374, 4404.

use std::{cmp::Reverse, collections::BinaryHeap, time::Instant};

use simulator::{
    chip::{Chip, H200},
    isa::{Class, Decoded, Opcode},
    occupancy,
    program::{Access, Action, CacheHint, Instruction, Operand, Space},
    timing::{AccessKind, Dispatcher, MemorySystem, SmClock},
};

fn undecodable(_: &[&str]) -> Result<Decoded, String> {
    Err("built by hand".into())
}

static INTEGER: Opcode = row("mov", Class::Integer);
static MULTIPLY: Opcode = row("mad", Class::IntegerMultiply);
static FLOAT: Opcode = row("add", Class::Float32);
static MEMORY: Opcode = row("ld", Class::Memory);
static CONTROL: Opcode = row("bra", Class::Control);

const fn row(name: &'static str, class: Class) -> Opcode {
    Opcode {
        name,
        class,
        decode: undecodable,
    }
}

fn instruction(
    opcode: &'static Opcode,
    action: Action,
    destinations: &[u32],
    sources: &[u32],
) -> Instruction {
    Instruction {
        opcode,
        action,
        guard: None,
        destinations: destinations
            .iter()
            .map(|&register| Operand::Register(register))
            .collect(),
        sources: sources
            .iter()
            .map(|&register| Operand::Register(register))
            .collect(),
        offset: 0,
        line: 0,
        text: 0,
    }
}

/// The kernel's instructions with `count` floats per thread. The address register of each global
/// access names its array: 40, 41, 42.
fn kernel(count: u8) -> Vec<Instruction> {
    let access = |space, bytes, count| Access {
        space,
        bytes,
        count,
        sign_extend_to: 0,
        strong: false,
        cache: CacheHint::Default,
    };
    let compute = |opcode, destination: u32, sources: &[u32]| {
        instruction(opcode, Action::Nothing, &[destination], sources)
    };
    let parameter = Action::Load(access(Space::Parameter, 8, 1));
    let global = access(Space::Global, 4, count);
    let vector = |first: u32| (first..first + u32::from(count)).collect::<Vec<_>>();
    let mut code: Vec<_> = (0..4)
        .map(|p| instruction(&MEMORY, parameter, &[p], &[]))
        .collect();
    code.extend((4..7).map(|special| compute(&INTEGER, special, &[])));
    code.push(compute(&MULTIPLY, 7, &[4, 5, 6]));
    code.push(compute(&INTEGER, 8, &[7, 0]));
    code.push(instruction(&CONTROL, Action::Branch(0), &[], &[8]));
    code.push(compute(&INTEGER, 10, &[7]));
    for (array, data) in [(0, 16), (1, 20)] {
        code.push(compute(&INTEGER, 30 + array, &[1 + array]));
        code.push(compute(&INTEGER, 40 + array, &[30 + array, 10]));
        code.push(instruction(
            &MEMORY,
            Action::Load(global),
            &vector(data),
            &[40 + array],
        ));
    }
    for element in 0..u32::from(count) {
        code.push(compute(&FLOAT, 24 + element, &[16 + element, 20 + element]));
    }
    code.push(compute(&INTEGER, 32, &[3]));
    code.push(compute(&INTEGER, 42, &[32, 10]));
    let mut stored = vec![42];
    stored.extend(vector(24));
    code.push(instruction(&MEMORY, Action::Store(global), &[], &stored));
    code.push(instruction(&CONTROL, Action::Exit, &[], &[]));
    code
}

/// Cycles an SM runs ahead before the next SM's turn.
const QUANTUM: u64 = 32;

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

struct Replay {
    /// GB/s between a quarter and three quarters of the blocks.
    steady: f64,
    /// Cycles from the launch to the last block's end.
    cycles: u64,
    instructions: u64,
}

fn replay(chip: &Chip, memory: &mut MemorySystem, count: u8, threads: u32, blocks: u64) -> Replay {
    let code = kernel(count);
    let warps = threads.div_ceil(32) as usize;
    let per_sm = occupancy::blocks_per_sm(&chip.limits, threads, 24, 0, 0).blocks;
    let sms = chip.sms as usize;
    let mut dispatcher = Dispatcher::new(chip, per_sm);
    let mut clocks: Vec<_> = (0..sms).map(|_| SmClock::new(chip)).collect();
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
        if started < blocks
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
        let until = first + QUANTUM;
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
                    let bytes = 4 * u64::from(count);
                    let first = (u64::from(address) << 32)
                        + (warp.block * u64::from(threads) + warp.number * 32) * bytes;
                    sectors.clear();
                    sectors.extend(first / 32..(first + 32 * bytes) / 32);
                    let store = matches!(current.action, Action::Store(_));
                    let kind = if store {
                        AccessKind::Store
                    } else {
                        AccessKind::Load
                    };
                    let done = memory.access(cycle, kind, access.cache, &sectors);
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
                clocks[sm].issue(slot, cycle, current, data_ready, &code[warp.next]);
            }
        }
        if let Some((next, _)) = clocks[sm].next() {
            events.push(Reverse((next, sm as u32)));
        }
    }
    assert_eq!(ends.len() as u64, blocks);
    ends.sort_unstable();
    let (from, to) = (ends.len() / 4, ends.len() * 3 / 4);
    let bytes = (to - from) as f64 * f64::from(threads) * f64::from(count) * 12.0;
    let nanoseconds = (ends[to] - ends[from]) as f64 / chip.clock_ghz;
    Replay {
        steady: bytes / nanoseconds,
        cycles,
        instructions,
    }
}

const BLOCKS: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Modelled GB/s at each block size.
fn sweep(count: u8) -> [f64; 6] {
    BLOCKS.map(|threads| {
        let mut memory = MemorySystem::new(&H200);
        memory.flush();
        let elements: u64 = if count == 1 { 1 << 22 } else { 1 << 25 };
        let blocks = elements / u64::from(threads) / u64::from(count);
        let clock = Instant::now();
        let replay = replay(&H200, &mut memory, count, threads, blocks);
        let host = clock.elapsed().as_nanos() as f64 / replay.instructions as f64;
        println!(
            "{count} x {threads}: {:.0} GB/s, {} cycles, {host:.0} ns of host per instruction",
            replay.steady, replay.cycles
        );
        replay.steady
    })
}

fn assert_within(given: f64, expected: f64, share: f64, what: &str) {
    assert!(
        (given / expected - 1.0).abs() <= share,
        "{what}: {given:.0}, expected {expected:.0} within {:.0} %",
        share * 100.0
    );
}

#[test]
fn scalar_add_doubles_up_to_block_128_and_then_256_is_best() {
    let rate = sweep(1);
    assert_within(rate[1] / rate[0], 2.0, 0.05, "64 over 32");
    assert_within(rate[2] / rate[1], 2.0, 0.05, "128 over 64");
    for (index, measured) in [638.0, 1276.0, 2535.0, 3496.0, 3281.0, 3002.0]
        .into_iter()
        .enumerate()
    {
        assert_within(
            rate[index],
            measured,
            0.05,
            &format!("block {}", BLOCKS[index]),
        );
    }
    let best = rate.into_iter().fold(0.0, f64::max);
    assert_eq!(best, rate[3], "block 256 is best");
}

#[test]
fn float4_add_saturates_from_block_64_on() {
    let rate = sweep(4);
    for (index, measured) in [2552.0, 4384.0, 4384.0, 4384.0, 4374.0, 4404.0]
        .into_iter()
        .enumerate()
    {
        assert_within(
            rate[index],
            measured,
            0.05,
            &format!("block {}", BLOCKS[index]),
        );
    }
}
