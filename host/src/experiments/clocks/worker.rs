//! One launch: warmed up, timed, read back and verified.

use std::{rc::Rc, slice};

use super::{Clocks, completion_times, packed_id, shift};
use crate::{
    device::{Buffer, Device, KernelReference, PreparedLaunch, Sampling, prepare},
    experiments::{
        Experiment, Failure, Worker,
        verify::{self, GUARD, POISON},
    },
    hierarchy::{Hierarchy, Position},
    launch::LaunchConfig,
    report::{Cache, RecordData, Row, Stage, Status, ThreadRecord, Times, Timing},
};

/// Values that the kernel writes per thread, each to an output of its own.
const OUTPUTS: u64 = 4;

/// Device memory in bytes for so many threads, with the guards.
pub(super) fn required(threads: u64) -> u64 {
    threads.saturating_add(GUARD).saturating_mul(4 * OUTPUTS)
}

pub(super) struct ClocksWorker<'a> {
    experiment: &'a Clocks,
    device: Rc<dyn Device>,
    records: Vec<RecordData>,
}

/// What the kernel writes, one value per thread and then a guard.
struct Outputs {
    clocks: Buffer<u32>,
    ids: Buffer<u32>,
    sms: Buffer<u32>,
    lanes: Buffer<u32>,
}

impl Outputs {
    fn new(device: &Rc<dyn Device>, threads: usize) -> Result<Self, Failure> {
        let new =
            || Buffer::new(device, threads + GUARD as usize).map_err(Failure::at(Stage::Memory));
        Ok(Self {
            clocks: new()?,
            ids: new()?,
            sms: new()?,
            lanes: new()?,
        })
    }

    fn poison(&mut self) -> Result<(), Failure> {
        for buffer in [
            &mut self.clocks,
            &mut self.ids,
            &mut self.sms,
            &mut self.lanes,
        ] {
            buffer.fill(POISON).map_err(Failure::at(Stage::Memory))?;
        }
        Ok(())
    }
}

impl<'a> ClocksWorker<'a> {
    pub(super) fn new(experiment: &'a Clocks, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            records: Vec::new(),
        }
    }

    fn attempt(&mut self, hierarchy: Hierarchy, row: &mut Row) -> Result<(), Failure> {
        self.occupancy(hierarchy, row)?;
        let mut outputs = Outputs::new(&self.device, hierarchy.threads() as usize)?;
        let launch = prepare(
            kernels::CLOCKS,
            LaunchConfig::new(hierarchy.grid, hierarchy.block),
            (
                shift(hierarchy.block),
                &mut outputs.clocks,
                &mut outputs.ids,
                &mut outputs.sms,
                &mut outputs.lanes,
            ),
        );
        self.device
            .launch_prepared(&launch)
            .map_err(Failure::at(Stage::Launch))?;
        // Poisoned after the warm-up, so that what is reported comes from the timed launch.
        outputs.poison()?;
        let timing = self.time(&launch)?;
        self.records = self.verified(hierarchy, &outputs)?;
        row.verified = true;
        row.time = Some(timing);
        Ok(())
    }

    /// How many such blocks an SM holds at once.
    fn occupancy(&self, hierarchy: Hierarchy, row: &mut Row) -> Result<(), Failure> {
        let kernel = KernelReference::Declared(kernels::CLOCKS.declaration());
        let limits = &self.device.properties().limits;
        let Ok(threads) = u32::try_from(hierarchy.block.count()) else {
            return Ok(()); // The launch says why not.
        };
        let per_sm = self
            .device
            .blocks_per_sm(&kernel, threads, 0)
            .map_err(Failure::at(Stage::Launch))?;
        row.blocks_per_sm = Some(per_sm);
        let warps = |threads: u32| threads.div_ceil(limits.warp_size);
        let resident = f64::from(per_sm * warps(threads));
        row.occupancy = Some(resident / f64::from(warps(limits.max_threads_per_sm)));
        Ok(())
    }

    /// The second launch, timed.
    fn time(&self, launch: &PreparedLaunch) -> Result<Timing, Failure> {
        let sampling = match self.experiment.cache {
            Cache::Cold => Sampling::Cold,
            Cache::Hot => Sampling::Hot { launches: 1 },
        };
        let sample = self
            .device
            .sampler(slice::from_ref(launch), sampling)
            .and_then(|mut sampler| sampler.sample())
            .map_err(Failure::at(Stage::Time))?;
        let nanoseconds = sample.nanoseconds;
        Ok(Timing {
            times: if self.device.properties().modelled {
                Times::Modelled
            } else {
                Times::Measured
            },
            cache: self.experiment.cache,
            samples: 1,
            median_ns: nanoseconds,
            lower_quartile_ns: nanoseconds,
            upper_quartile_ns: nanoseconds,
            minimum_ns: nanoseconds,
            maximum_ns: nanoseconds,
            relative_noise: 0.0,
            stopped_by: "one launch, the second, is timed".to_string(),
            throttled: 0,
        })
    }

    /// A record per thread, once its ID and lane are what its six coordinates say.
    fn verified(
        &self,
        hierarchy: Hierarchy,
        outputs: &Outputs,
    ) -> Result<Vec<RecordData>, Failure> {
        let threads = hierarchy.threads();
        let read = |buffer: &Buffer<u32>| {
            let touched = verify::overwritten_guard(&*self.device, buffer.address(), threads)
                .map_err(Failure::at(Stage::Verification))?;
            if let Some((index, _)) = touched {
                return Err(Failure::new(
                    Stage::Verification,
                    format!(
                        "value {index} was written, which belongs to none of the {threads} threads"
                    ),
                ));
            }
            buffer.to_vec().map_err(Failure::at(Stage::Verification))
        };
        let (clocks, sms) = (read(&outputs.clocks)?, read(&outputs.sms)?);
        let (ids, lanes) = (read(&outputs.ids)?, read(&outputs.lanes)?);
        let count = threads as usize;
        let times = completion_times(&clocks[..count], &sms[..count], self.experiment.normalise);
        let shift = shift(hierarchy.block);
        let mut records = Vec::with_capacity(count);
        for (index, position) in hierarchy.positions().enumerate() {
            let (id, lane) = (
                packed_id(position.thread, shift),
                hierarchy.warp_and_lane(position).1,
            );
            for (what, expected, got) in
                [("thread ID", id, ids[index]), ("lane", lane, lanes[index])]
            {
                if expected != got {
                    return Err(mismatch(position, what, expected, got));
                }
            }
            if sms[index] == u32::from_ne_bytes([POISON; 4]) {
                return Err(Failure::new(
                    Stage::Verification,
                    format!(
                        "thread {:?} of block {:?} wrote no SM",
                        position.thread, position.block
                    ),
                ));
            }
            records.push(RecordData::Thread(ThreadRecord {
                packed_id: Some(id),
                sm: Some(sms[index]),
                clock: Some(clocks[index]),
                completion_clocks: Some(times[index]),
                ..hierarchy.record(position)
            }));
        }
        Ok(records)
    }
}

fn mismatch(position: Position, what: &str, expected: u32, got: u32) -> Failure {
    let Position { block, thread } = position;
    Failure::new(
        Stage::Verification,
        format!("thread {thread:?} of block {block:?}: {what} {got:#x}, expected {expected:#x}"),
    )
}

impl Worker for ClocksWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        self.records.clear();
        row.status = match self.attempt(self.experiment.launches[index], &mut row) {
            Ok(()) => Status::Ok,
            Err(failure) => failure.into(),
        };
        row
    }

    fn records(&mut self) -> Vec<RecordData> {
        std::mem::take(&mut self.records)
    }
}
