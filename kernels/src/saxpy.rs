//! What does a multiplication more cost, and does unrolling by hand help a kernel this simple?
//!
//! Expected: `y = alpha * x + y` moves the same 12 bytes per element as an addition, and the fused
//! multiply-add is free beside them, so the plain form is as fast as `vector_add`. Unrolled,
//! four pairs of loads are in flight per thread, which pays where few threads are resident.
//!
//! Run: `cargo run --release --bin sweep -- --kernel saxpy,saxpy_unrolled`

#[cfg(target_os = "cuda")]
use crate::gpu::{float, thread};

kernel! {
    /// `y[i] = alpha * x[i] + y[i]` for `i` in `0..n`, rounded once, one element per thread.
    ///
    /// Launch with at least `n` threads in x. `x` and `y` hold `n` elements.
    pub SAXPY = unsafe fn saxpy(n: u64, alpha: f32, x: *const f32, y: *mut f32) {
        let i = thread::index_1d();
        if i < n {
            // SAFETY: i < n, and the launch gives n elements behind both pointers.
            unsafe {
                *y.add(i as usize) = float::fma(alpha, *x.add(i as usize), *y.add(i as usize));
            }
        }
    }
}

kernel! {
    /// The same, grid-stride with four elements per iteration; any grid in x will do.
    pub SAXPY_UNROLLED = unsafe fn saxpy_unrolled(n: u64, alpha: f32, x: *const f32, y: *mut f32) {
        const UNROLL: usize = 4;
        let stride = thread::grid_stride();
        let mut i = thread::index_1d();
        while i + (UNROLL as u64 - 1) * stride < n {
            let (mut xs, mut ys) = ([0.0; UNROLL], [0.0; UNROLL]);
            for k in 0..UNROLL {
                let at = (i + k as u64 * stride) as usize;
                // SAFETY: at < n by the loop's condition.
                unsafe { (xs[k], ys[k]) = (*x.add(at), *y.add(at)) };
            }
            for k in 0..UNROLL {
                let at = (i + k as u64 * stride) as usize;
                // SAFETY: at < n by the loop's condition.
                unsafe { *y.add(at) = float::fma(alpha, xs[k], ys[k]) };
            }
            i += UNROLL as u64 * stride;
        }
        while i < n {
            // SAFETY: i < n.
            unsafe {
                *y.add(i as usize) = float::fma(alpha, *x.add(i as usize), *y.add(i as usize));
            }
            i += stride;
        }
    }
}
