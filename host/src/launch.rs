//! Launch geometry and its validation against a device's limits.

use serde::{Deserialize, Serialize};

/// Extents of a grid or a block; every axis counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

/// What a launch gives besides the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks per axis.
    pub grid: Dim3,
    /// Threads per block and axis.
    pub block: Dim3,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks must be resident at once (a cooperative launch).
    pub cooperative: bool,
}
