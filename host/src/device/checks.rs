//! What is checked before a launch, in one order on every device.

use super::{
    Device, DeviceError, KernelAttributes, KernelReference, PreparedLaunch, Result, Sampling,
    modules::required_capability,
};
use crate::launch::{LaunchError, validate_arguments};

/// Checks a launch against the device, the kernel and its parameters, and gives the kernel's
/// attributes. Nothing is launched.
pub(super) fn validate(device: &dyn Device, launch: &PreparedLaunch) -> Result<KernelAttributes> {
    let name = launch.kernel.name();
    let refused = |error: LaunchError| DeviceError::refused(name, &error);
    validate_arguments(&launch.kernel.parameter_bytes(), &launch.arguments).map_err(refused)?;
    let attributes = device.kernel_attributes(&launch.kernel)?;
    let properties = device.properties();
    let config = &launch.config;
    config
        .validate(&properties.limits, &attributes)
        .map_err(refused)?;
    if config.cluster.is_some() {
        let active = device.active_clusters(&launch.kernel, config)?;
        config.validate_active_clusters(active).map_err(refused)?;
    } else if config.cooperative {
        let threads = u32::try_from(config.block.count()).unwrap_or(u32::MAX);
        let blocks = device.blocks_per_sm(&launch.kernel, threads, config.dynamic_shared_bytes)?;
        config
            .validate_residency(blocks, properties.sms)
            .map_err(refused)?;
    }
    Ok(attributes)
}

/// Checks that a sampling is one.
pub(super) fn validate_sampling(sequence: &[PreparedLaunch], sampling: Sampling) -> Result<()> {
    let Some(first) = sequence.first() else {
        return Err(DeviceError::Failed(
            "a sample of an empty sequence: at least one launch is required".to_owned(),
        ));
    };
    if let Sampling::Hot { launches: 0 } | Sampling::Stream { launches: 0 } = sampling {
        return Err(DeviceError::InvalidLaunch {
            kernel: first.kernel.name().to_owned(),
            message: "a sample of 0 launches: at least 1 is required".to_owned(),
        });
    }
    Ok(())
}

/// Checks that a device runs a kernel's module. A module given as text is the loader's to judge.
pub(super) fn validate_capability(
    kernel: &KernelReference,
    device: &str,
    capability: (u32, u32),
) -> Result<()> {
    let KernelReference::Declared(declaration) = kernel else {
        return Ok(());
    };
    let required = required_capability(declaration.target);
    if capability >= required {
        return Ok(());
    }
    Err(DeviceError::Unsupported(format!(
        "kernel {} needs compute capability {}.{} or later; {device} has {}.{}",
        declaration.name, required.0, required.1, capability.0, capability.1
    )))
}

/// Checks the sizes of a kernel's parameters as declared against those in the loaded module.
pub(super) fn validate_parameters(kernel: &KernelReference, loaded: &[usize]) -> Result<()> {
    let declared = kernel.parameter_bytes();
    if declared == loaded {
        return Ok(());
    }
    Err(DeviceError::InvalidLaunch {
        kernel: kernel.name().to_owned(),
        message: format!(
            "its parameters have {loaded:?} bytes in the loaded module, {declared:?} as \
             declared; build the PTX from the same sources with `cargo xtask ptx`"
        ),
    })
}

/// An entry that a module does not have.
pub(super) fn no_such_kernel(kernel: &KernelReference) -> DeviceError {
    DeviceError::Failed(match kernel {
        KernelReference::Declared(declaration) => format!(
            "kernel {}: the embedded PTX for {} has no such entry; build it with `cargo xtask ptx`",
            declaration.name,
            declaration.target.name()
        ),
        KernelReference::Loaded { name, .. } => {
            format!("kernel {name}: the module has no such entry")
        }
    })
}

/// A module that was not loaded on this device.
pub(super) fn no_such_module(kernel: &KernelReference) -> DeviceError {
    DeviceError::Failed(format!(
        "kernel {}: its module was loaded on another device",
        kernel.name()
    ))
}
