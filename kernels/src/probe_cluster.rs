//! Do the device facade's clusters mean what CUDA says: ranks, barriers, and other blocks' shared
//! memory? Not an experiment: see `probe_thread`.

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, AcqRel, Acquire, Cluster, Relaxed, Release},
    cluster, thread,
};

#[cfg(target_os = "cuda")]
shared_array! { fn exchanged() -> [u32; 1024] }

#[cfg(target_os = "cuda")]
shared_array! { fn tallies() -> [u64; 4] }

kernel! {
    /// Writes 15 values per thread at `15 * index()`: the block's index in its cluster, the
    /// cluster's dimensions, its index, the grid's dimensions in clusters (x, y, z each), the
    /// block's rank, the blocks per cluster, and the rank of a pointer mapped to the last block.
    ///
    /// Any launch, in clusters or not; `out` holds 15 values per thread.
    pub PROBE_CLUSTER_RANKS in sm_90 = unsafe fn probe_cluster_ranks(out: *mut u32) {
        let blocks = cluster::blocks_per_cluster();
        // SAFETY: the last block's rank is below the number of blocks.
        let last = unsafe { cluster::map_shared_rank(exchanged(), blocks - 1) };
        let record = [
            cluster::block_idx_x(),
            cluster::block_idx_y(),
            cluster::block_idx_z(),
            cluster::cluster_dim_x(),
            cluster::cluster_dim_y(),
            cluster::cluster_dim_z(),
            cluster::cluster_idx_x(),
            cluster::cluster_idx_y(),
            cluster::cluster_idx_z(),
            cluster::grid_clusters_x(),
            cluster::grid_clusters_y(),
            cluster::grid_clusters_z(),
            cluster::block_rank(),
            blocks,
            last.rank(),
        ];
        // SAFETY: 15 values per thread.
        let own = unsafe { out.add(15 * thread::index() as usize) };
        let mut k = 0;
        while k < 15 {
            // SAFETY: within the thread's values.
            unsafe { *own.add(k) = record[k] };
            k += 1;
        }
    }
}

kernel! {
    /// Passes every block's values on to the next block of its cluster, the last block's to the
    /// first: half of a block's threads (even ones) write into the next block's shared memory, the
    /// other half read the block's before through the shared window and through a generic pointer.
    ///
    /// Blocks of one dimension, of at most 512 threads; `x` holds one value per thread.
    pub PROBE_CLUSTER_EXCHANGE in sm_90 = unsafe fn probe_cluster_exchange(x: *mut u32) {
        let (i, t) = (thread::index() as usize, thread::thread_idx_x());
        let (rank, blocks) = (cluster::block_rank(), cluster::blocks_per_cluster());
        let next = if rank + 1 == blocks { 0 } else { rank + 1 };
        let before = if rank == 0 { blocks - 1 } else { rank - 1 };
        // SAFETY: t < 512: the array holds what a block keeps and what it is sent. The first
        // barrier lets no block be written to before it has begun, the second orders writes before
        // reads, and the third lets no block end while it is read.
        unsafe {
            let (own, sent) = (exchanged(), exchanged().add(512));
            own.add(t).write(*x.add(i));
            cluster::sync();
            if t % 2 == 0 {
                cluster::map_shared_rank(sent.add(t), next).write(*x.add(i));
            }
            cluster::sync();
            *x.add(i) = if t % 2 == 0 {
                sent.add(t).read()
            } else {
                let place = cluster::map_shared_rank(own, before);
                let through_window = place.add(t).read();
                let through_generic = *place.generic().add(t as usize);
                if through_window == through_generic { through_window } else { !0 }
            };
            cluster::sync();
        }
    }
}

kernel! {
    /// Arrives and waits apart: every thread adds its value to a counter in the shared memory of
    /// each block of its cluster, arrives, goes on with `work` rounds of its own, waits, and writes
    /// reads its block's counter, `rounds` times.
    ///
    /// Blocks of one dimension; `input` and `out` hold one value per thread. `out` becomes what the
    /// reads add up to, `rounds` times the sum of the cluster's values, plus `rounds * work`.
    pub PROBE_CLUSTER_SPLIT in sm_90 = unsafe fn probe_cluster_split(
        rounds: u32, work: u32, input: *const u64, out: *mut u64,
    ) {
        let (i, t) = (thread::index() as usize, thread::thread_idx_x());
        let blocks = cluster::blocks_per_cluster();
        // SAFETY: one input, which is only read, and one output per thread. A round's counter is set to 0 by its own
        // block two barriers before others add to it; the last barrier lets no block end earlier.
        unsafe {
            if t == 0 {
                tallies().write(0);
                tallies().add(1).write(0);
            }
            cluster::sync();
            let (mut sum, mut own_work) = (0, 0);
            let mut round = 0;
            while round < rounds {
                let tally = tallies().add(round % 2);
                let mut rank = 0;
                while rank < blocks {
                    let place = cluster::map_shared_rank(tally, rank);
                    atomic::fetch_add(place, *input.add(i), Relaxed, Cluster);
                    rank += 1;
                }
                cluster::barrier_arrive();
                let mut step = 0;
                while step < work {
                    let seen = atomic::load(input.add(i).cast_mut(), Relaxed, Cluster);
                    own_work += u64::from(seen == *input.add(i));
                    step += 1;
                }
                cluster::barrier_wait();
                sum += atomic::load(tally, Relaxed, Cluster);
                cluster::sync();
                if t == 0 {
                    tally.write(0);
                }
                round += 1;
            }
            *out.add(i) = sum + own_work;
            cluster::sync();
        }
    }
}

kernel! {
    /// Atomic operations on the first block's shared memory, by every thread of the cluster: adds
    /// its value, takes the larger, and counts up by compare and exchange with acquire and release.
    /// The first thread of a block then writes the three, and the sum's exchanged value (0, or the
    /// sum: one block of each cluster gets it), to `out[4 * block..]`.
    ///
    /// `input` holds one value per thread, `out` four per block.
    pub PROBE_CLUSTER_ATOMICS in sm_90 = unsafe fn probe_cluster_atomics(
        input: *const u64, out: *mut u64,
    ) {
        let first_thread = thread::index_in_block() == 0;
        // SAFETY: one input per thread and four outputs per block; the barriers order the zeros
        // before the operations, these before what is read, and this before the end.
        unsafe {
            let places = cluster::map_shared_rank(tallies(), 0);
            if first_thread && cluster::block_rank() == 0 {
                let mut k = 0;
                while k < 4 {
                    places.add(k).write(0);
                    k += 1;
                }
            }
            cluster::sync();
            let value = *input.add(thread::index() as usize);
            atomic::fetch_add(places, value, Relaxed, Cluster);
            // Of 32 bits: see the module `cluster` on 64.
            let largest = cluster::map_shared_rank(tallies().add(1).cast::<u32>(), 0);
            atomic::fetch_max(largest, value as u32, AcqRel, Cluster);
            let mut seen = atomic::load(places.add(2), Acquire, Cluster);
            loop {
                let was = atomic::compare_exchange(places.add(2), seen, seen + 1, AcqRel, Cluster);
                if was == seen {
                    break;
                }
                seen = was;
            }
            atomic::store(places.add(3), 7, Release, Cluster);
            cluster::barrier_arrive_relaxed();
            cluster::barrier_wait();
            if first_thread {
                let own = out.add(4 * thread::block_index() as usize);
                *own.add(1) = atomic::load(places.add(1), Acquire, Cluster);
                *own.add(2) = atomic::load(places.add(2), Acquire, Cluster);
                *own.add(3) = atomic::load(places.add(3), Acquire, Cluster);
                *own = atomic::exchange(places, 0, Relaxed, Cluster);
            }
            cluster::sync();
        }
    }
}
