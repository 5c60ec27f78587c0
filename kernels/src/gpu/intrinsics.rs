//! Declarations of LLVM's NVVM intrinsics: one list for both compilers.
//!
//! Everything convergent (barriers, shuffles, votes, match) comes from here and never from `asm!`:
//! LLVM knows that it must not duplicate or move these across control flow, and does not know it of
//! inline assembly. The names are those that LLVM 7 (libNVVM) and today's LLVM both take.

#[allow(improper_ctypes)]
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

    #[link_name = "llvm.nvvm.fma.rn.f"]
    pub(super) safe fn fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.nvvm.fma.rn.d"]
    pub(super) safe fn fma_f64(a: f64, b: f64, c: f64) -> f64;
}
