//! Clusters: blocks that run at the same time on one part of the device, wait for each other at a
//! barrier, and read and write each other's shared memory (compute capability 9.0).
//!
//! `cluster::map_shared_rank(pointer, rank)` is cooperative groups' function of that name and PTX's
//! `mapa`: the place in the shared memory of the cluster's block `rank` that is `pointer` in one's
//! own. Two rules bound the use of another block's shared memory (CUDA Programming Guide,
//! distributed shared memory): that block has begun, and has not ended. A [`sync`] before the first
//! access and one after the last keep both.
//!
//! Atomic minimum and maximum of 64 bits do not work on another block's shared memory: an H200 loses
//! values (CUDA 13.0, whose ptxas falls back to a load and a store there). Addition, exchange and
//! compare-and-swap of 64 bits do, and everything of 32 bits.
//!
//! Only the sm_90 module has this.

use core::{arch::asm, marker::PhantomData};

use super::{
    atomic::{Place, Space},
    intrinsics,
    shared::{SharedPointer, values_of_space},
};

// Special registers need not be convergent, and LLVM 7 has no intrinsic for these.
macro_rules! registers {
    ($($(#[$meta:meta])* $name:ident => $register:literal;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        pub fn $name() -> u32 {
            let value: u32;
            // SAFETY: reads a special register.
            unsafe {
                asm!(
                    concat!("mov.u32 {}, %", $register, ";"),
                    out(reg32) value,
                    options(pure, nomem, nostack),
                );
            }
            value
        }
    )*};
}

registers! {
    /// The block's index in its cluster, x.
    block_idx_x => "cluster_ctaid.x";
    /// The block's index in its cluster, y.
    block_idx_y => "cluster_ctaid.y";
    /// The block's index in its cluster, z.
    block_idx_z => "cluster_ctaid.z";
    /// Blocks per cluster, x.
    cluster_dim_x => "cluster_nctaid.x";
    /// Blocks per cluster, y.
    cluster_dim_y => "cluster_nctaid.y";
    /// Blocks per cluster, z.
    cluster_dim_z => "cluster_nctaid.z";
    /// The cluster's index in the grid, x.
    cluster_idx_x => "clusterid.x";
    /// The cluster's index in the grid, y.
    cluster_idx_y => "clusterid.y";
    /// The cluster's index in the grid, z.
    cluster_idx_z => "clusterid.z";
    /// Clusters in the grid, x.
    grid_clusters_x => "nclusterid.x";
    /// Clusters in the grid, y.
    grid_clusters_y => "nclusterid.y";
    /// Clusters in the grid, z.
    grid_clusters_z => "nclusterid.z";
    /// The block's number in its cluster, x fastest: what [`map_shared_rank`] takes.
    block_rank => "cluster_ctarank";
    /// Blocks per cluster, all axes; 1 in a launch without clusters.
    blocks_per_cluster => "cluster_nctarank";
}

/// Waits until every thread of the cluster has come here; what any of them wrote before, in global
/// and in shared memory, is visible to all of them after.
///
/// Every thread of the cluster that has not exited must reach it.
#[inline(always)]
pub fn sync() {
    barrier_arrive();
    barrier_wait();
}

/// The first half of [`sync`]: says that the thread has come here, and publishes what it wrote
/// before. It may go on with work that concerns no other block, and must then call
/// [`barrier_wait`] before it arrives again.
#[inline(always)]
pub fn barrier_arrive() {
    intrinsics::barrier_cluster_arrive();
}

/// [`barrier_arrive`] without publishing anything: for a barrier that only says that the blocks have
/// begun, or that reads are done.
#[inline(always)]
pub fn barrier_arrive_relaxed() {
    intrinsics::barrier_cluster_arrive_relaxed();
}

/// The second half of [`sync`]: waits until every thread of the cluster has arrived, and sees what
/// they wrote before they did.
#[inline(always)]
pub fn barrier_wait() {
    intrinsics::barrier_cluster_wait();
}

/// A pointer into the shared memory of any block of the cluster. Reads and writes through it are
/// `ld.shared::cluster` and `st.shared::cluster`.
pub struct ClusterPointer<T> {
    /// The address in the cluster's shared window.
    address: u32,
    element: PhantomData<*mut T>,
}

impl<T> Clone for ClusterPointer<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ClusterPointer<T> {}

/// The place in the shared memory of the cluster's block `rank` that `pointer` is in one's own.
///
/// # Safety
///
/// `rank` is below [`blocks_per_cluster`].
#[inline(always)]
pub unsafe fn map_shared_rank<T>(pointer: SharedPointer<T>, rank: u32) -> ClusterPointer<T> {
    let address: u32;
    // SAFETY: converts an address; nothing is accessed.
    unsafe {
        asm!(
            "mapa.shared::cluster.u32 {}, {}, {};",
            out(reg32) address,
            in(reg32) pointer.address(),
            in(reg32) rank,
            options(pure, nomem, nostack),
        );
    }
    ClusterPointer {
        address,
        element: PhantomData,
    }
}

impl<T> ClusterPointer<T> {
    /// The element `count` further on, in the same block.
    ///
    /// # Safety
    ///
    /// It is in the same array, or one past its end.
    #[inline(always)]
    pub const unsafe fn add(self, count: u32) -> Self {
        Self {
            address: self.address + count * size_of::<T>() as u32,
            element: PhantomData,
        }
    }

    /// The rank of the block whose shared memory it points into.
    #[inline(always)]
    pub fn rank(self) -> u32 {
        let rank: u32;
        // SAFETY: takes an address apart; nothing is accessed.
        unsafe {
            asm!(
                "getctarank.shared::cluster.u32 {}, {};",
                out(reg32) rank,
                in(reg32) self.address,
                options(pure, nomem, nostack),
            );
        }
        rank
    }

    /// The generic address of the same place, which any thread of the cluster may use.
    #[inline(always)]
    pub fn generic(self) -> *mut T {
        let generic: u64;
        // SAFETY: converts an address; nothing is accessed.
        unsafe {
            asm!(
                "cvta.shared::cluster.u64 {}, {};",
                out(reg64) generic,
                in(reg64) u64::from(self.address),
                options(pure, nomem, nostack),
            );
        }
        generic as *mut T
    }
}

values_of_space! {
    /// A value that another block's shared memory is read and written by.
    ClusterValue, "shared::cluster"
}

impl<T: ClusterValue> ClusterPointer<T> {
    /// Reads the element.
    ///
    /// # Safety
    ///
    /// The pointer is to an element that was written, in a block that has begun and does not end
    /// before the read is done, and no other thread writes it meanwhile.
    #[inline(always)]
    pub unsafe fn read(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::read(self.address) }
    }

    /// Writes the element.
    ///
    /// # Safety
    ///
    /// The pointer is to an element, in a block that has begun and does not end before the write is
    /// done, and no other thread accesses it meanwhile.
    #[inline(always)]
    pub unsafe fn write(self, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::write(self.address, value) }
    }
}

impl<T> Place<T> for ClusterPointer<T> {
    const SPACE: Space = Space::Cluster;

    #[inline(always)]
    fn address(self) -> u64 {
        u64::from(self.address)
    }
}
