//! Launches on the GPU: queued on the device's stream, with more shared memory where they need it.

use std::ffi::c_void;

use cust::function::{BlockSize, Function, GridSize};
use driver::api;

use super::{
    CudaDevice,
    failure::{launch_failed, status},
    modules,
};
use crate::device::{KernelAttributes, PreparedLaunch, Result};

impl CudaDevice {
    /// Queues a launch that was validated.
    pub(super) fn enqueue(&self, launch: &PreparedLaunch) -> Result<()> {
        let module = self.module(&launch.kernel)?;
        let function = modules::function(&module, &launch.kernel)?;
        self.enqueue_function(&function, launch)
    }

    pub(super) fn enqueue_function(
        &self,
        function: &Function,
        launch: &PreparedLaunch,
    ) -> Result<()> {
        let config = &launch.config;
        // The driver copies each parameter's bytes from the low end of its value.
        let mut values = launch.arguments.clone();
        let mut arguments: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| (value as *mut u64).cast())
            .collect();
        let (grid, block) = (config.grid, config.block);
        let result = if config.cooperative {
            // SAFETY: the function is loaded, and each of its parameters has a value of at least
            // its size: the numbers and sizes were validated. What the kernel does through its
            // pointers is for its declaration and the caller to keep sound.
            unsafe {
                api::cuLaunchCooperativeKernel(
                    function.to_raw().cast(),
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    config.dynamic_shared_bytes,
                    self.stream.as_inner().cast(),
                    arguments.as_mut_ptr(),
                )
            }
        } else {
            // SAFETY: as above.
            unsafe {
                self.stream.launch(
                    function,
                    GridSize::xyz(grid.x, grid.y, grid.z),
                    BlockSize::xyz(block.x, block.y, block.z),
                    config.dynamic_shared_bytes,
                    &arguments,
                )
            }
            .map_err(status)
        };
        result.map_err(launch_failed(launch))
    }

    /// Opts the kernel in to more shared memory per block, where the launch needs it.
    pub(super) fn opt_in(
        &self,
        launch: &PreparedLaunch,
        attributes: &KernelAttributes,
    ) -> Result<()> {
        let limits = &self.properties.limits;
        if !launch.config.needs_shared_optin(limits, attributes) {
            return Ok(());
        }
        let module = self.module(&launch.kernel)?;
        let function = modules::function(&module, &launch.kernel)?;
        self.allow_dynamic_shared(&function, attributes)
            .map_err(launch_failed(launch))
    }

    /// Allows a kernel all the dynamic shared memory there is. Never less: a launch that is
    /// prepared already may need more than the one that asks.
    pub(super) fn allow_dynamic_shared(
        &self,
        function: &Function,
        attributes: &KernelAttributes,
    ) -> std::result::Result<(), api::Status> {
        let most = self.properties.limits.shared_per_block_optin;
        let bytes = most.saturating_sub(attributes.static_shared_bytes);
        // SAFETY: the function is loaded in the current context.
        unsafe {
            api::cuFuncSetAttribute(
                function.to_raw().cast(),
                api::FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                i32::try_from(bytes).unwrap_or(i32::MAX),
            )
        }
    }
}
