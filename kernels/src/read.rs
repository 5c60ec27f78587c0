//! How fast can memory be read at all, when nothing is written and little is computed?
//!
//! The measure of every reduction: the same loads as `reduce_vectorized`, and each thread writes
//! what it has combined, so that no load can be left out. Expected: with all threads resident and
//! four 16-byte loads in flight each, memory is the limit.
//!
//! Run: `cargo run --release --bin reduce -- --variant read`

#[cfg(target_os = "cuda")]
use crate::gpu::{operation::Sum, reduction, thread};

macro_rules! instances {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            /// The sum of each thread's share of `x` into `results`.
            ///
            /// Any grid and block of one dimension. `x` is aligned to 16 bytes and holds `n`
            /// elements, `results` one per thread of the grid.
            pub $handle = unsafe fn $name(n: u64, x: *const $ty, results: *mut $ty) {
                let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
                // SAFETY: the launch gives n elements behind x and one result per thread.
                unsafe {
                    let value = reduction::thread_reduce::<$ty, Sum>(n, x, block, blocks);
                    *results.add(thread::index_1d() as usize) = value;
                }
            }
        }
    )*};
}

instances! {
    READ_SUM_I32 read_sum_i32 i32;
    READ_SUM_U32 read_sum_u32 u32;
    READ_SUM_I64 read_sum_i64 i64;
    READ_SUM_F32 read_sum_f32 f32;
    READ_SUM_F64 read_sum_f64 f64;
}
