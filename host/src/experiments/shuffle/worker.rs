//! One configuration from its launches to its row and records.

use std::rc::Rc;

use serde_json::json;

use super::{
    COMPARISONS_AXIS, Shuffle, collectives, configurations::Configuration, shuffles, sums,
    undefined,
};
use crate::{
    device::{Device, DeviceError},
    experiments::{Experiment, Failure, Worker},
    report::{LaneOperation, LaneRecord, RecordData, Row, Stage, Status},
};

/// What was compared and agreed, and what there is to record of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Verified {
    pub(super) comparisons: u64,
    pub(super) records: Vec<LaneRecord>,
}

impl Verified {
    pub(super) fn add(&mut self, other: Self) {
        self.comparisons += other.comparisons;
        self.records.extend(other.records);
    }
}

pub(super) struct ShuffleWorker<'a> {
    experiment: &'a Shuffle,
    device: Rc<dyn Device>,
    records: Vec<RecordData>,
}

impl<'a> ShuffleWorker<'a> {
    pub(super) fn new(experiment: &'a Shuffle, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            records: Vec::new(),
        }
    }

    fn attempt(&self, configuration: &Configuration, row: &mut Row) -> Result<Verified, Failure> {
        let Shuffle {
            run, shown, seed, ..
        } = self.experiment;
        let device = &self.device;
        match configuration {
            Configuration::Shuffle { mode, ty, width } => {
                shuffles::whole(device, *mode, *ty, *width, run, shown, *seed)
            }
            Configuration::Partial { case, ty } => {
                shuffles::partial(device, *case, *ty, run, shown, *seed)
            }
            Configuration::Vote(case) => collectives::vote(device, case, shown),
            Configuration::Match { case, ty } => {
                collectives::matching(device, *case, *ty, shown, *seed)
            }
            Configuration::Sum { summing, ty } => {
                sums::sum(device, *summing, *ty, run, shown, *seed)
            }
            Configuration::Broadcast { ty } => collectives::broadcast(device, *ty, shown, *seed),
            Configuration::Undefined { mode } => {
                let note = undefined::demonstrate(device, *mode)?;
                row.notes.push(note);
                Ok(Verified::default())
            }
        }
    }
}

impl Worker for ShuffleWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        self.records.clear();
        let configuration = &self.experiment.configurations[index];
        match self.attempt(configuration, &mut row) {
            Ok(Verified {
                comparisons,
                records,
            }) => {
                row.status = Status::Ok;
                row.verified = comparisons > 0;
                row.axes
                    .insert(COMPARISONS_AXIS.to_string(), json!(comparisons));
                self.records = records.into_iter().map(RecordData::Lane).collect();
            }
            Err(failure) => row.status = failure.into(),
        }
        row
    }

    fn records(&mut self) -> Vec<RecordData> {
        std::mem::take(&mut self.records)
    }
}

/// A device's error before, in and after a launch.
pub(super) fn at_memory(error: DeviceError) -> Failure {
    Failure::at(Stage::Memory)(error)
}

pub(super) fn at_launch(error: DeviceError) -> Failure {
    Failure::at(Stage::Launch)(error)
}

pub(super) fn at_verification(error: DeviceError) -> Failure {
    Failure::at(Stage::Verification)(error)
}

/// The device and the model disagree.
pub(super) fn disagreement(reason: String) -> Failure {
    Failure::new(Stage::Verification, reason)
}

/// A record with nothing in it yet.
pub(super) fn record(operation: LaneOperation, lane: u32, mask: u32) -> LaneRecord {
    LaneRecord {
        operation,
        lane,
        mask,
        width: None,
        argument: None,
        step: None,
        input: None,
        given_bits: None,
        source_lane: None,
        in_range: None,
        received: None,
        received_bits: None,
        sum: None,
        sum_bits: None,
        predicate: None,
        all: None,
        any: None,
        uniform: None,
        ballot: None,
        active_mask: None,
        match_any: None,
        match_all: None,
    }
}
