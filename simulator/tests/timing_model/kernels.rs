//! Instruction streams built by hand: what a warp of each kernel issues, loops unrolled.

use simulator::{
    isa::{Class, Decoded, Opcode},
    program::{Access, Action, CacheHint, Instruction, Operand, Space},
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

const fn access(space: Space, bytes: u8, count: u8) -> Access {
    Access {
        space,
        bytes,
        count,
        sign_extend_to: 0,
        strong: false,
        acquire: false,
        release: false,
        cache: CacheHint::Default,
    }
}

fn compute(opcode: &'static Opcode, destination: u32, sources: &[u32]) -> Instruction {
    instruction(opcode, Action::Nothing, &[destination], sources)
}

/// `count` reads of four floats with `step` bytes between them, `in_flight` at a time.
pub(crate) fn read(count: usize, step: i64, in_flight: usize) -> Vec<Instruction> {
    let global = access(Space::Global, 4, 4);
    let mut code = vec![compute(&INTEGER, 10, &[]), compute(&INTEGER, 40, &[10])];
    for first in (0..count).step_by(in_flight) {
        let data = |load: usize| 16 + 4 * load as u32;
        for load in 0..in_flight {
            let registers: Vec<_> = (data(load)..data(load) + 4).collect();
            let mut read = instruction(&MEMORY, Action::Load(global), &registers, &[40]);
            read.offset = (first + load) as i64 * step;
            code.push(read);
        }
        for load in 0..in_flight {
            code.extend((0..4).map(|i| compute(&FLOAT, 12 + i, &[12 + i, data(load) + i])));
        }
        code.push(compute(&INTEGER, 11, &[11]));
        code.push(instruction(&CONTROL, Action::Branch(0), &[], &[11]));
    }
    code.push(instruction(&CONTROL, Action::Exit, &[], &[]));
    code
}

/// Vector addition of `count` floats per thread. The address register of each global access names
/// its array: 40, 41, 42.
pub(crate) fn vector_add(count: u8) -> Vec<Instruction> {
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
