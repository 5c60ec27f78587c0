//! The device that a program's options choose, and how its configurations are spread over cores.

use std::{num::NonZeroUsize, rc::Rc, thread};

use crate::{
    device::{
        self, Device,
        select::{self, Selection},
    },
    experiments::Devices,
    host_memory,
};

/// An opened device.
pub struct Session {
    device: Rc<dyn Device>,
    selection: Selection,
    open: Box<dyn Fn() -> device::Result<Rc<dyn Device>> + Sync>,
    notice: Option<String>,
}

impl Session {
    /// Opens the device of `--device`.
    pub fn open(selection: Selection) -> device::Result<Self> {
        let opened = select::open(selection)?;
        let selection = opened.selection;
        Ok(Self {
            device: opened.device,
            selection,
            open: Box::new(move || Ok(select::open(selection)?.device)),
            notice: opened.notice,
        })
    }

    /// The device.
    pub fn device(&self) -> &Rc<dyn Device> {
        &self.device
    }

    /// What the reader should know about the choice, for standard error.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// The devices for configurations that need so many bytes of device memory at most: a GPU
    /// alone, or a simulated device for each core that host memory allows.
    pub fn devices(&self, required: u64) -> Devices<'_> {
        if !matches!(self.selection, Selection::Simulator(_)) {
            return Devices::One(Rc::clone(&self.device));
        }
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let count = host_memory::available().map_or(cores, |available| {
            host_memory::simulations(required, available).min(cores)
        });
        Devices::Many {
            count,
            open: &*self.open,
        }
    }
}
