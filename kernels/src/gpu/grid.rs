//! A barrier for all blocks of a grid, on one word of global memory.
//!
//! How it works. In each round every block adds 1 to the word, except that the first block adds
//! 2^31 less the number of the others. So a round adds exactly 2^31, whoever comes in which order:
//! the word's top bit turns over when the last block arrives and at no other time, and the bits
//! below it are then 0 again. Turning the top bit twice gives 0 modulo 2^32, so nothing can
//! overflow, nothing is ever reset, and the next launch goes on from whichever way the bit stands.
//! The bit turns in every round, so a block that knows how it stood before its first arrival, when
//! it cannot turn, knows how it stands before each (its sense).
//!
//! Nobody needs what an arrival returns, so that ptxas makes a `red` of it: a block has nothing to
//! wait for but the bit. It should not look at once, though. A look is a trip to the L2, in vain if
//! it comes before the last arrival and then in the next look's way; and the looks of all blocks
//! stand in the way of the arrivals on the same word. So a block pauses first, for about the time
//! that the arrivals take.
//!
//! Why what was written before is visible after (PTX ISA, memory consistency model). Let a thread
//! of block A write, and a thread of block B read after the barrier.
//!
//! 1. `bar.sync` of block A: the write happens before the arrival of A's first thread, because a
//!    barrier synchronizes all threads that take part in it.
//! 2. The arrival is `atom.release.gpu`. All that is ordered before it, other threads' writes too,
//!    is released with it: causality order is transitive (release is cumulative).
//! 3. The arrivals are atomic read-modify-write operations on one word. The last one, whose value B
//!    sees, follows A's in observation order through them, which is what a release needs to
//!    synchronize with an acquire that reads a later value of such a chain.
//! 4. B's first thread sees the bit with `ld.acquire.gpu`, so its block's second `bar.sync` passes on
//!    everything that A released to all threads of B.
//!
//! The same chain orders reads before the barrier and writes after it: a block may overwrite in the
//! next round what others have read in this one. Scope `.gpu` is what blocks of one grid need;
//! `.cta` would not do, and `.sys` would cost more.

use super::{
    atomic::{self, Acquire, Device, Relaxed, Release},
    clock, thread, warp,
};

/// The bit that turns over with each round.
const SENSE: u32 = 1 << 31;

/// Clocks from a block's arrival to its first look: at least so many, and so many more than the grid
/// has blocks, since the arrivals come to the word one after the other, about one in a clock. On an
/// H200 the best pauses were 275 to 450 clocks for 16 to 264 blocks, 600 to 700 for 528, 1200 for
/// 1056 and 2500 for 2112. Up to 264 blocks nothing from 300 to 450 is worse than the best by more
/// than a sixth, and where the word lies in the L2 makes as much of a difference as 100 clocks.
const PAUSE_MIN: u32 = 450;
const PAUSE_BEYOND_BLOCKS: u32 = 140;

/// A barrier for the whole grid.
///
/// Every thread of every block makes one, and calls [`GridBarrier::sync`] as often as every other
/// thread. Grids and blocks of one to three dimensions and of any size, whole warps or not.
pub struct GridBarrier {
    word: *mut u32,
    /// What this block adds to the word.
    arrival: u32,
    /// Clocks from a block's arrival to its first look.
    pause: u32,
    /// How the bit stands before the block's next arrival; known to its first thread.
    sense: u32,
}

impl GridBarrier {
    /// The barrier behind `word`.
    ///
    /// # Safety
    ///
    /// The word is in global memory. The host sets it to 0 once; after that it is used by this type
    /// alone, by one launch at a time, and by each launch that began to its end. All blocks of the
    /// grid are resident at once, which a cooperative launch guarantees: without it, blocks that
    /// wait may keep others from ever starting, and the kernel never ends.
    #[inline(always)]
    pub unsafe fn new(word: *mut u32) -> Self {
        let blocks = thread::grid_dim_x() * thread::grid_dim_y() * thread::grid_dim_z();
        let first = thread::block_idx_x() | thread::block_idx_y() | thread::block_idx_z() == 0;
        // The lane of a block's first thread is 0. That the address depends on it keeps ptxas from
        // gathering the arrivals of a warp before it makes the one there is.
        let word = word.wrapping_add(warp::lane_id() as usize);
        Self {
            word,
            arrival: if first { SENSE - (blocks - 1) } else { 1 },
            pause: PAUSE_MIN.max(PAUSE_BEYOND_BLOCKS + blocks),
            sense: if thread::index_in_block() == 0 {
                // SAFETY: the promise above.
                unsafe { atomic::load(word, Relaxed, Device) & SENSE }
            } else {
                0
            },
        }
    }

    /// Waits until every thread of the grid has come here; memory that any of them accessed before
    /// may be accessed by all of them after.
    ///
    /// Every thread of the grid must reach the same call, and none may have exited.
    #[inline(always)]
    pub fn sync(&mut self) {
        thread::sync_threads();
        if thread::index_in_block() == 0 {
            // SAFETY: the promise of `new`.
            unsafe {
                atomic::fetch_add(self.word, self.arrival, Release, Device);
                let arrived = clock::clock();
                while clock::clock().wrapping_sub(arrived) < self.pause {}
                while (atomic::load(self.word, Acquire, Device) ^ self.sense) & SENSE == 0 {}
            }
            self.sense ^= SENSE;
        }
        thread::sync_threads();
    }
}
