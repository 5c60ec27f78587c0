//! The barrier for the whole grid (`kernels/src/gpu/grid.rs`): data exchanged through plain memory,
//! against the CPU reference, on the simulator and, where there is one, on the GPU.

mod support;

use std::rc::Rc;

use support::{on_every_device, simulated};
use warplab::{
    device::{Buffer, Device, DeviceError, KernelReference},
    experiments::grid_sync::exchange,
    launch::{Dim3, LaunchConfig},
};

/// Room for both halves of the states, the first written.
fn states(device: &Rc<dyn Device>, initial: &[u32]) -> Buffer<u32> {
    let mut all = initial.to_vec();
    all.resize(2 * initial.len(), 0xcdcd_cdcd);
    Buffer::from_slice(device, &all).unwrap()
}

/// The states after launches of so many rounds each, on one barrier word that nothing resets.
fn exchanged(device: &Rc<dyn Device>, grid: Dim3, block: Dim3, launches: &[u32]) {
    let (blocks, threads) = (grid.count() as usize, block.count() as usize);
    let config = LaunchConfig {
        grid,
        block,
        ..LaunchConfig::new(1, 1)
    }
    .cooperative();
    let mut barrier = Buffer::from_slice(device, &[0_u32]).unwrap();
    let mut turns = 0;
    for (&rounds, skewed) in launches.iter().zip([true, false].into_iter().cycle()) {
        let kernel = match skewed {
            true => kernels::GRID_SYNC_SKEWED,
            false => kernels::GRID_SYNC_EXCHANGE,
        };
        let initial = exchange::initial(u64::from(rounds), blocks * threads);
        let mut states = states(device, &initial);
        let arguments = (rounds, &mut barrier, &mut states);
        device.launch(kernel, config, arguments).unwrap();
        let half = (rounds % 2) as usize * blocks * threads;
        let got = &states.to_vec().unwrap()[half..][..blocks * threads];
        let expected = exchange::after(initial, rounds, blocks, threads);
        assert!(
            got == expected,
            "{grid} x {block}, {rounds} rounds of {launches:?}"
        );
        turns += rounds;
        let word = barrier.to_vec().unwrap()[0];
        assert_eq!(word, (turns % 2) << 31, "{grid} x {block}, {launches:?}");
    }
}

#[test]
fn every_shape_exchanges_and_the_word_serves_the_next_launch() {
    on_every_device(|device| {
        for (grid, block) in [
            ((1, 1, 1), (1, 1, 1)),
            ((1, 1, 1), (33, 1, 1)),
            ((2, 1, 1), (1, 1, 1)),
            ((5, 1, 1), (1023, 1, 1)),
            ((132, 1, 1), (32, 1, 1)),
            ((3, 5, 1), (7, 9, 1)),
            ((2, 3, 4), (5, 3, 7)),
        ] {
            exchanged(device, grid.into(), block.into(), &[1, 4, 7, 0, 3]);
        }
    });
}

#[test]
fn thousands_of_rounds() {
    let rounds = |device: &Rc<dyn Device>| match device.properties().modelled {
        true => 3000,
        false => 100_000,
    };
    on_every_device(|device| exchanged(device, 4.into(), 33.into(), &[rounds(device)]));
}

#[test]
fn as_many_blocks_as_are_resident() {
    on_every_device(|device| {
        let kernel = KernelReference::Declared(kernels::GRID_SYNC_ROUNDS.declaration());
        for threads in [32, 1024] {
            let blocks =
                device.blocks_per_sm(&kernel, threads, 0).unwrap() * device.properties().sms;
            let mut barrier = Buffer::from_slice(device, &[0_u32]).unwrap();
            let config = LaunchConfig::new(blocks, threads).cooperative();
            device
                .launch(kernels::GRID_SYNC_ROUNDS, config, (3, &mut barrier))
                .unwrap();
            assert_eq!(barrier.to_vec().unwrap(), [1 << 31]);
            let config = LaunchConfig::new(blocks + 1, threads).cooperative();
            let error = device
                .launch(kernels::GRID_SYNC_ROUNDS, config, (3, &mut barrier))
                .unwrap_err();
            let DeviceError::InvalidLaunch { message, .. } = error else {
                panic!("{error:?}");
            };
            assert!(
                message.contains(&format!("at most {blocks} are resident")),
                "{message}"
            );
        }
    });
}

#[test]
fn one_launch_per_round_does_the_same() {
    on_every_device(|device| {
        let (blocks, threads) = (6, 45);
        let initial = exchange::initial(9, blocks * threads);
        let mut states = states(device, &initial);
        let config = LaunchConfig::new(blocks as u32, threads as u32);
        for round in 0..5 {
            device
                .launch(kernels::GRID_SYNC_STEP, config, (round, &mut states))
                .unwrap();
        }
        let got = &states.to_vec().unwrap()[blocks * threads..];
        assert!(got == exchange::after(initial, 5, blocks, threads));
    });
}

/// A grid and rounds of the tests of what is no barrier.
const UNSYNCHRONISED: (usize, usize) = (40, 70);
const ROUNDS: u32 = 6;

/// What the tests above would say of a barrier that is none.
#[test]
fn a_barrier_of_the_block_alone_is_noticed() {
    let device = simulated("h200");
    let (blocks, threads) = UNSYNCHRONISED;
    let initial = exchange::initial(1, blocks * threads);
    let mut states = states(&device, &initial);
    let mut barrier = Buffer::from_slice(&device, &[0_u32]).unwrap();
    let config = LaunchConfig::new(blocks as u32, threads as u32).cooperative();
    let arguments = (ROUNDS, &mut barrier, &mut states);
    device
        .launch(kernels::PROBE_GRID_UNSYNCHRONISED, config, arguments)
        .unwrap();
    let got = &states.to_vec().unwrap()[..blocks * threads];
    let expected = exchange::after(initial, ROUNDS, blocks, threads);
    let wrong = got.iter().zip(&expected).filter(|(a, b)| a != b).count();
    assert!(
        wrong > 0,
        "no state is wrong though blocks did not wait for each other"
    );
}

/// Memory that a partner has not written yet is noticed by itself, too.
#[test]
fn reading_ahead_of_the_writer_is_an_uninitialised_read() {
    let device = simulated("h200");
    let (blocks, threads) = UNSYNCHRONISED;
    let initial = exchange::initial(1, blocks * threads);
    let mut states = Buffer::<u32>::new(&device, 2 * initial.len()).unwrap();
    device
        .write_bytes(states.address(), bytemuck::cast_slice(&initial))
        .unwrap();
    let mut barrier = Buffer::from_slice(&device, &[0_u32]).unwrap();
    let config = LaunchConfig::new(blocks as u32, threads as u32).cooperative();
    let arguments = (ROUNDS, &mut barrier, &mut states);
    let error = device
        .launch(kernels::PROBE_GRID_UNSYNCHRONISED, config, arguments)
        .unwrap_err()
        .to_string();
    assert!(error.contains("uninitialised global memory"), "{error}");
    let mut states = Buffer::<u32>::new(&device, 2 * initial.len()).unwrap();
    device
        .write_bytes(states.address(), bytemuck::cast_slice(&initial))
        .unwrap();
    let arguments = (ROUNDS, &mut barrier, &mut states);
    device
        .launch(kernels::GRID_SYNC_SKEWED, config, arguments)
        .unwrap();
}
