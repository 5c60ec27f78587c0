use super::*;
use crate::{
    chip::H200,
    isa::{Class, Opcode},
    program::{Action, Guard, Instruction, Operand},
    timing::Costs,
};

static FLOAT: Opcode = row(Class::Float32);
static SPECIAL: Opcode = row(Class::Special);
static MEMORY: Opcode = row(Class::Memory);
static CONTROL: Opcode = row(Class::Control);

const fn row(class: Class) -> Opcode {
    Opcode {
        name: "test",
        class,
        decode: |_| Err(String::new()),
    }
}

fn instruction(opcode: &'static Opcode, destination: u32, source: u32) -> Instruction {
    Instruction {
        opcode,
        action: Action::Nothing,
        guard: None,
        destinations: [Operand::Register(destination)].into_iter().collect(),
        sources: [Operand::Register(source)].into_iter().collect(),
        offset: 0,
        line: 0,
        text: 0,
    }
}

fn cost(instruction: &Instruction) -> Cost {
    Costs::new(&H200).of(instruction)
}

/// Issues `code` on one warp alone; returns the cycle of each issue.
fn run(code: &[Instruction], data_ready: Option<u64>) -> Vec<u64> {
    let mut sm = SmClock::new(&H200);
    sm.start_warp(0, 0, 16);
    let mut cycles = Vec::new();
    for (index, instruction) in code.iter().enumerate() {
        let (cycle, _) = sm.next().unwrap();
        cycles.push(cycle);
        let next = code.get(index + 1).unwrap_or(instruction);
        let data_ready = data_ready.filter(|_| instruction.opcode.class == Class::Memory);
        sm.issue(0, cycle, &cost(instruction), data_ready, &cost(next));
    }
    cycles
}

#[test]
fn a_dependent_chain_issues_at_the_latency_and_independent_work_every_cycle() {
    let chain = [
        instruction(&FLOAT, 1, 1),
        instruction(&FLOAT, 1, 1),
        instruction(&FLOAT, 1, 1),
    ];
    assert_eq!(run(&chain, None), [0, 4, 8]);
    let independent: Vec<_> = (0..4).map(|i| instruction(&FLOAT, i, 8 + i)).collect();
    assert_eq!(run(&independent, None), [0, 1, 2, 3]);
}

#[test]
fn sources_destinations_and_guards_wait_for_a_load() {
    let load = instruction(&MEMORY, 1, 0);
    assert_eq!(
        run(&[load.clone(), instruction(&FLOAT, 2, 1)], Some(700)),
        [0, 700]
    );
    assert_eq!(
        run(&[load.clone(), instruction(&FLOAT, 1, 2)], Some(700)),
        [0, 700]
    );
    let mut guarded = instruction(&FLOAT, 3, 2);
    assert_eq!(run(&[load.clone(), guarded.clone()], Some(700)), [0, 1]);
    guarded.guard = Some(Guard {
        register: 1,
        negated: false,
    });
    assert_eq!(run(&[load, guarded], Some(700)), [0, 700]);
}

#[test]
fn registers_64_apart_are_told_apart() {
    let mut sm = SmClock::new(&H200);
    sm.start_warp(0, 0, 128);
    let next = instruction(&FLOAT, 2, 65);
    sm.issue(
        0,
        0,
        &cost(&instruction(&MEMORY, 1, 0)),
        Some(700),
        &cost(&next),
    );
    assert_eq!(sm.next(), Some((1, 0)));
}

#[test]
fn a_branch_delays_the_next_instruction() {
    let code = [instruction(&CONTROL, 1, 0), instruction(&FLOAT, 2, 3)];
    assert_eq!(run(&code, None), [0, H200.latency.control.into()]);
}

#[test]
fn warps_of_a_scheduler_share_its_pipes_oldest_first() {
    let mut sm = SmClock::new(&H200);
    // 4 and 0 are of one scheduler, 1 of another; 4 is the oldest.
    for slot in [4, 0, 1] {
        sm.start_warp(slot, 0, 16);
    }
    let special = instruction(&SPECIAL, 1, 2);
    let mut order = Vec::new();
    for _ in 0..7 {
        let (cycle, slot) = sm.next().unwrap();
        order.push((cycle, slot));
        sm.issue(
            slot,
            cycle,
            &cost(&special),
            None,
            &cost(&instruction(&SPECIAL, 3, 4)),
        );
    }
    // A scheduler's special function unit is busy for 8 cycles per instruction, so after the first
    // ones of 4 and 0 until 16. Both are ready then, and the older goes first. 1 has a unit of its
    // own, from its start on.
    let start = 2 * u64::from(H200.warp_start);
    assert_eq!(order[..2], [(0, 4), (start / 2, 0)]);
    assert!(
        order.contains(&(start, 1)) && order.contains(&(start + 8, 1)),
        "{order:?}"
    );
    assert!(
        order.contains(&(16, 4)) && order.contains(&(24, 4)),
        "{order:?}"
    );
    assert!(order.is_sorted_by_key(|issue| issue.0), "{order:?}");
}

#[test]
fn a_scheduler_issues_one_instruction_per_cycle_and_an_sm_one_per_scheduler() {
    let mut sm = SmClock::new(&H200);
    for slot in 0..8 {
        sm.start_warp(slot, 0, 16);
    }
    let mut cycles = Vec::new();
    for index in 0..400 {
        let (cycle, slot) = sm.next().unwrap();
        cycles.push(cycle);
        // Independent of all before it.
        let one = instruction(&FLOAT, index % 16, (index + 1) % 16);
        sm.issue(
            slot,
            cycle,
            &cost(&one),
            None,
            &cost(&instruction(&FLOAT, (index + 8) % 16, (index + 9) % 16)),
        );
    }
    // After all have started, 100 cycles take 400 instructions.
    let most = (0..50)
        .map(|cycle| cycles.iter().filter(|c| **c == cycle).count())
        .max();
    assert_eq!(most, Some(4));
}

#[test]
fn a_waiting_warp_issues_only_after_it_is_resumed() {
    let mut sm = SmClock::new(&H200);
    sm.start_warp(0, 0, 16);
    sm.issue(
        0,
        0,
        &cost(&instruction(&MEMORY, 1, 0)),
        Some(500),
        &cost(&instruction(&FLOAT, 2, 1)),
    );
    sm.wait(0);
    sm.wait(0);
    assert_eq!(sm.next(), None);
    sm.resume(0, 100);
    assert_eq!(
        sm.next(),
        Some((500, 0)),
        "its data are later than the barrier"
    );
    sm.wait(0);
    sm.resume(0, 900);
    assert_eq!(sm.next(), Some((900, 0)));
    sm.stop_warp(0);
    sm.resume(0, 1000);
    assert_eq!(sm.next(), None, "an exited warp cannot be resumed");
}

#[test]
fn more_registers_keep_what_is_pending() {
    let mut sm = SmClock::new(&H200);
    sm.start_warp(0, 0, 8);
    let load = instruction(&MEMORY, 1, 0);
    sm.issue(
        0,
        0,
        &cost(&load),
        Some(700),
        &cost(&instruction(&FLOAT, 3, 4)),
    );
    sm.start_warp(5, 0, 100);
    sm.issue(
        0,
        1,
        &cost(&instruction(&FLOAT, 3, 4)),
        None,
        &cost(&instruction(&FLOAT, 2, 1)),
    );
    sm.stop_warp(5);
    assert_eq!(sm.next(), Some((700, 0)));
}

#[test]
fn a_reused_slot_starts_with_nothing_pending() {
    let mut sm = SmClock::new(&H200);
    sm.start_warp(0, 0, 8);
    sm.issue(
        0,
        0,
        &cost(&instruction(&MEMORY, 1, 0)),
        Some(70_000),
        &cost(&instruction(&FLOAT, 2, 3)),
    );
    sm.stop_warp(0);
    let start = sm.start_warp(0, 100, 8);
    assert_eq!(sm.next(), Some((start, 0)));
    sm.issue(
        0,
        start,
        &cost(&instruction(&FLOAT, 4, 5)),
        None,
        &cost(&instruction(&FLOAT, 2, 1)),
    );
    assert_eq!(sm.next(), Some((start + 1, 0)));
}

#[test]
fn bank_conflicts_take_longer() {
    let sm = SmClock::new(&H200);
    assert_eq!(sm.shared_ready(10, 1), 10 + u64::from(H200.latency.shared));
    assert!(sm.shared_ready(10, 32) >= sm.shared_ready(10, 1) + 31);
}
