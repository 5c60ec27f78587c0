//! In which order do blocks start, where, and when?
//!
//! Expected: a first wave that fills every SM, then each block where and when an earlier one ends,
//! and at the end a tail that leaves SMs idle. CUDA promises no order; the tickets show how near
//! to block-index order it is.
//!
//! Run: `cargo run --release --bin order`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    atomic::{self, Device, Relaxed},
    clock, thread,
};

kernel! {
    /// Each block's first thread writes 5 values at `5 * block_index()`: its ticket (how many blocks
    /// started before), the SM, the global timer in ns at its start and at its end, and the result
    /// of `rounds` dependent multiplications between the two (so that they are not dropped).
    ///
    /// Any launch; `ticket` is 0 before it; `out` holds 5 values per block.
    pub BLOCK_ORDER = unsafe fn block_order(rounds: u32, ticket: *mut u32, out: *mut u64) {
        if thread::index_in_block() == 0 {
            // SAFETY: one record per block; the ticket is accessed atomically by all.
            unsafe {
                let number = atomic::fetch_add(ticket, 1, Relaxed, Device);
                let start = clock::globaltimer();
                let mut value = number | 1;
                for _ in 0..rounds {
                    value = value.wrapping_mul(value | 5);
                }
                let own = out.add(5 * thread::block_index() as usize);
                // Stored before the second reading, which holds the loop there.
                *own.add(4) = u64::from(value);
                let end = clock::globaltimer();
                *own = u64::from(number);
                *own.add(1) = u64::from(clock::sm_id());
                *own.add(2) = start;
                *own.add(3) = end;
            }
        }
    }
}
