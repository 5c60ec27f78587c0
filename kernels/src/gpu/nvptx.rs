//! What differs under rustc's own NVPTX backend.

/// A panic ends the kernel: the launch reports an illegal instruction.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the thread; nothing runs after it.
    unsafe { core::arch::asm!("trap;", options(noreturn, nostack)) }
}
