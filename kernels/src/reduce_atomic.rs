//! Can the blocks add their results where they belong, in no order at all?
//!
//! Each block adds its result to the one result with an atomic operation, which must hold zero
//! before: a launch of one thread clears it. Expected: integers come out right in any order; floats
//! come out with other last bits from run to run, because the order is the one in which blocks
//! happen to finish. The memory needed is the result alone.
//!
//! Run: `cargo run --release --bin reduce -- --variant atomic`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, Atomic, Device, Relaxed},
    operation::{Element, Operation, Sum},
    reduction::{self, ByShuffle},
    thread,
};

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element + Atomic>(n: u64, x: *const T, result: *mut T)
where
    Sum: Operation<T>,
{
    // SAFETY: the launch gives n elements behind x and one result, and all threads come here.
    unsafe {
        let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
        let value = reduction::thread_reduce::<T, Sum>(n, x, block, blocks);
        let value = reduction::block_reduce::<T, Sum, ByShuffle<Sum>>(value);
        if thread::thread_idx_x() == 0 {
            atomic::fetch_add(result, value, Relaxed, Device);
        }
    }
}

macro_rules! sums {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            /// Adds the sum of `x` to `result`.
            ///
            /// Any grid and block of one dimension. `x` is aligned to 16 bytes and holds `n`
            /// elements; `result` is one.
            pub $handle = unsafe fn $name(n: u64, x: *const $ty, result: *mut $ty) {
                // SAFETY: the launch gives what the declaration asks for.
                unsafe { reduce::<$ty>(n, x, result) }
            }
        }
    )*};
}

sums! {
    REDUCE_ATOMIC_SUM_I32 reduce_atomic_sum_i32 i32;
    REDUCE_ATOMIC_SUM_U32 reduce_atomic_sum_u32 u32;
    REDUCE_ATOMIC_SUM_I64 reduce_atomic_sum_i64 i64;
    REDUCE_ATOMIC_SUM_F32 reduce_atomic_sum_f32 f32;
    REDUCE_ATOMIC_SUM_F64 reduce_atomic_sum_f64 f64;
}

macro_rules! clears {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            /// Sets `result` to zero. Launch with one thread.
            pub $handle = unsafe fn $name(result: *mut $ty) {
                // SAFETY: the launch gives one element, and no other thread.
                unsafe { *result = <Sum as Operation<$ty>>::IDENTITY }
            }
        }
    )*};
}

clears! {
    REDUCE_ATOMIC_CLEAR_I32 reduce_atomic_clear_i32 i32;
    REDUCE_ATOMIC_CLEAR_U32 reduce_atomic_clear_u32 u32;
    REDUCE_ATOMIC_CLEAR_I64 reduce_atomic_clear_i64 i64;
    REDUCE_ATOMIC_CLEAR_F32 reduce_atomic_clear_f32 f32;
    REDUCE_ATOMIC_CLEAR_F64 reduce_atomic_clear_f64 f64;
}
