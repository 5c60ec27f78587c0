//! What the driver tells about a GPU.

use std::ffi::c_int;

use cust::{
    CudaFlags,
    device::{Device as Gpu, DeviceAttribute},
    error::CudaError,
};
use driver::{Driver, api};

use super::failure::{cust_failed, failed};
use crate::{
    device::{DeviceError, LaunchLimits, Properties, Result},
    launch::PORTABLE_CLUSTER_BLOCKS,
};

/// Loads the driver and finds its GPUs; there is at least one.
pub(super) fn gpus() -> Result<(&'static Driver, u32)> {
    let driver = driver::load().map_err(|error| DeviceError::Unavailable(error.to_string()))?;
    let none = || {
        DeviceError::Unavailable(
            "no GPU: the CUDA driver is installed but finds no device; check `nvidia-smi`, and \
             the environment variable CUDA_VISIBLE_DEVICES if it is set"
                .to_owned(),
        )
    };
    let unavailable = |error| match error {
        CudaError::NoDevice => none(),
        error => DeviceError::Unavailable(
            cust_failed("the CUDA driver does not start")(error).to_string(),
        ),
    };
    cust::init(CudaFlags::empty()).map_err(unavailable)?;
    match Gpu::num_devices().map_err(unavailable)? {
        0 => Err(none()),
        count => Ok((driver, count)),
    }
}

/// The properties of a GPU.
pub(super) fn properties(driver: &Driver, gpu: Gpu) -> Result<Properties> {
    use DeviceAttribute as A;
    let attribute = |attribute: DeviceAttribute| -> Result<u32> {
        let value = gpu
            .get_attribute(attribute)
            .map_err(cust_failed("a device attribute"))?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let newer = |number: c_int| -> Result<u32> {
        let mut value = 0;
        // SAFETY: one int is written.
        unsafe { api::cuDeviceGetAttribute(&mut value, number, gpu.as_raw()) }
            .map_err(|status| failed("a device attribute", status))?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let compute_capability = (
        attribute(A::ComputeCapabilityMajor)?,
        attribute(A::ComputeCapabilityMinor)?,
    );
    // A driver from before clusters does not know the attribute.
    let clusters = newer(api::DEVICE_CLUSTER_LAUNCH).is_ok_and(|value| value != 0);
    let shared_per_block = attribute(A::MaxSharedMemoryPerBlock)?;
    Ok(Properties {
        name: gpu.name().map_err(cust_failed("the device's name"))?,
        modelled: false,
        compute_capability,
        sms: attribute(A::MultiprocessorCount)?,
        clock_khz: attribute(A::ClockRate)?,
        l2_bytes: u64::from(attribute(A::L2CacheSize)?),
        memory_bytes: gpu
            .total_memory()
            .map_err(cust_failed("the device's memory size"))? as u64,
        peak_gb_per_s: peak_gb_per_s(
            attribute(A::MemoryClockRate)?,
            attribute(A::GlobalMemoryBusWidth)?,
        ),
        limits: LaunchLimits {
            max_grid: [
                attribute(A::MaxGridDimX)?,
                attribute(A::MaxGridDimY)?,
                attribute(A::MaxGridDimZ)?,
            ],
            max_block: [
                attribute(A::MaxBlockDimX)?,
                attribute(A::MaxBlockDimY)?,
                attribute(A::MaxBlockDimZ)?,
            ],
            max_threads_per_block: attribute(A::MaxThreadsPerBlock)?,
            max_threads_per_sm: attribute(A::MaxThreadsPerMultiprocessor)?,
            warp_size: attribute(A::WarpSize)?,
            shared_per_block,
            shared_per_block_optin: newer(api::DEVICE_MAX_SHARED_PER_BLOCK_OPTIN)?
                .max(shared_per_block),
            cooperative: newer(api::DEVICE_COOPERATIVE_LAUNCH)? != 0,
            max_cluster: if clusters {
                max_cluster(compute_capability)
            } else {
                0
            },
        },
        driver: Some((driver.version().major, driver.version().minor)),
    })
}

/// Blocks per cluster: 8 everywhere, 16 on the data centre GPUs of compute capability 9.0 and 10.x
/// with the kernel's leave (CUDA Hopper and Blackwell Tuning Guides, thread block clusters).
fn max_cluster(compute_capability: (u32, u32)) -> u32 {
    match compute_capability {
        (9 | 10, _) => 2 * PORTABLE_CLUSTER_BLOCKS,
        _ => PORTABLE_CLUSTER_BLOCKS,
    }
}

/// Peak bandwidth in GB/s: two transfers per memory clock over the bus's width (CUDA Best
/// Practices Guide, theoretical bandwidth). `None` where the driver does not report a clock.
fn peak_gb_per_s(memory_clock_khz: u32, bus_bits: u32) -> Option<f64> {
    let peak = 2.0 * f64::from(memory_clock_khz) * 1e3 * f64::from(bus_bits) / 8.0 / 1e9;
    (peak > 0.0).then_some(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_bandwidth_is_two_transfers_per_clock() {
        // A V100: 877 MHz on 4096 bits, 898 GB/s in its data sheet.
        let peak = peak_gb_per_s(877_000, 4096).unwrap();
        assert!((peak - 898.048).abs() < 1e-9, "{peak}");
        assert_eq!(peak_gb_per_s(0, 4096), None);
        assert_eq!(peak_gb_per_s(877_000, 0), None);
    }
}
