//! A barrier for all blocks of a grid, on one word of global memory.
//!
//! How it works. In each round every block adds 1 to the word, except that the first block adds
//! 2^31 less the number of the others. So a round adds exactly 2^31, whoever comes in which order:
//! the word's top bit turns over when the last block arrives and at no other time, and the bits
//! below it are then 0 again. Turning the top bit twice gives 0 modulo 2^32, so nothing can
//! overflow, nothing is ever reset, and the next launch goes on from whichever way the bit stands.
//! The old value tells a block how the bit stood before its own arrival, when it cannot turn (its
//! sense), and whether it came last; the others wait until the bit differs.
//!
//! An addition that returns nothing (`red`) would let a block look at the word at once, but a look
//! that comes too early costs a whole trip to the L2 and stands in the others' way: with 264 blocks
//! on an H200 that takes a third longer. The trip of the old value is the pause that suits.
//!
//! Why what was written before is visible after (PTX ISA, memory consistency model). Let a thread
//! of block A write, and a thread of block B read after the barrier.
//!
//! 1. `bar.sync` of block A: the write happens before the arrival of A's first thread, because a
//!    barrier synchronizes all threads that take part in it.
//! 2. The arrival is `atom.acq_rel.gpu`. All that is ordered before it, other threads' writes too,
//!    is released with it: causality order is transitive (release is cumulative).
//! 3. The arrivals are atomic read-modify-write operations on one word. The last one, whose value B
//!    sees, follows A's in observation order through them, which is what a release needs to
//!    synchronize with an acquire that reads a later value of such a chain.
//! 4. B's first thread sees the bit with `ld.acquire.gpu`, or in its own `atom.acq_rel.gpu` if it
//!    comes last, so its block's second `bar.sync` passes on everything that A released to all
//!    threads of B.
//!
//! The same chain orders reads before the barrier and writes after it: a block may overwrite in the
//! next round what others have read in this one. Scope `.gpu` is what blocks of one grid need;
//! `.cta` would not do, and `.sys` would cost more.

use super::{
    atomic::{self, AcqRel, Acquire, Device},
    thread, warp,
};

/// The bit that turns over with each round.
const SENSE: u32 = 1 << 31;

/// A barrier for the whole grid.
///
/// Every thread of every block makes one, and calls [`GridBarrier::sync`] as often as every other
/// thread. Grids and blocks of one to three dimensions and of any size, whole warps or not.
pub struct GridBarrier {
    word: *mut u32,
    /// What this block adds to the word.
    arrival: u32,
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
        let others = thread::grid_dim_x() * thread::grid_dim_y() * thread::grid_dim_z() - 1;
        let first = thread::block_idx_x() | thread::block_idx_y() | thread::block_idx_z() == 0;
        Self {
            word,
            arrival: if first { SENSE - others } else { 1 },
        }
    }

    /// Waits until every thread of the grid has come here; memory that any of them accessed before
    /// may be accessed by all of them after.
    ///
    /// Every thread of the grid must reach the same call, and none may have exited.
    #[inline(always)]
    pub fn sync(&self) {
        thread::sync_threads();
        if thread::index_in_block() == 0 {
            // SAFETY: the promise of `new`.
            unsafe {
                // The lane is 0. That the value depends on it keeps ptxas from gathering the
                // additions of a warp first, which costs up to a tenth of the barrier on an H200.
                let arrival = self.arrival + warp::lane_id();
                let before = atomic::fetch_add(self.word, arrival, AcqRel, Device);
                let mut now = before.wrapping_add(arrival);
                while (now ^ before) & SENSE == 0 {
                    now = atomic::load(self.word, Acquire, Device);
                }
            }
        }
        thread::sync_threads();
    }
}
