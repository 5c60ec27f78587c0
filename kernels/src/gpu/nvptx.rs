//! The backend under rustc's own NVPTX code generator: what differs from rustc_codegen_nvvm.

use core::arch::{asm, global_asm};

use super::shared::SharedPointer;

/// A panic ends the kernel: the launch reports an illegal instruction.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the thread; nothing runs after it.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

// These return LLVM's { i32, i1 }, which is the layout of a pair in the unadjusted ABI only.
#[allow(improper_ctypes)]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32p"]
    pub(super) fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.up.i32p"]
    pub(super) fn shuffle_up(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.down.i32p"]
    pub(super) fn shuffle_down(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32p"]
    pub(super) fn shuffle_bfly(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    pub(super) fn match_all_32(mask: u32, value: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.match.all.sync.i64p"]
    pub(super) fn match_all_64(mask: u32, value: u64) -> (u32, bool);
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.activemask"]
    pub(super) safe fn activemask() -> u32;
}

// The language has no address spaces here, so shared memory is declared in PTX.
global_asm!(".extern .shared .align 16 .b8 shared_dynamic[];");

#[inline(always)]
pub(super) fn dynamic_shared<T>() -> SharedPointer<T> {
    let address: u32;
    // SAFETY: takes an address; nothing is accessed.
    unsafe {
        asm!(
            "mov.u32 {}, shared_dynamic;",
            out(reg32) address,
            options(pure, nomem, nostack),
        );
    }
    SharedPointer::from_address(address)
}

/// Declares a shared array and the function that gives its first element.
macro_rules! shared_array {
    ($(#[$meta:meta])* fn $name:ident() -> [$ty:ty; $len:expr]) => {
        core::arch::global_asm!(
            concat!(".shared .align {align} .b8 shared_", stringify!($name), "[{size}];"),
            align = const {
                if align_of::<$ty>() > 16 { align_of::<$ty>() } else { 16 }
            },
            size = const { size_of::<[$ty; $len]>() },
        );

        $(#[$meta])*
        #[inline(always)]
        fn $name() -> $crate::gpu::shared::SharedPointer<$ty> {
            let address: u32;
            // SAFETY: takes an address; nothing is accessed.
            unsafe {
                core::arch::asm!(
                    concat!("mov.u32 {}, shared_", stringify!($name), ";"),
                    out(reg32) address,
                    options(pure, nomem, nostack),
                );
            }
            $crate::gpu::shared::SharedPointer::from_address(address)
        }
    };
}
