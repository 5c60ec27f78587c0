//! What is gained when a launch begins before the one before it has ended?
//!
//! The same as `reduce_gather` under programmatic dependent launch (compute capability 9.0): once
//! its blocks have read their shares, those of the next launch take their places, and wait there
//! until this one has ended before they read anything. Expected: the half microsecond that lies
//! between two dependent launches shrinks, which a small sum notices and a large one does not.
//!
//! Run: `cargo run --release --bin reduce -- --variant overlapped --cache hot`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    dependent,
    gather::gather_reduce,
    operation::{Max, Min, Sum},
    reduction::ByShuffle,
};

reduction_kernels! {
    /// The reduction of `x` into `result`, begun while the launch before may still run.
    ///
    /// Any grid and block of one dimension, launched with programmatic stream serialisation; with
    /// more than one block the first only gathers. `x` is aligned to 16 bytes and holds `n`
    /// elements. `scratch` holds two words per block; it is zero before the first launch, and every
    /// launch leaves it so.
    pub HANDLE in sm_90 = unsafe fn name<O, T>(
        n: u64, x: *const T, scratch: *mut u64, result: *mut T,
    ) {
        dependent::wait();
        // SAFETY: the launch gives what the declaration asks for, and the one before has ended, so
        // that its writes are there and the slots are empty.
        unsafe {
            gather_reduce::<T, O, ByShuffle<O>>(
                n, x, scratch, result, dependent::launch_dependents,
            );
        }
    }

    REDUCE_OVERLAPPED_SUM_I32 reduce_overlapped_sum_i32 Sum i32;
    REDUCE_OVERLAPPED_SUM_U32 reduce_overlapped_sum_u32 Sum u32;
    REDUCE_OVERLAPPED_SUM_I64 reduce_overlapped_sum_i64 Sum i64;
    REDUCE_OVERLAPPED_SUM_F32 reduce_overlapped_sum_f32 Sum f32;
    REDUCE_OVERLAPPED_SUM_F64 reduce_overlapped_sum_f64 Sum f64;
    REDUCE_OVERLAPPED_MIN_I32 reduce_overlapped_min_i32 Min i32;
    REDUCE_OVERLAPPED_MIN_U32 reduce_overlapped_min_u32 Min u32;
    REDUCE_OVERLAPPED_MIN_I64 reduce_overlapped_min_i64 Min i64;
    REDUCE_OVERLAPPED_MIN_F32 reduce_overlapped_min_f32 Min f32;
    REDUCE_OVERLAPPED_MIN_F64 reduce_overlapped_min_f64 Min f64;
    REDUCE_OVERLAPPED_MAX_I32 reduce_overlapped_max_i32 Max i32;
    REDUCE_OVERLAPPED_MAX_U32 reduce_overlapped_max_u32 Max u32;
    REDUCE_OVERLAPPED_MAX_I64 reduce_overlapped_max_i64 Max i64;
    REDUCE_OVERLAPPED_MAX_F32 reduce_overlapped_max_f32 Max f32;
    REDUCE_OVERLAPPED_MAX_F64 reduce_overlapped_max_f64 Max f64;
}
