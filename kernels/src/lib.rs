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
// A module of its own holds few kernels, and leaves what the others need unused.
#![cfg_attr(
    all(target_os = "cuda", any(feature = "sm_80", feature = "sm_90")),
    allow(dead_code, unused_imports)
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
        read: READ_SUM_I32, READ_SUM_U32, READ_SUM_I64, READ_SUM_F32, READ_SUM_F64;
    reduce_atomic: REDUCE_ATOMIC_SUM_I32, REDUCE_ATOMIC_CLEAR_I32, REDUCE_ATOMIC_SUM_U32,
        REDUCE_ATOMIC_CLEAR_U32, REDUCE_ATOMIC_SUM_I64, REDUCE_ATOMIC_CLEAR_I64,
        REDUCE_ATOMIC_SUM_F32, REDUCE_ATOMIC_CLEAR_F32, REDUCE_ATOMIC_SUM_F64,
        REDUCE_ATOMIC_CLEAR_F64;
        reduce_gather: REDUCE_GATHER_SUM_I32, REDUCE_GATHER_SUM_U32, REDUCE_GATHER_SUM_I64,
        REDUCE_GATHER_SUM_F32, REDUCE_GATHER_SUM_F64, REDUCE_GATHER_MIN_I32, REDUCE_GATHER_MIN_U32,
        REDUCE_GATHER_MIN_I64, REDUCE_GATHER_MIN_F32, REDUCE_GATHER_MIN_F64, REDUCE_GATHER_MAX_I32,
        REDUCE_GATHER_MAX_U32, REDUCE_GATHER_MAX_I64, REDUCE_GATHER_MAX_F32, REDUCE_GATHER_MAX_F64;
        reduce_interleaved: REDUCE_INTERLEAVED_SUM_I32, REDUCE_INTERLEAVED_SUM_U32,
        REDUCE_INTERLEAVED_SUM_I64, REDUCE_INTERLEAVED_SUM_F32, REDUCE_INTERLEAVED_SUM_F64;
        reduce_last_block: REDUCE_LAST_BLOCK_SUM_I32, REDUCE_LAST_BLOCK_SUM_U32,
        REDUCE_LAST_BLOCK_SUM_I64, REDUCE_LAST_BLOCK_SUM_F32, REDUCE_LAST_BLOCK_SUM_F64,
        REDUCE_LAST_BLOCK_MIN_I32, REDUCE_LAST_BLOCK_MIN_U32, REDUCE_LAST_BLOCK_MIN_I64,
        REDUCE_LAST_BLOCK_MIN_F32, REDUCE_LAST_BLOCK_MIN_F64, REDUCE_LAST_BLOCK_MAX_I32,
        REDUCE_LAST_BLOCK_MAX_U32, REDUCE_LAST_BLOCK_MAX_I64, REDUCE_LAST_BLOCK_MAX_F32,
        REDUCE_LAST_BLOCK_MAX_F64;
        reduce_redux: REDUCE_REDUX_SUM_I32, REDUCE_REDUX_SUM_U32, REDUCE_REDUX_MIN_I32,
        REDUCE_REDUX_MIN_U32, REDUCE_REDUX_MAX_I32, REDUCE_REDUX_MAX_U32;
        reduce_sequential: REDUCE_SEQUENTIAL_SUM_I32, REDUCE_SEQUENTIAL_SUM_U32,
        REDUCE_SEQUENTIAL_SUM_I64, REDUCE_SEQUENTIAL_SUM_F32, REDUCE_SEQUENTIAL_SUM_F64;
        reduce_shuffle: REDUCE_SHUFFLE_SUM_I32, REDUCE_SHUFFLE_SUM_U32, REDUCE_SHUFFLE_SUM_I64,
        REDUCE_SHUFFLE_SUM_F32, REDUCE_SHUFFLE_SUM_F64;
        reduce_unrolled: REDUCE_UNROLLED_SUM_I32, REDUCE_UNROLLED_SUM_U32, REDUCE_UNROLLED_SUM_I64,
        REDUCE_UNROLLED_SUM_F32, REDUCE_UNROLLED_SUM_F64;
        reduce_vectorized: REDUCE_VECTORIZED_SUM_I32, REDUCE_VECTORIZED_SUM_U32,
        REDUCE_VECTORIZED_SUM_I64, REDUCE_VECTORIZED_SUM_F32, REDUCE_VECTORIZED_SUM_F64;
    saxpy: SAXPY, SAXPY_UNROLLED;
    thread_map: THREAD_MAP;
    tile: TILE_NEIGHBOUR, TILE_NEIGHBOUR_RACY;
    vector_add: VECTOR_ADD;
    vector_add_strided: VECTOR_ADD_STRIDED_1, VECTOR_ADD_STRIDED_2, VECTOR_ADD_STRIDED_4,
        VECTOR_ADD_STRIDED_8;
    vector_add_x4: VECTOR_ADD_X4;
}
