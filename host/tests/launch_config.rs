//! Launch geometry: builders and validation.

use proptest::prelude::*;
use warplab::{
    device::{KernelAttributes, LaunchLimits},
    launch::{Dim3, LaunchConfig, LaunchError, parameter_layout, validate_arguments},
};

/// Limits of compute capability 9.0 (CUDA Programming Guide, technical specifications).
const LIMITS: LaunchLimits = LaunchLimits {
    max_grid: [0x7fff_ffff, 65535, 65535],
    max_block: [1024, 1024, 64],
    max_threads_per_block: 1024,
    max_threads_per_sm: 2048,
    warp_size: 32,
    shared_per_block: 48 << 10,
    shared_per_block_optin: 227 << 10,
    cooperative: true,
    max_cluster: 16,
};

const KERNEL: KernelAttributes = KernelAttributes {
    registers: 16,
    static_shared_bytes: 0,
    local_bytes: 0,
    max_threads_per_block: 1024,
};

fn refusal(config: LaunchConfig) -> String {
    config.validate(&LIMITS, &KERNEL).unwrap_err().to_string()
}

#[test]
fn extents_at_the_limits_pass_and_one_more_is_refused_by_axis_and_value() {
    for (what, axis, limit) in [
        ("grid", 0, 2_147_483_647),
        ("grid", 1, 65535),
        ("grid", 2, 65535),
        ("block", 0, 1024),
        ("block", 1, 1024),
        ("block", 2, 64),
    ] {
        let with = |value: u32| {
            let mut extents = [1; 3];
            extents[axis] = value;
            let dim = Dim3::new(extents[0], extents[1], extents[2]);
            match what {
                "grid" => LaunchConfig::new(dim, 1),
                _ => LaunchConfig::new(1, dim),
            }
        };
        assert_eq!(with(limit).validate(&LIMITS, &KERNEL), Ok(()));
        let name = ["x", "y", "z"][axis];
        let text = refusal(with(limit + 1));
        assert!(
            text.starts_with(&format!(
                "{what}.{name} is {}: the device takes at most {limit}; ",
                limit + 1
            )),
            "{text}"
        );
        let text = refusal(with(0));
        assert!(
            text.starts_with(&format!("{what}.{name} is 0: at least 1")),
            "{text}"
        );
    }
}

#[test]
fn threads_per_block_are_bounded_by_the_device_and_by_the_kernel() {
    let config = LaunchConfig::new(1, (32, 33));
    assert_eq!(
        config.validate(&LIMITS, &KERNEL),
        Err(LaunchError::BlockTooLarge {
            block: Dim3::new(32, 33, 1),
            threads: 1056,
            limit: 1024
        })
    );
    let heavy = KernelAttributes {
        registers: 128,
        max_threads_per_block: 512,
        ..KERNEL
    };
    assert_eq!(LaunchConfig::new(1, 512).validate(&LIMITS, &heavy), Ok(()));
    let text = LaunchConfig::new(1, 513)
        .validate(&LIMITS, &heavy)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("513 threads") && text.contains("128 registers"),
        "{text}"
    );
}

#[test]
fn shared_memory_is_bounded_by_the_opt_in_and_counts_the_static_part() {
    let config = LaunchConfig::new(1, 32).with_dynamic_shared(227 << 10);
    assert_eq!(config.validate(&LIMITS, &KERNEL), Ok(()));
    let fixed = KernelAttributes {
        static_shared_bytes: 1,
        ..KERNEL
    };
    let text = config.validate(&LIMITS, &fixed).unwrap_err().to_string();
    assert!(
        text.contains("232449 bytes") && text.contains("at most 232448"),
        "{text}"
    );

    let at_default = LaunchConfig::new(1, 32).with_dynamic_shared(48 << 10);
    assert!(!at_default.needs_shared_optin(&LIMITS, &KERNEL));
    assert!(at_default.needs_shared_optin(&LIMITS, &fixed));
}

#[test]
fn clusters_need_the_device_divide_the_grid_and_are_bounded() {
    let config = LaunchConfig::new((8, 6, 4), 64);
    for cluster in [(1, 1, 1), (8, 2, 1), (2, 2, 4), (4, 1, 2)] {
        assert_eq!(
            config.with_cluster(cluster).validate(&LIMITS, &KERNEL),
            Ok(())
        );
    }
    let text = refusal(config.with_cluster((2, 4)));
    assert!(
        text.starts_with("grid.y is 6: a multiple of cluster.y, which is 4, is required; launch 8"),
        "{text}"
    );
    let text = refusal(config.with_cluster((1, 0)));
    assert!(text.starts_with("cluster.y is 0: at least 1"), "{text}");
    assert_eq!(
        LaunchConfig::new(34, 32)
            .with_cluster(17)
            .validate(&LIMITS, &KERNEL),
        Err(LaunchError::ClusterTooLarge {
            cluster: Dim3::new(17, 1, 1),
            blocks: 17,
            limit: 16
        })
    );
    let without = LaunchLimits {
        max_cluster: 0,
        ..LIMITS
    };
    assert_eq!(config.validate(&without, &KERNEL), Ok(()));
    let text = config
        .with_cluster(1)
        .validate(&without, &KERNEL)
        .unwrap_err()
        .to_string();
    assert!(text.contains("compute capability 9.0"), "{text}");
}

#[test]
fn only_clusters_of_more_than_8_blocks_are_not_portable() {
    let config = LaunchConfig::new((8, 8), 64);
    assert!(!config.needs_large_clusters());
    assert!(!config.with_cluster((8, 1)).needs_large_clusters());
    assert!(config.with_cluster((8, 2)).needs_large_clusters());
}

#[test]
fn a_cluster_must_fit_and_a_cooperative_launch_of_clusters_whole() {
    let config = LaunchConfig::new(64, 1024).with_cluster(8);
    assert_eq!(config.validate_active_clusters(1), Ok(()));
    let text = config.validate_active_clusters(0).unwrap_err().to_string();
    assert!(
        text.starts_with("a cluster of (8, 1, 1) blocks of (1024, 1, 1) threads"),
        "{text}"
    );
    let cooperative = config.cooperative();
    assert_eq!(cooperative.validate_active_clusters(8), Ok(()));
    let text = cooperative
        .validate_active_clusters(7)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("8 clusters of (8, 1, 1) blocks: at most 7 are resident"),
        "{text}"
    );
    assert_eq!(
        LaunchConfig::new(64, 32).validate_active_clusters(0),
        Ok(())
    );
}

#[test]
fn cooperative_launches_need_the_device_and_must_fit() {
    let config = LaunchConfig::new(264, 1024).cooperative();
    let without = LaunchLimits {
        cooperative: false,
        ..LIMITS
    };
    assert_eq!(
        config.validate(&without, &KERNEL),
        Err(LaunchError::CooperativeUnsupported)
    );
    assert_eq!(config.validate_residency(2, 132), Ok(()));
    let text = config.validate_residency(1, 132).unwrap_err().to_string();
    assert!(
        text.contains("264 blocks") && text.contains("at most 132"),
        "{text}"
    );
    assert_eq!(
        LaunchConfig::new(264, 1024).validate_residency(1, 132),
        Ok(())
    );
}

#[test]
fn arguments_are_checked_against_the_parameters() {
    assert_eq!(validate_arguments(&[8, 4], &[u64::MAX, 7]), Ok(()));
    assert_eq!(
        validate_arguments(&[8, 4], &[1]),
        Err(LaunchError::ArgumentCount {
            required: 2,
            given: 1
        })
    );
    assert_eq!(
        validate_arguments(&[4], &[1 << 32]),
        Err(LaunchError::ArgumentTooWide {
            index: 0,
            bytes: 4,
            value: 1 << 32
        })
    );
    assert_eq!(
        validate_arguments(&[4, 3], &[0, 0]),
        Err(LaunchError::ParameterSize { index: 1, bytes: 3 })
    );
    assert_eq!(validate_arguments(&[8; 512], &[0; 512]), Ok(()));
    let mut bytes = vec![8; 512];
    bytes.push(1);
    assert_eq!(
        validate_arguments(&bytes, &vec![0; 513]),
        Err(LaunchError::ParametersTooLarge { bytes: 4097 })
    );
}

#[test]
fn parameters_are_aligned_to_their_size() {
    assert_eq!(parameter_layout(&[]), (vec![], 0));
    assert_eq!(parameter_layout(&[4, 8, 1, 2]), (vec![0, 8, 16, 18], 20));
}

#[test]
fn no_elements_give_one_block_and_too_many_are_refused() {
    assert_eq!(
        LaunchConfig::for_elements(0, 256),
        LaunchConfig::new(1, 256)
    );
    assert!(refusal(LaunchConfig::for_elements(u64::MAX, 32)).starts_with("grid.x is "));
    assert!(refusal(LaunchConfig::for_elements(1, 0)).starts_with("block.x is 0"));
}

proptest! {
    #[test]
    fn every_element_has_a_thread_and_no_block_is_idle(
        elements in 1_u64..1 << 40,
        block in 1_u32..=1024,
    ) {
        let config = LaunchConfig::for_elements(elements, block);
        prop_assume!(config.grid.x < u32::MAX);
        let threads = config.grid.count() * u64::from(block);
        prop_assert!(threads >= elements);
        prop_assert!(threads - elements < u64::from(block));
    }

    #[test]
    fn covering_covers_each_axis(
        extent in prop::array::uniform3(1_u64..100_000),
        block in prop::array::uniform3(1_u32..=64),
    ) {
        let config = LaunchConfig::covering(extent, (block[0], block[1], block[2]));
        for axis in 0..3 {
            let threads = u64::from(config.grid.to_array()[axis]) * u64::from(block[axis]);
            prop_assert!(threads >= extent[axis] && threads - extent[axis] < u64::from(block[axis]));
        }
    }

    /// Validation agrees with the limits written out independently of its order.
    #[test]
    fn validation_accepts_exactly_what_the_limits_allow(
        grid in prop::array::uniform3(prop_oneof![0_u32..3, 65534_u32..65537, 0x7fff_fffe_u32..0x8000_0002]),
        block in prop::array::uniform3(prop_oneof![0_u32..40, 63_u32..66, 1023_u32..1026]),
        dynamic in prop_oneof![0_u32..2, 232_447_u32..232_450, Just(u32::MAX)],
        fixed in 0_u32..3,
    ) {
        let config = LaunchConfig::new((grid[0], grid[1], grid[2]), (block[0], block[1], block[2]))
            .with_dynamic_shared(dynamic);
        let kernel = KernelAttributes { static_shared_bytes: fixed, ..KERNEL };
        let within = |value: u32, limit: u32| (1..=limit).contains(&value);
        let allowed = within(grid[0], 0x7fff_ffff) && within(grid[1], 65535) && within(grid[2], 65535)
            && within(block[0], 1024) && within(block[1], 1024) && within(block[2], 64)
            && u128::from(block[0]) * u128::from(block[1]) * u128::from(block[2]) <= 1024
            && u64::from(dynamic) + u64::from(fixed) <= 232_448;
        prop_assert_eq!(config.validate(&LIMITS, &kernel).is_ok(), allowed);
    }
}
