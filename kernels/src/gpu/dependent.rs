//! Programmatic dependent launch: a kernel that begins before the one before it in the stream has
//! ended (CUDA Programming Guide, programmatic dependent launch and synchronization; compute
//! capability 9.0).
//!
//! In a launch without that attribute both do nothing.

use core::arch::asm;

/// Says that the launches after this one may take their places as soon as all blocks of this one
/// have said so or ended (`griddepcontrol.launch_dependents`).
#[inline(always)]
pub fn launch_dependents() {
    // SAFETY: a hint to the scheduler; nothing is accessed.
    unsafe { asm!("griddepcontrol.launch_dependents;", options(nostack)) }
}

/// Waits until the launch before this one has ended and its writes are there
/// (`griddepcontrol.wait`). Nothing that it writes may be read earlier, nor anything written that it
/// reads.
#[inline(always)]
pub fn wait() {
    // SAFETY: orders memory; nothing is accessed.
    unsafe { asm!("griddepcontrol.wait;", options(nostack)) }
}
