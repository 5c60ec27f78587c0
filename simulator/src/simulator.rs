//! The simulated device: modules, memory and launches.

use crate::{chip::Chip, fault::Fault, program::Program};

/// A simulated device. Results do not depend on the host; times are modelled for its chip.
pub struct Simulator {
    chip: Chip,
    options: Options,
}

/// What a launch does besides computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Track uninitialised registers and memory.
    pub checks: bool,
    /// Model times; otherwise clocks count instructions.
    pub timing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            checks: true,
            timing: true,
        }
    }
}

/// A loaded module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(u32);

/// Geometry and arguments of a launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The `.entry`'s name.
    pub kernel: &'a str,
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Threads per block and axis.
    pub block: [u32; 3],
    /// Dynamic shared memory per block in bytes.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The parameter block, laid out as [`Program::parameters`] says.
    pub parameters: &'a [u8],
}

/// What a launch did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Modelled time from start to the last block's end; `None` without timing.
    pub nanoseconds: Option<f64>,
    /// Warp instructions executed.
    pub warp_instructions: u64,
}

/// Why a module was not loaded: every problem found, not only the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct LoadError {
    /// One message per problem, each with line and text.
    pub problems: Vec<String>,
}

/// A failed allocation or copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// More than is free.
    #[error("{required} bytes required, {available} free")]
    OutOfMemory { required: u64, available: u64 },
    /// A range that is not inside one live allocation.
    #[error("{0}")]
    Invalid(String),
}

/// The device's global memory.
pub struct Memory {}

#[expect(unused_variables, reason = "signatures agreed on, bodies follow")]
impl Memory {
    /// Allocates uninitialised memory aligned to 256 bytes; `label` names it in faults.
    pub fn allocate(&mut self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        unimplemented!()
    }
    /// Frees an allocation; later accesses are use-after-free.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        unimplemented!()
    }
    /// Copies in.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        unimplemented!()
    }
    /// Copies out; uninitialised bytes read as written last or as an arbitrary value.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        unimplemented!()
    }
    /// Sets every byte.
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        unimplemented!()
    }
    /// Bytes still free.
    pub fn free_bytes(&self) -> u64 {
        unimplemented!()
    }
}

#[expect(unused_variables, reason = "signatures agreed on, bodies follow")]
impl Simulator {
    /// A device without modules or allocations.
    pub fn new(chip: Chip, options: Options) -> Self {
        Self { chip, options }
    }
    /// The chip times are modelled for.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }
    /// Parses PTX and allocates its module-scope variables.
    pub fn load(&mut self, ptx: &str) -> Result<ModuleId, LoadError> {
        unimplemented!()
    }
    /// A module's entry.
    pub fn program(&self, module: ModuleId, kernel: &str) -> Option<&Program> {
        unimplemented!()
    }
    /// Names of a module's entries.
    pub fn kernels(&self, module: ModuleId) -> Vec<&str> {
        unimplemented!()
    }
    /// Global memory.
    pub fn memory(&mut self) -> &mut Memory {
        unimplemented!()
    }
    /// Resident blocks per SM, after the chip's limits and the program's modelled registers.
    pub fn blocks_per_sm(&self, program: &Program, threads: u32, dynamic_shared_bytes: u32) -> u32 {
        unimplemented!()
    }
    /// Runs a launch to its end.
    pub fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<Report, Fault> {
        unimplemented!()
    }
    /// Forgets what the modelled L2 holds.
    pub fn flush_l2(&mut self) {
        unimplemented!()
    }
}
