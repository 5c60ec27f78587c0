//! What does a barrier across the whole grid cost, against ending the kernel and starting the next?
//!
//! Four ways to take every block of a grid from one round of work to the next: the grid barrier
//! alone; the grid barrier with an exchange of data between blocks in each round; the same exchange
//! as one launch per round, queued one after the other; and as a graph of such launches. Before
//! anything is timed, the exchange is verified over all rounds, with some blocks held up in
//! each: a block that passes the barrier too early reads what its partner has not written yet.
//!
//! Expected: the barrier costs about two trips to the L2 and grows with the number of blocks, all of
//! which add to one word. It beats launches that the host queues one by one; a graph of kernels is
//! near it, since the device starts the next launch by itself.
//!
//! Run: `cargo run --release --bin grid_sync`

mod compare;
mod deadlock;
pub mod exchange;
mod worker;

use std::rc::Rc;

use serde_json::{Map, json};

pub use compare::conclusions;
pub use deadlock::{Deadlock, NEVER_STARTED_AXIS, ROOM_AXIS, WAITING_AXIS, story};

use super::{Experiment, Measuring, Worker};
use crate::{
    device::{self, Device, KernelReference},
    quantity,
    report::Row,
};

/// Name of the axis that tells the ways apart.
pub const METHOD_AXIS: &str = "method";
/// Name of the axis with the number of blocks.
pub const BLOCKS_AXIS: &str = "blocks";
/// Name of the axis with the rounds that a sample's time is divided by.
pub const ROUNDS_AXIS: &str = "rounds";

/// Blocks that each SM gets by default, as far as they fit.
const PER_SM: [u32; 3] = [1, 2, 8];
/// Threads per block by default.
pub const THREADS: [u32; 3] = [32, 256, 1024];

/// Launches in one sample at most, and at most as many are verified: a graph of more takes long to
/// make and says no more.
const MOST_LAUNCHES: u32 = 2000;

/// How blocks get from one round to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The grid barrier and nothing else.
    GridBarrier,
    /// The exchange, with a grid barrier after each round.
    Exchange,
    /// The exchange, one launch per round, queued by the host.
    Relaunch,
    /// The exchange, one launch per round in a graph.
    Graph,
}

impl Method {
    /// All, in the order of the rows.
    pub const ALL: [Self; 4] = [
        Self::GridBarrier,
        Self::Exchange,
        Self::Relaunch,
        Self::Graph,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::GridBarrier => "grid_barrier",
            Self::Exchange => "exchange",
            Self::Relaunch => "relaunch",
            Self::Graph => "graph",
        }
    }

    /// Whether one launch runs all rounds, and must be cooperative.
    pub fn is_cooperative(self) -> bool {
        matches!(self, Self::GridBarrier | Self::Exchange)
    }

    fn kernel(self) -> KernelReference {
        KernelReference::Declared(match self {
            Self::GridBarrier => kernels::GRID_SYNC_ROUNDS.declaration(),
            Self::Exchange => kernels::GRID_SYNC_EXCHANGE.declaration(),
            Self::Relaunch | Self::Graph => kernels::GRID_SYNC_STEP.declaration(),
        })
    }
}

/// A grid of blocks of threads, along x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub blocks: u32,
    /// Threads of each.
    pub threads: u32,
}

/// Grids, and how they are measured.
pub struct GridSync {
    /// Grids, each of which is run in every one of the ways.
    pub shapes: Vec<Shape>,
    /// Ways, at least one.
    pub methods: Vec<Method>,
    /// Rounds of a launch, verified and timed; at least 1.
    pub rounds: u32,
    /// Seed of the first states.
    pub seed: u64,
    /// How samples are taken; always hot, since one round follows the other.
    pub measuring: Measuring,
}

impl GridSync {
    /// One, two and eight blocks per SM for each number of threads, as far as they are resident at
    /// once on the device.
    pub fn resident_shapes(device: &dyn Device, threads: &[u32]) -> device::Result<Vec<Shape>> {
        // The two that need most registers.
        let exchange = Method::Exchange.kernel();
        let skewed = KernelReference::Declared(kernels::GRID_SYNC_SKEWED.declaration());
        let sms = device.properties().sms;
        let mut shapes = Vec::new();
        for &threads in threads {
            let most = device
                .blocks_per_sm(&exchange, threads, 0)?
                .min(device.blocks_per_sm(&skewed, threads, 0)?);
            let fitting = PER_SM.into_iter().filter(|&per_sm| per_sm <= most);
            shapes.extend(fitting.map(|per_sm| Shape {
                blocks: per_sm * sms,
                threads,
            }));
        }
        Ok(shapes)
    }

    /// Device memory in bytes that the largest grid needs.
    pub fn required_memory(&self) -> u64 {
        let of = |shape: &Shape| worker::required(*shape);
        self.shapes.iter().map(of).max().unwrap_or(0)
    }

    fn configuration(&self, index: usize) -> (Shape, Method) {
        let methods = self.methods.len();
        (self.shapes[index / methods], self.methods[index % methods])
    }

    /// Rounds of a sample.
    fn rounds_of(&self, method: Method) -> u32 {
        if method.is_cooperative() {
            self.rounds
        } else {
            self.rounds.min(MOST_LAUNCHES)
        }
    }
}

impl Experiment for GridSync {
    fn question(&self) -> &str {
        "What does a barrier across the whole grid cost, against a launch per round?"
    }

    fn expectation(&self) -> &str {
        "About two trips to the L2, more with more blocks. Launches that the host queues one by one \
         cost several times as much; a graph of launches comes near."
    }

    fn work(&self) -> String {
        let (rounds, launches) = (self.rounds, self.rounds_of(Method::Graph));
        let (rounds, launches) = (
            quantity::display(rounds.into()),
            quantity::display(launches.into()),
        );
        let methods = self.methods.iter().map(|method| match method {
            Method::GridBarrier => format!("grid_barrier: {rounds} barriers in one launch"),
            Method::Exchange => {
                format!(
                    "exchange: {rounds} barriers with data exchanged between blocks before each"
                )
            }
            Method::Relaunch => {
                format!("relaunch: {launches} launches of one exchange each, queued by the host")
            }
            Method::Graph => format!("graph: {launches} of them in a graph"),
        });
        format!(
            "{}. Times are per round: a sample's time divided by its rounds. Every exchange is \
             verified over all rounds; random states of seed {}",
            methods.collect::<Vec<_>>().join("; "),
            self.seed
        )
    }

    fn len(&self) -> usize {
        self.shapes.len() * self.methods.len()
    }

    fn outline(&self, index: usize) -> Row {
        let (Shape { blocks, threads }, method) = self.configuration(index);
        Row {
            axes: Map::from_iter([
                (METHOD_AXIS.to_string(), json!(method.name())),
                (BLOCKS_AXIS.to_string(), json!(blocks)),
                (ROUNDS_AXIS.to_string(), json!(self.rounds_of(method))),
            ]),
            ..Row::outline(method.kernel().name(), 0, blocks.into(), threads.into())
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::GridSyncWorker::new(self, device))
    }
}
