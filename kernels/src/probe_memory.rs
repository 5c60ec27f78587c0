//! Do shared memory, cache hints, vector accesses and messages between blocks work as CUDA says?
//! Not an experiment: see `probe_thread`.

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, Acquire, Device, Relaxed, Release},
    cache, shared, thread,
    vector::Float4,
};

#[cfg(target_os = "cuda")]
shared_array! { fn reversal() -> [u32; 1024] }

kernel! {
    /// Reverses `x` within every block through a static shared array, written through the shared
    /// window and read through a generic pointer.
    ///
    /// Blocks of one dimension; `x` holds one value per thread.
    pub PROBE_SHARED_STATIC = unsafe fn probe_shared_static(x: *mut u32) {
        let (i, t) = (thread::index() as usize, thread::thread_idx_x());
        // SAFETY: t < 1024, every slot is written before the barrier and read after it.
        unsafe {
            reversal().add(t).write(*x.add(i));
            thread::sync_threads();
            *x.add(i) = *reversal().generic().add((thread::block_dim_x() - 1 - t) as usize);
        }
    }
}

kernel! {
    /// Reverses `x` within every block through dynamic shared memory, written through a generic
    /// pointer and read through the shared window; writes the bytes that the launch gave to
    /// `bytes` (one value).
    ///
    /// Blocks of one dimension with 8 bytes of dynamic shared memory per thread; `x` holds one
    /// value per thread.
    pub PROBE_SHARED_DYNAMIC = unsafe fn probe_shared_dynamic(x: *mut f64, bytes: *mut u32) {
        let (i, t) = (thread::index() as usize, thread::thread_idx_x());
        let slots = shared::dynamic::<f64>();
        // SAFETY: the launch gives a slot per thread; every slot is written before the barrier and
        // read after it. `bytes` is written by one thread.
        unsafe {
            *slots.generic().add(t as usize) = *x.add(i);
            thread::sync_threads();
            *x.add(i) = slots.add(thread::block_dim_x() - 1 - t).read();
            if i == 0 {
                *bytes = shared::dynamic_bytes();
            }
        }
    }
}

macro_rules! hints {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Copies `", stringify!($ty), "`s with every cache hint.")]
            ///
            /// Thread i writes `input[i]` ten times at `10 * i`: loaded by ca, cg, cs, lu, cv and
            /// nc, and stored by wb, cg, cs and wt. One input per thread.
            pub $handle = unsafe fn $name(input: *const $ty, out: *mut $ty) {
                let i = thread::index() as usize;
                // SAFETY: one input and ten outputs per thread; nobody writes the input.
                unsafe {
                    let (input, own) = (input.add(i), out.add(10 * i));
                    *own = cache::load_ca(input);
                    *own.add(1) = cache::load_cg(input);
                    *own.add(2) = cache::load_cs(input);
                    *own.add(3) = cache::load_lu(input);
                    *own.add(4) = cache::load_cv(input);
                    *own.add(5) = cache::load_nc(input);
                    cache::store_wb(own.add(6), *input);
                    cache::store_cg(own.add(7), *input);
                    cache::store_cs(own.add(8), *input);
                    cache::store_wt(own.add(9), *input);
                }
            }
        }
    )*};
}

hints! {
    PROBE_CACHE_U32 probe_cache_u32 u32;
    PROBE_CACHE_F32 probe_cache_f32 f32;
    PROBE_CACHE_U64 probe_cache_u64 u64;
    PROBE_CACHE_F64 probe_cache_f64 f64;
}

kernel! {
    /// Copies vectors of four floats with every cache hint: thread i writes the vector
    /// `input[4 * i..]` ten times at `40 * i`, in the order of the scalar probes, then once with
    /// plain accesses at `40 * threads + 4 * i`.
    ///
    /// `threads` is the launch's; `input` holds 4 floats per thread, `out` 44, aligned to 16 bytes.
    pub PROBE_CACHE_FLOAT4 = unsafe fn probe_cache_float4(
        threads: u64, input: *const f32, out: *mut f32,
    ) {
        let i = thread::index() as usize;
        // SAFETY: one input vector and eleven output vectors per thread; nobody writes the input.
        unsafe {
            let (input, out) = (input.cast::<Float4>().add(i), out.cast::<Float4>());
            let own = out.add(10 * i);
            *own = cache::load_ca(input);
            *own.add(1) = cache::load_cg(input);
            *own.add(2) = cache::load_cs(input);
            *own.add(3) = cache::load_lu(input);
            *own.add(4) = cache::load_cv(input);
            *own.add(5) = cache::load_nc(input);
            cache::store_wb(own.add(6), *input);
            cache::store_cg(own.add(7), *input);
            cache::store_cs(own.add(8), *input);
            cache::store_wt(own.add(9), *input);
            let v = *input;
            *out.add(10 * threads as usize + i) = Float4::new(v.x, v.y, v.z, v.w);
        }
    }
}

kernel! {
    /// Passes messages between blocks: block 0 writes `value` to `data[0..5]` and raises
    /// `flags[0..5]`, one way each; block 1 waits for each flag and copies the datum to
    /// `data[5..10]`. The ways: release and acquire; `fence.acq_rel` around relaxed accesses; and
    /// the device, system and (within block 0, from its thread 32 to thread 0) block fences.
    ///
    /// Launch 2 blocks of 64 threads, with `flags` (5 values) zero. All of `data[5..10]` become
    /// `value`.
    pub PROBE_MESSAGES = unsafe fn probe_messages(value: u32, flags: *mut u32, data: *mut u32) {
        let (block, t) = (thread::block_idx_x(), thread::thread_idx_x());
        // SAFETY: flags are accessed atomically; each datum is written before its flag is raised
        // and read after it was seen raised.
        unsafe {
            let wait = |k: usize| {
                while atomic::load(flags.add(k), Relaxed, Device) == 0 {}
            };
            if block == 0 && t == 0 {
                *data = value;
                atomic::store(flags, 1, Release, Device);
                *data.add(1) = value;
                atomic::fence(Device);
                atomic::store(flags.add(1), 1, Relaxed, Device);
                *data.add(2) = value;
                thread::device_fence();
                atomic::store(flags.add(2), 1, Relaxed, Device);
                *data.add(3) = value;
                thread::system_fence();
                atomic::store(flags.add(3), 1, Relaxed, Device);
                wait(4);
                thread::block_fence();
                *data.add(9) = *data.add(4);
            }
            if block == 0 && t == 32 {
                *data.add(4) = value;
                thread::block_fence();
                atomic::store(flags.add(4), 1, Relaxed, Device);
            }
            if block == 1 && t == 0 {
                while atomic::load(flags, Acquire, Device) == 0 {}
                *data.add(5) = *data;
                wait(1);
                atomic::fence(Device);
                *data.add(6) = *data.add(1);
                wait(2);
                thread::device_fence();
                *data.add(7) = *data.add(2);
                wait(3);
                thread::system_fence();
                *data.add(8) = *data.add(3);
            }
        }
    }
}
