//! Which warp and lane does a thread belong to?
//!
//! Expected: warps are cut from the threads of one block, numbered with x fastest, 32 at a time
//! (CUDA Programming Guide, SIMT architecture). Cutting the whole grid's numbers by 32 gives the
//! same only where blocks are whole warps.
//!
//! Run: `cargo run --release --bin clocks -- --map`

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

kernel! {
    /// Writes 4 values per thread at `4 * index()`: `index()`; the warp in the block, found out by
    /// asking lane 0 of the warp for its number in the block; the lane; and `index() >> 5`, which
    /// is often taken for the warp.
    ///
    /// Any launch; `out` holds 4 values per thread.
    pub THREAD_MAP = unsafe fn thread_map(out: *mut u64) {
        let number = thread::index_in_block();
        // The lanes that have a thread: the last warp of a block may be short.
        let threads = (thread::threads_per_block() - (number & !31)).min(32);
        let mask = u32::MAX >> (32 - threads);
        // SAFETY: every thread of the warp is here, and the mask names these.
        let first = unsafe { warp::warp_shuffle_idx(mask, number, 0, 32) }.0;
        let index = thread::index();
        // SAFETY: the launch gives 4 values per thread.
        unsafe {
            let out = out.add(4 * index as usize);
            *out = index;
            *out.add(1) = u64::from(first >> 5);
            *out.add(2) = u64::from(warp::lane_id());
            *out.add(3) = index >> 5;
        }
    }
}
