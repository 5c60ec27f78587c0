//! A block: its place in the grid and its shared memory.

use super::{
    barrier::{BARRIERS, Barrier},
    bytes::Bytes,
};

/// A resident block. Its warps are with the other warps of its cluster.
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    pub(crate) barriers: [Barrier; BARRIERS],
    /// Whether any barrier has been arrived at and not yet released.
    pub(crate) waiting: bool,
    pub(crate) live_warps: usize,
}

/// A block's shared memory, which the other blocks of its cluster can reach.
pub(crate) struct SharedMemory {
    pub(crate) bytes: Bytes,
    /// Index of the block, for messages.
    pub(crate) block: [u32; 3],
    /// Whether all threads of the block have exited: the memory is gone.
    pub(crate) ended: bool,
}

impl Block {
    pub(crate) fn new() -> Self {
        Self {
            index: [0; 3],
            barriers: Default::default(),
            waiting: false,
            live_warps: 0,
        }
    }

    /// Makes it a block at its start.
    pub(crate) fn start(&mut self, index: [u32; 3], warps: usize) {
        self.index = index;
        self.barriers = Default::default();
        self.waiting = false;
        self.live_warps = warps;
    }
}

impl SharedMemory {
    pub(crate) fn new(tracked: bool) -> Self {
        Self {
            bytes: Bytes::new(0, tracked),
            block: [0; 3],
            ended: false,
        }
    }

    /// Makes it that of a block at its start.
    pub(crate) fn start(&mut self, block: [u32; 3], bytes: usize) {
        self.bytes.reset(bytes);
        self.block = block;
        self.ended = false;
    }
}
