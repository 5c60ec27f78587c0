//! What does a 16-byte access per thread gain over a 4-byte one?
//!
//! Expected: four times the bytes in flight per thread and a quarter of the blocks, so bandwidth
//! saturates from a block of 64 threads on, where the plain kernel needs 256 and never quite
//! arrives. It compiles to two `ld.global.v4` and one `st.global.cs.v4` per thread: nobody reads
//! the sum soon, and on an H200 the streaming store is worth a tenth of a percent.
//!
//! Run: `cargo run --release --bin sweep -- --kernel vector_add_x4`

#[cfg(target_os = "cuda")]
use crate::gpu::{cache, thread, vector::Float4};

kernel! {
    /// `c[i] = a[i] + b[i]` for `i` in `0..n`, four elements per thread with 16-byte accesses.
    ///
    /// Launch with at least `n / 4`, rounded up, threads in x; the thread after the last whole
    /// vector takes the `n % 4` elements that remain. `a`, `b` and `c` are aligned to 16 bytes and
    /// hold `n` elements; `c` may be `a` or `b`.
    pub VECTOR_ADD_X4 = unsafe fn vector_add_x4(n: u64, a: *const f32, b: *const f32, c: *mut f32) {
        let i = thread::index_1d();
        let vectors = n / 4;
        if i < vectors {
            let (a, b, c) = (a.cast::<Float4>(), b.cast::<Float4>(), c.cast::<Float4>());
            // SAFETY: 4 * i + 3 < n, and the launch gives n elements aligned to 16 bytes behind
            // every pointer.
            unsafe {
                let (a, b) = (*a.add(i as usize), *b.add(i as usize));
                let sum = Float4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
                cache::store_cs(c.add(i as usize), sum);
            }
        } else if i == vectors {
            let mut i = 4 * vectors;
            while i < n {
                // SAFETY: i < n, and the launch gives n elements behind every pointer.
                unsafe { *c.add(i as usize) = *a.add(i as usize) + *b.add(i as usize) };
                i += 1;
            }
        }
    }
}
