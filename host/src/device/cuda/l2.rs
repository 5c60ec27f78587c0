//! Emptying the L2: a buffer of its size is overwritten.

use std::cell::RefCell;

use cust::memory::DeviceBuffer;

use super::{CudaDevice, failure::cust_failed};
use crate::device::{Device, DeviceError, Result};

impl CudaDevice {
    /// The buffer whose overwriting empties the L2 of everything else.
    pub(super) fn l2_overwrite_buffer(&self) -> Result<&RefCell<DeviceBuffer<u8>>> {
        if let Some(buffer) = self.overwrite.get() {
            return Ok(buffer);
        }
        self.make_current()?;
        let bytes = self.properties.l2_bytes.max(1);
        let available = self.free_memory()?;
        if bytes > available {
            return Err(DeviceError::out_of_memory(bytes, available));
        }
        let buffer = DeviceBuffer::zeroed(bytes as usize)
            .map_err(cust_failed("a buffer of the L2's size"))?;
        Ok(self.overwrite.get_or_init(|| RefCell::new(buffer)))
    }

    /// Queues one overwrite of the L2.
    pub(super) fn overwrite_l2(&self) -> Result<()> {
        let mut buffer = self.l2_overwrite_buffer()?.borrow_mut();
        // SAFETY: bytes may have any value; the buffer lives as long as the device, whose stream
        // this is.
        unsafe { buffer.set_8_async(0x5a, &self.stream) }.map_err(cust_failed("overwriting the L2"))
    }

    /// How many overwrites of the L2 take at least this long, even if each ran at twice the
    /// memory's peak bandwidth, as one that stays in the cache may.
    pub(super) fn overwrites_for(&self, nanoseconds: f64) -> u32 {
        let bytes_per_ns = 2.0 * self.properties.peak_gb_per_s.unwrap_or(1000.0);
        let one = self.properties.l2_bytes.max(1) as f64 / bytes_per_ns;
        (nanoseconds / one).ceil().clamp(1.0, 1000.0) as u32
    }
}
