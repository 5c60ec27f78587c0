//! The backend under rustc_codegen_nvvm: the entry point, the panic handler and shared memory are
//! cuda_std's; what its LLVM 7 cannot express through the shared intrinsics stands here.

use core::{arch::asm, mem::MaybeUninit};

use super::{intrinsics, shared::SharedPointer, warp};

#[inline(always)]
pub(super) fn activemask() -> u32 {
    cuda_std::warp::activemask()
}

// The predicate of PTX's shfl.sync, computed: LLVM's { i32, i1 } cannot be returned here.
// PTX ISA, shfl.sync: maxLane = (lane & segmask) | (clamp & ~segmask).
#[inline(always)]
fn in_range(clamp: u32, source: fn(u32, u32) -> u32, lane: u32, up: bool) -> bool {
    let this = warp::lane_id();
    let segment = (clamp >> 8) & 31;
    let last = (this & segment) | (clamp & 31 & !segment);
    let source = source(this, lane & 31);
    if up {
        source as i32 >= last as i32
    } else {
        source <= last
    }
}

macro_rules! shuffles {
    ($($name:ident, $up:literal, $source:expr;)*) => {$(
        #[inline(always)]
        pub(super) unsafe fn $name(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool) {
            // SAFETY: the caller's promise.
            let value = unsafe { intrinsics::$name(mask, value, lane, clamp) };
            (value, in_range(clamp, $source, lane, $up))
        }
    )*};
}

shuffles! {
    shuffle_up, true, |this, delta| this.wrapping_sub(delta);
    shuffle_down, false, |this, delta| this + delta;
    shuffle_bfly, false, |this, lane_mask| this ^ lane_mask;
}

#[inline(always)]
pub(super) unsafe fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> (u32, bool) {
    // The source lane is taken modulo the width and the clamp is 31: it is always in range.
    // SAFETY: the caller's promise.
    (
        unsafe { intrinsics::shuffle_idx(mask, value, lane, clamp) },
        true,
    )
}

#[inline(always)]
pub(super) unsafe fn match_all_32(mask: u32, value: u32) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let all = unsafe { intrinsics::match_any_32(mask, value) } == mask;
    (if all { mask } else { 0 }, all)
}

#[inline(always)]
pub(super) unsafe fn match_all_64(mask: u32, value: u64) -> (u32, bool) {
    // SAFETY: the caller's promise.
    let all = unsafe { intrinsics::match_any_64(mask, value) } == mask;
    (if all { mask } else { 0 }, all)
}

// A sized extern would become static memory; no size gives PTX's `[]`.
unsafe extern "C" {
    #[nvvm_internal::addrspace(3)]
    static SHARED_DYNAMIC: [MaybeUninit<u128>; 0];
}

#[inline(always)]
pub(super) fn dynamic_shared<T>() -> SharedPointer<T> {
    to_shared(&raw const SHARED_DYNAMIC as *const T)
}

/// The shared address behind a generic one.
#[inline(always)]
pub fn to_shared<T>(generic: *const T) -> SharedPointer<T> {
    let address: u64;
    // SAFETY: converts an address; nothing is accessed.
    unsafe {
        asm!(
            "cvta.to.shared.u64 {}, {};",
            out(reg64) address,
            in(reg64) generic as u64,
            options(pure, nomem, nostack),
        );
    }
    SharedPointer::from_address(address as u32)
}

/// Declares a shared array and the function that gives its first element.
macro_rules! shared_array {
    ($(#[$meta:meta])* fn $name:ident() -> [$ty:ty; $len:expr]) => {
        $(#[$meta])*
        #[inline(always)]
        fn $name() -> $crate::gpu::shared::SharedPointer<$ty> {
            #[cuda_std::address_space(shared)]
            static mut ARRAY: [core::mem::MaybeUninit<$ty>; $len] =
                [const { core::mem::MaybeUninit::uninit() }; $len];
            $crate::gpu::to_shared((&raw mut ARRAY).cast::<$ty>())
        }
    };
}
