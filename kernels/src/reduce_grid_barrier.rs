//! What does it cost to let all blocks wait for each other instead of for one?
//!
//! Under a cooperative launch each block writes its result, all wait at the grid's barrier, and the
//! first block combines the results in the order of the blocks. Expected: right and simple, and
//! about as fast as `reduce_last_block`; but the grid must be resident as a whole, and every block
//! waits although only one has work left.
//!
//! Run: `cargo run --release --bin reduce -- --variant grid_barrier`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    grid::GridBarrier,
    operation::{Element, Operation, Sum},
    reduction::{self, ByShuffle},
    thread,
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(
    n: u64,
    x: *const T,
    scratch: *mut u64,
    result: *mut T,
) {
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    // SAFETY: the launch gives n elements behind x, and scratch for the barrier's word and a value
    // per block; it is cooperative, and the barrier orders the blocks' writes before the reads.
    unsafe {
        let mut barrier = GridBarrier::new(scratch.cast());
        let results = scratch.add(1).cast::<T>();
        let value = reduction::thread_reduce::<T, O>(n, x, block, blocks);
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread::thread_idx_x() == 0 {
            *results.add(block as usize) = value;
        }
        barrier.sync();
        if block > 0 {
            return;
        }
        let value = reduction::thread_reduce_block::<T, O>(blocks, results);
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread::thread_idx_x() == 0 {
            *result = value;
        }
    }
}

reduction_kernels! {
    /// The reduction of `x` into `result`, under a cooperative launch.
    ///
    /// Any grid and block of one dimension. `x` is aligned to 16 bytes and holds `n` elements.
    /// `scratch` holds two words per block and one more, zero before the first launch; the first
    /// word is the grid barrier's from then on.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, scratch: *mut u64, result: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, scratch, result) }
    }

    REDUCE_GRID_BARRIER_SUM_I32 reduce_grid_barrier_sum_i32 Sum i32;
    REDUCE_GRID_BARRIER_SUM_U32 reduce_grid_barrier_sum_u32 Sum u32;
    REDUCE_GRID_BARRIER_SUM_I64 reduce_grid_barrier_sum_i64 Sum i64;
    REDUCE_GRID_BARRIER_SUM_F32 reduce_grid_barrier_sum_f32 Sum f32;
    REDUCE_GRID_BARRIER_SUM_F64 reduce_grid_barrier_sum_f64 Sum f64;
}
