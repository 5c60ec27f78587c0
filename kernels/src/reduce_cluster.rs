//! What do blocks gain that pass their results through each other's shared memory?
//!
//! The blocks of a cluster write their results into the shared memory of the cluster's first block,
//! wait at the cluster's barrier, and only that block goes on: alone to the result if the grid is
//! one cluster, else through a slot as in `reduce_gather`. Expected: a sum that one cluster can
//! read in little time saves the trips through the L2. Seen on an H200: starting clusters and their
//! two barriers take longer than the trips, so that `reduce_gather` is ahead
//! from 2^10 to 2^26 elements.
//!
//! Run: `cargo run --release --bin reduce -- --variant cluster --cluster 8`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    cluster,
    gather::{BLOCK_LOOKS, gather},
    operation::{Element, Max, Min, Operation, Sum},
    reduction::{self, ByShuffle},
    slot::{SlotValue, Slots},
    thread,
};

/// The most blocks of a cluster (with the function attribute for sizes that are not portable).
#[cfg(target_os = "cuda")]
const MOST_BLOCKS: usize = 16;

#[cfg(target_os = "cuda")]
shared_array! {
    /// One result per block of the cluster.
    fn reduce_cluster_results() -> [u64; MOST_BLOCKS]
}

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn reduce<T: Element + SlotValue + cluster::ClusterValue, O: Operation<T>>(
    n: u64,
    x: *const T,
    scratch: *mut u64,
    result: *mut T,
) {
    let thread = thread::thread_idx_x();
    let (rank, blocks) = (cluster::block_rank(), cluster::blocks_per_cluster());
    let (index, clusters) = (cluster::cluster_idx_x(), cluster::grid_clusters_x());
    let results = reduce_cluster_results().cast::<T>();
    // SAFETY: the launch gives n elements behind x and two words per block, all zero. The first
    // barrier says that the first block has begun, the second that all results are in its shared
    // memory; it does not end before that. Every cluster but the first sends once and waits for no
    // other.
    unsafe {
        let value =
            reduction::thread_reduce::<T, O>(n, x, thread::block_idx_x(), thread::grid_dim_x());
        cluster::barrier_arrive_relaxed();
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        cluster::barrier_wait();
        if thread == 0 {
            cluster::map_shared_rank(results.add(rank), 0).write(value);
        }
        cluster::sync();
        if rank > 0 {
            return;
        }
        // A block may have fewer threads than the cluster has blocks.
        let (mut k, mut value) = (thread, O::IDENTITY);
        while k < blocks {
            value = O::combine(value, results.add(k).read());
            k += thread::block_dim_x();
        }
        let slots = Slots::new(scratch);
        if index == 0 {
            let threads = thread::block_dim_x();
            value = gather::<T, O, BLOCK_LOOKS>(slots, thread, threads, clusters - 1, value);
        }
        let value = reduction::block_reduce::<T, O, ByShuffle<O>>(value);
        if thread == 0 {
            if index == 0 {
                *result = value;
            } else {
                slots.send(index - 1, value);
            }
        }
    }
}

reduction_kernels! {
    /// The reduction of `x` into `result`.
    ///
    /// Any grid and block of one dimension, in clusters of up to 16 blocks. `x` is aligned to 16
    /// bytes and holds `n` elements. `scratch` holds two words per block; it is zero before the
    /// first launch, and every launch leaves it so.
    pub HANDLE in sm_90 = unsafe fn name<O, T>(
        n: u64, x: *const T, scratch: *mut u64, result: *mut T,
    ) {
        // SAFETY: the launch gives what the declaration asks for.
        unsafe { reduce::<T, O>(n, x, scratch, result) }
    }

    REDUCE_CLUSTER_SUM_I32 reduce_cluster_sum_i32 Sum i32;
    REDUCE_CLUSTER_SUM_U32 reduce_cluster_sum_u32 Sum u32;
    REDUCE_CLUSTER_SUM_I64 reduce_cluster_sum_i64 Sum i64;
    REDUCE_CLUSTER_SUM_F32 reduce_cluster_sum_f32 Sum f32;
    REDUCE_CLUSTER_SUM_F64 reduce_cluster_sum_f64 Sum f64;
    REDUCE_CLUSTER_MIN_I32 reduce_cluster_min_i32 Min i32;
    REDUCE_CLUSTER_MIN_U32 reduce_cluster_min_u32 Min u32;
    REDUCE_CLUSTER_MIN_I64 reduce_cluster_min_i64 Min i64;
    REDUCE_CLUSTER_MIN_F32 reduce_cluster_min_f32 Min f32;
    REDUCE_CLUSTER_MIN_F64 reduce_cluster_min_f64 Min f64;
    REDUCE_CLUSTER_MAX_I32 reduce_cluster_max_i32 Max i32;
    REDUCE_CLUSTER_MAX_U32 reduce_cluster_max_u32 Max u32;
    REDUCE_CLUSTER_MAX_I64 reduce_cluster_max_i64 Max i64;
    REDUCE_CLUSTER_MAX_F32 reduce_cluster_max_f32 Max f32;
    REDUCE_CLUSTER_MAX_F64 reduce_cluster_max_f64 Max f64;
}
