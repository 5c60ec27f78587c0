//! What does the barrier between writing and reading a shared tile do?
//!
//! Each thread puts one element into its block's tile and adds its neighbour's to its own. With the
//! barrier every sum is right. Without it, the last lane of a warp reads what another warp may not
//! have written yet: wrong sums at warp borders, some of the time. That is a data race, so that no
//! count of right results proves anything; the simulator finds it whatever the order.
//!
//! Run: `cargo run --release --bin tile`

#[cfg(target_os = "cuda")]
use crate::gpu::{shared::SharedPointer, thread};

/// Elements of a tile, and threads of a block.
pub const TILE: u32 = 256;

#[cfg(target_os = "cuda")]
shared_array! {
    /// The block's tile.
    fn neighbour_tile() -> [f32; 256]
}

/// Index in the tile and in the whole array, and how many elements the block has.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn place(n: u64) -> (u32, usize, u32) {
    let (t, i) = (thread::thread_idx_x(), thread::index_1d());
    let rest = n - (i - u64::from(t));
    (
        t,
        i as usize,
        if rest < u64::from(TILE) {
            rest as u32
        } else {
            TILE
        },
    )
}

/// The thread's element plus its neighbour's; the last one's neighbour is the first.
///
/// # Safety
///
/// `t < count`, and the tile's first `count` elements are written.
#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn with_neighbour(tile: SharedPointer<f32>, t: u32, count: u32) -> f32 {
    let next = if t + 1 == count { 0 } else { t + 1 };
    // SAFETY: both are below count.
    unsafe { tile.add(t).read() + tile.add(next).read() }
}

kernel! {
    /// `out[i] = input[i] + input[i + 1]` within each tile of 256, by way of shared memory; the last
    /// element of a tile is added to its first.
    ///
    /// Blocks of 256 threads, one thread per element.
    pub TILE_NEIGHBOUR = unsafe fn tile_neighbour(n: u64, input: *const f32, out: *mut f32) {
        let (t, i, count) = place(n);
        let tile = neighbour_tile();
        // SAFETY: i < n where t < count; the tile has one element per thread, and the barrier stands
        // between its writes and its reads.
        unsafe {
            if t < count {
                tile.add(t).write(*input.add(i));
            }
            thread::sync_threads();
            if t < count {
                *out.add(i) = with_neighbour(tile, t, count);
            }
        }
    }
}

kernel! {
    /// The same with the barrier left out: a deliberate data race.
    pub TILE_NEIGHBOUR_RACY = unsafe fn tile_neighbour_racy(
        n: u64, input: *const f32, out: *mut f32,
    ) {
        let (t, i, count) = place(n);
        let tile = neighbour_tile();
        if t < count {
            // SAFETY: the indices are in bounds as above. The race is the point: what is read may be
            // any value, which is only added and stored.
            unsafe {
                tile.add(t).write(*input.add(i));
                *out.add(i) = with_neighbour(tile, t, count);
            }
        }
    }
}
