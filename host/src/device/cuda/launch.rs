//! Launches on the GPU: queued on the device's stream, with more shared memory where they need it.

use std::{ffi::c_void, ptr};

use cust::function::{BlockSize, Function, GridSize};
use driver::api;

use super::{
    CudaDevice,
    failure::{launch_failed, status},
    modules,
};
use crate::{
    device::{KernelAttributes, PreparedLaunch, Result},
    launch::{Dim3, LaunchConfig},
};

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
        let result = if config.cluster.is_some() || config.overlapping {
            let attributes = launch_attributes(config);
            let configuration = self.configuration(config, &attributes);
            // SAFETY: as below; the attributes live through the call.
            unsafe {
                api::cuLaunchKernelEx(
                    &configuration,
                    function.to_raw().cast(),
                    arguments.as_mut_ptr(),
                    ptr::null_mut(),
                )
            }
        } else if config.cooperative {
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

    /// A launch's geometry as the driver takes it, with attributes that must outlive it.
    fn configuration(
        &self,
        config: &LaunchConfig,
        attributes: &[api::LaunchAttribute],
    ) -> api::LaunchConfiguration {
        api::LaunchConfiguration {
            grid: config.grid.to_array(),
            block: config.block.to_array(),
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            stream: self.stream.as_inner().cast(),
            attributes: attributes.as_ptr(),
            attribute_count: attributes.len() as u32,
        }
    }

    /// How many clusters of a launch within the limits are resident at once.
    pub(super) fn count_active_clusters(
        &self,
        function: &Function,
        config: &LaunchConfig,
    ) -> std::result::Result<u32, api::Status> {
        let config = LaunchConfig {
            cluster: config.cluster.or(Some(Dim3::new(1, 1, 1))),
            ..*config
        };
        let attributes = launch_attributes(&config);
        let configuration = self.configuration(&config, &attributes);
        let mut clusters = 0;
        // SAFETY: the function is loaded in the current context; one int is written, and the
        // attributes live through the call.
        let result = unsafe {
            api::cuOccupancyMaxActiveClusters(
                &mut clusters,
                function.to_raw().cast(),
                &configuration,
            )
        };
        match result {
            Ok(()) => Ok(u32::try_from(clusters).unwrap_or(0)),
            Err(api::Status::INVALID_CLUSTER_SIZE) => Ok(0),
            Err(status) => Err(status),
        }
    }

    /// Opts the kernel in to more shared memory per block and to larger clusters, where the launch
    /// needs them.
    pub(super) fn opt_in(
        &self,
        launch: &PreparedLaunch,
        attributes: &KernelAttributes,
    ) -> Result<()> {
        let module = self.module(&launch.kernel)?;
        let function = modules::function(&module, &launch.kernel)?;
        self.allow(&function, &launch.config, attributes)
            .map_err(launch_failed(launch))
    }

    /// The same for a kernel at hand. The driver's occupancy counts no more than this allows.
    pub(super) fn allow(
        &self,
        function: &Function,
        config: &LaunchConfig,
        attributes: &KernelAttributes,
    ) -> std::result::Result<(), api::Status> {
        if config.needs_shared_optin(&self.properties.limits, attributes) {
            self.allow_dynamic_shared(function, attributes)?;
        }
        if config.needs_large_clusters() {
            // SAFETY: the function is loaded in the current context.
            unsafe {
                api::cuFuncSetAttribute(
                    function.to_raw().cast(),
                    api::FUNCTION_LARGE_CLUSTERS_ALLOWED,
                    1,
                )
            }?;
        }
        Ok(())
    }

    /// Allows a kernel all the dynamic shared memory there is. Never less: a launch that is
    /// prepared already may need more than the one that asks.
    fn allow_dynamic_shared(
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

/// What a launch says besides its geometry.
fn launch_attributes(config: &LaunchConfig) -> Vec<api::LaunchAttribute> {
    let cluster = config
        .cluster
        .map(|cluster| api::LaunchAttribute::cluster(cluster.to_array()));
    let cooperative = config.cooperative.then(api::LaunchAttribute::cooperative);
    let overlapping = config.overlapping.then(api::LaunchAttribute::overlapping);
    cluster
        .into_iter()
        .chain(cooperative)
        .chain(overlapping)
        .collect()
}
