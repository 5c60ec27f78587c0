//! Whether a launch is valid on a chip, before anything runs.

use super::Launch;
use crate::{chip::Chip, program::Program};

/// Bytes of parameters a kernel can take before PTX 8.1 (PTX ISA 5.1.6).
const PARAMETER_LIMIT: usize = 4352;

/// Static and dynamic shared memory of a block in bytes.
pub(super) fn shared_bytes(program: &Program, dynamic: u32) -> u32 {
    if dynamic == 0 {
        program.shared_bytes
    } else {
        program.shared_bytes.next_multiple_of(16) + dynamic
    }
}

/// The blocks per cluster that a launch or its kernel asks for.
pub(super) fn cluster(
    program: &Program,
    launch: &Launch,
    chip: &Chip,
) -> Result<Option<[u32; 3]>, String> {
    let cluster = match (launch.cluster, program.required_cluster) {
        (Some(given), Some(required)) if given != required => {
            return Err(format!(
                "the kernel requires clusters of {required:?} blocks, not {given:?}"
            ));
        }
        (given, required) => given.or(required),
    };
    let Some(cluster) = cluster else {
        if program.explicit_cluster {
            return Err("the kernel must be launched in clusters (.explicitcluster)".to_owned());
        }
        return Ok(None);
    };
    let most = chip.limits.max_cluster_blocks;
    if most == 0 {
        return Err(format!(
            "clusters need compute capability 9.0 or later; {} has {}.{}",
            chip.product, chip.compute_capability.0, chip.compute_capability.1
        ));
    }
    let blocks = cluster
        .iter()
        .try_fold(1_u32, |product, &extent| product.checked_mul(extent))
        .unwrap_or(u32::MAX);
    let most = program.max_cluster_blocks.unwrap_or(most).min(most);
    if blocks == 0 || blocks > most {
        return Err(format!(
            "a cluster of {cluster:?} blocks: 1 to {most} blocks are possible"
        ));
    }
    for (axis, (grid, cluster)) in ["x", "y", "z"].iter().zip(launch.grid.iter().zip(cluster)) {
        if !grid.is_multiple_of(cluster) {
            return Err(format!(
                "grid {axis} is {grid}: a multiple of the cluster's {cluster} is required"
            ));
        }
    }
    Ok(Some(cluster))
}

/// Checks a launch against the limits of the chip and the kernel.
pub(super) fn check(program: &Program, launch: &Launch, chip: &Chip) -> Result<(), String> {
    let limits = &chip.limits;
    for (what, extents, most) in [
        ("grid", launch.grid, [i32::MAX as u32, 65535, 65535]),
        ("block", launch.block, [1024, 1024, 64]),
    ] {
        for (axis, (extent, most)) in ["x", "y", "z"].iter().zip(extents.into_iter().zip(most)) {
            if extent == 0 || extent > most {
                return Err(format!(
                    "{what} {axis} is {extent}: 1 to {most} is required"
                ));
            }
        }
    }
    let threads: u64 = launch
        .block
        .iter()
        .map(|&extent| u64::from(extent))
        .product();
    let most = limits.max_threads_per_block;
    if threads > u64::from(most) {
        return Err(format!(
            "{threads} threads per block: at most {most} are possible"
        ));
    }
    if let Some(required) = program.required_block
        && required != launch.block
    {
        return Err(format!(
            "the kernel requires blocks of {required:?} threads, not {:?}",
            launch.block
        ));
    }
    if let Some(bound) = program.max_block {
        let bound: u32 = bound.iter().product();
        if threads > u64::from(bound) {
            return Err(format!(
                "{threads} threads per block: the kernel was built for {bound}"
            ));
        }
    }
    let shared = u64::from(program.shared_bytes) + u64::from(launch.dynamic_shared_bytes);
    if shared > u64::from(limits.shared_per_block_optin) {
        return Err(format!(
            "{shared} bytes of shared memory per block: at most {} are possible",
            limits.shared_per_block_optin
        ));
    }
    let wanted = program.parameter_bytes as usize;
    if launch.parameters.len() != wanted || wanted > PARAMETER_LIMIT {
        return Err(format!(
            "{} bytes of arguments were given and {wanted} are required (at most {PARAMETER_LIMIT})",
            launch.parameters.len()
        ));
    }
    Ok(())
}
