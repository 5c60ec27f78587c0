//! What does the warp's own reduction instruction gain over five shuffles?
//!
//! `redux.sync` combines 32-bit integers of a warp in one instruction from compute capability 8.0
//! on; the rest is `reduce_gather`. Expected: a small sum of integers gets a little faster, since
//! the five steps are one after the other; a large one is bound by memory all the same.
//! Seen on an H200: hardly a difference is to be measured; `results/` has the figures.
//!
//! Run: `cargo run --release --bin reduce -- --variant redux --type i32,u32`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    gather::gather_reduce,
    operation::{Max, Min, Sum},
    reduction::ByRedux,
};

reduction_kernels! {
    /// The reduction of `x` into `result`.
    ///
    /// Any grid and block of one dimension; with more than one block the first only gathers. `x` is
    /// aligned to 16 bytes and holds `n` elements. `scratch` holds two words per block; it is zero
    /// before the first launch, and every launch leaves it so.
    pub HANDLE in sm_80 = unsafe fn name<O, T>(
        n: u64, x: *const T, scratch: *mut u64, result: *mut T,
    ) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { gather_reduce::<T, O, ByRedux<O>>(n, x, scratch, result, || {}) }
    }

    REDUCE_REDUX_SUM_I32 reduce_redux_sum_i32 Sum i32;
    REDUCE_REDUX_SUM_U32 reduce_redux_sum_u32 Sum u32;
    REDUCE_REDUX_MIN_I32 reduce_redux_min_i32 Min i32;
    REDUCE_REDUX_MIN_U32 reduce_redux_min_u32 Min u32;
    REDUCE_REDUX_MAX_I32 reduce_redux_max_i32 Max i32;
    REDUCE_REDUX_MAX_U32 reduce_redux_max_u32 Max u32;
}
