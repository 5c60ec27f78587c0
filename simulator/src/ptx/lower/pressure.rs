//! The register estimate: the most 32-bit registers that are live at once, by backward liveness
//! over each function's control flow, calls adding what their callee needs.

use std::collections::HashMap;
use std::ops::Range;

use crate::program::{Action, Instruction, Operand, Program};

/// One bit per register of a function.
type Live = Vec<u64>;

/// 32-bit registers that the program needs. `widths` gives each register's bits; `ranges` each
/// function's instructions, the entry first.
pub(super) fn registers(program: &Program, widths: &[u8], ranges: &[Range<usize>]) -> u32 {
    let by_start: HashMap<u32, usize> = ranges
        .iter()
        .enumerate()
        .map(|(number, range)| (range.start as u32, number))
        .collect();
    let functions: Vec<Function> = ranges
        .iter()
        .map(|range| Function::new(program, widths, range.clone()))
        .collect();
    // Callees first; a cycle was reported before and counts as nothing.
    let mut needs: Vec<Option<u32>> = vec![None; functions.len()];
    let mut stack = vec![(0, false)];
    while let Some((number, ready)) = stack.pop() {
        let Some(function) = functions.get(number) else {
            continue;
        };
        let callee = |target: &u32| by_start.get(target).copied();
        if ready {
            let calls = function.calls.iter().map(|(target, live)| {
                live + callee(target).and_then(|callee| needs[callee]).unwrap_or(0)
            });
            needs[number] = Some(calls.max().unwrap_or(0).max(function.most));
        } else if needs[number].is_none() {
            needs[number] = Some(0);
            stack.push((number, true));
            let callees = function
                .calls
                .iter()
                .filter_map(|(target, _)| callee(target));
            stack.extend(callees.map(|callee| (callee, false)));
        }
    }
    needs.first().copied().flatten().unwrap_or(0)
}

struct Function {
    /// Most registers live at one point, callees aside.
    most: u32,
    /// Callee's start, and registers live across the call.
    calls: Vec<(u32, u32)>,
}

/// A straight-line stretch of instructions.
struct Block {
    range: Range<usize>,
    successors: Vec<usize>,
}

impl Function {
    fn new(program: &Program, widths: &[u8], range: Range<usize>) -> Self {
        let code = &program.instructions;
        let blocks = blocks(program, range.clone());
        // Registers of the function, numbered densely.
        let mut dense: HashMap<u32, usize> = HashMap::new();
        let mut weights: Vec<u32> = Vec::new();
        for instruction in &code[range] {
            for register in named(instruction) {
                dense.entry(register).or_insert_with(|| {
                    let bits = widths.get(register as usize).copied().unwrap_or(0);
                    weights.push(u32::from(bits).div_ceil(32));
                    weights.len() - 1
                });
            }
        }
        let words = weights.len().div_ceil(64);
        let mut live_in: Vec<Live> = vec![vec![0; words]; blocks.len()];
        let mut waiting: Vec<usize> = (0..blocks.len()).collect();
        let mut queued = vec![true; blocks.len()];
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            for &successor in &block.successors {
                predecessors[successor].push(number);
            }
        }
        let mut live = vec![0; words];
        while let Some(number) = waiting.pop() {
            queued[number] = false;
            live_out(&blocks[number], &live_in, &mut live);
            for instruction in code[blocks[number].range.clone()].iter().rev() {
                step(instruction, &dense, &mut live);
            }
            if live != live_in[number] {
                live_in[number].clone_from(&live);
                for &predecessor in &predecessors[number] {
                    if !std::mem::replace(&mut queued[predecessor], true) {
                        waiting.push(predecessor);
                    }
                }
            }
        }
        let mut function = Self {
            most: 0,
            calls: Vec::new(),
        };
        for block in &blocks {
            live_out(block, &live_in, &mut live);
            let mut count = weigh(&live, &weights);
            for instruction in code[block.range.clone()].iter().rev() {
                if let Action::Call { target, .. } = instruction.action {
                    function.calls.push((target, count));
                }
                let changed = named(instruction).next().is_some();
                step(instruction, &dense, &mut live);
                if changed {
                    count = weigh(&live, &weights);
                }
                function.most = function.most.max(count);
            }
        }
        function
    }
}

fn weigh(live: &Live, weights: &[u32]) -> u32 {
    let mut sum = 0;
    for (index, &word) in live.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            sum += weights[index * 64 + word.trailing_zeros() as usize];
            word &= word - 1;
        }
    }
    sum
}

fn live_out(block: &Block, live_in: &[Live], live: &mut Live) {
    live.fill(0);
    for &successor in &block.successors {
        for (word, more) in live.iter_mut().zip(&live_in[successor]) {
            *word |= more;
        }
    }
}

/// Backwards over one instruction: what it writes for all lanes is dead before it, what it reads
/// is live.
fn step(instruction: &Instruction, dense: &HashMap<u32, usize>, live: &mut Live) {
    if instruction.guard.is_none() {
        for operand in &instruction.destinations {
            if let Operand::Register(register) = operand {
                let bit = dense[register];
                live[bit / 64] &= !(1 << (bit % 64));
            }
        }
    }
    let guard = instruction.guard.map(|guard| guard.register);
    for register in read(instruction).chain(guard) {
        let bit = dense[&register];
        live[bit / 64] |= 1 << (bit % 64);
    }
}

fn registers_of(operands: &[Operand]) -> impl Iterator<Item = u32> {
    operands.iter().filter_map(|operand| match operand {
        Operand::Register(register) => Some(*register),
        _ => None,
    })
}

fn read(instruction: &Instruction) -> impl Iterator<Item = u32> {
    registers_of(&instruction.sources)
}

fn named(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let guard = instruction.guard.map(|guard| guard.register);
    read(instruction)
        .chain(registers_of(&instruction.destinations))
        .chain(guard)
}

/// Cuts a function at branch targets and after branches and ends.
fn blocks(program: &Program, range: Range<usize>) -> Vec<Block> {
    let code = &program.instructions;
    let mut starts = vec![range.start];
    for index in range.clone() {
        match code[index].action {
            Action::Branch(target) => starts.extend([target as usize, index + 1]),
            Action::BranchIndexed(table) => {
                let targets = program.branch_tables.get(table as usize);
                starts.extend(targets.into_iter().flatten().map(|target| *target as usize));
                starts.push(index + 1);
            }
            Action::Exit | Action::Return { .. } | Action::Trap => starts.push(index + 1),
            _ => {}
        }
    }
    starts.retain(|start| range.contains(start));
    starts.sort_unstable();
    starts.dedup();
    let number: HashMap<usize, usize> = starts
        .iter()
        .enumerate()
        .map(|(number, start)| (*start, number))
        .collect();
    let mut blocks = Vec::with_capacity(starts.len());
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(range.end);
        let last = &code[end - 1];
        let (targets, ends): (Vec<u32>, bool) = match last.action {
            Action::Branch(target) => (vec![target], true),
            Action::BranchIndexed(table) => (
                program
                    .branch_tables
                    .get(table as usize)
                    .cloned()
                    .unwrap_or_default(),
                true,
            ),
            Action::Exit | Action::Return { .. } | Action::Trap => (Vec::new(), true),
            _ => (Vec::new(), false),
        };
        let mut successors: Vec<usize> = targets
            .iter()
            .filter_map(|target| number.get(&(*target as usize)).copied())
            .collect();
        if !ends || last.guard.is_some() {
            successors.extend(number.get(&end));
        }
        blocks.push(Block {
            range: start..end,
            successors,
        });
    }
    blocks
}
