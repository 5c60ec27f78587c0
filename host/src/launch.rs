//! Launch geometry and its validation against a device's limits.

mod error;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use error::LaunchError;

use crate::{
    device::{KernelAttributes, LaunchLimits},
    quantity,
};

/// Extents of a grid or a block; every axis counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

impl Dim3 {
    /// The three extents.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The extents in order.
    pub const fn to_array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }

    /// Product of the extents; `u64::MAX` where it is larger, which no device takes.
    pub const fn count(self) -> u64 {
        (self.x as u64)
            .saturating_mul(self.y as u64)
            .saturating_mul(self.z as u64)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

impl std::str::FromStr for Dim3 {
    type Err = String;

    /// One, two or three extents as in `16x8`, each at least 1.
    fn from_str(text: &str) -> Result<Self, String> {
        let required =
            "one to three extents of at least 1 are required, for example 256, 16x8 or 8x8x4";
        let mut extents = [1; 3];
        for (axis, part) in text.split('x').enumerate() {
            let extent = extents
                .get_mut(axis)
                .ok_or_else(|| format!("more than three extents: {required}"))?;
            *extent = quantity::count(part)
                .ok()
                .and_then(|value| u32::try_from(value).ok())
                .filter(|value| *value > 0)
                .ok_or_else(|| format!("`{part}` is no extent: {required}"))?;
        }
        let [x, y, z] = extents;
        Ok(Self { x, y, z })
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// What a launch gives besides the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks per axis.
    pub grid: Dim3,
    /// Threads per block and axis.
    pub block: Dim3,
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Whether all blocks must be resident at once (a cooperative launch).
    pub cooperative: bool,
    /// Blocks per cluster and axis, for a launch in clusters; without it every block is alone.
    pub cluster: Option<Dim3>,
    /// Whether it may begin before the launch before it in the stream has ended, which a kernel
    /// that knows of it waits for (programmatic dependent launch, compute capability 9.0). The
    /// simulator runs one launch after the other.
    pub overlapping: bool,
}

/// Blocks per cluster that every device with clusters takes; more are not portable, and need the
/// kernel's leave (CUDA Programming Guide, thread block clusters).
pub const PORTABLE_CLUSTER_BLOCKS: u32 = 8;

impl LaunchConfig {
    /// A grid of blocks, each given by one, two or three extents, without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared_bytes: 0,
            cooperative: false,
            cluster: None,
            overlapping: false,
        }
    }

    /// As many blocks of `block` threads as give each of `elements` a thread, and at least one.
    ///
    /// More blocks than `u32` holds become `u32::MAX`, and a block of 0 stays 0: no device takes
    /// either, so that validation refuses them.
    pub fn for_elements(elements: u64, block: u32) -> Self {
        Self::covering([elements, 1, 1], block)
    }

    /// As many blocks as cover `extent` on every axis, at least one on each. Bounds as for
    /// [`LaunchConfig::for_elements`].
    pub fn covering(extent: [u64; 3], block: impl Into<Dim3>) -> Self {
        let block = block.into();
        let [x, y, z] = std::array::from_fn(|axis| {
            let threads = u64::from(block.to_array()[axis]).max(1);
            let blocks = extent[axis].div_ceil(threads).max(1);
            u32::try_from(blocks).unwrap_or(u32::MAX)
        });
        Self::new((x, y, z), block)
    }

    /// The same with so many bytes of dynamic shared memory per block.
    pub fn with_dynamic_shared(self, bytes: u32) -> Self {
        Self {
            dynamic_shared_bytes: bytes,
            ..self
        }
    }

    /// The same as a cooperative launch.
    pub fn cooperative(self) -> Self {
        Self {
            cooperative: true,
            ..self
        }
    }

    /// The same in clusters of so many blocks per axis; each axis of the grid must be a multiple.
    ///
    /// [`LaunchLimits::max_cluster`] says how many blocks a cluster may have, 0 where a device has
    /// no clusters.
    pub fn with_cluster(self, cluster: impl Into<Dim3>) -> Self {
        Self {
            cluster: Some(cluster.into()),
            ..self
        }
    }

    /// The same as one that may begin before the launch before it has ended.
    pub fn overlapping(self) -> Self {
        Self {
            overlapping: true,
            ..self
        }
    }

    /// Whether its clusters are larger than [`PORTABLE_CLUSTER_BLOCKS`].
    pub fn needs_large_clusters(&self) -> bool {
        self.cluster
            .is_some_and(|cluster| cluster.count() > u64::from(PORTABLE_CLUSTER_BLOCKS))
    }

    /// Checks the geometry against a device's limits and a kernel's attributes.
    ///
    /// # Errors
    /// The first limit that is broken, in the order grid, block, shared memory, cooperation,
    /// clusters.
    pub fn validate(
        &self,
        limits: &LaunchLimits,
        attributes: &KernelAttributes,
    ) -> Result<(), LaunchError> {
        check_extents("grid", self.grid, limits.max_grid)?;
        check_extents("block", self.block, limits.max_block)?;
        let threads = self.block.count();
        if threads > u64::from(limits.max_threads_per_block) {
            return Err(LaunchError::BlockTooLarge {
                block: self.block,
                threads,
                limit: limits.max_threads_per_block,
            });
        }
        if threads > u64::from(attributes.max_threads_per_block) {
            return Err(LaunchError::BlockTooLargeForKernel {
                block: self.block,
                threads,
                limit: attributes.max_threads_per_block,
                registers: attributes.registers,
            });
        }
        let shared =
            u64::from(attributes.static_shared_bytes) + u64::from(self.dynamic_shared_bytes);
        if shared > u64::from(limits.shared_per_block_optin) {
            return Err(LaunchError::SharedMemoryTooLarge {
                fixed: attributes.static_shared_bytes,
                dynamic: self.dynamic_shared_bytes,
                limit: limits.shared_per_block_optin,
            });
        }
        if self.cooperative && !limits.cooperative {
            return Err(LaunchError::CooperativeUnsupported);
        }
        self.cluster
            .map_or(Ok(()), |cluster| self.validate_cluster(cluster, limits))
    }

    fn validate_cluster(&self, cluster: Dim3, limits: &LaunchLimits) -> Result<(), LaunchError> {
        check_extents("cluster", cluster, [u32::MAX; 3])?;
        if limits.max_cluster == 0 {
            return Err(LaunchError::ClusterUnsupported);
        }
        let blocks = cluster.count();
        if blocks > u64::from(limits.max_cluster) {
            return Err(LaunchError::ClusterTooLarge {
                cluster,
                blocks,
                limit: limits.max_cluster,
            });
        }
        let extents = self.grid.to_array().into_iter().zip(cluster.to_array());
        for (axis, (grid, cluster)) in ["x", "y", "z"].into_iter().zip(extents) {
            if !grid.is_multiple_of(cluster) {
                return Err(LaunchError::GridNotOfClusters {
                    axis,
                    grid,
                    cluster,
                });
            }
        }
        Ok(())
    }

    /// Whether the block needs the opt-in to more shared memory than every kernel may have.
    pub fn needs_shared_optin(&self, limits: &LaunchLimits, attributes: &KernelAttributes) -> bool {
        u64::from(attributes.static_shared_bytes) + u64::from(self.dynamic_shared_bytes)
            > u64::from(limits.shared_per_block)
    }

    /// Checks that a cluster fits on the device, which holds `active` of them at once, and, for a
    /// cooperative launch, that all of them do. Launches without clusters pass.
    ///
    /// # Errors
    /// [`LaunchError::ClusterDoesNotFit`], [`LaunchError::CooperativeClustersTooMany`].
    pub fn validate_active_clusters(&self, active: u32) -> Result<(), LaunchError> {
        let Some(cluster) = self.cluster else {
            return Ok(());
        };
        if active == 0 {
            return Err(LaunchError::ClusterDoesNotFit {
                cluster,
                block: self.block,
                dynamic: self.dynamic_shared_bytes,
            });
        }
        let clusters = self.grid.count() / cluster.count();
        if self.cooperative && clusters > u64::from(active) {
            return Err(LaunchError::CooperativeClustersTooMany {
                clusters,
                cluster,
                active,
            });
        }
        Ok(())
    }

    /// Checks that a cooperative launch's blocks can all be resident; other launches pass.
    ///
    /// # Errors
    /// [`LaunchError::CooperativeTooLarge`].
    pub fn validate_residency(&self, blocks_per_sm: u32, sms: u32) -> Result<(), LaunchError> {
        let blocks = self.grid.count();
        if self.cooperative && blocks > u64::from(blocks_per_sm) * u64::from(sms) {
            return Err(LaunchError::CooperativeTooLarge {
                blocks,
                blocks_per_sm,
                sms,
            });
        }
        Ok(())
    }
}

fn check_extents(what: &'static str, given: Dim3, limits: [u32; 3]) -> Result<(), LaunchError> {
    for ((axis, value), limit) in ["x", "y", "z"]
        .into_iter()
        .zip(given.to_array())
        .zip(limits)
    {
        if value == 0 {
            return Err(LaunchError::Zero { what, axis });
        }
        if value > limit {
            return Err(LaunchError::ExtentTooLarge {
                what,
                axis,
                value,
                limit,
            });
        }
    }
    Ok(())
}

/// Bytes that a kernel's parameters may take together: 4 KiB (CUDA Programming Guide, function
/// parameters; PTX ISA, kernel parameter limits, before PTX 8.1 and `sm_70`'s larger space).
pub const PARAMETER_BYTES_LIMIT: usize = 4096;

/// Offsets of parameters of these sizes in the parameter block, each aligned to its size, and the
/// block's size in bytes.
pub fn parameter_layout(parameter_bytes: &[usize]) -> (Vec<usize>, usize) {
    let mut end = 0_usize;
    let offsets = parameter_bytes
        .iter()
        .map(|&bytes| {
            let offset = end.next_multiple_of(bytes.max(1));
            end = offset + bytes;
            offset
        })
        .collect();
    (offsets, end)
}

/// Checks arguments against the sizes of a kernel's parameters.
///
/// # Errors
/// Another number of arguments than parameters, a size that is none, a value that its parameter
/// cannot hold, or parameters beyond [`PARAMETER_BYTES_LIMIT`].
pub fn validate_arguments(parameter_bytes: &[usize], arguments: &[u64]) -> Result<(), LaunchError> {
    if arguments.len() != parameter_bytes.len() {
        return Err(LaunchError::ArgumentCount {
            required: parameter_bytes.len(),
            given: arguments.len(),
        });
    }
    for (index, (&bytes, &value)) in parameter_bytes.iter().zip(arguments).enumerate() {
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(LaunchError::ParameterSize { index, bytes });
        }
        if bytes < 8 && value >> (8 * bytes) != 0 {
            return Err(LaunchError::ArgumentTooWide {
                index,
                bytes,
                value,
            });
        }
    }
    let (_, bytes) = parameter_layout(parameter_bytes);
    if bytes > PARAMETER_BYTES_LIMIT {
        return Err(LaunchError::ParametersTooLarge { bytes });
    }
    Ok(())
}
