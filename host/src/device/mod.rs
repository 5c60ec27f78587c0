//! Devices: what experiments run on. A device executes and times; it decides no policy.

mod allocations;
mod arguments;
mod buffer;
mod checks;
pub mod cuda;
pub mod modules;
pub mod select;
pub mod simulated;

use kernels::handle::Declaration;

pub use arguments::{Argument, Arguments, prepare};
pub use buffer::Buffer;

use crate::launch::{LaunchConfig, LaunchError};

/// What a device is and what bounds a launch on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Properties {
    /// Product name, for example `NVIDIA H200`.
    pub name: String,
    /// Whether times are modelled (a simulator) rather than measured.
    pub modelled: bool,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub sms: u32,
    /// SM clock in kHz: the default (boost) clock on a GPU.
    pub clock_khz: u32,
    /// L2 cache in bytes.
    pub l2_bytes: u64,
    /// Device memory in bytes.
    pub memory_bytes: u64,
    /// Peak memory bandwidth in GB/s (1e9 bytes/s); `None` where the driver does not tell.
    pub peak_gb_per_s: Option<f64>,
    /// Limits of a launch.
    pub limits: LaunchLimits,
    /// Driver version as (major, minor) of the CUDA version it supports; `None` for a simulator.
    pub driver: Option<(u32, u32)>,
}

/// Limits that a launch is validated against.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LaunchLimits {
    pub max_grid: [u32; 3],
    pub max_block: [u32; 3],
    pub max_threads_per_block: u32,
    pub max_threads_per_sm: u32,
    pub warp_size: u32,
    /// Shared memory per block without opting in, in bytes.
    pub shared_per_block: u32,
    /// Shared memory per block with the opt-in, in bytes.
    pub shared_per_block_optin: u32,
    pub cooperative: bool,
    /// Blocks per cluster, at most; 0 where the device has no clusters (below compute capability
    /// 9.0). More than [`crate::launch::PORTABLE_CLUSTER_BLOCKS`] is not portable.
    pub max_cluster: u32,
}

/// What can go wrong on a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum DeviceError {
    /// The launch breaks a limit: nothing was launched.
    #[error("kernel {kernel}: {message}")]
    InvalidLaunch { kernel: String, message: String },
    /// Not enough device memory; nothing was allocated.
    #[error("{required} bytes of device memory are required, {available} are free: {hint}")]
    OutOfMemory {
        required: u64,
        available: u64,
        hint: String,
    },
    /// The device has no such ability; the reason says which is required.
    #[error("not supported on this device: {0}")]
    Unsupported(String),
    /// The driver or the simulator reported a failure during module load, copy or launch.
    #[error("{0}")]
    Failed(String),
    /// The simulator found a data race; the text names both sides. A GPU does not notice one.
    #[error("{0}")]
    DataRace(String),
    /// The simulator found that a launch can never end. A GPU hangs instead.
    #[error("{text}")]
    Deadlock {
        /// Which warps wait where.
        text: String,
        /// Blocks that are resident and wait.
        waiting: u64,
        /// Blocks that never became resident.
        never_started: u64,
    },
    /// No such device.
    #[error("{0}")]
    Unavailable(String),
}

impl DeviceError {
    /// A launch of `kernel` that validation refuses.
    pub fn refused(kernel: &str, error: &LaunchError) -> Self {
        match error {
            LaunchError::CooperativeUnsupported | LaunchError::ClusterUnsupported => {
                Self::Unsupported(format!("kernel {kernel}: {error}"))
            }
            error => Self::InvalidLaunch {
                kernel: kernel.to_owned(),
                message: error.to_string(),
            },
        }
    }

    /// More memory than is free.
    pub fn out_of_memory(required: u64, available: u64) -> Self {
        Self::OutOfMemory {
            required,
            available,
            hint: "use fewer elements, or free memory that other programs hold on the device"
                .to_owned(),
        }
    }
}

/// Result of a device operation.
pub type Result<T> = std::result::Result<T, DeviceError>;

/// Attributes of a kernel as loaded on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelAttributes {
    /// 32-bit registers per thread (on the simulator: estimated).
    pub registers: u32,
    /// Static shared memory per block in bytes.
    pub static_shared_bytes: u32,
    /// Local memory per thread in bytes.
    pub local_bytes: u32,
    /// The most threads a block may have.
    pub max_threads_per_block: u32,
}

/// A module loaded with [`Device::load_module`], valid on that device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u32);

/// Which kernel a launch runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelReference {
    /// One of warplab's own; its module is loaded when first needed.
    Declared(&'static Declaration),
    /// An entry of a module given as text.
    Loaded {
        /// The module.
        module: ModuleId,
        /// The `.entry`'s name.
        name: String,
        /// Size of each parameter in bytes: 1, 2, 4 or 8.
        parameter_bytes: Vec<usize>,
    },
}

impl KernelReference {
    /// The `.entry`'s name.
    pub fn name(&self) -> &str {
        match self {
            Self::Declared(declaration) => declaration.name,
            Self::Loaded { name, .. } => name,
        }
    }

    /// Size of each parameter in bytes.
    pub fn parameter_bytes(&self) -> Vec<usize> {
        match self {
            Self::Declared(declaration) => declaration
                .parameters
                .iter()
                .map(|parameter| parameter.ty.size())
                .collect(),
            Self::Loaded {
                parameter_bytes, ..
            } => parameter_bytes.clone(),
        }
    }
}

/// A launch with its arguments as bytes, ready to be repeated.
#[derive(Debug, Clone)]
pub struct PreparedLaunch {
    /// The kernel.
    pub kernel: KernelReference,
    /// Geometry.
    pub config: LaunchConfig,
    /// One value per parameter: its little-endian bytes in the low end.
    pub arguments: Vec<u64>,
}

/// How device times are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// The L2 is overwritten before the sample; the sequence runs once, queued behind that
    /// overwrite, between two events.
    Cold,
    /// A graph that holds the sequence so many times, back to back, is replayed; the sample is its
    /// time divided by them.
    Hot {
        /// How many times, at least 1.
        launches: u32,
    },
    /// So many launches are queued on an idle stream one after the other, between two events; the
    /// sample is the time divided by them. Where the host takes longer to queue a launch than the
    /// device to run it, this is the host's time. The first launch's latency is in it, too.
    Stream {
        /// How many, at least 1.
        launches: u32,
    },
}

impl Sampling {
    /// Launches in one sample.
    pub fn launches(self) -> u32 {
        match self {
            Self::Cold => 1,
            Self::Hot { launches } | Self::Stream { launches } => launches,
        }
    }
}

/// Launches that follow each other, prepared to be sampled over and over.
pub trait Sampler {
    /// Runs the sequence and gives its time.
    fn sample(&mut self) -> Result<Sample>;
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time of the sequence in nanoseconds, by the device.
    pub nanoseconds: f64,
    /// SM clock over the sample in kHz.
    pub clock_khz: Option<u32>,
}

/// A device, in terms of bytes and addresses. Use the typed functions of `dyn Device`.
pub trait Device {
    /// What it is.
    fn properties(&self) -> &Properties;
    /// Free device memory in bytes.
    fn free_memory(&self) -> Result<u64>;
    /// Allocates uninitialised memory, aligned to 256 bytes; 0 bytes are allowed.
    fn allocate_bytes(&self, bytes: u64) -> Result<u64>;
    /// Frees what `allocate_bytes` gave. Errors are not reported: it is called on drop.
    fn free_bytes(&self, address: u64);
    /// Copies to the device.
    fn write_bytes(&self, address: u64, data: &[u8]) -> Result<()>;
    /// Copies from the device, after everything launched before has finished.
    fn read_bytes(&self, address: u64, data: &mut [u8]) -> Result<()>;
    /// Sets every byte.
    fn fill_bytes(&self, address: u64, bytes: u64, value: u8) -> Result<()>;
    /// Loads a module from PTX text.
    fn load_module(&self, ptx: &str) -> Result<ModuleId>;
    /// Attributes of a kernel.
    fn kernel_attributes(&self, kernel: &KernelReference) -> Result<KernelAttributes>;
    /// Resident blocks per SM for a block of so many threads and bytes of dynamic shared memory;
    /// 0 if such a block breaks a limit.
    fn blocks_per_sm(
        &self,
        kernel: &KernelReference,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32>;
    /// How many of a launch's clusters are resident at once on the whole device; 0 if not even one
    /// fits, or if the launch breaks a limit. Blocks of a launch without clusters count as clusters
    /// of one.
    fn active_clusters(&self, kernel: &KernelReference, config: &LaunchConfig) -> Result<u32>;
    /// Validates and launches, then waits; a fault is reported here.
    fn launch_prepared(&self, launch: &PreparedLaunch) -> Result<()>;
    /// Validates the launches of a sequence and prepares to sample it. Every sample runs it; the
    /// first one may be the first run of all, whose time holds what a GPU does once (loading code).
    fn sampler(
        &self,
        sequence: &[PreparedLaunch],
        sampling: Sampling,
    ) -> Result<Box<dyn Sampler + '_>>;
}
