//! One configuration from its memory to its row.

use std::{rc::Rc, slice};

use super::{Bandwidth, Configuration, Inputs, StreamKernel};
use crate::{
    device::{Buffer, Device, KernelReference, PreparedLaunch},
    experiments::{
        Experiment, Failure, Worker,
        memory::{self, ALIGNMENT},
        timing,
        verify::{self, GUARD, POISON},
    },
    launch::{Dim3, LaunchConfig},
    measure::{HOT_LAUNCHES, Outcome},
    quantity,
    report::{Cache, Row, Stage, Status},
};

/// Device memory in bytes for a kernel at a size: its arrays, and the guard behind the output.
pub(super) fn required(kernel: &StreamKernel, elements: u64) -> u64 {
    elements
        .saturating_mul(4 * kernel.arrays())
        .saturating_add(4 * GUARD + ALIGNMENT * kernel.arrays())
}

/// The largest size for a kernel in so many bytes of device memory.
pub(super) fn largest(kernel: &StreamKernel, bytes: u64) -> u64 {
    bytes.saturating_sub(required(kernel, 0)) / (4 * kernel.arrays())
}

pub(super) struct BandwidthWorker<'a> {
    experiment: &'a Bandwidth,
    device: Rc<dyn Device>,
    inputs: Inputs,
    arrays: Option<Arrays>,
}

/// Arrays on the device, kept while size and number of inputs stay the same.
struct Arrays {
    elements: u64,
    inputs: Vec<Buffer<f32>>,
    output: Buffer<f32>,
}

impl<'a> BandwidthWorker<'a> {
    pub(super) fn new(experiment: &'a Bandwidth, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            inputs: Inputs::new(experiment.seed),
            arrays: None,
        }
    }

    fn attempt(&mut self, configuration: Configuration, row: &mut Row) -> Result<Status, Failure> {
        let config = self.geometry(configuration, row)?;
        self.provide_arrays(configuration.kernel, configuration.elements)?;
        let launch = self.reset_output(configuration, config)?;
        let modelled = self.device.properties().modelled;
        let outcome = if modelled && self.experiment.measuring.cache == Cache::Cold {
            // A model is deterministic: the launch that is verified is also the one that counts.
            let outcome = self.measure(&launch, Stage::Launch)?;
            self.verify(configuration)?;
            row.verified = true;
            outcome
        } else {
            self.device
                .launch_prepared(&launch)
                .map_err(Failure::at(Stage::Launch))?;
            self.verify(configuration)?;
            row.verified = true;
            self.measure(&launch, Stage::Time)?
        };
        Ok(timing::report(&*self.device, outcome, row))
    }

    /// The launch's extents, and what they mean for the device, also as the row tells them.
    fn geometry(
        &self,
        configuration: Configuration,
        row: &mut Row,
    ) -> Result<LaunchConfig, Failure> {
        let Configuration {
            kernel,
            elements,
            block,
            grid,
        } = configuration;
        let properties = self.device.properties();
        let limits = &properties.limits;
        if block > limits.max_threads_per_block {
            return Err(Failure::new(
                Stage::Launch,
                format!(
                    "kernel {}: a block of {block} threads exceeds the limit of {}: give a smaller --block",
                    kernel.name(),
                    limits.max_threads_per_block
                ),
            ));
        }
        let reference = KernelReference::Declared(kernel.declaration());
        let per_sm = self
            .device
            .blocks_per_sm(&reference, block, 0)
            .map_err(Failure::at(Stage::Launch))?;
        row.blocks_per_sm = Some(per_sm);
        let warps = |threads: u32| threads.div_ceil(limits.warp_size);
        row.occupancy =
            Some(f64::from(per_sm * warps(block)) / f64::from(warps(limits.max_threads_per_sm)));
        let resident = u64::from(per_sm) * u64::from(properties.sms);
        let blocks = grid.map_or_else(|| kernel.blocks(elements, block, resident), u64::from);
        let remedy = match grid {
            Some(_) => "give a smaller --grid",
            None => "give a larger --block or a smaller --size",
        };
        let grid = u32::try_from(blocks)
            .ok()
            .filter(|blocks| *blocks <= limits.max_grid[0])
            .ok_or_else(|| {
                Failure::new(
                    Stage::Launch,
                    format!(
                        "kernel {}: grid x would be {blocks}, the limit is {}: {remedy}",
                        kernel.name(),
                        limits.max_grid[0]
                    ),
                )
            })?;
        row.grid = Dim3::from(grid);
        row.bytes = Some(kernel.bytes(elements));
        Ok(LaunchConfig::new(row.grid, row.block))
    }

    /// Makes the arrays for a size, unless they are there. Checks the memory first: nothing is
    /// allocated where not everything fits.
    fn provide_arrays(&mut self, kernel: &StreamKernel, elements: u64) -> Result<(), Failure> {
        let inputs = kernel.operation.inputs() as usize;
        if self
            .arrays
            .as_ref()
            .is_some_and(|arrays| arrays.elements == elements && arrays.inputs.len() == inputs)
        {
            return Ok(());
        }
        self.arrays = None;
        let properties = self.device.properties();
        memory::require(
            &*self.device,
            required(kernel, elements),
            self.experiment.measuring.cache,
            |available| {
                format!(
                    "the largest size that fits is {} elements, {} are asked for{}",
                    largest(kernel, available),
                    quantity::display(elements),
                    // Otherwise the chip's memory, which reports name, would seem to be there.
                    if properties.modelled && available < properties.memory_bytes {
                        format!(
                            " (the simulator offers {} of this chip's {})",
                            quantity::bytes(available),
                            quantity::bytes(properties.memory_bytes)
                        )
                    } else {
                        String::new()
                    }
                )
            },
        )?;
        let at_memory = Failure::at(Stage::Memory);
        let mut arrays = Arrays {
            elements,
            inputs: Vec::new(),
            output: Buffer::new(&self.device, (elements + GUARD) as usize).map_err(&at_memory)?,
        };
        for stream in [self.inputs.first, self.inputs.second]
            .into_iter()
            .take(inputs)
        {
            let buffer = Buffer::new(&self.device, elements as usize).map_err(&at_memory)?;
            verify::write_stream(&*self.device, buffer.address(), elements, stream)
                .map_err(&at_memory)?;
            arrays.inputs.push(buffer);
        }
        self.arrays = Some(arrays);
        Ok(())
    }

    /// Poisons the output and its guard, writes what an in-place kernel starts from, and binds the
    /// launch.
    fn reset_output(
        &mut self,
        configuration: Configuration,
        config: LaunchConfig,
    ) -> Result<PreparedLaunch, Failure> {
        let operation = configuration.kernel.operation;
        let arrays = self.arrays()?;
        arrays
            .output
            .fill(POISON)
            .map_err(Failure::at(Stage::Memory))?;
        let address = arrays.output.address();
        if let Some(stream) = operation.output_before(&self.inputs) {
            verify::write_stream(&*self.device, address, configuration.elements, stream)
                .map_err(Failure::at(Stage::Memory))?;
        }
        let alpha = self.inputs.alpha;
        let arrays = self.arrays()?;
        Ok(operation.prepare(
            config,
            configuration.elements,
            alpha,
            &arrays.inputs,
            &mut arrays.output,
        ))
    }

    fn arrays(&mut self) -> Result<&mut Arrays, Failure> {
        self.arrays
            .as_mut()
            .ok_or_else(|| Failure::new(Stage::Memory, "the arrays are not allocated"))
    }

    /// Compares the whole output with the reference, and the guard with the poison.
    fn verify(&mut self, configuration: Configuration) -> Result<(), Failure> {
        let address = self.arrays()?.output.address();
        let Configuration {
            kernel, elements, ..
        } = configuration;
        let (device, inputs) = (&*self.device, &self.inputs);
        let mismatch = verify::first_mismatch(device, address, elements, |index| {
            kernel.operation.expected(inputs, index)
        })
        .map_err(Failure::at(Stage::Verification))?;
        if let Some(mismatch) = mismatch {
            let reason = format!("kernel {}: {mismatch}", kernel.name());
            return Err(Failure::new(Stage::Verification, reason));
        }
        let touched = verify::overwritten_guard(device, address, elements)
            .map_err(Failure::at(Stage::Verification))?;
        if let Some((index, value)) = touched {
            let reason = format!(
                "kernel {}: element {index} was overwritten with {value:e}, but only {elements} elements may be written",
                kernel.name()
            );
            return Err(Failure::new(Stage::Verification, reason));
        }
        Ok(())
    }

    fn measure(&self, launch: &PreparedLaunch, stage: Stage) -> Result<Outcome, Failure> {
        let measuring = &self.experiment.measuring;
        let sampling = measuring.sampling(&*self.device, HOT_LAUNCHES);
        measuring.measure(&*self.device, slice::from_ref(launch), sampling, stage)
    }
}

impl Worker for BandwidthWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        let configuration = self.experiment.configurations[index];
        row.status = match self.attempt(configuration, &mut row) {
            Ok(status) => status,
            Err(failure) => failure.into(),
        };
        row
    }
}
