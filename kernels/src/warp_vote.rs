//! What does each lane learn from a vote?
//!
//! Expected: all, any, uniform and ballot look at the lanes of the mask alone, and every one of them
//! gets the same answer (PTX ISA 9.7.13, `vote.sync`). The active mask promises less: some lanes that
//! run together, the caller among them.
//!
//! Run: `cargo run --release --bin shuffle -- --show vote`

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

/// Answers per thread in the output.
pub const ANSWERS: usize = 5;

kernel! {
    /// The lanes of `masks[i]` vote on whether `predicates[i]` is not zero. Thread i writes
    /// [`ANSWERS`] values at `ANSWERS * i`: all, any, uniform (1 or 0), ballot, and the active mask
    /// that it sees beside them. A thread whose own lane `masks[i]` does not name makes no call and
    /// writes nothing.
    ///
    /// One-dimensional launches of whole warps; lanes that one mask names have the same mask.
    pub WARP_VOTE = unsafe fn warp_vote(
        masks: *const u32, predicates: *const u32, answers: *mut u32,
    ) {
        let i = thread::index_1d() as usize;
        // SAFETY: one mask and predicate and ANSWERS answers per thread. Exactly the lanes that a
        // mask names reach the calls with it.
        unsafe {
            let (mask, predicate) = (*masks.add(i), *predicates.add(i) != 0);
            if mask >> warp::lane_id() & 1 != 0 {
                let own = answers.add(ANSWERS * i);
                *own = u32::from(warp::warp_vote_all(mask, predicate));
                *own.add(1) = u32::from(warp::warp_vote_any(mask, predicate));
                *own.add(2) = u32::from(warp::warp_vote_uniform(mask, predicate));
                *own.add(3) = warp::warp_vote_ballot(mask, predicate);
                *own.add(4) = warp::activemask();
            }
        }
    }
}
