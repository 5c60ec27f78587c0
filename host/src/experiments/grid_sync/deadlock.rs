//! What does a plain launch of more blocks than fit do at a grid barrier?
//!
//! The blocks that are resident wait for those that are not, and these wait for an SM that one of the
//! former leaves: nothing ever happens again. On a GPU the launch hangs until a watchdog or the user
//! ends it. The simulator notices, and names both sides. Expected: this very deadlock, and that a
//! cooperative launch of the same grid is refused beforehand.
//!
//! Run: `cargo run --release --bin grid_sync -- --demonstrate-deadlock`

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{BLOCKS_AXIS, METHOD_AXIS, Method, Shape};
use crate::{
    device::{Buffer, Device, DeviceError, prepare},
    experiments::{Experiment, Failure, Worker, residency},
    launch::LaunchConfig,
    report::{Row, Stage, Status},
};

/// Names of the axes with what was found.
/// Axis: blocks that are resident at once.
pub const ROOM_AXIS: &str = "room for";
/// Axis: blocks that waited when nothing could go on.
pub const WAITING_AXIS: &str = "waiting";
/// Axis: blocks that never started.
pub const NEVER_STARTED_AXIS: &str = "never started";

/// A plain launch of the barrier kernel with more blocks than are resident at once.
pub struct Deadlock {
    shape: Shape,
}

impl Deadlock {
    /// The launch of this grid.
    pub fn new(shape: Shape) -> Self {
        Self { shape }
    }

    /// Device memory in bytes.
    pub fn required_memory(&self) -> u64 {
        1 << 20
    }

    /// Blocks of so many threads that a device holds at once; `None` if not even one fits.
    ///
    /// # Errors
    /// Those of the device.
    pub fn room(device: &dyn Device, threads: u32) -> crate::device::Result<Option<u64>> {
        let per_sm = device.blocks_per_sm(&Method::GridBarrier.kernel(), threads, 0)?;
        Ok((per_sm > 0).then(|| u64::from(per_sm) * u64::from(device.properties().sms)))
    }
}

impl Experiment for Deadlock {
    fn question(&self) -> &str {
        "What does a plain launch of more blocks than fit do at a grid barrier?"
    }

    fn expectation(&self) -> &str {
        "It never ends: resident blocks wait for blocks that wait for an SM. A cooperative launch is \
         refused beforehand."
    }

    fn work(&self) -> String {
        format!(
            "grid_sync_rounds: one grid barrier in a plain launch of {} blocks of {} threads",
            self.shape.blocks, self.shape.threads
        )
    }

    fn len(&self) -> usize {
        1
    }

    fn outline(&self, _: usize) -> Row {
        let Shape { blocks, threads } = self.shape;
        Row {
            axes: Map::from_iter([
                (METHOD_AXIS.to_string(), json!("plain launch")),
                (BLOCKS_AXIS.to_string(), json!(blocks)),
                (ROOM_AXIS.to_string(), Value::Null),
                (WAITING_AXIS.to_string(), Value::Null),
                (NEVER_STARTED_AXIS.to_string(), Value::Null),
            ]),
            ..Row::outline(
                Method::GridBarrier.kernel().name(),
                0,
                blocks.into(),
                threads.into(),
            )
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(DeadlockWorker {
            experiment: self,
            device,
        })
    }
}

struct DeadlockWorker<'a> {
    experiment: &'a Deadlock,
    device: Rc<dyn Device>,
}

impl DeadlockWorker<'_> {
    fn attempt(&self, row: &mut Row) -> Result<(), Failure> {
        let Shape { blocks, threads } = self.experiment.shape;
        residency::fill(&*self.device, &Method::GridBarrier.kernel(), 0, row)?;
        let properties = self.device.properties();
        if !properties.modelled {
            return Err(Failure::new(
                Stage::Launch,
                "a GPU would hang: this runs on the simulator alone",
            ));
        }
        let per_sm = row.blocks_per_sm.unwrap_or(0);
        let room = u64::from(per_sm) * u64::from(properties.sms);
        row.axes.insert(ROOM_AXIS.to_string(), json!(room));
        let mut barrier =
            Buffer::from_slice(&self.device, &[0_u32]).map_err(Failure::at(Stage::Memory))?;
        let mut launch = |config| {
            let launch = prepare(kernels::GRID_SYNC_ROUNDS, config, (1, &mut barrier));
            self.device.launch_prepared(&launch)
        };
        let config = LaunchConfig::new(blocks, threads);
        let Err(refusal) = launch(config.cooperative()) else {
            return Err(Failure::new(
                Stage::Launch,
                format!("{blocks} blocks fit at once: more than {room} are required to deadlock"),
            ));
        };
        match launch(config) {
            Err(DeviceError::Deadlock {
                text,
                waiting,
                never_started,
            }) => {
                row.axes.insert(WAITING_AXIS.to_string(), json!(waiting));
                let never = json!(never_started);
                row.axes.insert(NEVER_STARTED_AXIS.to_string(), never);
                row.notes.push(text);
                row.notes.push(refusal.to_string());
                Ok(())
            }
            Err(error) => Err(Failure::at(Stage::Launch)(error)),
            Ok(()) => Err(Failure::new(
                Stage::Verification,
                "the plain launch ended, though not all its blocks were resident at once",
            )),
        }
    }
}

impl Worker for DeadlockWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        row.status = match self.attempt(&mut row) {
            Ok(()) => Status::Ok,
            Err(failure) => failure.into(),
        };
        row
    }
}

/// The demonstration in words: who waits, who never started, why, and what a cooperative launch says.
pub fn story(row: &Row) -> String {
    let number = |axis: &str| row.axes.get(axis).and_then(Value::as_u64);
    let found = number(ROOM_AXIS)
        .zip(number(WAITING_AXIS))
        .zip(number(NEVER_STARTED_AXIS));
    let (Some(((room, waiting), never)), Status::Ok, [fault, refusal, ..]) =
        (found, &row.status, &row.notes[..])
    else {
        let reason = match &row.status {
            Status::Skipped { reason } | Status::Failed { reason, .. } => reason,
            Status::Ok => "nothing was found",
        };
        return format!("No deadlock was demonstrated: {reason}");
    };
    let (blocks, threads) = (row.grid.count(), row.block.count());
    format!(
        "The launch never ends. Of its {blocks} blocks of {threads} threads\n\
         - {waiting} are resident, have arrived at the barrier and wait for the others;\n\
         - {never} never started: all {room} places are taken, and no block leaves its place before \
         the barrier.\n\n\
         What the simulator says:\n{fault}\n\n\
         A cooperative launch of the same grid is refused before anything runs:\n{refusal}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_deadlock_tells_no_story_of_one() {
        let experiment = Deadlock::new(Shape {
            blocks: 9,
            threads: 32,
        });
        let text = story(&experiment.outline(0));
        assert_eq!(text, "No deadlock was demonstrated: not run");
    }
}
