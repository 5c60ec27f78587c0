//! What the driver's errors say.

use cust::error::CudaError;
use driver::api::Status;

use crate::device::{DeviceError, PreparedLaunch};

/// The status behind an error of cust. Codes that cust does not know are 999 there.
pub(super) fn status(error: CudaError) -> Status {
    Status(error as i32)
}

/// An operation that failed, with the driver's reason.
pub(super) fn failed(what: &str, status: Status) -> DeviceError {
    let lost = if status.is_sticky() {
        "; the GPU's context is lost, so that every later call of this process fails: start the \
         program again"
    } else {
        ""
    };
    DeviceError::Failed(format!("{what}: {status}{lost}"))
}

/// The same for what cust reports.
pub(super) fn cust_failed(what: &'static str) -> impl Fn(CudaError) -> DeviceError {
    move |error| failed(what, status(error))
}

/// A launch that failed, with its kernel and geometry.
pub(super) fn launch_failed(launch: &PreparedLaunch) -> impl Fn(Status) -> DeviceError + '_ {
    move |status| {
        failed(
            &format!(
                "kernel {} with grid {}, block {} and {} bytes of dynamic shared memory",
                launch.kernel.name(),
                launch.config.grid,
                launch.config.block,
                launch.config.dynamic_shared_bytes
            ),
            status,
        )
    }
}
