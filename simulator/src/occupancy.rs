//! How many blocks of a launch an SM holds at once.
//!
//! The rules are those of NVIDIA's `cuda_occupancy.h` (shipped with the CUDA Toolkit), for compute
//! capability 5.0 and later: registers are allocated per warp, shared memory per block.

use crate::{
    chip::{Chip, Limits},
    program::WARP_SIZE,
};

/// Resident blocks, and what keeps them from being more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks an SM holds at once; 0 if it cannot hold even one.
    pub blocks: u32,
    /// What limits them; the first in order of declaration if several do.
    pub limiter: Limiter,
}

/// What limits the number of resident blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limiter {
    /// Warps (threads) per SM, or per block.
    Warps,
    /// Blocks per SM.
    Blocks,
    /// The register file.
    Registers,
    /// Shared memory.
    SharedMemory,
}

/// Blocks per SM for a block of `threads` threads with `registers_per_thread` 32-bit registers,
/// `static_shared` and `dynamic_shared` bytes of shared memory, which may go up to the opt-in limit.
pub fn blocks_per_sm(
    limits: &Limits,
    threads: u32,
    registers_per_thread: u32,
    static_shared: u32,
    dynamic_shared: u32,
) -> Occupancy {
    let warps = threads.div_ceil(WARP_SIZE as u32);
    let by_warps = match threads {
        0 => 0,
        _ if threads > limits.max_threads_per_block => 0,
        _ => limits.max_warps_per_sm / warps,
    };
    [
        (by_warps, Limiter::Warps),
        (limits.max_blocks_per_sm, Limiter::Blocks),
        (
            by_registers(limits, warps, registers_per_thread),
            Limiter::Registers,
        ),
        (
            by_shared(limits, static_shared, dynamic_shared),
            Limiter::SharedMemory,
        ),
    ]
    .into_iter()
    .min()
    .map(|(blocks, limiter)| Occupancy { blocks, limiter })
    .expect("four limits")
}

/// Clusters of `cluster_blocks` blocks that a chip holds at once, if each SM holds `blocks_per_sm`
/// blocks: a cluster lies within a GPC.
pub fn active_clusters(chip: &Chip, blocks_per_sm: u32, cluster_blocks: u32) -> u32 {
    chip.gpcs()
        .map(|sms| sms.len() as u32 * blocks_per_sm / cluster_blocks)
        .sum()
}

fn by_registers(limits: &Limits, warps: u32, registers_per_thread: u32) -> u32 {
    if registers_per_thread > limits.max_registers_per_thread {
        return 0;
    }
    let granularity = limits.warp_allocation_granularity;
    let per_warp =
        (registers_per_thread * WARP_SIZE as u32).next_multiple_of(limits.register_allocation_unit);
    if per_warp == 0 || warps == 0 {
        return u32::MAX;
    }
    let per_block = u64::from(per_warp) * u64::from(warps.next_multiple_of(granularity));
    if per_block > u64::from(limits.registers_per_block) {
        return 0;
    }
    // Every scheduler has its own part of the register file.
    let resident = limits.registers_per_sm / granularity / per_warp * granularity;
    resident / warps
}

fn by_shared(limits: &Limits, static_shared: u32, dynamic_shared: u32) -> u32 {
    let used = u64::from(static_shared) + u64::from(dynamic_shared);
    if used > u64::from(limits.shared_per_block_optin) {
        return 0;
    }
    let allocated = (used + u64::from(limits.shared_reserved_per_block))
        .next_multiple_of(u64::from(limits.shared_allocation_unit));
    match allocated {
        0 => u32::MAX,
        _ => (u64::from(limits.shared_per_sm) / allocated) as u32,
    }
}
