//! A device for tests: memory in maps, kernels as closures over it, faults on demand.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use crate::{
    device::{
        Device, DeviceError, KernelAttributes, KernelReference, LaunchLimits, ModuleId,
        PreparedLaunch, Properties, Result, Sample, Sampler, Sampling,
    },
    launch::LaunchConfig,
    report::Row,
};

/// What a launch does to the fake's memory.
pub(crate) type Execute = dyn Fn(&Fake, &PreparedLaunch) -> Result<()>;

pub(crate) struct Fake {
    pub(crate) properties: Properties,
    pub(crate) free: Cell<u64>,
    pub(crate) allocations: RefCell<BTreeMap<u64, Vec<u8>>>,
    pub(crate) allocated: Cell<u32>,
    pub(crate) launches: Cell<u32>,
    pub(crate) samples: Cell<u32>,
    pub(crate) clock_khz: Cell<Option<u32>>,
    next: Cell<u64>,
    execute: Box<Execute>,
}

impl Fake {
    /// A device that runs nothing.
    pub(crate) fn idle() -> Rc<dyn Device> {
        Self::with(|_, _| Ok(()))
    }

    /// A device that runs `execute` for each launch.
    pub(crate) fn with(
        execute: impl Fn(&Self, &PreparedLaunch) -> Result<()> + 'static,
    ) -> Rc<Self> {
        Rc::new(Self {
            properties: Properties {
                name: "fake".to_string(),
                modelled: false,
                compute_capability: (9, 0),
                sms: 4,
                clock_khz: 1_000_000,
                l2_bytes: 1 << 10,
                memory_bytes: 1 << 32,
                peak_gb_per_s: Some(100.0),
                limits: LaunchLimits {
                    max_grid: [i32::MAX as u32, 65535, 65535],
                    max_block: [1024, 1024, 64],
                    max_threads_per_block: 1024,
                    max_threads_per_sm: 2048,
                    warp_size: 32,
                    shared_per_block: 48 << 10,
                    shared_per_block_optin: 227 << 10,
                    cooperative: true,
                    max_cluster: 0,
                },
                driver: None,
            },
            free: Cell::new(1 << 30),
            allocations: RefCell::default(),
            allocated: Cell::new(0),
            launches: Cell::new(0),
            samples: Cell::new(0),
            clock_khz: Cell::new(Some(1_000_000)),
            next: Cell::new(1 << 40),
            execute: Box::new(execute),
        })
    }

    pub(crate) fn f32(&self, address: u64) -> f32 {
        let mut bytes = [0; 4];
        self.read_bytes(address, &mut bytes).unwrap();
        f32::from_le_bytes(bytes)
    }

    pub(crate) fn set_f32(&self, address: u64, value: f32) {
        self.write_bytes(address, &value.to_le_bytes()).unwrap();
    }

    fn range<R>(
        &self,
        address: u64,
        bytes: usize,
        action: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let mut allocations = self.allocations.borrow_mut();
        let (base, memory) = allocations
            .range_mut(..=address)
            .next_back()
            .ok_or_else(|| DeviceError::Failed(format!("{address:#x} is in no allocation")))?;
        let first = (address - base) as usize;
        let range = memory.get_mut(first..first + bytes).ok_or_else(|| {
            DeviceError::Failed(format!("{bytes} bytes at {address:#x} are out of bounds"))
        })?;
        Ok(action(range))
    }
}

impl Device for Fake {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<u64> {
        Ok(self.free.get())
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<u64> {
        self.allocated.set(self.allocated.get() + 1);
        let address = self.next.get();
        self.next
            .set(address + (bytes + 1).next_multiple_of(256) + 256);
        self.free.set(self.free.get() - bytes);
        self.allocations
            .borrow_mut()
            .insert(address, vec![0xcd; bytes as usize]);
        Ok(address)
    }

    fn free_bytes(&self, address: u64) {
        let memory = self
            .allocations
            .borrow_mut()
            .remove(&address)
            .expect("freed once");
        self.free.set(self.free.get() + memory.len() as u64);
    }

    fn write_bytes(&self, address: u64, data: &[u8]) -> Result<()> {
        self.range(address, data.len(), |range| range.copy_from_slice(data))
    }

    fn read_bytes(&self, address: u64, data: &mut [u8]) -> Result<()> {
        self.range(address, data.len(), |range| data.copy_from_slice(range))
    }

    fn fill_bytes(&self, address: u64, bytes: u64, value: u8) -> Result<()> {
        self.range(address, bytes as usize, |range| range.fill(value))
    }

    fn load_module(&self, _: &str) -> Result<ModuleId> {
        Ok(ModuleId(0))
    }

    fn kernel_attributes(&self, _: &KernelReference) -> Result<KernelAttributes> {
        Ok(KernelAttributes {
            registers: 16,
            static_shared_bytes: 0,
            local_bytes: 0,
            max_threads_per_block: 1024,
        })
    }

    fn blocks_per_sm(&self, _: &KernelReference, threads: u32, _: u32) -> Result<u32> {
        Ok((2048 / threads.next_multiple_of(32)).min(32))
    }

    fn active_clusters(&self, kernel: &KernelReference, config: &LaunchConfig) -> Result<u32> {
        self.blocks_per_sm(kernel, config.block.x, config.dynamic_shared_bytes)
    }

    fn launch_prepared(&self, launch: &PreparedLaunch) -> Result<()> {
        self.launches.set(self.launches.get() + 1);
        if launch.config.block.x > 1024 {
            return Err(DeviceError::InvalidLaunch {
                kernel: "k".to_string(),
                message: format!("block x is {}, the limit is 1024", launch.config.block.x),
            });
        }
        (self.execute)(self, launch)
    }

    fn sampler(&self, sequence: &[PreparedLaunch], _: Sampling) -> Result<Box<dyn Sampler + '_>> {
        Ok(Box::new(FakeSampler(self, sequence.to_vec())))
    }
}

struct FakeSampler<'a>(&'a Fake, Vec<PreparedLaunch>);

impl Sampler for FakeSampler<'_> {
    /// 1 second, so that ten samples meet the stop rule.
    fn sample(&mut self) -> Result<Sample> {
        self.0.samples.set(self.0.samples.get() + 1);
        for launch in &self.1 {
            self.0.launch_prepared(launch)?;
        }
        Ok(Sample {
            nanoseconds: 1e9,
            clock_khz: self.0.clock_khz.get(),
        })
    }
}

/// A row about nothing.
pub(crate) fn row() -> Row {
    Row::outline("k", 0, 1.into(), 32.into())
}
