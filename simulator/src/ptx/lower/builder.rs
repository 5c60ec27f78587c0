//! The program under construction: registers, constants, memory layout.

use std::collections::HashMap;

use super::super::ast::{Function, Variable};
use super::Problems;
use super::frame::{Signature, Symbol, small};
use super::variables::Symbols;
use crate::program::{Operand, Program, Range, WARP_SIZE};

/// Static shared memory and local memory beyond this are refused (PTX windows are 4 GiB; chips
/// have far less, which a launch checks).
const MAX_BYTES: u64 = 1 << 24;

pub(super) struct Builder<'a> {
    pub(super) symbols: &'a Symbols<'a>,
    pub(super) problems: &'a mut Problems,
    pub(super) program: Program,
    /// Bits of each register for the register estimate.
    pub(super) widths: Vec<u8>,
    pub(super) signatures: HashMap<&'a str, Signature>,
    /// Functions found and not lowered yet.
    pub(super) queue: Vec<&'a Function>,
    /// Module-scope shared and local variables that are placed.
    pub(super) placed: HashMap<&'a str, Symbol>,
    /// Calls to be patched with their callee's start: instruction, callee.
    pub(super) calls: Vec<(usize, &'a str)>,
    constants: HashMap<u64, u32>,
    addresses: HashMap<(u32, i64), u32>,
    dynamic: HashMap<i64, u32>,
    dynamic_align: u64,
}

impl<'a> Builder<'a> {
    pub(super) fn new(symbols: &'a Symbols<'a>, problems: &'a mut Problems, name: &str) -> Self {
        Self {
            symbols,
            problems,
            program: Program {
                name: name.to_owned(),
                ..Program::default()
            },
            widths: Vec::new(),
            signatures: HashMap::new(),
            queue: Vec::new(),
            placed: HashMap::new(),
            calls: Vec::new(),
            constants: HashMap::new(),
            addresses: HashMap::new(),
            dynamic: HashMap::new(),
            dynamic_align: 0,
        }
    }

    /// A new register that the estimate does not count.
    pub(super) fn register(&mut self, name: String) -> u32 {
        self.program.register_names.push(name);
        self.program.registers += 1;
        self.program.registers - 1
    }

    fn push_constant(&mut self, value: u64) -> u32 {
        self.program.constants.push([value; WARP_SIZE]);
        small(self.program.constants.len() as u64 - 1)
    }

    /// An immediate, splatted; equal ones share a place.
    pub(super) fn constant(&mut self, value: u64) -> Operand {
        let known = self.constants.get(&value).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.push_constant(value);
            self.constants.insert(value, index);
            index
        });
        Operand::Constant(index)
    }

    /// A device variable's address plus an offset.
    pub(super) fn device_address(&mut self, variable: u32, offset: i64) -> Operand {
        let known = self.addresses.get(&(variable, offset)).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.push_constant(0);
            self.program.relocations.push((index, variable, offset));
            self.addresses.insert((variable, offset), index);
            index
        });
        Operand::Constant(index)
    }

    /// The address of dynamic shared memory plus an offset.
    pub(super) fn dynamic_address(&mut self, offset: i64) -> Operand {
        let known = self.dynamic.get(&offset).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.push_constant(0);
            self.dynamic.insert(offset, index);
            index
        });
        Operand::Constant(index)
    }

    /// Room in the thread's local frame.
    pub(super) fn local(&mut self, name: String, bytes: u64, align: u64, line: u32) -> u32 {
        let offset = u64::from(self.program.local_bytes).next_multiple_of(align.max(1));
        if offset + bytes > MAX_BYTES {
            let message = format!("`{name}`: {bytes} bytes of local memory; 16 MiB at most");
            self.problems.add(line, &message, "");
            return 0;
        }
        self.program.local_bytes = small(offset + bytes);
        self.program.local.push(Range {
            name,
            offset: small(offset),
            bytes: small(bytes),
        });
        small(offset)
    }

    /// Room in the block's shared memory; `[]` variables share its dynamic part.
    pub(super) fn shared(&mut self, variable: &Variable) -> Symbol {
        let name = &variable.name;
        if !variable.initial.is_empty() {
            let message = format!("`{name}`: shared memory has no initial values");
            self.problems.add(variable.line, &message, "");
        }
        let Some(bytes) = variable.bytes else {
            self.dynamic_align = self.dynamic_align.max(variable.align);
            self.program.shared.push(Range {
                name: name.clone(),
                offset: 0,
                bytes: 0,
            });
            return Symbol::DynamicShared;
        };
        let offset = u64::from(self.program.shared_bytes).next_multiple_of(variable.align.max(1));
        if offset + bytes > MAX_BYTES {
            let message = format!("`{name}`: {bytes} bytes of shared memory; 16 MiB at most");
            self.problems.add(variable.line, &message, "");
            return Symbol::Shared(0);
        }
        self.program.shared_bytes = small(offset + bytes);
        let range = Range {
            name: name.clone(),
            offset: small(offset),
            bytes: small(bytes),
        };
        self.program.shared.push(range);
        Symbol::Shared(small(offset))
    }

    /// Fixes what only the whole program tells: call targets and dynamic shared memory.
    pub(super) fn finish(&mut self) {
        for (instruction, callee) in std::mem::take(&mut self.calls) {
            let start = self
                .signatures
                .get(callee)
                .map_or(0, |signature| signature.start);
            if let crate::program::Action::Call { target, .. } =
                &mut self.program.instructions[instruction].action
            {
                *target = start;
            }
        }
        let program = &mut self.program;
        // Dynamic memory begins at the next multiple of 16; wider alignment pads the static part.
        if self.dynamic_align > 16 {
            let padded = u64::from(program.shared_bytes).next_multiple_of(self.dynamic_align);
            program.shared_bytes = small(padded);
        }
        let start = program.shared_bytes.next_multiple_of(16);
        for range in program.shared.iter_mut().filter(|range| range.bytes == 0) {
            range.offset = start;
        }
        for (offset, index) in &self.dynamic {
            let address = u64::from(start).wrapping_add_signed(*offset);
            program.constants[*index as usize] = [address; WARP_SIZE];
        }
    }
}
