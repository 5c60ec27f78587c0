//! How many blocks of a launch an SM holds.

use super::Failure;
use crate::{
    device::{Device, KernelReference},
    report::{Row, Stage},
};

/// Fills in a row's resident blocks per SM and its occupancy, from its block and the dynamic shared
/// memory of each.
pub(super) fn fill(
    device: &dyn Device,
    kernel: &KernelReference,
    dynamic_shared_bytes: u32,
    row: &mut Row,
) -> Result<(), Failure> {
    let Ok(threads) = u32::try_from(row.block.count()) else {
        return Ok(()); // The launch says why not.
    };
    let limits = &device.properties().limits;
    let per_sm = device
        .blocks_per_sm(kernel, threads, dynamic_shared_bytes)
        .map_err(Failure::at(Stage::Launch))?;
    let warps = |threads: u32| threads.div_ceil(limits.warp_size);
    row.blocks_per_sm = Some(per_sm);
    row.occupancy = Some(
        f64::from(per_sm) * f64::from(warps(threads)) / f64::from(warps(limits.max_threads_per_sm)),
    );
    Ok(())
}
