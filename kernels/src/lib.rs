//! placeholder
#[cfg(not(target_os = "cuda"))]
pub mod handle;
