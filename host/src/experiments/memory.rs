//! Whether a configuration's arrays fit, before any of them is allocated.

use super::Failure;
use crate::{
    device::{Device, DeviceError},
    host_memory,
    report::{Cache, Stage},
};

/// What allocations may be rounded up to, each: a CUDA driver hands out pieces of 2 MiB.
pub(super) const ALIGNMENT: u64 = 2 << 20;

/// Checks that so many bytes fit on the device besides what cold samples overwrite, and in the
/// host's memory where the device is simulated. `hint` says what to do, from the bytes that are
/// there for the arrays.
pub(super) fn require(
    device: &dyn Device,
    bytes: u64,
    cache: Cache,
    hint: impl FnOnce(u64) -> String,
) -> Result<(), Failure> {
    let properties = device.properties();
    // Cold samples overwrite a buffer of the L2's size, which a GPU allocates beside the arrays.
    let overwritten = match cache {
        Cache::Cold if !properties.modelled => properties.l2_bytes,
        _ => 0,
    };
    let required = bytes.saturating_add(overwritten);
    let available = device.free_memory().map_err(Failure::at(Stage::Memory))?;
    if required > available {
        return Err(Failure::at(Stage::Memory)(DeviceError::OutOfMemory {
            required,
            available,
            hint: hint(available.saturating_sub(overwritten)),
        }));
    }
    if let Some(available) = host_memory::available().filter(|_| properties.modelled) {
        host_memory::check(required, available)
            .map_err(|reason| Failure::new(Stage::Memory, reason))?;
    }
    Ok(())
}
