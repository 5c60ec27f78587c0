//! Can one launch do it, when the block that finishes last combines the blocks' results?
//!
//! The sixth rung: each block writes its result, makes it visible and draws a ticket; who draws the
//! last one knows that all results are there, combines them in the order of the blocks, and sets
//! the counter back for the next launch. Expected: the second launch is saved, at the price of
//! three trips to the L2 one after the other (the write's, the ticket's, the results').
//!
//! Run: `cargo run --release --bin reduce -- --variant last_block`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, AcqRel, Device},
    operation::{Element, Max, Min, Operation, Sum},
    reduction::{self, ByShuffle},
    thread,
};

#[cfg(target_os = "cuda")]
shared_array! {
    /// Whether this block is the last one.
    fn reduce_is_last() -> [u32; 1]
}

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(
    n: u64,
    x: *const T,
    scratch: *mut u64,
    result: *mut T,
) {
    let (thread, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let blocks = thread::grid_dim_x();
    // SAFETY: the launch gives n elements behind x, and scratch for a counter and a value per
    // block. The release of each ticket and the acquire of the last one order the blocks' writes
    // before the last block's reads; the block's barrier passes that on to its other threads.
    unsafe {
        let results = scratch.add(1).cast::<T>();
        let value = reduction::thread_reduce::<T, O>(n, x, block, blocks);
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread == 0 {
            *results.add(block as usize) = value;
            let drawn = atomic::fetch_add(scratch.cast::<u32>(), 1, AcqRel, Device);
            reduce_is_last().write(u32::from(drawn == blocks - 1));
        }
        thread::sync_threads();
        if reduce_is_last().read() == 0 {
            return;
        }
        let value = reduction::thread_reduce_block::<T, O>(blocks, results);
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread == 0 {
            *result = value;
            *scratch = 0;
        }
    }
}

reduction_kernels! {
    /// The reduction of `x` into `result`.
    ///
    /// Any grid and block of one dimension. `x` is aligned to 16 bytes and holds `n` elements.
    /// `scratch` holds two words per block and one more; it is zero before the first launch, and
    /// every launch leaves it so.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, scratch: *mut u64, result: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, scratch, result) }
    }

    REDUCE_LAST_BLOCK_SUM_I32 reduce_last_block_sum_i32 Sum i32;
    REDUCE_LAST_BLOCK_SUM_U32 reduce_last_block_sum_u32 Sum u32;
    REDUCE_LAST_BLOCK_SUM_I64 reduce_last_block_sum_i64 Sum i64;
    REDUCE_LAST_BLOCK_SUM_F32 reduce_last_block_sum_f32 Sum f32;
    REDUCE_LAST_BLOCK_SUM_F64 reduce_last_block_sum_f64 Sum f64;
    REDUCE_LAST_BLOCK_MIN_I32 reduce_last_block_min_i32 Min i32;
    REDUCE_LAST_BLOCK_MIN_U32 reduce_last_block_min_u32 Min u32;
    REDUCE_LAST_BLOCK_MIN_I64 reduce_last_block_min_i64 Min i64;
    REDUCE_LAST_BLOCK_MIN_F32 reduce_last_block_min_f32 Min f32;
    REDUCE_LAST_BLOCK_MIN_F64 reduce_last_block_min_f64 Min f64;
    REDUCE_LAST_BLOCK_MAX_I32 reduce_last_block_max_i32 Max i32;
    REDUCE_LAST_BLOCK_MAX_U32 reduce_last_block_max_u32 Max u32;
    REDUCE_LAST_BLOCK_MAX_I64 reduce_last_block_max_i64 Max i64;
    REDUCE_LAST_BLOCK_MAX_F32 reduce_last_block_max_f32 Max f32;
    REDUCE_LAST_BLOCK_MAX_F64 reduce_last_block_max_f64 Max f64;
}
