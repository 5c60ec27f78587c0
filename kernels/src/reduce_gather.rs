//! Can one launch do it with one trip through the L2 less, when a block waits for the others?
//!
//! The seventh rung: no fence and no counter. Each block sends its result through a slot that holds
//! value and mark in one word; the first block takes no data but looks at the slots until all are
//! full, and combines them in the order of the blocks. The others wait for nobody, so that the
//! grid need not be resident as a whole. Expected: a middle-sized sum saves what
//! `reduce_last_block` spends on its ticket; a large one is as fast as the memory.
//!
//! Run: `cargo run --release --bin reduce -- --variant gather`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    gather::gather_reduce,
    operation::{Max, Min, Sum},
    reduction::ByShuffle,
};

reduction_kernels! {
    /// The reduction of `x` into `result`.
    ///
    /// Any grid and block of one dimension; with more than one block the first only gathers. `x` is
    /// aligned to 16 bytes and holds `n` elements. `scratch` holds two words per block; it is zero
    /// before the first launch, and every launch leaves it so.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, scratch: *mut u64, result: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { gather_reduce::<T, O, ByShuffle<O>>(n, x, scratch, result, || {}) }
    }

    REDUCE_GATHER_SUM_I32 reduce_gather_sum_i32 Sum i32;
    REDUCE_GATHER_SUM_U32 reduce_gather_sum_u32 Sum u32;
    REDUCE_GATHER_SUM_I64 reduce_gather_sum_i64 Sum i64;
    REDUCE_GATHER_SUM_F32 reduce_gather_sum_f32 Sum f32;
    REDUCE_GATHER_SUM_F64 reduce_gather_sum_f64 Sum f64;
    REDUCE_GATHER_MIN_I32 reduce_gather_min_i32 Min i32;
    REDUCE_GATHER_MIN_U32 reduce_gather_min_u32 Min u32;
    REDUCE_GATHER_MIN_I64 reduce_gather_min_i64 Min i64;
    REDUCE_GATHER_MIN_F32 reduce_gather_min_f32 Min f32;
    REDUCE_GATHER_MIN_F64 reduce_gather_min_f64 Min f64;
    REDUCE_GATHER_MAX_I32 reduce_gather_max_i32 Max i32;
    REDUCE_GATHER_MAX_U32 reduce_gather_max_u32 Max u32;
    REDUCE_GATHER_MAX_I64 reduce_gather_max_i64 Max i64;
    REDUCE_GATHER_MAX_F32 reduce_gather_max_f32 Max f32;
    REDUCE_GATHER_MAX_F64 reduce_gather_max_f64 Max f64;
}
