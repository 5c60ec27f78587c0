//! Declarations of LLVM's NVVM intrinsics: one list for both compilers.
//!
//! Everything convergent (barriers, shuffles, votes, match) comes from here and never from `asm!`:
//! LLVM knows that it must not duplicate or move these across control flow, and does not know it of
//! inline assembly. The names are those that LLVM 7 (libNVVM) and today's LLVM both take.

// A module uses what its kernels need.
#[allow(dead_code)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    pub(super) safe fn tid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.y"]
    pub(super) safe fn tid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.z"]
    pub(super) safe fn tid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    pub(super) safe fn ntid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.y"]
    pub(super) safe fn ntid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.z"]
    pub(super) safe fn ntid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    pub(super) safe fn ctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.y"]
    pub(super) safe fn ctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.z"]
    pub(super) safe fn ctaid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    pub(super) safe fn nctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.y"]
    pub(super) safe fn nctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.z"]
    pub(super) safe fn nctaid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub(super) safe fn laneid() -> u32;

    #[link_name = "llvm.nvvm.barrier0"]
    pub(super) safe fn barrier0();
    #[link_name = "llvm.nvvm.barrier0.popc"]
    pub(super) safe fn barrier0_popc(predicate: i32) -> i32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    pub(super) safe fn barrier0_and(predicate: i32) -> i32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    pub(super) safe fn barrier0_or(predicate: i32) -> i32;
    #[link_name = "llvm.nvvm.membar.cta"]
    pub(super) safe fn membar_cta();
    #[link_name = "llvm.nvvm.membar.gl"]
    pub(super) safe fn membar_gl();
    #[link_name = "llvm.nvvm.membar.sys"]
    pub(super) safe fn membar_sys();

    #[cfg(feature = "sm_90")]
    #[link_name = "llvm.nvvm.barrier.cluster.arrive"]
    pub(super) safe fn barrier_cluster_arrive();
    #[cfg(feature = "sm_90")]
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed"]
    pub(super) safe fn barrier_cluster_arrive_relaxed();
    #[cfg(feature = "sm_90")]
    #[link_name = "llvm.nvvm.barrier.cluster.wait"]
    pub(super) safe fn barrier_cluster_wait();

    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub(super) fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub(super) fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub(super) fn shuffle_up(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    pub(super) fn shuffle_down(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    pub(super) fn shuffle_bfly(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub(super) fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub(super) fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.uni.sync"]
    pub(super) fn vote_uni(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub(super) fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    pub(super) fn match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    pub(super) fn match_any_64(mask: u32, value: u64) -> u32;

    #[link_name = "llvm.nvvm.redux.sync.add"]
    pub(super) fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    pub(super) fn redux_min_i32(value: i32, mask: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    pub(super) fn redux_max_i32(value: i32, mask: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    pub(super) fn redux_min_u32(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    pub(super) fn redux_max_u32(value: u32, mask: u32) -> u32;

    #[link_name = "llvm.nvvm.fma.rn.f"]
    pub(super) safe fn fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.nvvm.fma.rn.d"]
    pub(super) safe fn fma_f64(a: f64, b: f64, c: f64) -> f64;
}
