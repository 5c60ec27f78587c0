//! Reductions on every device: all variants, types and operations, blocks of whole warps and not,
//! sizes from nothing on.

mod support;

use std::rc::Rc;

use support::on_every_device;
use warplab::{
    device::{Device, DeviceError},
    experiments::reduce::{
        Arrays, Bound, Configuration, ElementType, Input, LaunchKind, Operation, Reference,
        VARIANTS, Variant, variant, verify,
    },
    experiments::verify::write_elements,
    random::Stream,
};

const SEED: u64 = 3;

fn configuration(
    variant: &'static Variant,
    operation: Operation,
    element: ElementType,
    n: u64,
    block: u32,
    grid: Option<u32>,
) -> Option<Configuration> {
    Some(Configuration {
        variant,
        kernel: variant.kernel(operation, element)?,
        operation,
        element,
        n,
        block,
        cluster: (variant.launch == LaunchKind::Clustered).then_some(4),
        grid,
    })
}

/// Verifies one configuration with both inputs; whether the device could run it.
fn check(device: &Rc<dyn Device>, arrays: &Arrays, configuration: Configuration) -> bool {
    let Configuration {
        operation,
        element,
        n,
        ..
    } = configuration;
    let mut bound = match Bound::new(device, configuration) {
        Ok(bound) => bound,
        Err(DeviceError::Unsupported(reason)) => {
            eprintln!("skipped: {reason}");
            return false;
        }
        Err(error) => panic!("{configuration:?}: {error}"),
    };
    for input in [Input::Whole, Input::Random] {
        if arrays.has(input) {
            let reference = element.reference(operation, input, Stream::new(SEED, 0), n);
            if let Err(failure) = verify(&**device, &mut bound, arrays, input, &reference) {
                panic!("{configuration:?}, {input:?}: {failure:?}");
            }
        }
    }
    true
}

#[test]
fn every_variant_type_and_operation_with_every_kind_of_block() {
    on_every_device(|device| {
        for element in ElementType::ALL {
            for n in [0, 1, 2, 3, 31, 1000, 20_011] {
                let arrays = Arrays::new(device, element, n, SEED).unwrap();
                for variant in VARIANTS {
                    for operation in Operation::ALL {
                        for block in [1, 17, 32, 33, 45, 48, 256, 1024] {
                            // One thread at a time over a large input shows nothing more.
                            if n > 1000 && block < 32 {
                                continue;
                            }
                            // A grid of its own keeps the simulation short, and the second pass
                            // busy.
                            let grid = (n > 1000).then_some(5);
                            let made = configuration(variant, operation, element, n, block, grid);
                            if let Some(made) = made {
                                check(device, &arrays, made);
                            }
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn every_variant_with_every_block_size() {
    on_every_device(|device| {
        // On the simulator some of each kind: below, at and above whole warps.
        let blocks: Vec<u32> = if device.properties().modelled {
            (1..=1024).step_by(37).chain([64, 1023, 1024]).collect()
        } else {
            (1..=1024).collect()
        };
        for element in [ElementType::F32, ElementType::I32] {
            // The type that redux.sync has, and the one that all others have.
            let n = 4099;
            let arrays = Arrays::new(device, element, n, SEED).unwrap();
            for variant in VARIANTS {
                if element == ElementType::I32 && variant.name != "redux" {
                    continue;
                }
                for &block in &blocks {
                    let made = configuration(variant, Operation::Sum, element, n, block, Some(7));
                    let Some(made) = made else {
                        assert_eq!((variant.name, element), ("redux", ElementType::F32));
                        break;
                    };
                    if !check(device, &arrays, made) {
                        let newer = ["redux", "cluster", "overlapped"].contains(&variant.name);
                        let capability = device.properties().compute_capability;
                        assert!(newer && capability < (9, 0), "{}", variant.name);
                        break;
                    }
                }
            }
        }
    });
}

#[test]
fn clusters_of_every_size() {
    on_every_device(|device| {
        for element in [ElementType::U32, ElementType::F64] {
            let n = 10_007;
            let arrays = Arrays::new(device, element, n, SEED).unwrap();
            for cluster in 1..=16 {
                for (block, clusters) in [(1, 1), (20, 2), (64, 1), (96, 3), (128, 40)] {
                    let variant = variant("cluster").unwrap();
                    let grid = Some(cluster * clusters);
                    let made =
                        configuration(variant, Operation::Sum, element, n, block, grid).unwrap();
                    let cluster = Some(cluster);
                    check(device, &arrays, Configuration { cluster, ..made });
                }
            }
        }
    });
}

#[test]
fn grids_of_every_size_hand_over_their_results() {
    on_every_device(|device| {
        let (element, n) = (ElementType::I64, 3001);
        let arrays = Arrays::new(device, element, n, SEED).unwrap();
        for name in ["last_block", "gather", "atomic", "shuffle"] {
            for grid in [1, 2, 3, 32, 33, 34, 66, 257, 300] {
                for block in [7, 32, 96] {
                    let variant = variant(name).unwrap();
                    let made =
                        configuration(variant, Operation::Sum, element, n, block, Some(grid));
                    check(device, &arrays, made.unwrap());
                }
            }
        }
    });
}

/// Ones that are more than a float counts to: a running sum of them stays at 2^24, since 2^24 + 1 rounds
/// to it. Sums by many threads are exact at each step, being multiples of a block's ones.
#[test]
fn more_ones_than_a_running_sum_can_count() {
    on_every_device(|device| {
        let modelled = device.properties().modelled;
        // Fewer would not make a running sum stick, and so many take the simulator half a second a
        // launch at least, so that it runs one variant of each way to hand over results, with one
        // block each.
        let n: u64 = if modelled { (1 << 24) + 4096 } else { 1 << 25 };
        assert_ne!((0..n).fold(0.0_f32, |sum, _| sum + 1.0), n as f32);
        let element = ElementType::F32;
        let arrays = Arrays::new(device, element, n, SEED).unwrap();
        let mut ones = false;
        for (index, variant) in VARIANTS.iter().enumerate() {
            for (number, block) in [32, 256, 1024].into_iter().enumerate() {
                let usual = variant.vectorized && variant.launch == LaunchKind::Plain;
                if modelled && !(usual && index % 3 == number) {
                    continue;
                }
                let made = configuration(variant, Operation::Sum, element, n, block, None);
                let Some(made) = made else {
                    continue;
                };
                let mut bound = match Bound::new(device, made) {
                    Ok(bound) => bound,
                    Err(DeviceError::Unsupported(reason)) => {
                        eprintln!("skipped: {reason}");
                        continue;
                    }
                    Err(error) => panic!("{made:?}: {error}"),
                };
                if !ones {
                    // Ones in place of the whole numbers, whose sums are exact as well.
                    let launches = bound.sequence(&arrays, Input::Whole);
                    let [len, x, ..] = launches[0].arguments[..] else {
                        panic!("{launches:?}: elements and their address are required");
                    };
                    assert_eq!(len, n);
                    write_elements(&**device, x, n, |_| 1.0_f32).unwrap();
                    ones = true;
                }
                let reference = Reference {
                    bits: (n as f32).to_bits().into(),
                    sum: n as f64,
                    magnitude: n as f64,
                };
                if let Err(failure) =
                    verify(&**device, &mut bound, &arrays, Input::Whole, &reference)
                {
                    panic!("{made:?}: {failure:?}");
                }
            }
        }
        assert!(ones, "no variant ran");
    });
}
