//! Experiments: a question, the expected answer, a CPU reference, and rows.
//!
//! An experiment never prints and never exits: what goes wrong in a configuration becomes that
//! configuration's row, and the next one runs.

pub mod bandwidth;
pub mod block_order;
pub mod clocks;
pub mod geometry;
pub mod grid_sync;
mod memory;
pub mod reduce;
mod residency;
mod run;
pub mod shuffle;
pub mod thread_map;
pub mod tile;
mod timing;
pub mod verify;

#[cfg(test)]
mod fake;

use std::rc::Rc;

pub use run::{Devices, run};
pub use timing::Measuring;

use crate::{
    device::{Device, DeviceError},
    report::{RecordData, Row, Stage, Status},
};

/// Something to find out, as a list of configurations.
pub trait Experiment: Sync {
    /// What is asked.
    fn question(&self) -> &str;
    /// What is expected, and why.
    fn expectation(&self) -> &str;
    /// One line on what is run: kernels, sizes, settings.
    fn work(&self) -> String;
    /// Number of configurations.
    fn len(&self) -> usize;
    /// Whether there is no configuration.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A configuration's row as it stands before it has run: status `skipped`.
    fn outline(&self, index: usize) -> Row;
    /// Fills in what a row says in relation to other rows, once it is there: called with all rows
    /// so far after each.
    fn relate(&self, _rows: &mut [Row]) {}
    /// What runs configurations on a device, one after the other.
    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_>;
}

/// Runs configurations on one device; keeps inputs on it from one to the next.
pub trait Worker {
    /// Runs a configuration to its row.
    fn run(&mut self, index: usize) -> Row;
    /// Hands out what the last run recorded per thread, once.
    fn records(&mut self) -> Vec<RecordData> {
        Vec::new()
    }
}

/// Why a configuration did not get to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where it failed.
    pub stage: Stage,
    /// What was required, what was given, what to do.
    pub reason: String,
}

impl Failure {
    /// A failure at a stage.
    pub fn new(stage: Stage, reason: impl Into<String>) -> Self {
        Self {
            stage,
            reason: reason.into(),
        }
    }

    /// A device's error at a stage; too little memory is always one of the memory.
    pub fn at(stage: Stage) -> impl Fn(DeviceError) -> Self {
        move |error| {
            let stage = match error {
                DeviceError::OutOfMemory { .. } => Stage::Memory,
                _ => stage,
            };
            Self::new(stage, error.to_string())
        }
    }
}

impl From<Failure> for Status {
    fn from(Failure { stage, reason }: Failure) -> Self {
        Self::Failed { stage, reason }
    }
}

/// Whether every row was verified and timed, or at least not tried for a good reason.
pub fn succeeded(rows: &[Row]) -> bool {
    rows.iter()
        .all(|row| !matches!(row.status, Status::Failed { .. }))
}
