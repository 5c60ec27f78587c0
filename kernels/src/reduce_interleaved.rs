//! What does a reduction in shared memory cost when the active threads are scattered?
//!
//! The first rung: each thread keeps one value in shared memory, and in step s the threads whose
//! number is a multiple of 2 s add their neighbour's at distance s. Expected: every step leaves
//! each warp with fewer active threads but no fewer warps, so that all of them execute all steps,
//! and strides of powers of two make lanes meet in the same bank.
//!
//! Run: `cargo run --release --bin reduce -- --variant interleaved`

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
        let mut distance = 1;
        while distance < threads {
            if thread % (2 * distance) == 0 && thread + distance < threads {
                let (mine, other) = (values.add(thread), values.add(thread + distance));
                mine.write(O::combine(mine.read(), other.read()));
            }
            thread::sync_threads();
            distance *= 2;
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

    REDUCE_INTERLEAVED_SUM_I32 reduce_interleaved_sum_i32 Sum i32;
    REDUCE_INTERLEAVED_SUM_U32 reduce_interleaved_sum_u32 Sum u32;
    REDUCE_INTERLEAVED_SUM_I64 reduce_interleaved_sum_i64 Sum i64;
    REDUCE_INTERLEAVED_SUM_F32 reduce_interleaved_sum_f32 Sum f32;
    REDUCE_INTERLEAVED_SUM_F64 reduce_interleaved_sum_f64 Sum f64;
}
