//! Do the atomic operations give CUDA's results, for every type, order and scope, on global and on
//! shared memory? Not an experiment: see `probe_thread`.

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, AcqRel, Acquire, Block, Device, Relaxed, Release, System},
    shared::SharedPointer,
    thread,
};

#[cfg(target_os = "cuda")]
shared_array! { fn counters() -> [u64; 16] }

macro_rules! integers {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Every operation on `", stringify!($ty), "`s in global memory.")]
            ///
            /// Every thread, with `v` its `input`: `x[0]` adds v; `x[1]`, `x[2]` take the smaller
            /// and larger of it and v; `x[3]`, `x[4]`, `x[5]` take and, or and xor with v; v is
            /// exchanged into `x[6]`, and what came out is added to `x[7]`, so that `x[6] + x[7]`
            /// grows by the sum of v; `x[8]` adds v by compare and exchange. Old values of the
            /// first addition go to `old`: with inputs of 1, a permutation.
            pub $handle = unsafe fn $name(input: *const $ty, x: *mut $ty, old: *mut $ty) {
                let i = thread::index() as usize;
                // SAFETY: one input and one old value per thread; x is accessed atomically.
                unsafe {
                    let v = *input.add(i);
                    *old.add(i) = atomic::fetch_add(x, v, Relaxed, Device);
                    atomic::fetch_min(x.add(1), v, Acquire, Device);
                    atomic::fetch_max(x.add(2), v, Release, Device);
                    atomic::fetch_and(x.add(3), v, AcqRel, Device);
                    atomic::fetch_or(x.add(4), v, Relaxed, System);
                    atomic::fetch_xor(x.add(5), v, AcqRel, System);
                    let out = atomic::exchange(x.add(6), v, AcqRel, Device);
                    atomic::fetch_add(x.add(7), out, Relaxed, Device);
                    let mut seen = atomic::load(x.add(8), Relaxed, Device);
                    loop {
                        let next = seen.wrapping_add(v);
                        let was = atomic::compare_exchange(x.add(8), seen, next, AcqRel, Device);
                        if was == seen {
                            break;
                        }
                        seen = was;
                    }
                }
            }
        }
    )*};
}

integers! {
    PROBE_ATOMICS_U32 probe_atomics_u32 u32;
    PROBE_ATOMICS_I32 probe_atomics_i32 i32;
    PROBE_ATOMICS_U64 probe_atomics_u64 u64;
    PROBE_ATOMICS_I64 probe_atomics_i64 i64;
}

macro_rules! floats {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Every operation on `", stringify!($ty), "`s in global memory.")]
            ///
            /// Every thread, with `v` its `input`: `x[0]` adds v; v is exchanged into `x[1]`, and
            /// what came out is added to `x[2]`; `x[3]` adds v by compare and exchange. With small
            /// whole numbers the sums are exact.
            pub $handle = unsafe fn $name(input: *const $ty, x: *mut $ty) {
                // SAFETY: one input per thread; x is accessed atomically.
                unsafe {
                    let v = *input.add(thread::index() as usize);
                    atomic::fetch_add(x, v, Relaxed, Device);
                    let out = atomic::exchange(x.add(1), v, AcqRel, Device);
                    atomic::fetch_add(x.add(2), out, Relaxed, System);
                    let mut seen = atomic::load(x.add(3), Acquire, Device);
                    loop {
                        let was = atomic::compare_exchange(x.add(3), seen, seen + v, Relaxed, Device);
                        if was.to_bits() == seen.to_bits() {
                            break;
                        }
                        seen = was;
                    }
                }
            }
        }
    )*};
}

floats! {
    PROBE_ATOMICS_F32 probe_atomics_f32 f32;
    PROBE_ATOMICS_F64 probe_atomics_f64 f64;
}

/// One addition in each order and scope, to twelve places from `place(0)` on.
#[cfg(target_os = "cuda")]
macro_rules! every_order_and_scope {
    ($place:expr, $value:expr) => {
        every_order_and_scope!(@ $place, $value;
            0 Relaxed Block, 1 Acquire Block, 2 Release Block, 3 AcqRel Block,
            4 Relaxed Device, 5 Acquire Device, 6 Release Device, 7 AcqRel Device,
            8 Relaxed System, 9 Acquire System, 10 Release System, 11 AcqRel System)
    };
    (@ $place:expr, $value:expr; $($k:literal $order:ident $scope:ident),*) => {
        { let place = $place; $(atomic::fetch_add(place($k), $value, $order, $scope);)* }
    };
}

kernel! {
    /// Every thread adds 1 to `x[0..12]`, once in each order and scope: relaxed, acquire, release
    /// and acq_rel at block scope, then at device and at system scope.
    ///
    /// One block only, for the block scope's sake: each of `x[0..12]` grows by its threads.
    pub PROBE_ATOMIC_SCOPES = unsafe fn probe_atomic_scopes(x: *mut u32) {
        // SAFETY: x holds 12 values, accessed atomically within one block.
        unsafe { every_order_and_scope!(|k: usize| x.add(k), 1) }
    }
}

kernel! {
    /// The same in shared memory, on 64-bit counters that thread 0 sets to `start`; then minimum,
    /// maximum, or, and exchange, on four more. The block's 16 counters go to `out`: 12 of
    /// `start` plus the threads; the minimum and maximum of `start` and the threads' numbers; the
    /// bits of `start` and of the numbers; and one of the numbers (the last exchanged).
    ///
    /// Blocks of one dimension; `out` holds 16 values per block.
    pub PROBE_ATOMIC_SHARED = unsafe fn probe_atomic_shared(start: u64, out: *mut u64) {
        let t = thread::thread_idx_x();
        let place = |k: u32| -> SharedPointer<u64> {
            // SAFETY: k < 16.
            unsafe { counters().add(k) }
        };
        // SAFETY: the counters are set before the barrier, accessed atomically between the
        // barriers, and read after the second.
        unsafe {
            if t == 0 {
                for k in 0..16 {
                    atomic::store(place(k), start, Relaxed, Block);
                }
            }
            thread::sync_threads();
            every_order_and_scope!(place, 1);
            let number = u64::from(t);
            atomic::fetch_min(place(12), number, Relaxed, Block);
            atomic::fetch_max(place(13), number, Relaxed, Block);
            atomic::fetch_or(place(14), number, Relaxed, Block);
            atomic::exchange(place(15), number, Relaxed, Block);
            thread::sync_threads();
            if t < 16 {
                let base = 16 * thread::block_idx_x() as usize;
                *out.add(base + t as usize) = place(t).read();
            }
        }
    }
}
