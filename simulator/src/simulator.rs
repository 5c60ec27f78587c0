//! The simulated device: modules, memory and launches.

mod validity;

use validity::{check, cluster, shared_bytes};

use crate::{
    chip::Chip,
    exec::{
        cluster::Cluster,
        launch::{LaunchContext, thread_indices},
        memory::Memory,
        passed::Sites,
        races::RaceCheck,
        timed, untimed,
    },
    fault::{self, Fault, FaultKind},
    occupancy,
    program::Program,
    ptx,
    timing::MemorySystem,
};

/// The most global memory a simulated device offers, in bytes: it lives in the host's memory.
const MEMORY_LIMIT: u64 = 16 << 30;

/// A simulated device. Results do not depend on the host; times are modelled for its chip.
pub struct Simulator {
    chip: Chip,
    options: Options,
    memory: Memory,
    system: MemorySystem,
    modules: Vec<Vec<(Program, Sites)>>,
    /// The modules' text, for the source lines of faults.
    texts: Vec<String>,
    /// Clusters of earlier launches, for their memory.
    spare_clusters: Vec<Cluster>,
    launches: u64,
    /// `%clock64` and `%globaltimer` go on from launch to launch.
    cycles: u64,
}

/// What a launch does besides computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Report reads of registers and memory that nothing has written.
    pub checks: bool,
    /// Report data races on shared memory.
    pub races: bool,
    /// Model times; otherwise clocks count instructions.
    pub timing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            checks: true,
            races: true,
            timing: true,
        }
    }
}

/// A loaded module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(u32);

/// Geometry and arguments of a launch.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The `.entry`'s name.
    pub kernel: &'a str,
    /// Blocks per axis.
    pub grid: [u32; 3],
    /// Threads per block and axis.
    pub block: [u32; 3],
    /// Dynamic shared memory per block in bytes.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Blocks per cluster and axis, for a launch in clusters. A kernel may also ask for them itself
    /// (`.reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
    /// The parameter block, laid out as [`Program::parameters`] says.
    pub parameters: &'a [u8],
}

/// What a launch did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Modelled time from start to the last block's end in ns; `None` without timing.
    pub nanoseconds: Option<f64>,
    /// Warp instructions executed.
    pub warp_instructions: u64,
}

/// Why a module was not loaded: every problem found, not only the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct LoadError {
    /// One message per problem, each with line and text.
    pub problems: Vec<String>,
}

/// Why a launch did not complete.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// It broke a limit of the chip or of the kernel; nothing ran.
    #[error("kernel {kernel}: {message}")]
    Invalid {
        /// The kernel's name.
        kernel: String,
        /// What was required, what was given.
        message: String,
    },
    /// It was stopped; memory keeps what was written until then.
    #[error(transparent)]
    Fault(Box<Fault>),
}

impl Simulator {
    /// A device without modules or allocations.
    pub fn new(chip: Chip, options: Options) -> Self {
        Self {
            memory: Memory::new(chip.memory_bytes.min(MEMORY_LIMIT), options.checks),
            system: MemorySystem::new(&chip),
            modules: Vec::new(),
            texts: Vec::new(),
            spare_clusters: Vec::new(),
            launches: 0,
            cycles: 0,
            chip,
            options,
        }
    }

    /// The chip times are modelled for.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// Parses PTX and allocates its module-scope variables.
    ///
    /// # Errors
    /// Everything in the text that is malformed or not supported, and variables that do not fit.
    pub fn load(&mut self, text: &str) -> Result<ModuleId, LoadError> {
        let mut module = ptx::load(text)?;
        let mut addresses = Vec::with_capacity(module.variables.len());
        for variable in &module.variables {
            let address = self
                .memory
                .allocate(variable.bytes, &format!("variable {}", variable.name))
                .map_err(|error| LoadError {
                    problems: vec![format!("variable {}: {error}", variable.name)],
                })?;
            addresses.push(address);
        }
        for (variable, &address) in module.variables.iter().zip(&addresses) {
            // Variables without an initialiser are zero (PTX ISA 5.4.4).
            let mut bytes = variable.initial.clone();
            bytes.resize(variable.bytes as usize, 0);
            for &(position, target, offset) in &variable.relocations {
                let value = addresses[target as usize].wrapping_add_signed(offset);
                bytes[position as usize..position as usize + 8]
                    .copy_from_slice(&value.to_le_bytes());
            }
            self.memory
                .write(address, &bytes)
                .expect("the variable was just allocated");
        }
        for program in &mut module.programs {
            for &(constant, variable, offset) in &program.relocations {
                let value = addresses[variable as usize].wrapping_add_signed(offset);
                program.constants[constant as usize].fill(value);
            }
        }
        let with_sites = |program: Program| {
            let sites = Sites::of(&program);
            (program, sites)
        };
        self.modules
            .push(module.programs.into_iter().map(with_sites).collect());
        self.texts.push(text.to_owned());
        Ok(ModuleId(self.modules.len() as u32 - 1))
    }

    /// A module's entry.
    pub fn program(&self, module: ModuleId, kernel: &str) -> Option<&Program> {
        self.entry(module, kernel).map(|(program, _)| program)
    }

    fn entry(&self, module: ModuleId, kernel: &str) -> Option<&(Program, Sites)> {
        self.modules[module.0 as usize]
            .iter()
            .find(|(program, _)| program.name == kernel)
    }

    /// Global memory.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Resident blocks per SM, after the chip's limits and the program's modelled registers.
    pub fn blocks_per_sm(&self, program: &Program, threads: u32, dynamic_shared_bytes: u32) -> u32 {
        occupancy::blocks_per_sm(
            &self.chip.limits,
            threads,
            program.registers_per_thread,
            program.shared_bytes,
            dynamic_shared_bytes,
        )
        .blocks
    }

    /// Clusters of so many blocks that the chip holds at once, for such blocks; 0 where it has no
    /// clusters.
    pub fn active_clusters(
        &self,
        program: &Program,
        threads: u32,
        dynamic_shared_bytes: u32,
        cluster_blocks: u32,
    ) -> u32 {
        let blocks = self.blocks_per_sm(program, threads, dynamic_shared_bytes);
        occupancy::active_clusters(&self.chip, blocks, cluster_blocks)
    }

    /// Forgets what the modelled L2 holds.
    pub fn flush_l2(&mut self) {
        self.system.flush();
    }

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// [`LaunchError::Invalid`] before anything runs, or the fault that stopped it.
    pub fn launch(&mut self, module: ModuleId, launch: &Launch) -> Result<Report, LaunchError> {
        let invalid = |message: String| LaunchError::Invalid {
            kernel: launch.kernel.to_owned(),
            message,
        };
        let Some((program, sites)) = self.modules[module.0 as usize]
            .iter()
            .find(|(program, _)| program.name == launch.kernel)
        else {
            return Err(invalid("the module has no such entry".to_owned()));
        };
        check(program, launch, &self.chip).map_err(invalid)?;
        let cluster = cluster(program, launch, &self.chip).map_err(invalid)?;
        let threads = launch.block.iter().product();
        let blocks_per_sm = self.blocks_per_sm(program, threads, launch.dynamic_shared_bytes);
        if blocks_per_sm == 0 {
            return Err(invalid(format!(
                "a block of {threads} threads with {} registers each and {} bytes of shared \
                 memory does not fit on an SM of {}",
                program.registers_per_thread,
                program.shared_bytes + launch.dynamic_shared_bytes,
                self.chip.product
            )));
        }
        let shared = shared_bytes(program, launch.dynamic_shared_bytes);
        let context = LaunchContext {
            program,
            sites,
            grid: launch.grid,
            block: launch.block,
            cluster: cluster.unwrap_or([1; 3]),
            explicit_cluster: cluster.is_some(),
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            shared_bytes: shared,
            parameters: launch.parameters,
            checks: self.options.checks,
            races: (self.options.races && shared > 0).then(|| RaceCheck::of(program)),
            grid_id: self.launches,
            sms: self.chip.sms,
            max_warps_per_sm: self.chip.limits.max_warps_per_sm,
            threads,
            thread_indices: thread_indices(launch.block, threads.div_ceil(32)),
            clock_start: self.cycles,
            timer_start: self.cycles as f64 / self.chip.clock_ghz,
            clock_ghz: self.chip.clock_ghz,
        };
        let blocks = context.cluster_blocks();
        let active = match blocks {
            1 => u64::from(blocks_per_sm) * u64::from(self.chip.sms),
            _ => u64::from(occupancy::active_clusters(
                &self.chip,
                blocks_per_sm,
                blocks,
            )),
        };
        if active == 0 {
            return Err(invalid(format!(
                "no GPC of {} holds the {blocks} blocks of a cluster at once ({blocks_per_sm} on \
                 each SM): use smaller clusters, smaller blocks or less shared memory",
                self.chip.product
            )));
        }
        let places = active * u64::from(blocks);
        if launch.cooperative && context.blocks() > places {
            return Err(invalid(format!(
                "a cooperative launch needs all {} blocks resident at once; {} has room for \
                 {places} ({blocks_per_sm} on each of {} SMs{}): use at most that many blocks",
                context.blocks(),
                self.chip.product,
                self.chip.sms,
                match blocks {
                    1 => String::new(),
                    _ => format!(", {active} clusters of {blocks}"),
                }
            )));
        }
        let (memory, system) = (&mut self.memory, &mut self.system);
        let ran = if self.options.timing {
            timed::run(
                &context,
                &self.chip,
                blocks_per_sm,
                memory,
                system,
                &mut self.spare_clusters,
            )
        } else {
            untimed::run(&context, &self.chip, active, memory)
        }
        .map_err(|mut fault| {
            let text = &self.texts[module.0 as usize];
            fault.origin = fault::origin(text, fault.line);
            if let FaultKind::Deadlock {
                stall: Some(stall), ..
            } = &mut fault.kind
            {
                for wait in &mut stall.waits {
                    wait.origin = fault::origin(text, wait.line);
                }
            }
            LaunchError::Fault(fault)
        })?;
        self.launches += 1;
        self.cycles += if self.options.timing {
            ran.cycles
        } else {
            ran.warp_instructions
        };
        let timed = self.options.timing;
        Ok(Report {
            nanoseconds: timed.then(|| ran.cycles as f64 / self.chip.clock_ghz),
            warp_instructions: ran.warp_instructions,
        })
    }
}
