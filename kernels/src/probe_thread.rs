//! Do the device facade's indices, barriers and clocks mean what CUDA says? Not an experiment: each
//! kernel writes what one facet gave, and a test compares it with what must be, on the simulator
//! and on a GPU.

#[cfg(target_os = "cuda")]
use crate::gpu::{clock, thread, warp};

kernel! {
    /// Writes 13 values per thread at `13 * index()`: the position along x, y and z; `index()`;
    /// the number in the block; threads per block; the block's number; the grid stride in x; the
    /// lane; and `threadIdx`, `blockIdx`, `blockDim` and `gridDim`, each packed as `x + 2^20 y + 2^40 z`.
    ///
    /// Any launch; `out` holds 13 values per thread.
    pub PROBE_INDICES = unsafe fn probe_indices(out: *mut u64) {
        let pack = |x: u32, y: u32, z: u32| u64::from(x) | u64::from(y) << 20 | u64::from(z) << 40;
        let [x, y, z] = thread::index_3d();
        let record = [
            x,
            y,
            z,
            thread::index(),
            u64::from(thread::index_in_block()),
            u64::from(thread::threads_per_block()),
            thread::block_index(),
            thread::grid_stride(),
            u64::from(warp::lane_id()),
            pack(thread::thread_idx_x(), thread::thread_idx_y(), thread::thread_idx_z()),
            pack(thread::block_idx_x(), thread::block_idx_y(), thread::block_idx_z()),
            pack(thread::block_dim_x(), thread::block_dim_y(), thread::block_dim_z()),
            pack(thread::grid_dim_x(), thread::grid_dim_y(), thread::grid_dim_z()),
        ];
        let base = thread::index() as usize * record.len();
        for k in 0..record.len() {
            // SAFETY: the launch gives 13 values per thread.
            unsafe { *out.add(base + k) = record[k] };
        }
    }
}

kernel! {
    /// Writes 4 values per thread at `4 * index()`, from barriers over the predicate
    /// `input[index()]`: how many threads of the block have it not zero (count), 1 or 0 for all of
    /// them (and), 1 or 0 for some of them (or), and the grid's blocks in x.
    ///
    /// Any launch; `input` holds one value per thread, `out` four.
    pub PROBE_BARRIERS = unsafe fn probe_barriers(input: *const u32, out: *mut u32) {
        let i = thread::index() as usize;
        // SAFETY: the launch gives one input and four outputs per thread.
        unsafe {
            let predicate = *input.add(i);
            let count = thread::sync_threads_count(predicate);
            let all = thread::sync_threads_and(predicate);
            let any = thread::sync_threads_or(predicate);
            thread::sync_threads();
            *out.add(4 * i) = count;
            *out.add(4 * i + 1) = u32::from(all != 0);
            *out.add(4 * i + 2) = u32::from(any != 0);
            *out.add(4 * i + 3) = thread::grid_dim_x();
        }
    }
}

kernel! {
    /// Swaps `x[i]` and `x[i + half]` for `i` in `0..half`: the threads below `half` load, the block
    /// waits, the same threads store; those above take part in the barrier alone. A compiler that
    /// threads the two branches into one makes two barriers of it, and the block waits forever.
    ///
    /// One block of one dimension with at least `half` threads; `x` holds `2 * half` values.
    pub PROBE_BARRIER_BETWEEN_BRANCHES = unsafe fn probe_barrier_between_branches(
        half: u32, x: *mut u32,
    ) {
        let t = thread::thread_idx_x();
        let (mut low, mut high) = (0, 0);
        if t < half {
            // SAFETY: t + half < 2 * half.
            unsafe { (low, high) = (*x.add(t as usize), *x.add((t + half) as usize)) };
        }
        thread::sync_threads();
        if t < half {
            // SAFETY: as above.
            unsafe { (*x.add(t as usize), *x.add((t + half) as usize)) = (high, low) };
        }
    }
}

kernel! {
    /// Writes 6 values per thread at `6 * index()`: cycles by `clock` (modulo 2^32) and by
    /// `clock64` over a loop of `rounds` dependent multiplications, nanoseconds by `globaltimer`
    /// over the same, the SM, the bound of SM numbers, and the loop's result (so that it is not
    /// dropped).
    ///
    /// The cycles are positive, and at least `rounds`; the SM is under the bound.
    pub PROBE_CLOCKS = unsafe fn probe_clocks(rounds: u32, out: *mut u64) {
        let nanoseconds = clock::globaltimer();
        let (cycles, cycles64) = (clock::clock(), clock::clock64());
        let mut value = clock::warp_id() | 1;
        for _ in 0..rounds {
            value = value.wrapping_mul(value | 5);
        }
        let base = 6 * thread::index() as usize;
        // The result is stored between the readings, which holds the loop there.
        // SAFETY: the launch gives 6 values per thread.
        unsafe {
            *out.add(base + 5) = u64::from(value);
            let (end, end64) = (clock::clock(), clock::clock64());
            *out.add(base) = u64::from(end.wrapping_sub(cycles));
            *out.add(base + 1) = end64 - cycles64;
            *out.add(base + 2) = clock::globaltimer() - nanoseconds;
            *out.add(base + 3) = u64::from(clock::sm_id());
            *out.add(base + 4) = u64::from(clock::sm_count());
        }
    }
}
