//! What do the last steps gain when the one warp that is left synchronises alone?
//!
//! The third rung: once no more than 64 values are left, the first warp goes on without the block's
//! barrier. Lanes of a warp need not run in step since compute capability 7.0, so each step has a
//! warp barrier between its reads and its write; the books' version without one is a race.
//! Expected: six block barriers fewer; the loads still bound a large sum.
//!
//! Run: `cargo run --release --bin reduce -- --variant unrolled`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Element, Operation, Sum},
    reduction, shared, thread,
    warp::{self, WARP_SIZE},
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(n: u64, x: *const T, results: *mut T) {
    let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let values = shared::dynamic::<T>();
    // SAFETY: the launch gives one shared element per thread and n elements behind x; barriers
    // part each write from the reads of other threads, and all existing lanes of the first warp
    // reach the warp's.
    unsafe {
        let mine = values.add(thread);
        mine.write(reduction::thread_reduce_scalar::<T, O>(n, x));
        thread::sync_threads();
        let mut half = threads.next_power_of_two() / 2;
        while half > WARP_SIZE {
            if thread < half && thread + half < threads {
                mine.write(O::combine(mine.read(), values.add(thread + half).read()));
            }
            thread::sync_threads();
            half /= 2;
        }
        if thread >= WARP_SIZE {
            return;
        }
        // Those of the first warp that exist; a block of whole warps is known to the compiler.
        let lanes = if threads < WARP_SIZE {
            threads
        } else {
            WARP_SIZE
        };
        let mask = u32::MAX >> (WARP_SIZE - lanes);
        let mut step = WARP_SIZE;
        while step > 0 {
            let other = if thread < step && thread + step < threads {
                values.add(thread + step).read()
            } else {
                O::IDENTITY
            };
            let value = O::combine(mine.read(), other);
            warp::sync_warp(mask);
            mine.write(value);
            warp::sync_warp(mask);
            step /= 2;
        }
        if thread == 0 {
            *results.add(thread::block_idx_x() as usize) = mine.read();
        }
    }
}

reduction_kernels! {
    /// One result per block into `results`; run again over the results with one block for the one
    /// result.
    ///
    /// Any grid and block of one dimension; dynamic shared memory for one element per thread. `x`
    /// holds `n` elements, `results` one per block.
    pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, results: *mut T) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, results) }
    }

    REDUCE_UNROLLED_SUM_I32 reduce_unrolled_sum_i32 Sum i32;
    REDUCE_UNROLLED_SUM_U32 reduce_unrolled_sum_u32 Sum u32;
    REDUCE_UNROLLED_SUM_I64 reduce_unrolled_sum_i64 Sum i64;
    REDUCE_UNROLLED_SUM_F32 reduce_unrolled_sum_f32 Sum f32;
    REDUCE_UNROLLED_SUM_F64 reduce_unrolled_sum_f64 Sum f64;
}
