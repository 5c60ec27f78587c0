//! What every program reports: one structure, rendered by `export` and written as JSON under one
//! versioned schema (`schema/report.schema.json`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::launch::Dim3;

/// Name and version of the JSON schema. The number grows when a reader of the old form would fail.
pub const SCHEMA: &str = "warplab/report/1";

/// A program's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program, for example `sweep`.
    pub program: String,
    /// The command line's arguments.
    pub command: Vec<String>,
    /// warplab's version.
    pub version: String,
    /// What it ran on.
    pub device: DeviceDescription,
    /// The seed of the random inputs.
    pub seed: u64,
    /// One per configuration, in order.
    pub rows: Vec<Row>,
    /// Data per thread, from programs that report such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Record>,
    /// What follows from the rows, in sentences, such as the best block and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclusions: Vec<String>,
}

/// A record and the row it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Index into [`Report::rows`].
    pub row: usize,
    /// What it records.
    #[serde(flatten)]
    pub data: RecordData,
}

/// What a record holds: flat objects in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecordData {
    /// A thread.
    Thread(ThreadRecord),
    /// A block.
    Block(BlockRecord),
    /// A lane in a warp operation.
    Lane(LaneRecord),
}

/// Where a thread is in grid, block and warp, and what it saw there. Numbers count from 0, x
/// fastest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// `blockIdx`.
    pub block_x: u32,
    /// `blockIdx`.
    pub block_y: u32,
    /// `blockIdx`.
    pub block_z: u32,
    /// `threadIdx`.
    pub thread_x: u32,
    /// `threadIdx`.
    pub thread_y: u32,
    /// `threadIdx`.
    pub thread_z: u32,
    /// The block's number in the grid.
    pub block_id: u64,
    /// The thread's number in its block.
    pub thread_id: u32,
    /// The thread's number in the grid.
    pub global_id: u64,
    /// The warp's number in its block.
    pub warp: u32,
    /// The lane in the warp.
    pub lane: u32,
    /// `threadIdx.y << shift | threadIdx.x`, the row saying which shift; where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed_id: Option<u32>,
    /// The SM it ran on, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm: Option<u32>,
    /// The SM's clock, modulo 2^32, where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<u32>,
    /// Clocks since the earliest reading that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_clocks: Option<u64>,
}

/// When and where a block ran. Numbers count from 0, x fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// `blockIdx`.
    pub block_x: u32,
    /// `blockIdx`.
    pub block_y: u32,
    /// `blockIdx`.
    pub block_z: u32,
    /// The block's number in the grid.
    pub block_id: u64,
    /// How many blocks of the launch had started before it.
    pub ticket: u32,
    /// The SM it ran on.
    pub sm: u32,
    /// Start and end in ns since the launch's first block started, by the global timer.
    pub start_ns: u64,
    /// See `start_ns`.
    pub end_ns: u64,
}

/// What a lane gave to a warp operation and what it got. Values stand there twice, as decimal text and
/// as the value's bits in hexadecimal (`0x` and 8 or 16 digits): text, so that no reader of JSON rounds
/// 64 bits to a double. The row says which type they are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneRecord {
    /// Which operation.
    pub operation: LaneOperation,
    /// The lane, 0 to 31.
    pub lane: u32,
    /// The lanes that take part, bit i for lane i.
    pub mask: u32,
    /// Lanes of a segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The shuffle's argument in this lane: a lane, a distance or bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<u32>,
    /// The step of a reduction or scan, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What the lanes began a reduction or scan with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<LaneInput>,
    /// Bits of the value that the lane gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_bits: Option<String>,
    /// The lane whose value it received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_lane: Option<u32>,
    /// Whether the lane that it asked for was in range; where not, the value is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_range: Option<bool>,
    /// The value that it received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<String>,
    /// Its bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bits: Option<String>,
    /// The lane's sum after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<String>,
    /// Its bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum_bits: Option<String>,
    /// The lane's own vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<bool>,
    /// Whether all lanes of the mask voted yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
    /// Whether some lane of the mask voted yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any: Option<bool>,
    /// Whether all lanes of the mask voted alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uniform: Option<bool>,
    /// The lanes of the mask that voted yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<u32>,
    /// The active mask as this lane read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_mask: Option<u32>,
    /// The lanes of the mask with the same value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_any: Option<u32>,
    /// The mask if all of its lanes have the same value, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_all: Option<u32>,
}

/// An operation among the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum LaneOperation {
    Idx,
    Up,
    Down,
    Xor,
    Vote,
    Match,
    ReduceButterfly,
    ReduceDown,
    Scan,
    Broadcast,
}

/// What the lanes begin a reduction or scan with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LaneInput {
    /// Random values.
    Random,
    /// 1 in each lane, so that a sum counts the lanes that went into it.
    Ones,
    /// Each lane its number.
    Lanes,
}

/// The device as reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct DeviceDescription {
    pub name: String,
    /// `measured` on a GPU, `modelled` on the simulator.
    pub times: Times,
    pub compute_capability: String,
    pub sms: u32,
    pub clock_khz: u32,
    pub l2_bytes: u64,
    pub memory_bytes: u64,
    /// GB/s (1e9 bytes per second); null where the driver does not tell.
    pub peak_gb_per_s: Option<f64>,
    /// Highest CUDA version the driver supports; null for a simulator.
    pub driver: Option<String>,
}

/// Whether times were measured or modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Times {
    Measured,
    Modelled,
}

/// One configuration and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// Elements worked on.
    pub elements: u64,
    /// Blocks per axis.
    pub grid: Dim3,
    /// Threads per block and axis.
    pub block: Dim3,
    /// Other axes of the experiment, by name, for example `unroll`.
    pub axes: Map<String, Value>,
    /// Resident blocks per SM, where known.
    pub blocks_per_sm: Option<u32>,
    /// Resident warps over the SM's most, 0 to 1.
    pub occupancy: Option<f64>,
    /// ok, skipped or failed, with the reason.
    #[serde(flatten)]
    pub status: Status,
    /// Whether the result was compared with the CPU reference and agreed.
    pub verified: bool,
    /// Times, where any were taken.
    pub time: Option<Timing>,
    /// Bytes moved by one launch: each input counted once as read, each output once as written.
    pub bytes: Option<u64>,
    /// `bytes` over the median time, in GB/s.
    pub gb_per_s: Option<f64>,
    /// `gb_per_s` over the device's peak, 0 to 1 and above.
    pub share_of_peak: Option<f64>,
    /// `gb_per_s` over that of the fastest plain read of the same data in the same report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_read: Option<f64>,
    /// Launches that the time spans, where the program says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<u32>,
    /// Warnings and remarks on this row.
    pub notes: Vec<String>,
}

impl Row {
    /// The row of a configuration that has not run: status `skipped`, and nothing known.
    pub fn outline(kernel: &str, elements: u64, grid: Dim3, block: Dim3) -> Self {
        Self {
            kernel: kernel.to_owned(),
            elements,
            grid,
            block,
            axes: Map::new(),
            blocks_per_sm: None,
            occupancy: None,
            status: Status::Skipped {
                reason: "not run".to_owned(),
            },
            verified: false,
            time: None,
            bytes: None,
            gb_per_s: None,
            share_of_peak: None,
            share_of_read: None,
            launches: None,
            notes: Vec::new(),
        }
    }
}

/// What came of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Status {
    /// Verified (where it can be) and timed.
    Ok,
    /// Not run, for a reason that is no error of the program.
    Skipped {
        /// Why.
        reason: String,
    },
    /// Something went wrong.
    Failed {
        /// Which stage: `launch`, `verification`, `memory` or `time`.
        stage: Stage,
        /// What happened.
        reason: String,
    },
}

/// The stage that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Stage {
    Memory,
    Launch,
    Verification,
    Time,
}

/// Summary of the samples, in nanoseconds per launch, or per round where the row has an axis
/// `rounds`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Timing {
    pub times: Times,
    /// `cold` (L2 overwritten before each sample) or `hot` (back-to-back launches in a graph).
    pub cache: Cache,
    pub samples: u32,
    pub median_ns: f64,
    pub lower_quartile_ns: f64,
    pub upper_quartile_ns: f64,
    pub minimum_ns: f64,
    pub maximum_ns: f64,
    /// Interquartile range over the median.
    pub relative_noise: f64,
    /// Which condition ended sampling, for example `noise under 0.5 %` or `time cap: …`.
    pub stopped_by: String,
    /// Samples discarded because the SM clock was throttled.
    pub throttled: u32,
}

/// State of the L2 cache before a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Cache {
    Cold,
    Hot,
}
