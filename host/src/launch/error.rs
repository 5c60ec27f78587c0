//! Why launches are refused, with what was required, what was given and what to do.

use super::{Dim3, PARAMETER_BYTES_LIMIT};

/// Why a launch is refused before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LaunchError {
    /// An axis without extent.
    #[error("{what}.{axis} is 0: at least 1 is required; for no elements, skip the launch")]
    Zero {
        what: &'static str,
        axis: &'static str,
    },
    /// An axis beyond the device's limit.
    #[error("{what}.{axis} is {value}: the device takes at most {limit}; {}", advice(.what, .axis))]
    ExtentTooLarge {
        what: &'static str,
        axis: &'static str,
        value: u32,
        limit: u32,
    },
    /// More threads per block than the device takes.
    #[error(
        "block {block} has {threads} threads: the device takes at most {limit} per block; use \
         smaller blocks and more of them"
    )]
    BlockTooLarge {
        block: Dim3,
        threads: u64,
        limit: u32,
    },
    /// More threads per block than this kernel's registers or directives allow.
    #[error(
        "block {block} has {threads} threads: this kernel, which uses {registers} registers per \
         thread, takes at most {limit} per block; use smaller blocks"
    )]
    BlockTooLargeForKernel {
        block: Dim3,
        threads: u64,
        limit: u32,
        registers: u32,
    },
    /// More shared memory than a block may have, even by opting in.
    #[error(
        "{} bytes of shared memory per block ({fixed} static, {dynamic} dynamic): the device has \
         at most {limit} per block; use smaller tiles",
        u64::from(*.fixed) + u64::from(*.dynamic)
    )]
    SharedMemoryTooLarge {
        fixed: u32,
        dynamic: u32,
        limit: u32,
    },
    /// No cooperative launches on this device.
    #[error("a cooperative launch requires compute capability 6.0 or later")]
    CooperativeUnsupported,
    /// A cooperative launch whose blocks are not all resident at once.
    #[error(
        "a cooperative launch of {blocks} blocks: at most {} are resident at once ({blocks_per_sm} \
         on each of {sms} SMs); use a smaller grid with a grid-stride loop",
        u64::from(*.blocks_per_sm) * u64::from(*.sms)
    )]
    CooperativeTooLarge {
        blocks: u64,
        blocks_per_sm: u32,
        sms: u32,
    },
    /// No clusters on this device.
    #[error("a launch in clusters requires compute capability 9.0 or later")]
    ClusterUnsupported,
    /// More blocks per cluster than the device takes.
    #[error(
        "cluster {cluster} has {blocks} blocks: the device takes at most {limit} per cluster; use \
         smaller clusters"
    )]
    ClusterTooLarge {
        cluster: Dim3,
        blocks: u64,
        limit: u32,
    },
    /// An axis of the grid that whole clusters do not cover.
    #[error(
        "grid.{axis} is {grid}: a multiple of cluster.{axis}, which is {cluster}, is required; \
         launch {} blocks and let those beyond the end do nothing",
        u64::from(*.grid).next_multiple_of(u64::from(*.cluster))
    )]
    GridNotOfClusters {
        axis: &'static str,
        grid: u32,
        cluster: u32,
    },
    /// A cluster whose blocks no part of the device holds at once.
    #[error(
        "a cluster of {cluster} blocks of {block} threads with {dynamic} bytes of dynamic shared \
         memory each: no GPC of the device holds them all at once; use smaller clusters, smaller \
         blocks or less shared memory"
    )]
    ClusterDoesNotFit {
        cluster: Dim3,
        block: Dim3,
        dynamic: u32,
    },
    /// A cooperative launch whose clusters are not all resident at once.
    #[error(
        "a cooperative launch of {clusters} clusters of {cluster} blocks: at most {active} are \
         resident at once; use a smaller grid with a grid-stride loop"
    )]
    CooperativeClustersTooMany {
        clusters: u64,
        cluster: Dim3,
        active: u32,
    },
    /// Another number of arguments than parameters.
    #[error("{given} arguments are given: the kernel has {required} parameters")]
    ArgumentCount { required: usize, given: usize },
    /// A parameter size that no scalar or pointer has.
    #[error("parameter {index} is said to have {bytes} bytes: 1, 2, 4 or 8 are required")]
    ParameterSize { index: usize, bytes: usize },
    /// A value beyond its parameter.
    #[error("argument {index} is {value:#x}: parameter {index} has only {bytes} bytes")]
    ArgumentTooWide {
        index: usize,
        bytes: usize,
        value: u64,
    },
    /// Too many bytes of parameters.
    #[error(
        "the parameters take {bytes} bytes: at most {PARAMETER_BYTES_LIMIT} are allowed; pass a \
         pointer to them instead"
    )]
    ParametersTooLarge { bytes: usize },
}

fn advice(what: &str, axis: &str) -> &'static str {
    match (what, axis) {
        ("grid", "x") => "use larger blocks or a grid-stride loop",
        ("grid", _) => "move blocks to grid.x, or use a grid-stride loop",
        _ => "use smaller blocks and more of them",
    }
}
