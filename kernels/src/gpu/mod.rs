//! The device primitives that kernels may use. Names follow cuda_std, so that a kernel reads as
//! any Rust-CUDA kernel does; what differs between the two compilers stays below this module.

mod intrinsics;
#[cfg(not(feature = "rust-cuda"))]
#[macro_use]
mod nvptx;
#[cfg(feature = "rust-cuda")]
#[macro_use]
mod rust_cuda;

pub mod float;
pub mod thread;
pub mod vector;
