//! Functions of the driver that `cust` does not wrap, or wraps without what is needed here.
//!
//! They go by the driver's names. Unlike `cust::sys`, they return the status as a number: a newer
//! driver may return a code that an older header's enumeration does not hold. Handles are plain
//! pointers, as `cust` gives them (`to_raw`, `as_inner`).

#![allow(non_snake_case, clippy::too_many_arguments)]

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void},
    fmt, ptr,
};

use crate::trampolines::Symbol;

/// What a function of the driver returned, if not success (`CUresult`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub c_int);

impl Status {
    /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`
    pub const UNSUPPORTED_PTX_VERSION: Self = Self(222);
    /// `CUDA_ERROR_INVALID_CLUSTER_SIZE`
    pub const INVALID_CLUSTER_SIZE: Self = Self(912);

    /// Whether the context is lost, as after a kernel's fault: every later call of the process
    /// fails with the same status (CUDA Driver API, `CUresult`).
    pub fn is_sticky(self) -> bool {
        matches!(
            self.0,
            214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721
        )
    }

    /// The name, for example `CUDA_ERROR_INVALID_VALUE`.
    pub fn name(self) -> String {
        self.text(Symbol::cuGetErrorName)
            .unwrap_or_else(|| format!("CUDA error {}", self.0))
    }

    /// The driver's description, for example `invalid argument`.
    pub fn description(self) -> String {
        self.text(Symbol::cuGetErrorString)
            .unwrap_or_else(|| "unknown to this driver".into())
    }

    fn text(self, symbol: Symbol) -> Option<String> {
        // SAFETY: this is the type of cuGetErrorName and cuGetErrorString; the stand-in of a
        // function that is not loaded ignores its arguments.
        let function: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int =
            unsafe { std::mem::transmute(symbol.address()) };
        let mut text = ptr::null();
        // SAFETY: it writes a pointer to a static string, or null.
        let status = unsafe { function(self.0, &mut text) };
        if status != 0 || text.is_null() {
            return None;
        }
        // SAFETY: a string that the driver holds, ended by NUL.
        Some(
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned(),
        )
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description(), self.name())
    }
}

impl std::error::Error for Status {}

/// A launch's geometry for [`cuLaunchKernelEx`] (`CUlaunchConfig`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)]
pub struct LaunchConfiguration {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared_bytes: c_uint,
    pub stream: *mut c_void,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

/// An attribute of a launch (`CUlaunchAttribute`): its id, padding to 8 bytes, a value of 64.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub struct LaunchAttribute {
    id: c_int,
    padding: [u8; 4],
    value: [u32; 16],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`: all blocks are resident at once.
    pub fn cooperative() -> Self {
        let mut value = [0; 16];
        value[0] = 1;
        Self::new(2, value)
    }

    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`: blocks per cluster and axis.
    pub fn cluster(dimension: [u32; 3]) -> Self {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&dimension);
        Self::new(4, value)
    }

    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: it may begin before the launch
    /// before it has ended.
    pub fn overlapping() -> Self {
        let mut value = [0; 16];
        value[0] = 1;
        Self::new(6, value)
    }

    fn new(id: c_int, value: [u32; 16]) -> Self {
        Self {
            id,
            padding: [0; 4],
            value,
        }
    }
}

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub const FUNCTION_MAX_DYNAMIC_SHARED_BYTES: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
pub const FUNCTION_LARGE_CLUSTERS_ALLOWED: c_int = 14;

/// `CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH`
pub const DEVICE_COOPERATIVE_LAUNCH: c_int = 95;
/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`
pub const DEVICE_MAX_SHARED_PER_BLOCK_OPTIN: c_int = 97;
/// `CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH` (CUDA 11.8)
pub const DEVICE_CLUSTER_LAUNCH: c_int = 120;

/// `CU_JIT_ERROR_LOG_BUFFER`, whose value is the buffer's address.
pub const JIT_ERROR_LOG_BUFFER: c_int = 5;
/// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`, whose value is the size itself.
pub const JIT_ERROR_LOG_BUFFER_BYTES: c_int = 6;

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`
pub const CAPTURE_THREAD_LOCAL: c_int = 1;

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?);)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// The driver's status; `CUDA_ERROR_STUB_LIBRARY` (34) where it lacks the function.
        ///
        /// # Safety
        /// As the CUDA Driver API says of its handles and pointers.
        pub unsafe fn $name($($argument: $ty),*) -> Result<(), Status> {
            type Function = unsafe extern "C" fn($($ty),*) -> c_int;
            let address = Symbol::$name.address();
            // SAFETY: this is the function's type in the CUDA Driver API; the stand-in of a
            // function that is not loaded ignores its arguments.
            let function = unsafe { std::mem::transmute::<*mut c_void, Function>(address) };
            // SAFETY: the caller answers for the arguments.
            match unsafe { function($($argument),*) } {
                0 => Ok(()),
                status => Err(Status(status)),
            }
        }
    )*};
}

functions! {
    /// An attribute of a device by its number, also such as `cust` has no name for.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    /// Loads a module with options for the compiler, for example buffers for its log.
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        count: c_uint,
        options: *mut c_int,
        values: *mut *mut c_void,
    );
    /// Unloads a module.
    fn cuModuleUnload(module: *mut c_void);
    /// Sets an attribute of a kernel.
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int);
    /// Launches with all blocks resident at once.
    fn cuLaunchCooperativeKernel(
        function: *mut c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared_bytes: c_uint,
        stream: *mut c_void,
        parameters: *mut *mut c_void,
    );
    /// Launches with attributes, for example a cluster's dimension (CUDA 11.8).
    fn cuLaunchKernelEx(
        configuration: *const LaunchConfiguration,
        function: *mut c_void,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    /// How many clusters of a launch are resident at once on the device (CUDA 11.8).
    fn cuOccupancyMaxActiveClusters(
        clusters: *mut c_int,
        function: *mut c_void,
        configuration: *const LaunchConfiguration,
    );
    /// Records what is launched into the stream from now on as a graph.
    fn cuStreamBeginCapture_v2(stream: *mut c_void, mode: c_int);
    /// Ends the recording; the graph is null where the recording became invalid.
    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void);
    /// Makes a graph ready to be launched.
    fn cuGraphInstantiateWithFlags(
        executable: *mut *mut c_void,
        graph: *mut c_void,
        flags: c_ulonglong,
    );
    /// Moves a graph to the device ahead of its first launch.
    fn cuGraphUpload(executable: *mut c_void, stream: *mut c_void);
    /// Launches a graph.
    fn cuGraphLaunch(executable: *mut c_void, stream: *mut c_void);
    /// Destroys a graph.
    fn cuGraphDestroy(graph: *mut c_void);
    /// Destroys an executable graph.
    fn cuGraphExecDestroy(executable: *mut c_void);
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    /// The layouts of `cuda.h` (CUDA 13.0) on 64-bit platforms.
    #[test]
    fn launch_structures_are_laid_out_as_the_driver_reads_them() {
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(offset_of!(LaunchAttribute, value), 8);
        assert_eq!(size_of::<LaunchConfiguration>(), 56);
        assert_eq!(offset_of!(LaunchConfiguration, block), 12);
        assert_eq!(offset_of!(LaunchConfiguration, dynamic_shared_bytes), 24);
        assert_eq!(offset_of!(LaunchConfiguration, stream), 32);
        assert_eq!(offset_of!(LaunchConfiguration, attributes), 40);
        assert_eq!(offset_of!(LaunchConfiguration, attribute_count), 48);
    }
}
