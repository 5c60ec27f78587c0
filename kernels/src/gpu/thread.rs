//! Threads in their block and grid: indices, dimensions, barriers and fences.
//!
//! Element indices are 64-bit: a grid may hold more than 2^32 threads, which is where this differs
//! from cuda_std's `index_1d` and its siblings.

use super::intrinsics;

macro_rules! coordinates {
    ($($(#[$meta:meta])* $name:ident => $intrinsic:ident;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        pub fn $name() -> u32 {
            intrinsics::$intrinsic()
        }
    )*};
}

coordinates! {
    /// The thread's index in its block, x (`threadIdx.x`).
    thread_idx_x => tid_x;
    /// The thread's index in its block, y.
    thread_idx_y => tid_y;
    /// The thread's index in its block, z.
    thread_idx_z => tid_z;
    /// The block's index in the grid, x (`blockIdx.x`).
    block_idx_x => ctaid_x;
    /// The block's index in the grid, y.
    block_idx_y => ctaid_y;
    /// The block's index in the grid, z.
    block_idx_z => ctaid_z;
    /// Threads per block, x (`blockDim.x`).
    block_dim_x => ntid_x;
    /// Threads per block, y.
    block_dim_y => ntid_y;
    /// Threads per block, z.
    block_dim_z => ntid_z;
    /// Blocks in the grid, x (`gridDim.x`).
    grid_dim_x => nctaid_x;
    /// Blocks in the grid, y.
    grid_dim_y => nctaid_y;
    /// Blocks in the grid, z.
    grid_dim_z => nctaid_z;
}

/// The thread's position along x in the whole grid: `blockIdx.x * blockDim.x + threadIdx.x`.
#[inline(always)]
pub fn index_1d() -> u64 {
    u64::from(block_idx_x()) * u64::from(block_dim_x()) + u64::from(thread_idx_x())
}

/// The thread's position along x and y in the whole grid.
#[inline(always)]
pub fn index_2d() -> [u64; 2] {
    let y = u64::from(block_idx_y()) * u64::from(block_dim_y()) + u64::from(thread_idx_y());
    [index_1d(), y]
}

/// The thread's position along x, y and z in the whole grid.
#[inline(always)]
pub fn index_3d() -> [u64; 3] {
    let [x, y] = index_2d();
    let z = u64::from(block_idx_z()) * u64::from(block_dim_z()) + u64::from(thread_idx_z());
    [x, y, z]
}

/// Threads along x in the whole grid: the stride of a grid-stride loop.
#[inline(always)]
pub fn grid_stride() -> u64 {
    u64::from(grid_dim_x()) * u64::from(block_dim_x())
}

/// The thread's number in its block, x fastest: what the hardware cuts into warps.
#[inline(always)]
pub fn index_in_block() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Threads per block, all axes.
#[inline(always)]
pub fn threads_per_block() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// The block's number in the grid, x fastest.
#[inline(always)]
pub fn block_index() -> u64 {
    (u64::from(block_idx_z()) * u64::from(grid_dim_y()) + u64::from(block_idx_y()))
        * u64::from(grid_dim_x())
        + u64::from(block_idx_x())
}

/// The thread's number in the whole grid from all six coordinates: block by block, x fastest in
/// both. Unique for every thread of any launch, and consecutive within a warp.
#[inline(always)]
pub fn index() -> u64 {
    block_index() * u64::from(threads_per_block()) + u64::from(index_in_block())
}

/// Waits until every thread of the block has come here; memory written before is visible to the
/// block after (`__syncthreads`).
///
/// Every thread of the block that has not exited must reach the same call.
#[inline(always)]
pub fn sync_threads() {
    intrinsics::barrier0();
}

/// [`sync_threads`], and the number of threads whose predicate is not zero.
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    intrinsics::barrier0_popc(predicate as i32) as u32
}

/// [`sync_threads`], and not zero if every thread's predicate is not zero.
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    intrinsics::barrier0_and(predicate as i32) as u32
}

/// [`sync_threads`], and not zero if some thread's predicate is not zero.
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    intrinsics::barrier0_or(predicate as i32) as u32
}

/// A memory fence among the threads of the block (`__threadfence_block`). It orders memory; it
/// waits for no thread.
#[inline(always)]
pub fn block_fence() {
    intrinsics::membar_cta();
}

/// A memory fence among the threads of the device (`__threadfence`).
#[inline(always)]
pub fn device_fence() {
    intrinsics::membar_gl();
}

/// A memory fence among the device, its peers and the host (`__threadfence_system`).
#[inline(always)]
pub fn system_fence() {
    intrinsics::membar_sys();
}
