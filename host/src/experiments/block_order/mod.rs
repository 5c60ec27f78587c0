//! In which order do blocks start, where, and when?
//!
//! Each block takes a ticket when it starts, and notes its SM and the global timer at start and end.
//! Expected: nearly block-index order, which CUDA does not promise; a first wave that fills every SM,
//! later blocks wherever one has ended, and a tail in which SMs idle. Of several launches none need
//! be like another.
//!
//! Run: `cargo run --release --bin order`

mod disorder;
mod worker;

use std::rc::Rc;

use serde_json::{Map, Value, json};

pub use self::disorder::{Disorder, Waves};
use super::{Experiment, Worker};
use crate::{
    device::Device,
    launch::{Dim3, LaunchConfig},
    report::{Row, Status},
};

/// The most blocks of one launch: there is a record to read for each of them.
pub const MOST_BLOCKS: u64 = 1 << 20;

/// A grid, launched several times.
pub struct BlockOrder {
    /// Blocks, at most [`MOST_BLOCKS`].
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// How long each block runs: dependent multiplications of its first thread.
    pub rounds: u32,
    /// Launches.
    pub launches: u32,
}

impl BlockOrder {
    /// Device memory in bytes.
    pub fn required_memory(&self) -> u64 {
        self.grid.count() * 8 * worker::VALUES as u64 + (4 << 20)
    }
}

impl Experiment for BlockOrder {
    fn question(&self) -> &str {
        "In which order do blocks start, where, and when?"
    }

    fn expectation(&self) -> &str {
        "Nearly in the order of their numbers, which CUDA does not promise; a first wave fills \
         every SM, later blocks start where one ends, and in the tail SMs idle."
    }

    fn work(&self) -> String {
        format!(
            "block_order; {} launches of {} blocks of {} threads; each block multiplies {} times; \
             every ticket is verified",
            self.launches,
            self.grid.count(),
            self.block.count(),
            self.rounds
        )
    }

    fn len(&self) -> usize {
        self.launches as usize
    }

    fn outline(&self, index: usize) -> Row {
        Row {
            axes: Map::from_iter([("launch".to_string(), json!(index + 1))]),
            ..Row::outline(
                kernels::BLOCK_ORDER.declaration().name,
                self.grid.count(),
                self.grid,
                self.block,
            )
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::OrderWorker::new(self, device))
    }
}

impl BlockOrder {
    fn config(&self) -> LaunchConfig {
        LaunchConfig::new(
            (self.grid.x, self.grid.y, self.grid.z),
            (self.block.x, self.block.y, self.block.z),
        )
    }
}

/// Puts a launch's figures among the row's axes.
fn describe(row: &mut Row, disorder: &Disorder, waves: &Waves) {
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let axes: [(&str, Value); 8] = [
        ("kendall tau", json!(rounded(disorder.kendall_tau))),
        ("inversions", json!(disorder.inversions)),
        ("longest displacement", json!(disorder.longest_displacement)),
        ("first wave", json!(waves.first_wave)),
        ("SMs", json!(waves.sms)),
        ("total_ns", json!(waves.total_ns)),
        ("tail_ns", json!(waves.tail_ns)),
        ("timer_step_ns", json!(waves.timer_step_ns)),
    ];
    row.axes
        .extend(axes.map(|(name, value)| (name.to_string(), value)));
}

/// What the launches say together.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.status == Status::Ok).collect();
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let all = |name: &str| -> Vec<f64> {
        rows.iter()
            .filter_map(|row| row.axes.get(name)?.as_f64())
            .collect()
    };
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (tau, displaced) = (all("kendall tau"), all("longest displacement"));
    let blocks = first.grid.count();
    let order = if most(&all("inversions")) == 0.0 {
        format!("All {blocks} blocks started in the order of their numbers, in every launch.")
    } else {
        format!(
            "The start order is not that of the block numbers: Kendall's tau {:.4} to {:.4} over {} \
             launches, the longest displacement {:.0} of {blocks} places.",
            least(&tau),
            most(&tau),
            rows.len(),
            most(&displaced)
        )
    };
    let (wave, sms) = (all("first wave"), all("SMs"));
    let room = first.blocks_per_sm.map_or_else(String::new, |per_sm| {
        format!(" ({per_sm} resident on each of {:.0} SMs)", most(&sms))
    });
    let shares: Vec<f64> = all("tail_ns")
        .iter()
        .zip(all("total_ns"))
        .map(|(tail, total)| if total > 0.0 { tail / total } else { 0.0 })
        .collect();
    vec![
        order,
        format!(
            "The first wave: {:.0} to {:.0} blocks started before any ended{room}. The tail, from \
             when an SM has no more blocks, is {:.0} to {:.0} % of the time.",
            least(&wave),
            most(&wave),
            least(&shares) * 100.0,
            most(&shares) * 100.0
        ),
    ]
}
