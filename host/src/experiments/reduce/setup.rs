//! A configuration's memory and launches.

use std::rc::Rc;

use kernels::handle::Declaration;

use super::{
    element::{ElementType, Input, Operation, Value},
    variants::{LaunchKind, Places, Scheme, Variant, sequence},
};
use crate::{
    device::{Buffer, Device, DeviceError, KernelReference, PreparedLaunch, Result},
    experiments::{
        memory::ALIGNMENT,
        verify::{self, GUARD},
    },
    launch::{LaunchConfig, LaunchError},
    random::Stream,
};

/// Byte that results are filled with before a launch. Not 0xff, which is what some reductions of
/// nothing give.
const POISON: u8 = 0xcd;

/// One reduction.
#[derive(Debug, Clone, Copy)]
pub struct Configuration {
    /// How.
    pub variant: &'static Variant,
    /// By which kernel.
    pub kernel: &'static Declaration,
    /// To what.
    pub operation: Operation,
    /// Of what.
    pub element: ElementType,
    /// Elements.
    pub n: u64,
    /// Threads per block.
    pub block: u32,
    /// Blocks per cluster, where the variant is launched in clusters.
    pub cluster: Option<u32>,
    /// Blocks, where they shall not follow from the size.
    pub grid: Option<u32>,
}

/// Threads per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// What suits the size, as measured on an H200.
    Automatic,
    /// So many.
    Given(u32),
}

/// The block that suits a size, as measured on an H200 with `gather` and `overlapped`.
pub fn automatic_block(n: u64, element: ElementType) -> u32 {
    const KIB: u64 = 1 << 10;
    match n.saturating_mul(element.bytes()).div_ceil(KIB) {
        // One block: handing over results would take longer than it takes to read all.
        0..=16 => 256,
        17..=64 => 1024,
        // Blocks small enough that each SM gets some.
        65..=512 => 128,
        513..=8192 => 256,
        _ => 1024,
    }
}

/// How often a graph holds a reduction of so many bytes: short ones more often, so that a replay
/// outlasts what its two events cost.
pub fn hot_launches(bytes: u64) -> u32 {
    if bytes > 64 << 20 { 8 } else { 40 }
}

/// Device memory in bytes for the arrays of a size. The results of blocks or threads, of which as
/// many as are resident, are small beside the rounding of allocations.
pub(super) fn required(element: ElementType, n: u64) -> u64 {
    n.saturating_mul(element.bytes() * arrays(element))
        .saturating_add(ALIGNMENT * (arrays(element) + 6))
}

/// The largest size in so many bytes of device memory.
pub(super) fn largest(element: ElementType, bytes: u64) -> u64 {
    bytes.saturating_sub(required(element, 0)) / (element.bytes() * arrays(element))
}

/// One array of each input: sums of floats are verified with whole numbers, too.
const fn arrays(element: ElementType) -> u64 {
    if element.is_float() { 2 } else { 1 }
}

/// The inputs on the device.
pub struct Arrays {
    element: ElementType,
    n: u64,
    random: Buffer<u8>,
    whole: Option<Buffer<u8>>,
}

impl Arrays {
    /// Allocates the inputs and writes them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(device: &Rc<dyn Device>, element: ElementType, n: u64, seed: u64) -> Result<Self> {
        let fill = |input| -> Result<Buffer<u8>> {
            let bytes = usize::try_from(n.saturating_mul(element.bytes()))
                .map_err(|_| DeviceError::Failed("more bytes than can be addressed".to_owned()))?;
            let buffer = Buffer::new(device, bytes)?;
            let (address, stream) = (buffer.address(), stream(seed));
            match element {
                ElementType::I32 => write::<i32>(&**device, address, n, input, stream),
                ElementType::U32 => write::<u32>(&**device, address, n, input, stream),
                ElementType::I64 => write::<i64>(&**device, address, n, input, stream),
                ElementType::F32 => write::<f32>(&**device, address, n, input, stream),
                ElementType::F64 => write::<f64>(&**device, address, n, input, stream),
            }?;
            Ok(buffer)
        };
        Ok(Self {
            element,
            n,
            random: fill(Input::Random)?,
            whole: element.is_float().then(|| fill(Input::Whole)).transpose()?,
        })
    }

    /// Whether these are the inputs of a configuration.
    pub fn fit(&self, configuration: &Configuration) -> bool {
        self.element == configuration.element && self.n == configuration.n
    }

    /// Whether there are such inputs.
    pub fn has(&self, input: Input) -> bool {
        input == Input::Random || self.whole.is_some()
    }

    fn address(&self, input: Input) -> u64 {
        match (input, &self.whole) {
            (Input::Whole, Some(whole)) => whole.address(),
            _ => self.random.address(),
        }
    }
}

/// The stream of the inputs of a seed.
pub(super) fn stream(seed: u64) -> Stream {
    Stream::new(seed, 0)
}

fn write<T: Value>(
    device: &dyn Device,
    address: u64,
    n: u64,
    input: Input,
    stream: Stream,
) -> Result<()> {
    verify::write_elements(device, address, n, |index| T::of(input, stream, index))
}

/// A configuration with its geometry and the memory that its launches need besides the inputs.
pub struct Bound {
    configuration: Configuration,
    config: LaunchConfig,
    partials: Buffer<u8>,
    scratch: Buffer<u64>,
    result: Buffer<u8>,
}

impl Bound {
    /// Settles the geometry, and allocates. The number of blocks is that of the configuration, or
    /// what the device holds at once and the size has work for.
    ///
    /// # Errors
    /// Those of the device; [`DeviceError::Unsupported`] where it cannot run the kernel.
    pub fn new(device: &Rc<dyn Device>, configuration: Configuration) -> Result<Self> {
        let Configuration {
            variant,
            element,
            n,
            kernel,
            block,
            grid,
            cluster,
            ..
        } = configuration;
        let shared = if variant.shared {
            block.saturating_mul(element.bytes() as u32)
        } else {
            0
        };
        let reference = KernelReference::Declared(kernel);
        let mut config = LaunchConfig::new(1, block).with_dynamic_shared(shared);
        config = match (variant.launch, cluster) {
            (LaunchKind::Cooperative, _) => config.cooperative(),
            (LaunchKind::Overlapping, _) => config.overlapping(),
            (LaunchKind::Clustered, Some(blocks)) => LaunchConfig {
                grid: blocks.into(),
                ..config.with_cluster(blocks)
            },
            (LaunchKind::Plain | LaunchKind::Clustered, _) => config,
        };
        let unit = config.grid.x;
        let resident = match config.cluster {
            Some(_) if device.properties().limits.max_cluster == 0 => {
                let error = LaunchError::ClusterUnsupported;
                return Err(DeviceError::refused(kernel.name, &error));
            }
            Some(_) => u64::from(device.active_clusters(&reference, &config)?) * u64::from(unit),
            None => {
                let per_sm = device.blocks_per_sm(&reference, block, shared)?;
                u64::from(per_sm) * u64::from(device.properties().sms)
            }
        };
        let blocks = grid.map_or_else(|| variant.blocks(n, element, block, resident), u64::from);
        // Whole clusters; what cannot be launched is refused with its reason.
        let blocks = blocks.next_multiple_of(u64::from(unit.max(1)));
        config.grid = u32::try_from(blocks).unwrap_or(u32::MAX).into();
        let bytes = variant.partials(&config) * element.bytes();
        let words = variant.scratch_words(&config);
        if grid.is_some() {
            let attributes = device.kernel_attributes(&reference)?;
            config
                .validate(&device.properties().limits, &attributes)
                .map_err(|error| DeviceError::refused(kernel.name, &error))?;
            let (required, available) = (bytes + 8 * words, device.free_memory()?);
            if required > available {
                return Err(DeviceError::OutOfMemory {
                    required,
                    available,
                    hint: format!("{blocks} blocks hand over a result each: give a smaller --grid"),
                });
            }
        }
        let mut scratch = Buffer::new(device, words as usize)?;
        scratch.fill(0)?;
        Ok(Self {
            configuration,
            config,
            partials: Buffer::new(device, bytes as usize)?,
            scratch,
            result: Buffer::new(device, (element.bytes() + GUARD) as usize)?,
        })
    }

    /// What is bound.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The geometry of the first launch that reads the elements.
    pub fn config(&self) -> &LaunchConfig {
        &self.config
    }

    /// The launches over one of the inputs.
    pub fn sequence(&self, arrays: &Arrays, input: Input) -> Vec<PreparedLaunch> {
        let Configuration {
            variant,
            kernel,
            element,
            n,
            ..
        } = self.configuration;
        let places = Places {
            x: arrays.address(input),
            partials: self.partials.address(),
            scratch: self.scratch.address(),
            result: self.result.address(),
        };
        sequence(variant, kernel, element, self.config, n, places)
    }

    /// Overwrites the results of earlier runs.
    pub fn poison(&mut self) -> Result<()> {
        self.result.fill(POISON)?;
        self.partials.fill(POISON)
    }

    /// The result as the type's bits. Of a plain read the values of all threads, summed here.
    pub fn result(&self) -> Result<u64> {
        let element = self.configuration.element;
        if self.configuration.variant.scheme == Scheme::Read {
            return Ok(element.sum_of(&self.partials.to_vec()?));
        }
        let mut bits = [0; 8];
        let bytes = element.bytes() as usize;
        bits[..bytes].copy_from_slice(&self.result.to_vec()?[..bytes]);
        Ok(u64::from_le_bytes(bits))
    }

    /// The first byte behind the result that was overwritten, if any.
    pub fn overwritten(&self) -> Result<Option<usize>> {
        let bytes = self.result.to_vec()?;
        let guard = &bytes[self.configuration.element.bytes() as usize..];
        Ok(guard.iter().position(|byte| *byte != POISON))
    }
}
