//! Occupancy against NVIDIA's published examples and against what must always hold.

use proptest::prelude::*;
use simulator::{
    chip::{A100, Chip, H200, Limits, RTX4090, T4, V100},
    occupancy::{Limiter, Occupancy, blocks_per_sm},
};

#[track_caller]
fn assert_occupancy(chip: &Chip, launch: (u32, u32, u32), blocks: u32, limiter: Limiter) {
    let (threads, registers, shared) = launch;
    assert_eq!(
        blocks_per_sm(&chip.limits, threads, registers, 0, shared),
        Occupancy { blocks, limiter },
        "{} {launch:?}",
        chip.name
    );
}

/// CUDA C++ Best Practices Guide, "Calculating Occupancy": on capability 7.0, 37 registers per
/// thread allow twelve blocks of 128 threads (75 %) but only four of 320 (63 %).
#[test]
fn best_practices_guide_example() {
    assert_occupancy(&V100, (128, 37, 0), 12, Limiter::Registers);
    assert_occupancy(&V100, (320, 37, 0), 4, Limiter::Registers);
}

#[test]
fn each_resource_limits() {
    assert_occupancy(&H200, (256, 32, 0), 8, Limiter::Warps);
    assert_occupancy(&H200, (32, 16, 0), 32, Limiter::Blocks);
    assert_occupancy(&H200, (1024, 64, 0), 1, Limiter::Registers);
    // 48 KiB and 1 KiB reserved: four in 228 KiB, though they would fill a capacity of 192.
    assert_occupancy(&H200, (128, 16, 48 << 10), 4, Limiter::SharedMemory);
    assert_occupancy(&V100, (128, 16, 48 << 10), 2, Limiter::SharedMemory);
    assert_occupancy(&T4, (1024, 32, 0), 1, Limiter::Warps);
    assert_occupancy(&RTX4090, (1024, 32, 0), 1, Limiter::Warps);
    assert_occupancy(&RTX4090, (32, 16, 0), 24, Limiter::Blocks);
}

#[test]
fn the_largest_block_fits_and_one_more_does_not() {
    assert_occupancy(&H200, (32, 16, 227 << 10), 1, Limiter::SharedMemory);
    assert_occupancy(&H200, (32, 16, (227 << 10) + 1), 0, Limiter::SharedMemory);
    assert_occupancy(&A100, (32, 16, 163 << 10), 1, Limiter::SharedMemory);
    assert_occupancy(&A100, (256, 255, 0), 1, Limiter::Registers);
    // Nine warps are allocated as twelve, and 12 * 8192 registers are more than a block may have.
    assert_occupancy(&A100, (288, 255, 0), 0, Limiter::Registers);
    assert_occupancy(&A100, (32, 256, 0), 0, Limiter::Registers);
    assert_occupancy(&A100, (1025, 16, 0), 0, Limiter::Warps);
    assert_occupancy(&A100, (0, 16, 0), 0, Limiter::Warps);
    assert_occupancy(&A100, (32, 16, u32::MAX), 0, Limiter::SharedMemory);
}

/// The rules are kept apart from the figures: every chip's must be consistent.
#[test]
fn limits_of_every_chip_are_consistent() {
    for chip in Chip::ALL {
        let Limits {
            max_threads_per_sm,
            max_warps_per_sm,
            ..
        } = chip.limits;
        assert_eq!(max_threads_per_sm, max_warps_per_sm * 32, "{}", chip.name);
        let largest = chip.limits.shared_per_block_optin + chip.limits.shared_reserved_per_block;
        assert!(largest <= chip.limits.shared_per_sm, "{}", chip.name);
        assert!(std::ptr::eq(
            Chip::named(&chip.name.to_uppercase()).unwrap(),
            chip
        ));
    }
    assert!(Chip::named("h300").is_none());
}

proptest! {
    #[test]
    fn what_is_resident_fits_and_one_more_block_would_not(
        index in 0..7_usize,
        threads in 1..=1024_u32,
        registers in 1..=255_u32,
        shared in 0..=232_448_u32,
    ) {
        let limits = &Chip::ALL[index].limits;
        let fits = |blocks: u32| {
            let warps = threads.div_ceil(32);
            // A register file per scheduler, each with whole warps.
            let per_warp = (registers * 32).next_multiple_of(256);
            let warps_in_registers = limits.registers_per_sm / 4 / per_warp * 4;
            let allocated = (shared + limits.shared_reserved_per_block)
                .next_multiple_of(limits.shared_allocation_unit);
            blocks * warps <= limits.max_warps_per_sm
                && blocks <= limits.max_blocks_per_sm
                && blocks * warps <= warps_in_registers
                && blocks * allocated <= limits.shared_per_sm
                && (blocks == 0 || shared <= limits.shared_per_block_optin)
                && (blocks == 0 || per_warp * warps.next_multiple_of(4) <= limits.registers_per_block)
        };
        let given = blocks_per_sm(limits, threads, registers, shared, 0);
        prop_assert!(fits(given.blocks), "{:?} does not fit", given);
        prop_assert!(!fits(given.blocks + 1), "{:?}, one more fits", given);
    }

    #[test]
    fn asking_for_more_never_gives_more_blocks(
        index in 0..7_usize,
        threads in 1..1024_u32,
        registers in 1..255_u32,
        shared in 0..232_448_u32,
        split in 0..232_448_u32,
    ) {
        let limits = &Chip::ALL[index].limits;
        let given = blocks_per_sm(limits, threads, registers, shared, 0);
        let less = |threads, registers, shared| {
            blocks_per_sm(limits, threads, registers, shared, 0).blocks <= given.blocks
        };
        prop_assert!(less(threads + 1, registers, shared));
        prop_assert!(less(threads, registers + 1, shared));
        prop_assert!(less(threads, registers, shared + 1));
        // Static and dynamic shared memory are one.
        let split = split.min(shared);
        prop_assert_eq!(blocks_per_sm(limits, threads, registers, split, shared - split), given);
    }
}
