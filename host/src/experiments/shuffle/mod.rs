//! Who reads from whom in a warp, and what does each lane get?
//!
//! Every shuffle mode, type, width and argument; votes, match, and reduction, scan and broadcast made
//! of shuffles; whole warps and partial masks. Expected: in every lane exactly what the PTX ISA says
//! (9.7.9.6 `shfl.sync`, 9.7.13 `vote.sync` and `match.sync`), values and predicates, to the bit. Lanes
//! outside a mask take no part. Nothing reads from such a lane, which is undefined, but for the
//! demonstration of what the simulator says then.
//!
//! Run: `cargo run --release --bin shuffle`

mod cases;
mod collectives;
mod configurations;
pub mod model;
mod shuffles;
mod sums;
mod undefined;
pub mod values;
mod worker;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use serde_json::{Map, Value};

pub use self::configurations::{Choice, Part, PartialShown};
use self::configurations::{Configuration, configurations};
use super::{Experiment, Worker};
use crate::{
    device::Device,
    report::{Row, Status},
};

/// The axis that counts how many values, predicates and answers of single lanes were compared with
/// the model and agreed.
pub const COMPARISONS_AXIS: &str = "comparisons";
/// The axis that names a case: a mask, a vote, values to match.
pub const CASE_AXIS: &str = "case";
/// The axis that names the type.
pub const TYPE_AXIS: &str = "type";

/// The experiment.
pub struct Shuffle {
    run: Choice,
    shown: Choice,
    seed: u64,
    configurations: Vec<Configuration>,
}

impl Shuffle {
    /// Runs and verifies `run`, and records what each lane got for what `shown` has of it.
    pub fn new(run: Choice, shown: Choice, seed: u64) -> Self {
        let configurations = configurations(&run, seed);
        Self {
            run,
            shown,
            seed,
            configurations,
        }
    }

    /// Kernels that read from a lane outside their mask: only a simulator tells.
    pub fn undefined() -> Self {
        let nothing = Choice::nothing();
        Self {
            run: nothing.clone(),
            shown: nothing,
            seed: 0,
            configurations: Configuration::undefined(),
        }
    }
}

impl Experiment for Shuffle {
    fn question(&self) -> &str {
        "Who reads from whom in a warp, and what does each lane get?"
    }

    fn expectation(&self) -> &str {
        "What the PTX ISA says, in every lane: a shuffle stays in its segment, a lane whose source is \
         out of range keeps its own value, and lanes outside the mask take no part."
    }

    fn work(&self) -> String {
        let names = |count: usize, one: &str| format!("{count} {one}{}", plural(count));
        match self.configurations.first() {
            Some(Configuration::Undefined { .. }) => {
                "shuffle_i32; each mode once with a source lane that its mask does not name: \
                 undefined, and on purpose"
                    .to_string()
            }
            _ => {
                let parts: Vec<&str> = self.run.parts.iter().map(|part| part.name()).collect();
                format!(
                    "{}; {}, {}, {}, {}; values of seed {}; every lane is verified",
                    parts.join(", "),
                    names(self.run.modes.len(), "mode"),
                    names(self.run.types.len(), "type"),
                    names(self.run.widths.len(), "width"),
                    names(self.run.arguments.len(), "argument"),
                    self.seed
                )
            }
        }
    }

    fn len(&self) -> usize {
        self.configurations.len()
    }

    fn outline(&self, index: usize) -> Row {
        let configuration = &self.configurations[index];
        let warps = configuration.warps(&self.run);
        let axes = configuration
            .axes(&self.run)
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .chain([(COMPARISONS_AXIS.to_string(), Value::from(0))]);
        Row {
            axes: Map::from_iter(axes),
            ..Row::outline(
                configuration.kernel(),
                32 * u64::from(warps),
                warps.into(),
                32.into(),
            )
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::ShuffleWorker::new(self, device))
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// How many comparisons agreed, and how many configurations failed.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let compared = |row: &Row| row.axes.get(COMPARISONS_AXIS).and_then(Value::as_u64);
    let verified: Vec<&Row> = rows.iter().filter(|row| row.verified).collect();
    let total: u64 = verified.iter().filter_map(|row| compared(row)).sum();
    let kernels: std::collections::BTreeSet<&str> =
        verified.iter().map(|row| &*row.kernel).collect();
    let failed = rows
        .iter()
        .filter(|row| matches!(row.status, Status::Failed { .. }))
        .count();
    let of = format!(
        "{} comparisons of what a lane got with the model",
        crate::quantity::display(total)
    );
    let (done, used) = (verified.len(), kernels.len());
    let configurations = format!("configuration{}", plural(done));
    let kernels = format!("kernel{}", plural(used));
    match (done, failed) {
        (0, 0) => Vec::new(),
        (_, 0) => vec![format!(
            "{of}: all agree ({done} {configurations} of {used} {kernels})."
        )],
        _ => vec![format!(
            "{failed} of {} configurations failed, see above; {of} agree in the {done} others.",
            rows.len()
        )],
    }
}
