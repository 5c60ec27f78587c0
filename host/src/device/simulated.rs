//! The simulated device: the embedded PTX on the CPU, with times modelled for a named chip.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use kernels::handle::Target;
use simulator::{
    LaunchError, MemoryError, Options, Simulator, chip::Chip, fault::FaultKind, program::Program,
};

use super::{
    Device, DeviceError, KernelAttributes, KernelReference, LaunchLimits, ModuleId, PreparedLaunch,
    Properties, Result, Sample, Sampler, Sampling,
    allocations::Allocations,
    checks::{
        no_such_kernel, no_such_module, validate, validate_capability, validate_parameters,
        validate_sampling,
    },
    modules,
};
use crate::launch::{Dim3, LaunchConfig};

/// A simulated device. It runs the base module whatever chip it models: one older than that lends
/// its times and limits only. Kernels of the other modules need a chip that has their instructions,
/// as on a GPU.
pub struct SimulatedDevice {
    properties: Properties,
    simulator: RefCell<Simulator>,
    allocations: RefCell<Allocations>,
    /// How many allocations there have been: they are named by number in faults.
    allocated: Cell<u64>,
    embedded: RefCell<HashMap<Target, simulator::ModuleId>>,
    loaded: RefCell<Vec<simulator::ModuleId>>,
}

impl SimulatedDevice {
    /// A device that models `chip`.
    pub fn new(chip: &Chip, options: Options) -> Self {
        let simulator = Simulator::new(chip.clone(), options);
        Self {
            properties: properties(chip),
            simulator: RefCell::new(simulator),
            allocations: RefCell::default(),
            allocated: Cell::new(0),
            embedded: RefCell::default(),
            loaded: RefCell::default(),
        }
    }

    /// The simulator's module of a kernel, loaded on first use.
    fn module(&self, kernel: &KernelReference) -> Result<simulator::ModuleId> {
        match kernel {
            KernelReference::Declared(declaration) => {
                if declaration.target > Target::Sm70 {
                    let Properties {
                        name,
                        compute_capability,
                        ..
                    } = &self.properties;
                    validate_capability(kernel, name, *compute_capability)?;
                }
                if let Some(&module) = self.embedded.borrow().get(&declaration.target) {
                    return Ok(module);
                }
                let module = self.load(modules::embedded(declaration.target)?)?;
                self.embedded
                    .borrow_mut()
                    .insert(declaration.target, module);
                Ok(module)
            }
            KernelReference::Loaded { module, .. } => self
                .loaded
                .borrow()
                .get(module.0 as usize)
                .copied()
                .ok_or_else(|| no_such_module(kernel)),
        }
    }

    fn load(&self, ptx: &str) -> Result<simulator::ModuleId> {
        self.simulator.borrow_mut().load(ptx).map_err(|error| {
            DeviceError::Failed(format!("the simulator cannot load the module: {error}"))
        })
    }

    /// Gives a kernel's program, with parameters as declared, to `read`.
    fn with_program<T>(
        &self,
        kernel: &KernelReference,
        read: impl FnOnce(&Simulator, &Program) -> T,
    ) -> Result<T> {
        let module = self.module(kernel)?;
        let simulator = self.simulator.borrow();
        let program = simulator
            .program(module, kernel.name())
            .ok_or_else(|| no_such_kernel(kernel))?;
        let sizes: Vec<_> = program
            .parameters
            .iter()
            .map(|parameter| parameter.bytes as usize)
            .collect();
        validate_parameters(kernel, &sizes)?;
        Ok(read(&simulator, program))
    }

    /// Runs a launch that was validated; the modelled time in nanoseconds, if times are modelled.
    fn run(&self, launch: &PreparedLaunch) -> Result<Option<f64>> {
        let module = self.module(&launch.kernel)?;
        let parameters = self.with_program(&launch.kernel, |_, program| {
            parameter_block(program, launch)
        })?;
        let config = &launch.config;
        let report = self.simulator.borrow_mut().launch(
            module,
            &simulator::Launch {
                kernel: launch.kernel.name(),
                grid: config.grid.to_array(),
                block: config.block.to_array(),
                dynamic_shared_bytes: config.dynamic_shared_bytes,
                cooperative: config.cooperative,
                cluster: config.cluster.map(Dim3::to_array),
                parameters: &parameters,
            },
        );
        match report {
            Ok(report) => Ok(report.nanoseconds),
            Err(LaunchError::Invalid { kernel, message }) => {
                Err(DeviceError::InvalidLaunch { kernel, message })
            }
            Err(LaunchError::Fault(fault)) => {
                let text = format!(
                    "{fault}\n  launched with grid {} and block {}",
                    config.grid, config.block
                );
                Err(match fault.kind {
                    FaultKind::DataRace { .. } => DeviceError::DataRace(text),
                    FaultKind::Deadlock {
                        stall: Some(stall), ..
                    } => DeviceError::Deadlock {
                        text,
                        waiting: stall.waiting_blocks,
                        never_started: stall.never_started,
                    },
                    _ => DeviceError::Failed(text),
                })
            }
        }
    }
}

/// What the simulator's chips have in common with every GPU since compute capability 3.0 (CUDA
/// Programming Guide, technical specifications), and what the chip says.
fn properties(chip: &Chip) -> Properties {
    Properties {
        name: format!("simulated {}", chip.product),
        modelled: true,
        compute_capability: chip.compute_capability,
        sms: chip.sms,
        clock_khz: (chip.clock_ghz * 1e6).round() as u32,
        l2_bytes: chip.l2_bytes,
        memory_bytes: chip.memory_bytes,
        peak_gb_per_s: Some(chip.memory_gb_per_s),
        limits: LaunchLimits {
            max_grid: [0x7fff_ffff, 65535, 65535],
            max_block: [1024, 1024, 64],
            max_threads_per_block: chip.limits.max_threads_per_block,
            max_threads_per_sm: chip.limits.max_threads_per_sm,
            warp_size: 32,
            shared_per_block: chip.limits.shared_per_block,
            shared_per_block_optin: chip.limits.shared_per_block_optin,
            cooperative: chip.compute_capability >= (6, 0),
            max_cluster: chip.limits.max_cluster_blocks,
        },
        driver: None,
    }
}

/// The arguments' bytes at the program's offsets.
fn parameter_block(program: &Program, launch: &PreparedLaunch) -> Vec<u8> {
    let mut block = vec![0; program.parameter_bytes as usize];
    for (parameter, value) in program.parameters.iter().zip(&launch.arguments) {
        let (offset, bytes) = (parameter.offset as usize, parameter.bytes as usize);
        block[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    block
}

/// The most threads a block may have by the kernel's registers and directives.
fn max_threads_per_block(chip: &Chip, program: &Program) -> u32 {
    let limits = &chip.limits;
    // Registers are handed out to whole warps, in units (CUDA occupancy calculator).
    let per_warp = (program.registers_per_thread.max(1) * 32)
        .next_multiple_of(limits.register_allocation_unit.max(1));
    let by_registers = limits.registers_per_block / per_warp * 32;
    let by_directive = [program.max_block, program.required_block]
        .into_iter()
        .flatten()
        .map(|extents| extents.iter().product())
        .min()
        .unwrap_or(u32::MAX);
    limits
        .max_threads_per_block
        .min(by_registers)
        .min(by_directive)
}

fn memory_failure(error: MemoryError) -> DeviceError {
    match error {
        MemoryError::OutOfMemory {
            required,
            available,
        } => DeviceError::out_of_memory(required, available),
        MemoryError::Invalid(message) => DeviceError::Failed(message),
    }
}

impl Device for SimulatedDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64> {
        Ok(self.simulator.borrow_mut().memory().free_bytes())
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        let number = self.allocated.get();
        let mut simulator = self.simulator.borrow_mut();
        let address = simulator
            .memory()
            .allocate(bytes, &format!("buffer {number}"))
            .map_err(memory_failure)?;
        self.allocated.set(number + 1);
        self.allocations.borrow_mut().insert(address, bytes);
        Ok(address)
    }

    fn free_bytes(&self, address: u64) {
        if self.allocations.borrow_mut().remove(address) {
            // It is live, as was just seen; the trait reports no errors here.
            let _ = self.simulator.borrow_mut().memory().free(address);
        }
    }

    fn write_bytes(&self, address: u64, data: &[u8]) -> Result<()> {
        let bytes = data.len() as u64;
        self.allocations
            .borrow()
            .check("copy to the device", address, bytes)?;
        if data.is_empty() {
            return Ok(());
        }
        let mut simulator = self.simulator.borrow_mut();
        simulator
            .memory()
            .write(address, data)
            .map_err(memory_failure)
    }

    fn read_bytes(&self, address: u64, data: &mut [u8]) -> Result<()> {
        let bytes = data.len() as u64;
        self.allocations
            .borrow()
            .check("copy from the device", address, bytes)?;
        if data.is_empty() {
            return Ok(());
        }
        let mut simulator = self.simulator.borrow_mut();
        simulator
            .memory()
            .read(address, data)
            .map_err(memory_failure)
    }

    fn fill_bytes(&self, address: u64, bytes: u64, value: u8) -> Result<()> {
        self.allocations
            .borrow()
            .check("fill on the device", address, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let mut simulator = self.simulator.borrow_mut();
        simulator
            .memory()
            .fill(address, bytes, value)
            .map_err(memory_failure)
    }

    fn load_module(&self, ptx: &str) -> Result<ModuleId> {
        let module = self.load(ptx)?;
        let mut loaded = self.loaded.borrow_mut();
        loaded.push(module);
        Ok(ModuleId(loaded.len() as u32 - 1))
    }

    fn kernel_attributes(&self, kernel: &KernelReference) -> Result<KernelAttributes> {
        self.with_program(kernel, |simulator, program| KernelAttributes {
            registers: program.registers_per_thread,
            static_shared_bytes: program.shared_bytes,
            local_bytes: program.local_bytes,
            max_threads_per_block: max_threads_per_block(simulator.chip(), program),
        })
    }

    fn blocks_per_sm(
        &self,
        kernel: &KernelReference,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        let attributes = self.kernel_attributes(kernel)?;
        let config = LaunchConfig::new(1, threads).with_dynamic_shared(dynamic_shared_bytes);
        if config
            .validate(&self.properties.limits, &attributes)
            .is_err()
        {
            return Ok(0);
        }
        self.with_program(kernel, |simulator, program| {
            simulator.blocks_per_sm(program, threads, dynamic_shared_bytes)
        })
    }

    fn active_clusters(&self, kernel: &KernelReference, config: &LaunchConfig) -> Result<u32> {
        let attributes = self.kernel_attributes(kernel)?;
        if config
            .validate(&self.properties.limits, &attributes)
            .is_err()
        {
            return Ok(0);
        }
        // Within the limits these fit.
        let threads = config.block.count() as u32;
        let cluster = config.cluster.map_or(1, |cluster| cluster.count() as u32);
        self.with_program(kernel, |simulator, program| {
            let dynamic = config.dynamic_shared_bytes;
            match cluster {
                1 => simulator.blocks_per_sm(program, threads, dynamic) * self.properties.sms,
                _ => simulator.active_clusters(program, threads, dynamic, cluster),
            }
        })
    }

    fn launch_prepared(&self, launch: &PreparedLaunch) -> Result<()> {
        validate(self, launch)?;
        self.run(launch).map(drop)
    }

    fn sampler(
        &self,
        sequence: &[PreparedLaunch],
        sampling: Sampling,
    ) -> Result<Box<dyn Sampler + '_>> {
        validate_sampling(sequence, sampling)?;
        for launch in sequence {
            validate(self, launch)?;
        }
        Ok(Box::new(SimulatedSampler {
            device: self,
            sequence: sequence.to_vec(),
            sampling,
        }))
    }
}

/// Samples modelled times. They are exact: one cold sample tells all, and hot ones differ only
/// until the modelled L2 holds what repeated launches leave in it.
struct SimulatedSampler<'a> {
    device: &'a SimulatedDevice,
    sequence: Vec<PreparedLaunch>,
    sampling: Sampling,
}

impl Sampler for SimulatedSampler<'_> {
    fn sample(&mut self) -> Result<Sample> {
        if self.sampling == Sampling::Cold {
            self.device.simulator.borrow_mut().flush_l2();
        }
        let mut nanoseconds = 0.0;
        for launch in &self.sequence {
            nanoseconds += self.device.run(launch)?.ok_or_else(|| {
                DeviceError::Unsupported("sampling on a simulator that models no times".to_owned())
            })?;
        }
        Ok(Sample {
            nanoseconds,
            clock_khz: Some(self.device.properties.clock_khz),
        })
    }
}
