//! Time, and which part of the hardware the thread runs on.
//!
//! Read through volatile assembly that memory accesses are not moved across: a clock that drifts
//! away from the code it times is worth nothing. Differences of [`clock`] and [`clock64`] hold
//! within one SM; [`globaltimer`] counts nanoseconds for the whole device.

use core::arch::asm;

macro_rules! special_registers {
    ($($(#[$meta:meta])* $name:ident: $ty:ty, $class:ident, $register:literal;)*) => {$(
        $(#[$meta])*
        #[inline(always)]
        pub fn $name() -> $ty {
            let value: $ty;
            // SAFETY: reads a special register.
            unsafe { asm!(concat!("mov.", $register, ";"), out($class) value, options(nostack)) };
            value
        }
    )*};
}

special_registers! {
    /// The SM's cycle counter, 32 bits: it wraps, so take differences modulo 2^32 (`clock()`).
    clock: u32, reg32, "u32 {}, %clock";
    /// The SM's cycle counter, 64 bits (`clock64()`).
    clock64: u64, reg64, "u64 {}, %clock64";
    /// The device's timer in nanoseconds; its resolution is the driver's choice.
    globaltimer: u64, reg64, "u64 {}, %globaltimer";
    /// The SM the thread runs on, now: it may change where a kernel is preempted.
    sm_id: u32, reg32, "u32 {}, %smid";
    /// An upper bound of the SM numbers; they need not be contiguous.
    sm_count: u32, reg32, "u32 {}, %nsmid";
    /// The warp's slot in its SM, now: not its number in the block.
    warp_id: u32, reg32, "u32 {}, %warpid";
}

/// Suspends the thread for a time between 0 and twice so many nanoseconds, at most about 1 ms
/// (`__nanosleep`; PTX ISA, `nanosleep`).
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    // SAFETY: nothing is accessed.
    unsafe { asm!("nanosleep.u32 {};", in(reg32) nanoseconds, options(nostack)) };
}
