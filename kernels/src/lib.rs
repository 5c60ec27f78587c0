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
    grid_sync: GRID_SYNC_ROUNDS, GRID_SYNC_EXCHANGE, GRID_SYNC_SKEWED, GRID_SYNC_STEP;
    probe_atomic: PROBE_ATOMICS_U32, PROBE_ATOMICS_I32, PROBE_ATOMICS_U64, PROBE_ATOMICS_I64,
        PROBE_ATOMICS_F32, PROBE_ATOMICS_F64, PROBE_ATOMIC_SCOPES, PROBE_ATOMIC_SHARED;
    probe_grid: PROBE_GRID_UNSYNCHRONISED;
    probe_memory: PROBE_SHARED_STATIC, PROBE_SHARED_DYNAMIC, PROBE_CACHE_U32, PROBE_CACHE_F32,
        PROBE_CACHE_U64, PROBE_CACHE_F64, PROBE_CACHE_FLOAT4, PROBE_MESSAGES;
    probe_thread: PROBE_INDICES, PROBE_BARRIERS, PROBE_BARRIER_BETWEEN_BRANCHES, PROBE_CLOCKS;
    probe_warp: PROBE_SHUFFLES_U32, PROBE_SHUFFLES_I32, PROBE_SHUFFLES_F32, PROBE_SHUFFLES_U64,
        PROBE_SHUFFLES_I64, PROBE_SHUFFLES_F64, PROBE_MATCH_U32, PROBE_MATCH_I32, PROBE_MATCH_F32,
        PROBE_MATCH_U64, PROBE_MATCH_I64, PROBE_MATCH_F64, PROBE_VOTES;
    saxpy: SAXPY, SAXPY_UNROLLED;
    thread_map: THREAD_MAP;
    tile: TILE_NEIGHBOUR, TILE_NEIGHBOUR_RACY;
    vector_add: VECTOR_ADD;
    vector_add_strided: VECTOR_ADD_STRIDED_1, VECTOR_ADD_STRIDED_2, VECTOR_ADD_STRIDED_4,
        VECTOR_ADD_STRIDED_8;
    vector_add_x4: VECTOR_ADD_X4;
}
