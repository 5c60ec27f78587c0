//! When does each thread of a grid run, and on which SM?
//!
//! The experiment behind The CUDA Handbook's reportClocks (listings 7.2 to 7.4): every thread writes
//! its SM's clock and its packed thread ID. Expected: one value per warp, and 32 threads to a warp
//! whatever the block's shape, except for the last warp of a block whose threads are no multiple
//! of 32. A block of 14x8 threads is warps of 32, 32, 32 and 16, as the book's own listing shows;
//! its text says 28 to a warp, which is their mean: either way one lane in eight is idle.
//!
//! What differs from the published program, where that is not safe: the block's number comes from
//! `gridDim`, not `blockDim`; thread IDs stay distinct above 16 columns; clocks are compared within
//! an SM, and across their wrap.
//!
//! Run: `cargo run --release --bin clocks`

mod completion;
mod packing;
mod worker;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use serde_json::{Map, json};

pub use self::{
    completion::{Normalise, completion_times},
    packing::{packed_id, shift},
};
use super::{Experiment, Worker};
use crate::{
    device::Device,
    hierarchy::Hierarchy,
    report::{Cache, Row},
};

/// The most threads of one launch: there is a number to read for each of them.
pub const MOST_THREADS: u64 = 1 << 20;

/// Name of the axis that holds the shift of packed thread IDs.
pub const SHIFT_AXIS: &str = "id_shift";
/// Name of the axis that says what completion times are counted from.
pub const NORMALISE_AXIS: &str = "normalise";

/// The launches, and how their clocks are told.
pub struct Clocks {
    /// Extents of each launch, of at most [`MOST_THREADS`] threads.
    pub launches: Vec<Hierarchy>,
    /// What completion times are counted from.
    pub normalise: Normalise,
    /// State of the L2 before the timed launch.
    pub cache: Cache,
}

impl Clocks {
    /// Device memory in bytes that the largest launch needs.
    pub fn required_memory(&self) -> u64 {
        let threads = self.launches.iter().map(Hierarchy::threads).max();
        worker::required(threads.unwrap_or(0))
    }
}

impl Experiment for Clocks {
    fn question(&self) -> &str {
        "When does each thread of a grid run, and on which SM?"
    }

    fn expectation(&self) -> &str {
        "The threads of a warp read one clock value; warps are 32 consecutive threads of a block, \
         the last of a block being short where its threads are no multiple of 32."
    }

    fn work(&self) -> String {
        let zero = match self.normalise {
            Normalise::Sm => "each SM's earliest thread",
            Normalise::Grid => {
                "the grid's smallest value, although SMs' clocks have no common zero"
            }
        };
        format!(
            "clocks; a launch to warm up, then the timed one; completion times count from {zero}; \
             every thread ID and lane is verified"
        )
    }

    fn len(&self) -> usize {
        self.launches.len()
    }

    fn outline(&self, index: usize) -> Row {
        let Hierarchy { grid, block } = self.launches[index];
        let axes = [
            (NORMALISE_AXIS.to_string(), json!(self.normalise.name())),
            (SHIFT_AXIS.to_string(), json!(shift(block))),
        ];
        Row {
            axes: Map::from_iter(axes),
            notes: packing::note(block).into_iter().collect(),

            ..Row::outline(
                kernels::CLOCKS.declaration().name,
                self.launches[index].threads(),
                grid,
                block,
            )
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::ClocksWorker::new(self, device))
    }
}
