//! Which warp and lane does each thread of a block belong to?
//!
//! Expected: warps are 32 threads with consecutive numbers, x fastest, whatever the block's shape;
//! where the threads are no multiple of 32, lanes of the last warp are idle (The CUDA Handbook,
//! figures 7.4 and 7.5). The map is drawn from what the device says, after it was compared with
//! the six coordinates.
//!
//! Run: `cargo run --release --bin clocks -- --map`

use std::rc::Rc;

use serde_json::{Map, json};

use super::{Experiment, Failure, Worker, verify::POISON};
use crate::{
    device::{Buffer, Device, Result},
    hierarchy::{Hierarchy, idle_lanes, warps},
    launch::{Dim3, LaunchConfig},
    report::{RecordData, Row, Stage, Status},
};

/// Where a thread is, as the device found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
pub struct DeviceView {
    /// The thread's number in the grid.
    pub global_id: u64,
    /// The warp in the block: the number of lane 0's thread, over 32.
    pub warp: u64,
    /// The lane in the warp.
    pub lane: u64,
    /// `global_id >> 5`, which is the warp only in grids of whole warps.
    pub global_id_over_32: u64,
}

impl DeviceView {
    /// What a thread's six coordinates say.
    pub fn expected(hierarchy: &Hierarchy, position: crate::hierarchy::Position) -> Self {
        let (warp, lane) = hierarchy.warp_and_lane(position);
        let global_id = hierarchy.global_id(position);
        Self {
            global_id,
            warp: warp.into(),
            lane: lane.into(),
            global_id_over_32: global_id >> 5,
        }
    }
}

/// Asks every thread of a launch where it is; in the order of their numbers.
///
/// # Errors
/// Those of the device.
pub fn ask(device: &Rc<dyn Device>, hierarchy: Hierarchy) -> Result<Vec<DeviceView>> {
    let values = hierarchy.threads() as usize * 4;
    let mut out = Buffer::<u64>::new(device, values)?;
    out.fill(POISON)?;
    let config = LaunchConfig::new(hierarchy.grid, hierarchy.block);
    device.launch(kernels::THREAD_MAP, config, (&mut out,))?;
    Ok(bytemuck::cast_slice(&out.to_vec()?).to_vec())
}

/// The blocks to map.
pub struct ThreadMap {
    /// Threads per axis of each.
    pub blocks: Vec<Dim3>,
}

impl ThreadMap {
    fn hierarchy(&self, index: usize) -> Hierarchy {
        Hierarchy {
            grid: 1.into(),
            block: self.blocks[index],
        }
    }
}

impl Experiment for ThreadMap {
    fn question(&self) -> &str {
        "Which warp and lane does each thread of a block belong to?"
    }

    fn expectation(&self) -> &str {
        "Warps are 32 threads with consecutive numbers, x fastest; the last may be short."
    }

    fn work(&self) -> String {
        "thread_map; one block of each shape; every thread is compared with its six coordinates"
            .to_string()
    }

    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn outline(&self, index: usize) -> Row {
        let Hierarchy { grid, block } = self.hierarchy(index);
        let threads = block.count();
        let axes = [
            ("warps".to_string(), json!(warps(threads))),
            ("idle_lanes".to_string(), json!(idle_lanes(threads))),
        ];
        Row {
            axes: Map::from_iter(axes),
            ..Row::outline(kernels::THREAD_MAP.declaration().name, threads, grid, block)
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(ThreadMapWorker {
            experiment: self,
            device,
            records: Vec::new(),
        })
    }
}

struct ThreadMapWorker<'a> {
    experiment: &'a ThreadMap,
    device: Rc<dyn Device>,
    records: Vec<RecordData>,
}

impl ThreadMapWorker<'_> {
    fn attempt(&mut self, hierarchy: Hierarchy) -> std::result::Result<(), Failure> {
        let views = ask(&self.device, hierarchy).map_err(Failure::at(Stage::Launch))?;
        for (position, view) in hierarchy.positions().zip(views) {
            let expected = DeviceView::expected(&hierarchy, position);
            if view != expected {
                self.records.clear();
                return Err(Failure::new(
                    Stage::Verification,
                    format!(
                        "thread {:?}: {view:?}, expected {expected:?}",
                        position.thread
                    ),
                ));
            }
            self.records
                .push(RecordData::Thread(hierarchy.record(position)));
        }
        Ok(())
    }
}

impl Worker for ThreadMapWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        self.records.clear();
        match self.attempt(self.experiment.hierarchy(index)) {
            Ok(()) => {
                row.status = Status::Ok;
                row.verified = true;
            }
            Err(failure) => row.status = failure.into(),
        }
        row
    }

    fn records(&mut self) -> Vec<RecordData> {
        std::mem::take(&mut self.records)
    }
}
