//! How fast is the plainest kernel, one element per thread, and how does the block size matter?
//!
//! Expected: bandwidth doubles from a block of 32 threads to 64 to 128, because blocks are
//! dispatched at a fixed rate whatever their size; from 128 on, the bytes in flight decide. One
//! 4-byte load per thread and operand leaves the best block short of what 16 bytes reach.
//!
//! Run: `cargo run --release --bin sweep -- --kernel vector_add`

#[cfg(target_os = "cuda")]
use crate::gpu::thread;

kernel! {
    /// `c[i] = a[i] + b[i]` for `i` in `0..n`, one element per thread.
    ///
    /// Launch with at least `n` threads in x; those beyond `n` do nothing. `a`, `b` and `c` hold
    /// `n` elements; `c` may be `a` or `b`.
    pub VECTOR_ADD = unsafe fn vector_add(n: u64, a: *const f32, b: *const f32, c: *mut f32) {
        let i = thread::index_1d();
        if i < n {
            // SAFETY: i < n, and the launch gives n elements behind every pointer.
            unsafe { *c.add(i as usize) = *a.add(i as usize) + *b.add(i as usize) };
        }
    }
}
