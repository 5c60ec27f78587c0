//! What is gained when the active threads are neighbours?
//!
//! The second rung: in each step the first half of the threads adds the other half's values, so
//! that whole warps fall idle and lanes read neighbouring banks. Expected: the steps cost less than
//! those of `reduce_interleaved`; the loads of single elements still bound a large sum.
//!
//! Run: `cargo run --release --bin reduce -- --variant sequential`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Element, Operation, Sum},
    reduction, shared, thread,
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element, O: Operation<T>>(n: u64, x: *const T, results: *mut T) {
    let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let values = shared::dynamic::<T>();
    // SAFETY: the launch gives one shared element per thread and n elements behind x; barriers
    // part each write from the reads of other threads.
    unsafe {
        values
            .add(thread)
            .write(reduction::thread_reduce_scalar::<T, O>(n, x));
        thread::sync_threads();
        // A block that is no power of two has a first step with fewer pairs.
        let mut half = threads.next_power_of_two() / 2;
        while half > 0 {
            if thread < half && thread + half < threads {
                let (mine, other) = (values.add(thread), values.add(thread + half));
                mine.write(O::combine(mine.read(), other.read()));
            }
            thread::sync_threads();
            half /= 2;
        }
        if thread == 0 {
            *results.add(thread::block_idx_x() as usize) = values.read();
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

    REDUCE_SEQUENTIAL_SUM_I32 reduce_sequential_sum_i32 Sum i32;
    REDUCE_SEQUENTIAL_SUM_U32 reduce_sequential_sum_u32 Sum u32;
    REDUCE_SEQUENTIAL_SUM_I64 reduce_sequential_sum_i64 Sum i64;
    REDUCE_SEQUENTIAL_SUM_F32 reduce_sequential_sum_f32 Sum f32;
    REDUCE_SEQUENTIAL_SUM_F64 reduce_sequential_sum_f64 Sum f64;
}
