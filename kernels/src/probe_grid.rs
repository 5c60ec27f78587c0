//! Would the tests of the grid barrier notice a barrier that is none? Not an experiment: see
//! `probe_thread`.

#[cfg(target_os = "cuda")]
use crate::{
    gpu::thread,
    grid_sync::{dawdle, exchange},
};

kernel! {
    /// `grid_sync_skewed` with a barrier of the block in the place of the grid's: blocks read what
    /// others have not written yet, or have overwritten already. A deliberate data race.
    ///
    /// Arguments as there; `barrier` is not used.
    pub PROBE_GRID_UNSYNCHRONISED = unsafe fn probe_grid_unsynchronised(
        rounds: u32, _barrier: *mut u32, states: *mut u32,
    ) {
        for round in 0..rounds {
            dawdle(round);
            // SAFETY: the indices are in bounds. The race is the point: what is read may be any value,
            // which is only computed with and stored.
            unsafe { exchange(round, states) };
            thread::sync_threads();
        }
    }
}
