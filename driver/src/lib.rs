//! Finds the CUDA driver at run time, so that one program runs with and without it.
//!
//! Programs that use `cust` need the driver's functions (`cuInit`, …) at link time. This crate
//! defines all of them as trampolines: each jumps through a slot, which holds a function that
//! returns `CUDA_ERROR_STUB_LIBRARY` until [`load`] has found the driver and filled the slots. So
//! nothing links libcuda, and a program starts on a machine that has none.
//!
//! Call [`load`] before anything of `cust`: even its error messages come from the driver.

pub mod api;
mod load;
mod symbols;
mod trampolines;

pub use load::{Driver, LoadError, REQUIRED_VERSION, Version, load};
pub use trampolines::Symbol;
