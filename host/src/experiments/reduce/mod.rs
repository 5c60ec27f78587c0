//! How fast can an array be reduced to one value, and what does each idea add?
//!
//! Expected: reductions in shared memory that load one element at a time stay well below what memory
//! delivers; with several 16-byte loads in flight a large sum is as fast as a plain read, whatever
//! comes after; a small one is bound by launches and trips to the L2, so that one launch and few
//! trips win.
//!
//! Run: `cargo run --release --bin reduce`

mod element;
mod explain;
mod setup;
mod sum;
#[cfg(test)]
mod tests;
mod variants;
mod verify;
mod worker;

use std::{collections::HashMap, rc::Rc};

use serde_json::json;

pub use self::{
    element::{ElementType, Input, Operation, Reference},
    explain::conclusions,
    setup::{Arrays, Bound, Configuration, Threads, automatic_block, hot_launches},
    variants::{LaunchKind, Scheme, VARIANTS, Variant, variant},
    verify::verify,
};
use super::{Experiment, Measuring, Worker};
use crate::{
    device::Device,
    launch::Dim3,
    quantity,
    report::{Cache, Row},
};

/// Name of the axis that holds the blocks per cluster.
pub const CLUSTER_AXIS: &str = "cluster";
/// Name of the axis that says whether two runs give the same bits.
pub const DETERMINISTIC_AXIS: &str = "deterministic";

/// What is reduced, how, and how it is measured.
pub struct Reduce {
    configurations: Vec<Configuration>,
    /// Seed of the inputs.
    pub seed: u64,
    /// How samples are taken.
    pub measuring: Measuring,
}

impl Reduce {
    /// Every variant for every operation, type, size and block, where there is such a kernel; the
    /// plain read first, of sums alone. Variants that are launched in clusters have a row for each of
    /// `clusters`, in blocks. `grid` replaces the number of blocks that follows from the size.
    pub fn new(
        variants: &[&'static Variant],
        operations: &[Operation],
        elements: &[ElementType],
        sizes: &[u64],
        blocks: &[Threads],
        clusters: &[u32],
        grid: Option<u32>,
    ) -> Self {
        let mut configurations = Vec::new();
        for &element in elements {
            for &n in sizes {
                for &variant in variants {
                    // Others have their share of it, whatever they reduce to.
                    let operations = match variant.scheme {
                        Scheme::Read => &[Operation::Sum],
                        _ => operations,
                    };
                    for &operation in operations {
                        let Some(kernel) = variant.kernel(operation, element) else {
                            continue;
                        };
                        let blocks = blocks.iter().map(|threads| match *threads {
                            Threads::Automatic => setup::automatic_block(n, element),
                            Threads::Given(threads) => threads,
                        });
                        let clusters: Vec<Option<u32>> = match variant.launch {
                            LaunchKind::Clustered => clusters.iter().copied().map(Some).collect(),
                            _ => vec![None],
                        };
                        for block in quantity::distinct(blocks) {
                            configurations.extend(clusters.iter().map(|&cluster| Configuration {
                                variant,
                                kernel,
                                operation,
                                element,
                                n,
                                block,
                                cluster,
                                grid,
                            }));
                        }
                    }
                }
            }
        }
        Self {
            configurations,
            seed: 1,
            measuring: Measuring::default(),
        }
    }

    /// Device memory in bytes that the largest configuration needs.
    pub fn required_memory(&self) -> u64 {
        self.configurations
            .iter()
            .map(|configuration| setup::required(configuration.element, configuration.n))
            .max()
            .unwrap_or(0)
    }
}

/// The largest size that can be reduced in so many bytes of device memory.
pub fn largest_size(element: ElementType, bytes: u64) -> u64 {
    setup::largest(element, bytes)
}

impl Experiment for Reduce {
    fn question(&self) -> &str {
        "How fast can an array be reduced to one value, and what does each idea add?"
    }

    fn expectation(&self) -> &str {
        "Single-element loads stay below what memory delivers; several 16-byte loads in flight make \
         a large sum as fast as a plain read; a small one is bound by launches and trips to the L2."
    }

    fn work(&self) -> String {
        let all = || self.configurations.iter();
        let operations = quantity::distinct(all().map(|c| c.operation.name())).join(", ");
        let elements = quantity::distinct(all().map(|c| c.element.name())).join(", ");
        let sizes: Vec<String> = quantity::distinct(all().map(|c| c.n))
            .into_iter()
            .map(quantity::display)
            .collect();
        format!(
            "{operations} of {} elements of {elements}; {} L2; random inputs of seed {}; every result is verified",
            sizes.join(", "),
            match self.measuring.cache {
                Cache::Cold => "cold",
                Cache::Hot => "hot",
            },
            self.seed
        )
    }

    fn len(&self) -> usize {
        self.configurations.len()
    }

    fn outline(&self, index: usize) -> Row {
        let configuration = &self.configurations[index];
        let mut row = Row::outline(
            configuration.kernel.name,
            configuration.n,
            Dim3::from(configuration.grid.unwrap_or(0)),
            configuration.block.into(),
        );
        if configuration.variant.scheme != Scheme::Read {
            let deterministic = configuration
                .variant
                .deterministic(configuration.operation, configuration.element);
            row.axes
                .insert(DETERMINISTIC_AXIS.to_owned(), json!(deterministic));
        }
        if let Some(cluster) = configuration.cluster {
            row.axes.insert(CLUSTER_AXIS.to_owned(), json!(cluster));
        }
        row.bytes = Some(
            configuration
                .n
                .saturating_mul(configuration.element.bytes()),
        );
        row
    }

    fn relate(&self, rows: &mut [Row]) {
        let mut best: HashMap<(&str, u64), f64> = HashMap::new();
        let described = || rows.iter().zip(&self.configurations);
        for (row, configuration) in described() {
            if let (Scheme::Read, Some(rate)) = (configuration.variant.scheme, row.gb_per_s) {
                let most = best
                    .entry((configuration.element.name(), configuration.n))
                    .or_default();
                *most = most.max(rate);
            }
        }
        let shares: Vec<Option<f64>> = described()
            .map(|(row, configuration)| {
                let read = best.get(&(configuration.element.name(), configuration.n))?;
                // Nothing was read of an empty array.
                (*read > 0.0).then_some(row.gb_per_s? / read)
            })
            .collect();
        for (row, share) in rows.iter_mut().zip(shares) {
            row.share_of_read = share;
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::ReduceWorker::new(self, device))
    }
}
