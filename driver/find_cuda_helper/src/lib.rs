//! Stands in for the crates.io crate of this name in the build scripts of `cust` and `cust_raw`.
//!
//! The original looks for a CUDA toolkit, panics where there is none, and makes the program link
//! libcuda, so that it would not start on a machine without a driver. This one does nothing: the
//! crate `driver` defines the driver's symbols and finds the library at run time.

/// Called by the build scripts of `cust` and `cust_raw`. Looks for nothing and links nothing.
pub fn include_cuda() {}
