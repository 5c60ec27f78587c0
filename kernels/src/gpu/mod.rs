//! The device primitives that kernels may use. Names follow cuda_std, so that a kernel reads as
//! any Rust-CUDA kernel does; what differs between the two compilers stays below this module, in
//! the file that serves as `backend`.

// A module uses what its kernels need.
#![allow(dead_code)]

#[cfg(not(feature = "rust-cuda"))]
#[macro_use]
#[path = "nvptx.rs"]
mod backend;
#[cfg(feature = "rust-cuda")]
#[macro_use]
#[path = "rust_cuda.rs"]
mod backend;
mod intrinsics;
#[cfg(feature = "rust-cuda")]
#[doc(hidden)]
pub use backend::to_shared;

pub mod atomic;
pub mod cache;
pub mod clock;
#[cfg(feature = "sm_90")]
pub mod cluster;
#[cfg(feature = "sm_90")]
pub mod dependent;
pub mod float;
pub mod gather;
pub mod grid;
pub mod operation;
pub mod reduction;
pub mod shared;
pub mod slot;
pub mod thread;
pub mod vector;
pub mod warp;
