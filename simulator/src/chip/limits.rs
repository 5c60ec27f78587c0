//! Occupancy limits by compute capability.
//!
//! Sources: `cuda_occupancy.h` of CUDA 13 and the CUDA Programming Guide's table "Technical
//! Specifications per Compute Capability".

use super::Limits;

/// What capabilities 6.1 to 9.0 share, with 7.0's figures for the rest.
pub(super) const CC_7_0: Limits = Limits {
    max_threads_per_block: 1024,
    max_threads_per_sm: 2048,
    max_warps_per_sm: 64,
    max_blocks_per_sm: 32,
    max_cluster_blocks: 0,
    registers_per_sm: 65536,
    registers_per_block: 65536,
    max_registers_per_thread: 255,
    register_allocation_unit: 256,
    warp_allocation_granularity: 4,
    shared_per_sm: 96 << 10,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 96 << 10,
    shared_reserved_per_block: 0,
    shared_allocation_unit: 256,
};

/// GTX 10 series.
pub(super) const CC_6_1: Limits = Limits {
    shared_per_block_optin: 48 << 10,
    ..CC_7_0
};

/// Turing.
pub(super) const CC_7_5: Limits = Limits {
    max_threads_per_sm: 1024,
    max_warps_per_sm: 32,
    max_blocks_per_sm: 16,
    shared_per_sm: 64 << 10,
    shared_per_block_optin: 64 << 10,
    ..CC_7_0
};

/// A100.
pub(super) const CC_8_0: Limits = Limits {
    shared_per_sm: 164 << 10,
    shared_per_block_optin: 163 << 10,
    shared_reserved_per_block: 1 << 10,
    shared_allocation_unit: 128,
    ..CC_7_0
};

/// Ada.
pub(super) const CC_8_9: Limits = Limits {
    max_threads_per_sm: 1536,
    max_warps_per_sm: 48,
    max_blocks_per_sm: 24,
    shared_per_sm: 100 << 10,
    shared_per_block_optin: 99 << 10,
    ..CC_8_0
};

/// Hopper. A cluster of more than 8 blocks is not portable.
pub(super) const CC_9_0: Limits = Limits {
    max_cluster_blocks: 16,
    shared_per_sm: 228 << 10,
    shared_per_block_optin: 227 << 10,
    ..CC_8_0
};
