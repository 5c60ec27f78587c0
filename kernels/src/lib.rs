//! warplab's kernels. On the device target this crate compiles to PTX; on the host every kernel
//! is a typed handle that a launch is checked against.
//!
//! A kernel is declared once, with `kernel!`, in the file named after its idea; the list below
//! names that file and its handles. Kernels use nothing but the `gpu` module.

#![no_std]
#![cfg_attr(
    target_os = "cuda",
    feature(asm_experimental_arch, link_llvm_intrinsics),
    allow(internal_features)
)]
#![cfg_attr(
    all(target_os = "cuda", not(feature = "rust-cuda")),
    feature(abi_ptx, abi_unadjusted)
)]

#[macro_use]
mod declare;
#[cfg(target_os = "cuda")]
#[macro_use]
pub mod gpu;
#[cfg(not(target_os = "cuda"))]
pub mod handle;

// One line per file: the module and the handles it declares.
modules! {
    block_order: BLOCK_ORDER;
    clocks: CLOCKS;
    geometry: CHECKERBOARD_1D, CHECKERBOARD_2D, CHECKERBOARD_3D;
    probe_atomic: PROBE_ATOMICS_U32, PROBE_ATOMICS_I32, PROBE_ATOMICS_U64, PROBE_ATOMICS_I64,
        PROBE_ATOMICS_F32, PROBE_ATOMICS_F64, PROBE_ATOMIC_SCOPES, PROBE_ATOMIC_SHARED;
    probe_memory: PROBE_SHARED_STATIC, PROBE_SHARED_DYNAMIC, PROBE_CACHE_U32, PROBE_CACHE_F32,
        PROBE_CACHE_U64, PROBE_CACHE_F64, PROBE_CACHE_FLOAT4, PROBE_MESSAGES;
    probe_thread: PROBE_INDICES, PROBE_BARRIERS, PROBE_BARRIER_BETWEEN_BRANCHES, PROBE_CLOCKS;
    probe_warp: PROBE_SHUFFLES_U32, PROBE_SHUFFLES_I32, PROBE_SHUFFLES_F32, PROBE_SHUFFLES_U64,
        PROBE_SHUFFLES_I64, PROBE_SHUFFLES_F64, PROBE_MATCH_U32, PROBE_MATCH_I32, PROBE_MATCH_F32,
        PROBE_MATCH_U64, PROBE_MATCH_I64, PROBE_MATCH_F64, PROBE_VOTES;
    saxpy: SAXPY, SAXPY_UNROLLED;
    shuffle: SHUFFLE_I32, SHUFFLE_U32, SHUFFLE_I64, SHUFFLE_U64, SHUFFLE_F32, SHUFFLE_F64;
    shuffle_broadcast: SHUFFLE_BROADCAST_I32, SHUFFLE_BROADCAST_U32, SHUFFLE_BROADCAST_I64,
        SHUFFLE_BROADCAST_U64, SHUFFLE_BROADCAST_F32, SHUFFLE_BROADCAST_F64;
    shuffle_reduce: SHUFFLE_REDUCE_I32, SHUFFLE_REDUCE_U32, SHUFFLE_REDUCE_I64,
        SHUFFLE_REDUCE_U64, SHUFFLE_REDUCE_F32, SHUFFLE_REDUCE_F64;
    shuffle_scan: SHUFFLE_SCAN_I32, SHUFFLE_SCAN_U32, SHUFFLE_SCAN_I64, SHUFFLE_SCAN_U64,
        SHUFFLE_SCAN_F32, SHUFFLE_SCAN_F64;
    thread_map: THREAD_MAP;
    tile: TILE_NEIGHBOUR, TILE_NEIGHBOUR_RACY;
    vector_add: VECTOR_ADD;
    vector_add_strided: VECTOR_ADD_STRIDED_1, VECTOR_ADD_STRIDED_2, VECTOR_ADD_STRIDED_4,
        VECTOR_ADD_STRIDED_8;
    vector_add_x4: VECTOR_ADD_X4;
    warp_match: WARP_MATCH_I32, WARP_MATCH_U32, WARP_MATCH_I64, WARP_MATCH_U64, WARP_MATCH_F32,
        WARP_MATCH_F64;
    warp_vote: WARP_VOTE;
}
