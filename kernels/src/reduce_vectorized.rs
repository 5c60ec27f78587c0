//! What is gained when each thread has several 16-byte loads in flight?
//!
//! The fifth rung: four vectors per thread are loaded before the first is used. Expected: a large
//! sum reaches the bandwidth of a plain read; a small one still pays for two launches.
//!
//! Run: `cargo run --release --bin reduce -- --variant vectorized`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Element, Operation, Sum},
    reduction::{self, ByShuffle},
    thread,
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(n: u64, x: *const T, results: *mut T) {
    let block = thread::block_idx_x();
    // SAFETY: the launch gives n elements behind x and one result per block, and all threads come
    // here.
    unsafe {
        let value = reduction::thread_reduce::<T, O>(n, x, block, thread::grid_dim_x());
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread::thread_idx_x() == 0 {
            *results.add(block as usize) = value;
        }
    }
}

reduction_kernels! {
    /// One result per block into `results`; run again over the results with one block for the one
    /// result.
    ///
    /// Any grid and block of one dimension. `x` holds `n` elements and is aligned to 16 bytes,
    /// `results` one per block.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, results: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, results) }
    }

    REDUCE_VECTORIZED_SUM_I32 reduce_vectorized_sum_i32 Sum i32;
    REDUCE_VECTORIZED_SUM_U32 reduce_vectorized_sum_u32 Sum u32;
    REDUCE_VECTORIZED_SUM_I64 reduce_vectorized_sum_i64 Sum i64;
    REDUCE_VECTORIZED_SUM_F32 reduce_vectorized_sum_f32 Sum f32;
    REDUCE_VECTORIZED_SUM_F64 reduce_vectorized_sum_f64 Sum f64;
}
