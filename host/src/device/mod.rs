//! Devices: what experiments run on. A device executes and times; it decides no policy.

use std::{marker::PhantomData, rc::Rc};

use bytemuck::Pod;
use kernels::handle::{Declaration, Kernel};

use crate::launch::LaunchConfig;

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
}

/// What can go wrong on a device.
#[derive(Debug, thiserror::Error)]
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
    /// No such device.
    #[error("{0}")]
    Unavailable(String),
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
    /// The L2 is overwritten before the sample; one launch, queued behind that overwrite, between
    /// two events.
    Cold,
    /// A graph of so many back-to-back launches is replayed; the sample is its time divided by them.
    Hot { launches: u32 },
}

/// A prepared series of launches that can be sampled over and over.
pub trait Sampler {
    /// Runs once and gives the time of one launch.
    fn sample(&mut self) -> Result<Sample>;
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time of one launch in nanoseconds, by the device.
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
    /// Resident blocks per SM for a block of so many threads and bytes of dynamic shared memory.
    fn blocks_per_sm(
        &self,
        kernel: &KernelReference,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32>;
    /// Validates and launches, then waits; a fault is reported here.
    fn launch_prepared(&self, launch: &PreparedLaunch) -> Result<()>;
    /// Prepares sampling of a launch. The launch has run once with success before.
    fn sampler(&self, launch: &PreparedLaunch, sampling: Sampling)
    -> Result<Box<dyn Sampler + '_>>;
}

/// Memory on a device for `len` values of `T`; freed on drop.
pub struct Buffer<T> {
    device: Rc<dyn Device>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.free_bytes(self.address);
    }
}

impl<T: Pod> Buffer<T> {
    /// Uninitialised memory for `len` values.
    pub fn new(device: &Rc<dyn Device>, len: usize) -> Result<Self> {
        let address = device.allocate_bytes((len * size_of::<T>()) as u64)?;
        Ok(Self {
            device: Rc::clone(device),
            address,
            len,
            element: PhantomData,
        })
    }

    /// Memory with a copy of `values`.
    pub fn from_slice(device: &Rc<dyn Device>, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, values.len())?;
        device.write_bytes(buffer.address, bytemuck::cast_slice(values))?;
        Ok(buffer)
    }

    /// A copy of the contents.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); self.len];
        self.device
            .read_bytes(self.address, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Sets every byte, for example to poison an output.
    pub fn fill(&mut self, byte: u8) -> Result<()> {
        self.device
            .fill_bytes(self.address, (self.len * size_of::<T>()) as u64, byte)
    }

    /// Address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument that may be passed for a kernel parameter of type `P`.
pub trait Argument<P> {
    /// The argument's bits, in the low end.
    fn bits(&self) -> u64;
}

macro_rules! scalar_arguments {
    ($($ty:ty => $bits:expr),* $(,)?) => {$(
        impl Argument<$ty> for $ty {
            fn bits(&self) -> u64 {
                let convert: fn($ty) -> u64 = $bits;
                convert(*self)
            }
        }
    )*};
}

scalar_arguments! {
    u32 => u64::from,
    i32 => |value| u64::from(value as u32),
    u64 => |value| value,
    i64 => |value| value as u64,
    f32 => |value| u64::from(value.to_bits()),
    f64 => f64::to_bits,
}

impl<T> Argument<*const T> for &Buffer<T> {
    fn bits(&self) -> u64 {
        self.address
    }
}

impl<T> Argument<*mut T> for &mut Buffer<T> {
    fn bits(&self) -> u64 {
        self.address
    }
}

/// A tuple of arguments that fits a kernel's signature.
pub trait Arguments<Signature> {
    /// The arguments' bits in order.
    fn bits(&self) -> Vec<u64>;
}

macro_rules! tuples {
    ($($argument:ident $parameter:ident $index:tt),*) => {
        impl<$($argument, $parameter),*> Arguments<($($parameter,)*)> for ($($argument,)*)
        where
            $($argument: Argument<$parameter>),*
        {
            fn bits(&self) -> Vec<u64> {
                vec![$(self.$index.bits()),*]
            }
        }
    };
}

impl Arguments<()> for () {
    fn bits(&self) -> Vec<u64> {
        Vec::new()
    }
}

tuples!(A0 P0 0);
tuples!(A0 P0 0, A1 P1 1);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7);

/// Binds a kernel, a geometry and arguments, checked against the kernel's declaration by the
/// compiler. Validation against the device happens at the launch.
pub fn prepare<Signature>(
    kernel: Kernel<Signature>,
    config: LaunchConfig,
    arguments: impl Arguments<Signature>,
) -> PreparedLaunch {
    PreparedLaunch {
        kernel: KernelReference::Declared(kernel.declaration()),
        config,
        arguments: arguments.bits(),
    }
}

impl dyn Device {
    /// Launches and waits.
    pub fn launch<Signature>(
        &self,
        kernel: Kernel<Signature>,
        config: LaunchConfig,
        arguments: impl Arguments<Signature>,
    ) -> Result<()> {
        self.launch_prepared(&prepare(kernel, config, arguments))
    }
}
