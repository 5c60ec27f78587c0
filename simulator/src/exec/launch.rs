//! One launch: what stays the same for all of it, and where in it an instruction runs.

use super::{
    access::AccessLog,
    block::SharedMemory,
    memory::Memory,
    passed::Sites,
    races::{RaceCheck, Races},
};
use crate::program::{Lanes, Program, WARP_SIZE};

/// What all threads of a launch share.
pub(crate) struct LaunchContext<'a> {
    pub(crate) program: &'a Program,
    /// Where threads can go past a barrier.
    pub(crate) sites: &'a Sites,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks per cluster and axis.
    pub(crate) cluster: [u32; 3],
    /// Whether the launch or the kernel asks for clusters.
    pub(crate) explicit_cluster: bool,
    pub(crate) dynamic_shared_bytes: u32,
    /// Static and dynamic shared memory of a block.
    pub(crate) shared_bytes: u32,
    pub(crate) parameters: &'a [u8],
    pub(crate) checks: bool,
    /// How races on shared memory are looked for, if they are.
    pub(crate) races: Option<RaceCheck>,
    pub(crate) grid_id: u64,
    pub(crate) sms: u32,
    pub(crate) max_warps_per_sm: u32,
    pub(crate) threads: u32,
    /// `%tid` of each lane, by warp and axis.
    pub(crate) thread_indices: Vec<[Lanes; 3]>,
    /// `%clock64` at the launch's cycle 0.
    pub(crate) clock_start: u64,
    /// `%globaltimer` at the launch's cycle 0, in ns.
    pub(crate) timer_start: f64,
    pub(crate) clock_ghz: f64,
}

impl LaunchContext<'_> {
    /// Warps of a block; the last may be partial.
    pub(crate) fn warps(&self) -> u32 {
        self.threads.div_ceil(WARP_SIZE as u32)
    }

    /// Blocks of the grid.
    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&extent| u64::from(extent)).product()
    }

    /// Blocks of a cluster.
    pub(crate) fn cluster_blocks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Clusters of the grid.
    pub(crate) fn clusters(&self) -> u64 {
        self.blocks() / u64::from(self.cluster_blocks())
    }

    /// Clusters of the grid per axis.
    pub(crate) fn cluster_grid(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.grid[axis] / self.cluster[axis])
    }

    /// Index of the `linear`-th block, counted cluster by cluster: x varies fastest in both.
    pub(crate) fn block_index(&self, linear: u64) -> [u32; 3] {
        let blocks = u64::from(self.cluster_blocks());
        let first = position(linear / blocks, self.cluster_grid());
        let inside = position(linear % blocks, self.cluster);
        std::array::from_fn(|axis| first[axis] * self.cluster[axis] + inside[axis])
    }

    /// Index of a thread in its block: x varies fastest.
    pub(crate) fn thread_index(&self, warp: u32, lane: u32) -> [u32; 3] {
        self.thread_indices[warp as usize].map(|axis| axis[lane as usize] as u32)
    }
}

/// The `linear`-th place of a box: x varies fastest.
fn position(linear: u64, extents: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extents.map(u64::from);
    [
        (linear % x) as u32,
        (linear / x % y) as u32,
        (linear / x / y) as u32,
    ]
}

/// `%tid` of every lane of every warp of a block.
pub(crate) fn thread_indices(block: [u32; 3], warps: u32) -> Vec<[Lanes; 3]> {
    let [x, y, _] = block.map(u64::from);
    let axis = |warp: u32, index: fn(u64, u64, u64) -> u64| -> Lanes {
        std::array::from_fn(|lane| index(u64::from(warp) * WARP_SIZE as u64 + lane as u64, x, y))
    };
    (0..warps)
        .map(|warp| {
            [
                axis(warp, |thread, x, _| thread % x),
                axis(warp, |thread, x, y| thread / x % y),
                axis(warp, |thread, x, y| thread / x / y),
            ]
        })
        .collect()
}

/// Where and when an instruction runs, and the memories it can reach.
pub(crate) struct Place<'a> {
    pub(crate) launch: &'a LaunchContext<'a>,
    pub(crate) memory: &'a mut Memory,
    /// The shared memory of the cluster's blocks, by rank.
    pub(crate) shared: &'a mut [SharedMemory],
    /// Rank of the block in its cluster.
    pub(crate) rank: u32,
    /// The cluster's race check, if there is one.
    pub(crate) races: Option<&'a mut Races>,
    pub(crate) log: &'a mut AccessLog,
    /// Index of the block.
    pub(crate) block: [u32; 3],
    pub(crate) sm: u32,
    /// `%warpid`
    pub(crate) warp_slot: u32,
    /// `%clock64`
    pub(crate) clock: u64,
}

impl Place<'_> {
    /// `%globaltimer` in ns.
    pub(crate) fn timer(&self) -> u64 {
        let cycles = (self.clock - self.launch.clock_start) as f64;
        (self.launch.timer_start + cycles / self.launch.clock_ghz) as u64
    }
}
