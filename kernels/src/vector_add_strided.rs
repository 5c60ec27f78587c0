//! Can few threads that loop over the whole vector do what one thread per element does, and how
//! many loads must each have in flight?
//!
//! Expected: a grid of a few blocks per SM is enough once a thread has several loads in flight.
//! With an unroll factor of 1 each iteration waits for memory before the next begins; a factor of
//! U issues 2 U loads before the first add, so bandwidth grows with U until the memory system is
//! full.
//!
//! Run: `cargo run --release --bin sweep -- --kernel vector_add_strided_1,vector_add_strided_8`

#[cfg(target_os = "cuda")]
use crate::gpu::thread;

/// Adds elements `i`, `i + stride`, ... `UNROLL` at a time, then the rest one at a time.
///
/// # Safety
///
/// `a`, `b` and `c` hold `n` elements.
#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn add<const UNROLL: usize>(n: u64, a: *const f32, b: *const f32, c: *mut f32) {
    let stride = thread::grid_stride();
    let mut i = thread::index_1d();
    // The last element of a group that starts at i is i + reach.
    let reach = (UNROLL as u64 - 1) * stride;
    while i + reach < n {
        let (mut x, mut y) = ([0.0; UNROLL], [0.0; UNROLL]);
        // All loads come first: the compiler may not move them over a store, since c may be a or b.
        for k in 0..UNROLL {
            let at = (i + k as u64 * stride) as usize;
            // SAFETY: at <= i + reach < n.
            unsafe { (x[k], y[k]) = (*a.add(at), *b.add(at)) };
        }
        for k in 0..UNROLL {
            let at = (i + k as u64 * stride) as usize;
            // SAFETY: at <= i + reach < n.
            unsafe { *c.add(at) = x[k] + y[k] };
        }
        i += UNROLL as u64 * stride;
    }
    if UNROLL > 1 {
        while i < n {
            // SAFETY: i < n.
            unsafe { *c.add(i as usize) = *a.add(i as usize) + *b.add(i as usize) };
            i += stride;
        }
    }
}

macro_rules! strided {
    ($($handle:ident $name:ident $unroll:literal;)*) => {$(
        kernel! {
            #[doc = concat!(
                "`c[i] = a[i] + b[i]` for `i` in `0..n`, grid-stride, ", $unroll, " per iteration."
            )]
            ///
            /// Any grid in x will do. `a`, `b` and `c` hold `n` elements; `c` may be `a` or `b`.
            pub $handle = unsafe fn $name(n: u64, a: *const f32, b: *const f32, c: *mut f32) {
                // SAFETY: the launch gives n elements behind every pointer.
                unsafe { add::<$unroll>(n, a, b, c) }
            }
        }
    )*};
}

strided! {
    VECTOR_ADD_STRIDED_1 vector_add_strided_1 1;
    VECTOR_ADD_STRIDED_2 vector_add_strided_2 2;
    VECTOR_ADD_STRIDED_4 vector_add_strided_4 4;
    VECTOR_ADD_STRIDED_8 vector_add_strided_8 8;
}
