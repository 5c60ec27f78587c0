//! Runs PTX on the CPU: exact in results, strict about errors, explicit about what is modelled.
//!
//! Text becomes a syntax tree ([`ptx`]), each entry of it a [`program::Program`] of decoded
//! instructions (through the rows of [`isa`]), which `exec` runs warp by warp: a register is 32
//! lanes wide. `timing` says when; [`chip`] describes the machine it is modelled on.

pub mod chip;
mod exec;
pub mod fault;
pub mod fixture;
pub mod isa;
pub mod occupancy;
pub mod program;
pub mod ptx;
mod simulator;
pub mod timing;

pub use exec::memory::{Memory, MemoryError};
pub use simulator::{Launch, LaunchError, LoadError, ModuleId, Options, Report, Simulator};
