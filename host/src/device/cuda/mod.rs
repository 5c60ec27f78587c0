//! The GPU, through `cust` and the driver found at run time.

mod clock;
mod failure;
mod l2;
mod launch;
mod modules;
mod properties;
mod sampler;

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use clock::ClockProbe;
use cust::{
    context::{Context, CurrentContext},
    device::Device as Gpu,
    error::CudaError,
    function::BlockSize,
    memory::{self, CopyDestination, DeviceBuffer, DevicePointer, DeviceSlice},
    stream::{Stream, StreamFlags},
};
use driver::Driver;
use failure::{cust_failed, failed, launch_failed, status};
use modules::{LoadedModule, Modules};

use super::{
    Device, DeviceError, KernelAttributes, KernelReference, ModuleId, PreparedLaunch, Properties,
    Result, Sampler, Sampling,
    allocations::Allocations,
    checks::{validate, validate_capability, validate_sampling},
    modules::required_capability,
};
use crate::launch::LaunchConfig;

/// A GPU with its primary context. The fields are dropped in order, the context last.
pub struct CudaDevice {
    properties: Properties,
    driver: &'static Driver,
    modules: Modules,
    /// As large as the L2; made when a cold sampler first needs it.
    overwrite: OnceCell<RefCell<DeviceBuffer<u8>>>,
    /// Made when a sampler first needs it.
    clock: OnceCell<RefCell<ClockProbe>>,
    allocations: RefCell<Allocations>,
    stream: Stream,
    context: Context,
}

/// The properties of all GPUs, in the driver's order.
///
/// # Errors
/// [`DeviceError::Unavailable`] if there is no driver or no GPU.
pub fn list() -> Result<Vec<Properties>> {
    let (driver, count) = properties::gpus()?;
    (0..count)
        .map(|number| {
            let gpu = Gpu::get_device(number).map_err(cust_failed("a device"))?;
            properties::properties(driver, gpu)
        })
        .collect()
}

impl CudaDevice {
    /// Opens the GPU with this number, in the driver's order.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] if there is no driver or no such GPU,
    /// [`DeviceError::Unsupported`] if it cannot run the base module.
    pub fn open(number: u32) -> Result<Self> {
        let (driver, count) = properties::gpus()?;
        if number >= count {
            return Err(DeviceError::Unavailable(format!(
                "no GPU {number}: this machine has {count}, numbered from 0"
            )));
        }
        let gpu = Gpu::get_device(number).map_err(cust_failed("a device"))?;
        let properties = properties::properties(driver, gpu)?;
        let base = required_capability(kernels::handle::Target::Sm70);
        let (major, minor) = properties.compute_capability;
        if (major, minor) < base {
            return Err(DeviceError::Unsupported(format!(
                "{} has compute capability {major}.{minor}: {}.{} or later is required",
                properties.name, base.0, base.1
            )));
        }
        let context = Context::new(gpu).map_err(cust_failed("a context on the GPU"))?;
        CurrentContext::set_current(&context).map_err(cust_failed("a context on the GPU"))?;
        let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(cust_failed("a stream"))?;
        Ok(Self {
            properties,
            driver,
            modules: Modules::default(),
            overwrite: OnceCell::new(),
            clock: OnceCell::new(),
            allocations: RefCell::default(),
            stream,
            context,
        })
    }

    /// Makes this GPU's context the thread's: another one may have been used in between.
    fn make_current(&self) -> Result<()> {
        CurrentContext::set_current(&self.context).map_err(cust_failed("the GPU's context"))
    }

    /// The probe of the SM clock.
    fn clock(&self) -> Result<&RefCell<ClockProbe>> {
        if let Some(probe) = self.clock.get() {
            return Ok(probe);
        }
        let probe = ClockProbe::new(self.driver, self.properties.sms)?;
        Ok(self.clock.get_or_init(|| RefCell::new(probe)))
    }

    fn module(&self, kernel: &KernelReference) -> Result<Rc<LoadedModule>> {
        validate_capability(
            kernel,
            &self.properties.name,
            self.properties.compute_capability,
        )?;
        self.modules.of(self.driver, kernel)
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        // Modules and buffers are released in this context, whichever is current now; an error
        // could not be reported, and the driver releases all at the process's end.
        let _ = self.make_current();
        let _ = self.stream.synchronize();
        for address in self.allocations.get_mut().addresses() {
            release(address);
        }
    }
}

fn release(address: u64) {
    // SAFETY: the address came from the driver's allocator and is freed once: it is taken out of
    // `allocations` with this.
    let _ = unsafe { memory::cuda_free(DevicePointer::<u8>::from_raw(address)) };
}

/// A view of device memory that lies in a live allocation.
fn slice(address: u64, bytes: usize) -> DeviceSlice<u8> {
    // SAFETY: the caller has checked the range against the live allocations.
    unsafe { DeviceSlice::from_raw_parts(DevicePointer::from_raw(address), bytes) }
}

impl Device for CudaDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64> {
        self.make_current()?;
        let (free, _) = memory::mem_get_info().map_err(cust_failed("the free memory"))?;
        Ok(free as u64)
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<u64> {
        if bytes == 0 {
            return Ok(0);
        }
        let available = self.free_memory()?;
        if bytes > available {
            return Err(DeviceError::out_of_memory(bytes, available));
        }
        // SAFETY: nothing reads the memory before it is written: a kernel that does is at fault.
        let pointer =
            unsafe { memory::cuda_malloc::<u8>(bytes as usize) }.map_err(|error| match error {
                CudaError::OutOfMemory => DeviceError::out_of_memory(bytes, available),
                error => failed(&format!("allocating {bytes} bytes"), status(error)),
            })?;
        let address = pointer.as_raw();
        self.allocations.borrow_mut().insert(address, bytes);
        Ok(address)
    }

    fn free_bytes(&self, address: u64) {
        if self.allocations.borrow_mut().remove(address) && self.make_current().is_ok() {
            release(address);
        }
    }

    fn write_bytes(&self, address: u64, data: &[u8]) -> Result<()> {
        let what = "copy to the device";
        self.allocations
            .borrow()
            .check(what, address, data.len() as u64)?;
        self.make_current()?;
        slice(address, data.len())
            .copy_from(data)
            .map_err(cust_failed(what))
    }

    fn read_bytes(&self, address: u64, data: &mut [u8]) -> Result<()> {
        let what = "copy from the device";
        self.allocations
            .borrow()
            .check(what, address, data.len() as u64)?;
        self.make_current()?;
        slice(address, data.len())
            .copy_to(data)
            .map_err(cust_failed(what))
    }

    fn fill_bytes(&self, address: u64, bytes: u64, value: u8) -> Result<()> {
        let what = "fill on the device";
        self.allocations.borrow().check(what, address, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        self.make_current()?;
        slice(address, bytes as usize)
            .set_8(value)
            .map_err(cust_failed(what))
    }

    fn load_module(&self, ptx: &str) -> Result<ModuleId> {
        self.make_current()?;
        self.modules.add(self.driver, ptx)
    }

    fn kernel_attributes(&self, kernel: &KernelReference) -> Result<KernelAttributes> {
        self.make_current()?;
        let module = self.module(kernel)?;
        modules::attributes(kernel, &modules::function(&module, kernel)?)
    }

    fn blocks_per_sm(
        &self,
        kernel: &KernelReference,
        threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32> {
        let attributes = self.kernel_attributes(kernel)?;
        let config = LaunchConfig::new(1, threads).with_dynamic_shared(dynamic_shared_bytes);
        let limits = &self.properties.limits;
        if config.validate(limits, &attributes).is_err() {
            return Ok(0);
        }
        let module = self.module(kernel)?;
        let function = modules::function(&module, kernel)?;
        let failed = |status| failed(&format!("occupancy of kernel {}", kernel.name()), status);
        self.allow(&function, &config, &attributes)
            .map_err(failed)?;
        function
            .max_active_blocks_per_multiprocessor(
                BlockSize::x(threads),
                dynamic_shared_bytes as usize,
            )
            .map_err(|error| failed(status(error)))
    }

    fn active_clusters(&self, kernel: &KernelReference, config: &LaunchConfig) -> Result<u32> {
        let attributes = self.kernel_attributes(kernel)?;
        let limits = &self.properties.limits;
        if config.validate(limits, &attributes).is_err() {
            return Ok(0);
        }
        if limits.max_cluster == 0 {
            let threads = u32::try_from(config.block.count()).unwrap_or(u32::MAX);
            let blocks = self.blocks_per_sm(kernel, threads, config.dynamic_shared_bytes)?;
            return Ok(blocks * self.properties.sms);
        }
        let module = self.module(kernel)?;
        let function = modules::function(&module, kernel)?;
        let failed = |status| {
            let what = format!("the number of clusters of kernel {}", kernel.name());
            failed(&what, status)
        };
        self.allow(&function, config, &attributes)
            .and_then(|()| self.count_active_clusters(&function, config))
            .map_err(failed)
    }

    fn launch_prepared(&self, launch: &PreparedLaunch) -> Result<()> {
        self.make_current()?;
        let attributes = validate(self, launch)?;
        self.opt_in(launch, &attributes)?;
        self.enqueue(launch)?;
        self.stream
            .synchronize()
            .map_err(|error| launch_failed(launch)(status(error)))
    }

    fn sampler(
        &self,
        sequence: &[PreparedLaunch],
        sampling: Sampling,
    ) -> Result<Box<dyn Sampler + '_>> {
        self.make_current()?;
        validate_sampling(sequence, sampling)?;
        for launch in sequence {
            let attributes = validate(self, launch)?;
            self.opt_in(launch, &attributes)?;
        }
        Ok(Box::new(sampler::CudaSampler::new(
            self, sequence, sampling,
        )?))
    }
}
