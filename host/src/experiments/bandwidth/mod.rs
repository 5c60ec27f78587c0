//! How does memory bandwidth depend on the block size?
//!
//! Expected: one element per thread doubles from a block of 32 threads to 64 to 128, since blocks
//! are dispatched at a fixed rate whatever their size; then bytes in flight decide. Kernels with
//! 16 bytes per thread saturate memory from 64 threads on.
//!
//! Run: `cargo run --release --bin sweep`

mod explain;
mod kernels;
mod worker;

use std::rc::Rc;

pub use self::{
    explain::best,
    kernels::{GridRule, Inputs, KERNELS, Operation, StreamKernel},
};
use super::{Experiment, Measuring, Worker};
use crate::{
    device::Device,
    launch::Dim3,
    quantity,
    report::{Cache, Row},
};

/// What the sweep runs over, and how it measures.
pub struct Bandwidth {
    /// Kernels, sizes, blocks and grids: see [`Self::new`].
    configurations: Vec<Configuration>,
    /// Seed of the inputs.
    pub seed: u64,
    /// How samples are taken.
    pub measuring: Measuring,
}

/// One point of the sweep.
#[derive(Clone, Copy)]
struct Configuration {
    kernel: &'static StreamKernel,
    elements: u64,
    block: u32,
    /// Blocks, where the command line says so.
    grid: Option<u32>,
}

impl Bandwidth {
    /// Every kernel at every size and block; strided kernels at every grid too, where grids are
    /// given. Settings are the defaults.
    pub fn new(
        kernels: &[&'static StreamKernel],
        sizes: &[u64],
        blocks: &[u32],
        grids: &[u32],
    ) -> Self {
        let mut configurations = Vec::new();
        for &kernel in kernels {
            let grids: Vec<Option<u32>> = match kernel.grid {
                GridRule::Strided(_) if !grids.is_empty() => {
                    grids.iter().copied().map(Some).collect()
                }
                _ => vec![None],
            };
            for &elements in sizes {
                for &grid in &grids {
                    configurations.extend(blocks.iter().map(|&block| Configuration {
                        kernel,
                        elements,
                        block,
                        grid,
                    }));
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
            .map(|configuration| worker::required(configuration.kernel, configuration.elements))
            .max()
            .unwrap_or(0)
    }
}

/// The largest size all of the kernels can run at in so many bytes of device memory.
pub fn largest_size(kernels: &[&StreamKernel], bytes: u64) -> u64 {
    kernels
        .iter()
        .map(|kernel| worker::largest(kernel, bytes))
        .min()
        .unwrap_or(0)
}

/// The kernel of that name.
pub fn kernel(name: &str) -> Option<&'static StreamKernel> {
    KERNELS.iter().find(|kernel| kernel.name() == name)
}

impl Experiment for Bandwidth {
    fn question(&self) -> &str {
        "How does memory bandwidth depend on the block size?"
    }

    fn expectation(&self) -> &str {
        "One element per thread doubles from a block of 32 to 64 to 128 threads (blocks are \
         dispatched at a fixed rate); then bytes in flight decide. 16 bytes per thread saturate \
         memory from 64 threads on."
    }

    fn work(&self) -> String {
        let mut kernels: Vec<&str> = Vec::new();
        let mut sizes: Vec<u64> = Vec::new();
        for configuration in &self.configurations {
            if !kernels.contains(&configuration.kernel.name()) {
                kernels.push(configuration.kernel.name());
            }
            if !sizes.contains(&configuration.elements) {
                sizes.push(configuration.elements);
            }
        }
        let sizes: Vec<String> = sizes.into_iter().map(quantity::display).collect();
        format!(
            "{}; {} elements of 4 bytes; {} L2; random inputs of seed {}; every result is verified",
            kernels.join(", "),
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
        let Configuration {
            kernel,
            elements,
            block,
            grid,
        } = self.configurations[index];
        Row::outline(
            kernel.name(),
            elements,
            Dim3::from(grid.unwrap_or(0)),
            block.into(),
        )
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::BandwidthWorker::new(self, device))
    }
}

#[cfg(test)]
mod tests;
