//! What is gained when values go from register to register?
//!
//! The fourth rung: each warp reduces by shuffles, and shared memory only passes one value per warp
//! to the first. Expected: one block barrier in all, and no bank to meet in; the loads of single
//! elements still bound a large sum.
//!
//! Run: `cargo run --release --bin reduce -- --variant shuffle`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Element, Operation, Sum},
    reduction::{self, ByShuffle},
    thread,
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(n: u64, x: *const T, results: *mut T) {
    // SAFETY: the launch gives n elements behind x and one result per block, and all threads come
    // here.
    unsafe {
        let value = reduction::thread_reduce_scalar::<T, O>(n, x);
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread::thread_idx_x() == 0 {
            *results.add(thread::block_idx_x() as usize) = value;
        }
    }
}

reduction_kernels! {
    /// One result per block into `results`; run again over the results with one block for the one
    /// result.
    ///
    /// Any grid and block of one dimension. `x` holds `n` elements, `results` one per block.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, results: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, results) }
    }

    REDUCE_SHUFFLE_SUM_I32 reduce_shuffle_sum_i32 Sum i32;
    REDUCE_SHUFFLE_SUM_U32 reduce_shuffle_sum_u32 Sum u32;
    REDUCE_SHUFFLE_SUM_I64 reduce_shuffle_sum_i64 Sum i64;
    REDUCE_SHUFFLE_SUM_F32 reduce_shuffle_sum_f32 Sum f32;
    REDUCE_SHUFFLE_SUM_F64 reduce_shuffle_sum_f64 Sum f64;
}
