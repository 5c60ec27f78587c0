//! Verification against devices that get something wrong, and how rows are verified and timed.
//! What devices get right is in `tests/reductions.rs`.

mod conclusions;

use std::{cell::Cell, sync::atomic::AtomicBool};

use super::*;
use crate::{
    device::{DeviceError, KernelReference, PreparedLaunch},
    experiments::{Devices, Failure, fake::Fake, run, verify::GUARD},
    random::Stream,
    report::{Stage, Status, Times, Timing},
};

const SEED: u64 = 7;
const BLOCK: u32 = 256;

/// The elements that a launch reads, of 4 bytes each.
fn elements<T: bytemuck::Pod>(device: &Fake, launch: &PreparedLaunch) -> Vec<T> {
    let (n, x) = (launch.arguments[0] as usize, launch.arguments[1]);
    let mut values = vec![T::zeroed(); n];
    let bytes = bytemuck::cast_slice_mut(&mut values);
    device.read_bytes(x, bytes).expect("the elements are there");
    values
}

/// A device that sums with `sum`, which gets the elements and how many runs there were before. The
/// first block or thread has the sum, the others nothing.
fn summing<T: bytemuck::Pod>(sum: impl Fn(&[T], u32) -> T + 'static) -> Rc<Fake> {
    let runs = Cell::new(0);
    Fake::with(move |device, launch| {
        let KernelReference::Declared(kernel) = launch.kernel else {
            return Err(DeviceError::Unsupported("loaded modules".to_owned()));
        };
        let arguments = &launch.arguments;
        let result = *arguments.last().expect("a kernel's last is its result");
        if kernel.name.starts_with("reduce_atomic_clear_") {
            return Ok(());
        }
        let blocks = launch.config.grid.count();
        let results = match kernel.name.starts_with("read_") {
            true => blocks * launch.config.block.count(),
            false if arguments.len() == 3 => blocks,
            false => 1,
        };
        let mut values = vec![T::zeroed(); results as usize];
        values[0] = sum(&elements::<T>(device, launch), runs.get());
        runs.set(runs.get() + 1);
        device.write_bytes(result, bytemuck::cast_slice(&values))
    })
}

/// Verifies a sum by one block.
fn verified(
    device: Rc<Fake>,
    name: &str,
    element: ElementType,
    n: u64,
    input: Input,
) -> Result<(), Failure> {
    verified_operation(device, name, (Operation::Sum, element), n, input)
}

fn verified_operation(
    device: Rc<Fake>,
    name: &str,
    (operation, element): (Operation, ElementType),
    n: u64,
    input: Input,
) -> Result<(), Failure> {
    let device: Rc<dyn Device> = device;
    let variant = variant(name).expect("a variant");
    let configuration = Configuration {
        variant,
        kernel: variant.kernel(operation, element).expect("a kernel"),
        operation,
        element,
        n,
        block: BLOCK,
        cluster: None,
        grid: Some(1),
    };
    let arrays = Arrays::new(&device, element, n, SEED).expect("it fits");
    let mut bound = Bound::new(&device, configuration).expect("it can be launched");
    let reference = element.reference(operation, input, Stream::new(SEED, 0), n);
    verify(&*device, &mut bound, &arrays, input, &reference)
}

#[track_caller]
fn refused(outcome: Result<(), Failure>, part: &str) {
    let failure = outcome.expect_err("it is wrong");
    assert_eq!(failure.stage, Stage::Verification);
    assert!(
        failure.reason.contains(part) && failure.reason.contains("kernel reduce_"),
        "{part} in {}",
        failure.reason
    );
}

fn wrapping(values: &[i32]) -> i32 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
}

/// The sum in double precision, rounded once.
fn nearest(values: &[f32]) -> f32 {
    // From 0 on: the sum of no f64 is -0.
    values
        .iter()
        .copied()
        .map(f64::from)
        .fold(0.0, |sum, value| sum + value) as f32
}

/// As a block sums: each thread its own elements, then a tree, rounding at each step.
fn as_a_block_does(values: &[f32]) -> f32 {
    let mut threads = vec![0.0_f32; BLOCK as usize];
    for (index, value) in values.iter().enumerate() {
        threads[index % BLOCK as usize] += value;
    }
    while threads.len() > 1 {
        let (low, high) = threads.split_at(threads.len() / 2);
        threads = low.iter().zip(high).map(|(a, b)| a + b).collect();
    }
    threads[0]
}

#[test]
fn what_is_right_passes() {
    for n in [0, 1, 2, 3, 1000, 70_000] {
        let integers = summing(|values, _| wrapping(values));
        assert_eq!(
            verified(integers, "shuffle", ElementType::I32, n, Input::Random),
            Ok(())
        );
        for input in [Input::Random, Input::Whole] {
            for sum in [nearest, as_a_block_does] {
                let floats = summing(move |values, _| sum(values));
                let outcome = verified(floats, "shuffle", ElementType::F32, n, input);
                assert_eq!(outcome, Ok(()), "{n} elements, {input:?}");
            }
        }
    }
}

#[test]
fn a_wrong_result_fails() {
    let integers = summing(|values, _| wrapping(values).wrapping_add(1));
    let outcome = verified(integers, "shuffle", ElementType::I32, 1000, Input::Random);
    refused(outcome, "expected ");
    // A thousandth of the sum of absolute values is far more than a thousand roundings of 2^-24.
    let floats = summing(|values: &[f32], _| {
        let magnitude: f32 = values.iter().map(|value| value.abs()).sum();
        nearest(values) + magnitude / 1000.0
    });
    let outcome = verified(floats, "shuffle", ElementType::F32, 1000, Input::Random);
    refused(outcome, " within ");
}

#[test]
fn a_result_that_is_wrong_in_the_second_launch_alone_fails() {
    // As a counter does that the first launch leaves behind.
    let integers = summing(|values, run| wrapping(values).wrapping_add(run as i32));
    let outcome = verified(
        integers,
        "last_block",
        ElementType::I32,
        1000,
        Input::Random,
    );
    refused(outcome, " in the second launch, got ");
}

#[test]
fn other_bits_fail_where_they_must_be_the_same_alone() {
    let one_up = || {
        summing(|values, run| match run {
            0 => nearest(values),
            _ => nearest(values).next_up(),
        })
    };
    let outcome = |name| verified(one_up(), name, ElementType::F32, 1000, Input::Random);
    refused(
        outcome("shuffle"),
        "expected the bits of the first launch (",
    );
    refused(outcome("gather"), "expected the bits of the first launch (");
    assert_eq!(outcome("atomic"), Ok(()));
    // Whole numbers leave no room in any order.
    let whole = verified(one_up(), "atomic", ElementType::F32, 1000, Input::Whole);
    refused(whole, " in the second launch");
}

#[test]
fn nan_and_what_is_not_written_fail() {
    for input in [Input::Random, Input::Whole] {
        let nan = summing(|_: &[f32], _| f32::NAN);
        let outcome = verified(nan, "shuffle", ElementType::F32, 1000, input);
        refused(outcome, "got NaN");
        let idle = Fake::with(|_, _| Ok(()));
        let outcome = verified(idle, "shuffle", ElementType::F32, 1000, input);
        refused(outcome, "expected ");
    }
    // All bits set is the smallest of no u32, so that what is found must not be that; nor may a NaN pass
    // for the smallest of nothing.
    let minimum = |device, element| {
        let what = (Operation::Min, element);
        verified_operation(device, "last_block", what, 0, Input::Random)
    };
    let idle = Fake::with(|_, _| Ok(()));
    refused(minimum(idle, ElementType::U32), "expected 4294967295");
    let nan = Fake::with(|device, launch| {
        device.set_f32(launch.arguments[3], f32::NAN);
        Ok(())
    });
    refused(minimum(nan, ElementType::F32), "expected inf, got NaN");
}

#[test]
fn bytes_written_behind_the_result_fail() {
    for byte in [0, 3, GUARD - 1] {
        let device = Fake::with(move |device, launch| {
            let result = launch.arguments[2];
            device.set_f32(result, nearest(&elements(device, launch)));
            device.write_bytes(result + 4 + byte, &[0])
        });
        let outcome = verified(device, "shuffle", ElementType::F32, 1000, Input::Random);
        refused(outcome, &format!("byte {byte} behind the result"));
    }
}

#[test]
fn one_missing_or_repeated_whole_number_fails() {
    let n = 1 << 20;
    for index in [0, 1, n / 2, n - 1] {
        for factor in [-1.0, 1.0] {
            let device =
                summing(move |values: &[f32], _| nearest(values) + factor * values[index as usize]);
            let outcome = verified(device, "shuffle", ElementType::F32, n, Input::Whole);
            refused(outcome, "expected ");
        }
    }
}

fn rows(device: &Rc<Fake>, experiment: &Reduce) -> Vec<Row> {
    let mut rows = Vec::new();
    let device: Rc<dyn Device> = device.clone();
    run(
        experiment,
        Devices::One(device),
        &AtomicBool::new(false),
        &mut |row, _| rows.push(row),
    );
    rows
}

fn experiment(variants: &[&str], elements: &[ElementType], sizes: &[u64]) -> Reduce {
    let variants: Vec<&Variant> = variants
        .iter()
        .map(|name| variant(name).expect("a variant"))
        .collect();
    let blocks = [32, 64].map(Threads::Given);
    Reduce::new(
        &variants,
        &[Operation::Sum],
        elements,
        sizes,
        &blocks,
        &[2],
        None,
    )
}

#[test]
fn rows_are_verified_then_timed() {
    let device = summing(|values, _| nearest(values));
    let ladder = experiment(
        &["read", "shuffle", "last_block"],
        &[ElementType::F32],
        &[100],
    );
    let rows = rows(&device, &ladder);
    assert_eq!(rows.len(), 3 * 2);
    for row in &rows {
        assert_eq!((&row.status, row.verified), (&Status::Ok, true), "{row:?}");
        // The fake's launches take a second.
        assert_eq!((row.bytes, row.gb_per_s), (Some(400), Some(400.0 / 1e9)));
    }
    let launches: Vec<_> = rows.iter().map(|row| row.launches).collect();
    assert_eq!(launches, [1, 1, 2, 2, 1, 1].map(Some));
    let deterministic = |row: &Row| row.axes.get(DETERMINISTIC_AXIS).cloned();
    assert_eq!(
        deterministic(&rows[0]),
        None,
        "it leaves its sum to the host"
    );
    assert_eq!(deterministic(&rows[2]), Some(true.into()));
}

/// As where a launch that follows another at once sees what that one has not finished.
#[test]
fn what_is_wrong_once_it_is_timed_fails() {
    // Two inputs are verified twice each before that.
    let device = summing(|values, run| nearest(values) + if run < 4 { 0.0 } else { 1.0 });
    let rows = rows(
        &device,
        &experiment(&["last_block"], &[ElementType::F32], &[100]),
    );
    let Status::Failed { stage, reason } = &rows[0].status else {
        panic!("{:?}", rows[0]);
    };
    assert_eq!((*stage, rows[0].verified), (Stage::Verification, false));
    assert!(
        reason.contains(" after the timed launches, got "),
        "{reason}"
    );
}

#[test]
fn what_is_wrong_is_not_timed() {
    let device = summing(|values, _| 2.0 * nearest(values));
    for row in rows(
        &device,
        &experiment(&["shuffle"], &[ElementType::F32], &[100]),
    ) {
        let Status::Failed { stage, .. } = &row.status else {
            panic!("{row:?}");
        };
        assert_eq!((*stage, row.verified), (Stage::Verification, false));
        assert_eq!((row.time, row.gb_per_s), (None, None));
    }
    assert_eq!(device.samples.get(), 0);
}

#[test]
fn what_the_device_cannot_run_is_skipped_and_allocates_nothing() {
    let device = summing(|values, _| nearest(values));
    let rows = rows(
        &device,
        &experiment(&["cluster"], &[ElementType::F32], &[100]),
    );
    assert_eq!(rows.len(), 2);
    for row in rows {
        let Status::Skipped { reason } = &row.status else {
            panic!("{row:?}");
        };
        assert!(reason.contains("compute capability 9.0"), "{reason}");
    }
    assert_eq!((device.allocated.get(), device.launches.get()), (0, 0));
}

#[test]
fn too_large_a_size_names_the_largest() {
    let device = summing(|values, _| nearest(values));
    let element = ElementType::F32;
    device.free.set(64 << 20);
    let fits = largest_size(element, 64 << 20);
    // Two arrays of floats.
    assert!((4 << 20..8 << 20).contains(&fits), "{fits}");
    let mut too_large = experiment(&["shuffle"], &[element], &[fits + 100_000]);
    too_large.measuring.cache = Cache::Hot;
    for row in rows(&device, &too_large) {
        let Status::Failed { stage, reason } = &row.status else {
            panic!("{row:?}");
        };
        assert_eq!(*stage, Stage::Memory);
        // The configuration's own buffers are there by then.
        let largest: u64 = reason
            .split_once("the largest size that fits is ")
            .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
            .unwrap_or_else(|| panic!("{reason}"));
        assert!((fits - 10_000..=fits).contains(&largest), "{reason}");
    }
}
