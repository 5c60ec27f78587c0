//! When does each thread of a grid run, and on which SM?
//!
//! Expected: the threads of a warp read one value of their SM's clock, because they execute the
//! same instruction at once; values change from warp to warp, 32 consecutive threads of a block
//! each, whatever the block's shape. In a block whose threads are no multiple of 32 the last warp
//! is the short one.
//!
//! Run: `cargo run --release --bin clocks`

#[cfg(target_os = "cuda")]
use crate::gpu::{clock, thread, warp};

kernel! {
    /// Writes, for every thread at its number in the grid (`index()`): the clock of its SM (32
    /// bits, which wrap), `threadIdx.y << shift | threadIdx.x`, its SM, and its lane.
    ///
    /// Any launch; each output holds one value per thread.
    pub CLOCKS = unsafe fn clocks(
        shift: u32, clocks: *mut u32, ids: *mut u32, sms: *mut u32, lanes: *mut u32,
    ) {
        let i = thread::index() as usize;
        let now = clock::clock();
        let sm = clock::sm_id();
        // SAFETY: the launch gives one value per thread in each output.
        unsafe {
            *clocks.add(i) = now;
            *ids.add(i) = thread::thread_idx_y() << shift | thread::thread_idx_x();
            *sms.add(i) = sm;
            *lanes.add(i) = warp::lane_id();
        }
    }
}
