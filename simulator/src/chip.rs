//! Descriptions of the chips that times are modelled for.

use std::ops::Range;

mod catalog;
mod limits;

pub use catalog::{A100, GTX1080, H100, H200, RTX4090, T4, V100};

impl Chip {
    /// All described chips, the default one first.
    pub const ALL: [&'static Self; 7] = [&H200, &H100, &A100, &V100, &RTX4090, &T4, &GTX1080];

    /// The chip called `name` in `--device sim:NAME`; capitals do not matter.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL
            .into_iter()
            .find(|chip| chip.name.eq_ignore_ascii_case(name))
    }
}

/// A chip: what limits a launch, and the figures its times are modelled from.
#[derive(Debug, Clone, PartialEq)]
pub struct Chip {
    /// Name as given to `--device sim:NAME`, for example `h200`.
    pub name: &'static str,
    /// Full product name.
    pub product: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Graphics processing clusters: groups of SMs, each of which holds the blocks of a thread block
    /// cluster together. 0 where there are no clusters.
    pub gpcs: u32,
    /// SM clock under load, in GHz.
    pub clock_ghz: f64,
    /// Warp schedulers per SM.
    pub schedulers: u32,
    /// Blocks the whole chip starts per nanosecond, at most.
    pub block_dispatch_per_ns: f64,
    /// Nanoseconds from the start of a launch to its first block.
    pub launch_latency_ns: f64,
    /// Cycles from a block's end to the first warp of the block that takes its place.
    pub block_turnaround: u32,
    /// Cycles between the starts of two warps on one SM.
    pub warp_start: u32,
    /// L2 size in bytes.
    pub l2_bytes: u64,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Peak memory bandwidth in GB/s (1e9 bytes per second), from the data sheet.
    pub memory_gb_per_s: f64,
    /// Share of the peak that streams of one direction reach at best, measured where possible.
    pub memory_efficiency: f64,
    /// Share of the bandwidth that turning the bus around costs: a byte takes `1 + this * the
    /// smaller of the shares of reads and writes` of its time in a stream of one direction.
    pub memory_turnaround: f64,
    /// Mean cycles that a miss waits beyond its latency at full load.
    pub memory_loaded_wait: u32,
    /// L2 bandwidth in GB/s.
    pub l2_gb_per_s: f64,
    /// Latencies in SM cycles.
    pub latency: Latencies,
    /// Occupancy limits.
    pub limits: Limits,
}

impl Chip {
    /// The SMs of each GPC. Their pairs (TPCs) are dealt out as evenly as they go, so that the first
    /// GPCs have two SMs more.
    pub fn gpcs(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (pairs, gpcs) = (self.sms as usize / 2, self.gpcs as usize);
        (0..gpcs).scan(0, move |end, gpc| {
            let start = *end;
            *end += 2 * (pairs / gpcs + usize::from(gpc < pairs % gpcs));
            Some(start..*end)
        })
    }
}

/// Latencies in SM cycles, from issue to the result's first use, of an idle chip. `l2` is a hit in
/// the L2, `memory` a miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Latencies {
    pub integer: u32,
    pub integer_multiply: u32,
    pub float32: u32,
    pub float64: u32,
    pub special: u32,
    pub convert: u32,
    pub shared: u32,
    /// The shared memory of another block of the cluster.
    pub peer_shared: u32,
    pub l2: u32,
    pub memory: u32,
    pub parameter: u32,
    pub shuffle: u32,
    pub barrier: u32,
    /// From the last arrival at a cluster's barrier to the release.
    pub cluster_barrier: u32,
    pub control: u32,
}

/// Limits of a compute capability (units: threads, warps, blocks, 32-bit registers, bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Limits {
    pub max_threads_per_block: u32,
    pub max_threads_per_sm: u32,
    pub max_warps_per_sm: u32,
    pub max_blocks_per_sm: u32,
    /// Blocks of a cluster; 0 where there are no clusters.
    pub max_cluster_blocks: u32,
    pub registers_per_sm: u32,
    pub registers_per_block: u32,
    pub max_registers_per_thread: u32,
    pub register_allocation_unit: u32,
    pub warp_allocation_granularity: u32,
    pub shared_per_sm: u32,
    pub shared_per_block: u32,
    pub shared_per_block_optin: u32,
    pub shared_reserved_per_block: u32,
    pub shared_allocation_unit: u32,
}
