//! What does a barrier across the whole grid cost, and does it order what blocks exchange?
//!
//! Expected: about the time of two trips to the L2, one to arrive and one to see the last arrival,
//! growing with the number of blocks, since all of them add to one word. Ending the kernel and
//! starting the next is the barrier that every grid has; it needs no co-resident blocks.
//!
//! Run: `cargo run --release --bin grid_sync`

#[cfg(target_os = "cuda")]
use crate::gpu::{clock, grid::GridBarrier, thread};

/// One round of the exchange. A thread reads its own state and that of a thread of another block,
/// and writes its next state into the other half of `states`. Plain loads and stores: nothing but
/// the barrier between two rounds orders them.
///
/// The partner of thread t of block b among T threads and B blocks is thread
/// (t + floor(g(h) T / 2^32)) mod T of block (b + 1 + floor(h (B - 1) / 2^32)) mod B, where h is
/// g(round) and g the function [`scramble`]. The next state is own * 0x9e3779b1 + partner's *
/// 0x85ebca6b + round modulo 2^32: both factors are odd, so one wrong state makes the next wrong.
///
/// # Safety
///
/// `states` holds two states per thread of the grid; those of half `round % 2` are written and
/// those of the other half are accessed by nobody else.
#[cfg(target_os = "cuda")]
#[inline(always)]
pub(crate) unsafe fn exchange(round: u32, states: *mut u32) {
    let blocks = thread::grid_dim_x() * thread::grid_dim_y() * thread::grid_dim_z();
    let (block, threads) = (thread::block_index() as u32, thread::threads_per_block());
    let t = thread::index_in_block();
    let hash = scramble(round);
    let partner = u64::from(shifted(block, 1 + share(hash, blocks - 1), blocks))
        * u64::from(threads)
        + u64::from(shifted(t, share(scramble(hash), threads), threads));
    let half = u64::from(blocks) * u64::from(threads);
    let (read, write) = if round.is_multiple_of(2) {
        (0, half)
    } else {
        (half, 0)
    };
    // SAFETY: both indices are below the grid's threads; who writes what is the caller's promise.
    unsafe {
        let (from, to) = (states.add(read as usize), states.add(write as usize));
        let (own, partner) = (
            *from.add(thread::index() as usize),
            *from.add(partner as usize),
        );
        let next = own
            .wrapping_mul(0x9e37_79b1)
            .wrapping_add(partner.wrapping_mul(0x85eb_ca6b));
        *to.add(thread::index() as usize) = next.wrapping_add(round);
    }
}

/// Holds up some blocks, other ones in every round, each of their warps for a time of its own, up to
/// 2 us or so. Blocks that start together and do the same work stay together, and would exchange the
/// right data without any barrier.
#[cfg(target_os = "cuda")]
#[inline(always)]
pub(crate) fn dawdle(round: u32) {
    let hash = scramble(round ^ thread::block_index() as u32);
    if hash.is_multiple_of(4) {
        clock::nanosleep(hash.rotate_right(thread::index_in_block() / 32) % 1024);
    }
}

/// `position + by` modulo `count`; both are at most `count`.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn shifted(position: u32, by: u32, count: u32) -> u32 {
    let rest = count - by;
    if position >= rest {
        position - rest
    } else {
        position + by
    }
}

/// A hash's share of `count`: 0 to `count - 1`, or 0 of 0.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn share(hash: u32, count: u32) -> u32 {
    (u64::from(hash) * u64::from(count) >> 32) as u32
}

/// A bijective hash of 32 bits (the constants are "lowbias32" of C. Wellons, "Prospecting for Hash
/// Functions", 2018).
#[cfg(target_os = "cuda")]
#[inline(always)]
fn scramble(mut x: u32) -> u32 {
    x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

kernel! {
    /// Nothing but `rounds` grid barriers.
    ///
    /// A cooperative launch of any shape; `barrier` is one word, 0 before its first launch.
    pub GRID_SYNC_ROUNDS = unsafe fn grid_sync_rounds(rounds: u32, barrier: *mut u32) {
        // SAFETY: the launch is cooperative, and the word is the barrier's alone.
        let mut barrier = unsafe { GridBarrier::new(barrier) };
        for _ in 0..rounds {
            barrier.sync();
        }
    }
}

kernel! {
    /// `rounds` rounds of the exchange with a grid barrier after each.
    ///
    /// A cooperative launch of any shape; `barrier` is one word, 0 before its first launch; `states`
    /// holds two halves of one state per thread, the first written. The last states are in half
    /// `rounds % 2`.
    pub GRID_SYNC_EXCHANGE = unsafe fn grid_sync_exchange(
        rounds: u32, barrier: *mut u32, states: *mut u32,
    ) {
        // SAFETY: the launch is cooperative, and the word is the barrier's alone. The barrier orders
        // each round's accesses to `states` before the next one's.
        unsafe {
            let mut barrier = GridBarrier::new(barrier);
            for round in 0..rounds {
                exchange(round, states);
                barrier.sync();
            }
        }
    }
}

kernel! {
    /// `grid_sync_exchange` with some blocks held up in each round, so that a barrier which
    /// does not wait, or not for all, shows in the states.
    ///
    /// As `grid_sync_exchange`.
    pub GRID_SYNC_SKEWED = unsafe fn grid_sync_skewed(
        rounds: u32, barrier: *mut u32, states: *mut u32,
    ) {
        // SAFETY: as in `grid_sync_exchange`.
        unsafe {
            let mut barrier = GridBarrier::new(barrier);
            for round in 0..rounds {
                dawdle(round);
                exchange(round, states);
                barrier.sync();
            }
        }
    }
}

kernel! {
    /// One round of the exchange: the end of the launch is the barrier. Launches for `round` 0, 1, …
    /// do what one launch of `grid_sync_exchange` does.
    ///
    /// Any launch; `states` as there.
    pub GRID_SYNC_STEP = unsafe fn grid_sync_step(round: u32, states: *mut u32) {
        // SAFETY: launches of one stream follow each other.
        unsafe { exchange(round, states) }
    }
}
