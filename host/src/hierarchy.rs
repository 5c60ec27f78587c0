//! Where a thread is: in its grid, its block and its warp.
//!
//! Blocks of a grid and threads of a block are numbered with x fastest, then y, then z. A warp is
//! 32 threads of one block with consecutive numbers, beginning at a multiple of 32 (CUDA
//! Programming Guide, "Thread Hierarchy" and "SIMT Architecture").

use crate::{launch::Dim3, report::ThreadRecord};

/// Threads of a warp on every GPU so far.
pub const WARP_SIZE: u32 = 32;

/// The number of a position, x fastest: `x + extent.x * (y + extent.y * z)`.
pub fn number([x, y, z]: [u32; 3], extent: Dim3) -> u64 {
    u64::from(x) + u64::from(extent.x) * (u64::from(y) + u64::from(extent.y) * u64::from(z))
}

/// A thread by its six coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
}

/// The extents that a launch gives to its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hierarchy {
    /// Blocks per axis.
    pub grid: Dim3,
    /// Threads per block and axis.
    pub block: Dim3,
}

impl Hierarchy {
    /// Threads in the grid; `u64::MAX` where they are more.
    pub fn threads(&self) -> u64 {
        self.grid.count().saturating_mul(self.block.count())
    }

    /// Every thread in the order of its number in the grid.
    pub fn positions(self) -> impl Iterator<Item = Position> {
        each(self.grid)
            .flat_map(move |block| each(self.block).map(move |thread| Position { block, thread }))
    }

    /// The block's number in the grid.
    pub fn block_id(&self, position: Position) -> u64 {
        number(position.block, self.grid)
    }

    /// The thread's number in its block: its thread ID.
    pub fn thread_id(&self, position: Position) -> u32 {
        // Below 2^32 for every block that a device takes.
        number(position.thread, self.block) as u32
    }

    /// The thread's number in the grid, block by block.
    pub fn global_id(&self, position: Position) -> u64 {
        self.block_id(position) * self.block.count() + u64::from(self.thread_id(position))
    }

    /// The warp's number in its block, and the lane in the warp.
    pub fn warp_and_lane(&self, position: Position) -> (u32, u32) {
        let id = self.thread_id(position);
        (id / WARP_SIZE, id % WARP_SIZE)
    }

    /// The thread's record, with nothing observed yet.
    pub fn record(&self, position: Position) -> ThreadRecord {
        let (warp, lane) = self.warp_and_lane(position);
        let ([block_x, block_y, block_z], [thread_x, thread_y, thread_z]) =
            (position.block, position.thread);
        ThreadRecord {
            block_x,
            block_y,
            block_z,
            thread_x,
            thread_y,
            thread_z,
            block_id: self.block_id(position),
            thread_id: self.thread_id(position),
            global_id: self.global_id(position),
            warp,
            lane,
            packed_id: None,
            sm: None,
            clock: None,
            completion_clocks: None,
        }
    }
}

/// Warps of a block of so many threads.
pub fn warps(threads: u64) -> u64 {
    threads.div_ceil(WARP_SIZE.into())
}

/// Lanes of these warps that have no thread.
pub fn idle_lanes(threads: u64) -> u64 {
    warps(threads) * u64::from(WARP_SIZE) - threads
}

/// Every position within the extents, x fastest.
fn each(extent: Dim3) -> impl Iterator<Item = [u32; 3]> {
    (0..extent.z)
        .flat_map(move |z| (0..extent.y).flat_map(move |y| (0..extent.x).map(move |x| [x, y, z])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_in_the_order_of_their_numbers() {
        let hierarchy = Hierarchy {
            grid: Dim3::new(3, 2, 2),
            block: Dim3::new(5, 7, 2),
        };
        let ids: Vec<u64> = hierarchy
            .positions()
            .map(|position| hierarchy.global_id(position))
            .collect();
        assert_eq!(ids, (0..hierarchy.threads()).collect::<Vec<_>>());
    }

    #[test]
    fn the_numbers_of_a_position_worked_out_by_hand() {
        let hierarchy = Hierarchy {
            grid: Dim3::new(4, 3, 2),
            block: Dim3::new(14, 8, 2),
        };
        let position = Position {
            block: [3, 1, 1],
            thread: [4, 2, 1],
        };
        // 3 + 4 * (1 + 3 * 1) = 19; 4 + 14 * (2 + 8 * 1) = 144 = 4 * 32 + 16; 19 * 224 + 144.
        assert_eq!(hierarchy.block_id(position), 19);
        assert_eq!(hierarchy.thread_id(position), 144);
        assert_eq!(hierarchy.warp_and_lane(position), (4, 16));
        assert_eq!(hierarchy.global_id(position), 4400);
    }

    #[test]
    fn lanes_without_a_thread() {
        for (threads, expected) in [
            (32, (1, 0)),
            (28, (1, 4)),
            (66, (3, 30)),
            (112, (4, 16)),
            (1, (1, 31)),
            (1024, (32, 0)),
        ] {
            assert_eq!((warps(threads), idle_lanes(threads)), expected, "{threads}");
        }
    }
}
