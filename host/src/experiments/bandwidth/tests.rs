use std::{collections::HashSet, sync::atomic::AtomicBool};

use super::*;
use crate::{
    device::{DeviceError, KernelReference, PreparedLaunch},
    experiments::{Devices, fake::Fake, run, verify::GUARD},
    report::{Stage, Status},
};

/// What the kernels do, on the fake's memory. Arguments are n, then a, b, c or alpha, x, y.
fn correct(device: &Fake, launch: &PreparedLaunch) -> crate::device::Result<()> {
    let KernelReference::Declared(declaration) = &launch.kernel else {
        return Err(DeviceError::Unsupported("loaded modules".to_string()));
    };
    let arguments = &launch.arguments;
    for index in 0..arguments[0] {
        let at = |argument: usize| arguments[argument] + 4 * index;
        let value = if declaration.name.starts_with("saxpy") {
            f32::from_bits(arguments[1] as u32).mul_add(device.f32(at(2)), device.f32(at(3)))
        } else {
            device.f32(at(1)) + device.f32(at(2))
        };
        device.set_f32(at(3), value);
    }
    Ok(())
}

fn sweep(device: Rc<dyn Device>, experiment: &Bandwidth) -> Vec<Row> {
    let mut rows = Vec::new();
    run(
        experiment,
        Devices::One(device),
        &AtomicBool::new(false),
        &mut |row, _| rows.push(row),
    );
    rows
}

fn all() -> Vec<&'static StreamKernel> {
    KERNELS.iter().collect()
}

fn vector_add() -> Vec<&'static StreamKernel> {
    vec![kernel("vector_add").expect("it is there")]
}

fn failure(row: &Row) -> (Stage, &str) {
    match &row.status {
        Status::Failed { stage, reason } => (*stage, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kernel_is_verified_and_timed_at_odd_sizes() {
    let device = Fake::with(correct);
    let rows = sweep(
        device.clone(),
        &Bandwidth::new(&all(), &[0, 1, 31, 33, 1000], &[32, 96], &[]),
    );
    assert_eq!(rows.len(), KERNELS.len() * 5 * 2);
    for row in &rows {
        assert_eq!(row.status, Status::Ok, "{row:?}");
        assert!(row.verified);
        assert_eq!(row.bytes, Some(12 * row.elements));
        // The fake's launches take a second.
        assert_eq!(row.gb_per_s, Some(12.0 * row.elements as f64 / 1e9));
        assert_eq!(row.share_of_peak, row.gb_per_s.map(|value| value / 100.0));
        assert!(row.grid.x >= 1);
    }
    assert!(device.allocations.borrow().is_empty(), "all is freed");
}

#[test]
fn grids_cover_the_size() {
    let device = Fake::with(correct);
    let rows = sweep(device, &Bandwidth::new(&all(), &[1000], &[32], &[]));
    let grid = |name: &str| {
        rows.iter()
            .find(|row| row.kernel == name)
            .map(|row| row.grid.x)
    };
    assert_eq!(grid("vector_add"), Some(32));
    assert_eq!(grid("vector_add_x4"), Some(8));
    assert_eq!(grid("vector_add_strided_1"), Some(32));
    assert_eq!(grid("vector_add_strided_4"), Some(8));
    // 4 SMs with 32 blocks each are full before a large size is covered.
    assert_eq!(
        kernel("vector_add_strided_1").map(|kernel| kernel.blocks(1 << 40, 32, 128)),
        Some(128)
    );
    assert_eq!(rows[0].blocks_per_sm, Some(32));
    assert_eq!(rows[0].occupancy, Some(0.5));
}

#[test]
fn given_grids_apply_to_strided_kernels_alone() {
    let rows = sweep(
        Fake::with(correct),
        &Bandwidth::new(&all(), &[1000], &[32], &[7, 9]),
    );
    for row in &rows {
        let strided = row.kernel.contains("strided") || row.kernel == "saxpy_unrolled";
        assert_eq!(strided, [7, 9].contains(&row.grid.x), "{row:?}");
    }
}

#[test]
fn a_wrong_element_is_named() {
    let device = Fake::with(|device, launch| {
        correct(device, launch)?;
        device.set_f32(launch.arguments[3] + 4 * 77, 0.0);
        Ok(())
    });
    let rows = sweep(device, &Bandwidth::new(&all(), &[100], &[32], &[]));
    for row in &rows {
        let (stage, reason) = failure(row);
        assert_eq!(stage, Stage::Verification);
        assert!(
            reason.contains(&row.kernel) && reason.contains("element 77 is 0e0"),
            "{reason}"
        );
        assert!(!row.verified && row.time.is_none() && row.gb_per_s.is_none());
    }
}

#[test]
fn a_kernel_that_does_nothing_does_not_pass() {
    let rows = sweep(
        Fake::with(|_, _| Ok(())),
        &Bandwidth::new(&all(), &[5], &[32], &[]),
    );
    for row in &rows {
        assert_eq!(failure(row).0, Stage::Verification, "{row:?}");
    }
}

#[test]
fn a_write_behind_the_end_is_named() {
    let device = Fake::with(|device, launch| {
        correct(device, launch)?;
        device.set_f32(launch.arguments[3] + 4 * (100 + GUARD - 1), 2.0);
        Ok(())
    });
    let rows = sweep(device, &Bandwidth::new(&all(), &[100], &[32], &[]));
    for row in &rows {
        let (stage, reason) = failure(row);
        assert_eq!(stage, Stage::Verification);
        assert!(
            reason.contains("element 4195 was overwritten with 2e0"),
            "{reason}"
        );
    }
}

#[test]
fn too_little_memory_is_said_before_anything_is_allocated() {
    let device = Fake::with(correct);
    let free = 64 << 20;
    device.free.set(free);
    let kernels = vector_add();
    // The L2 of the fake is overwritten from a buffer beside the arrays.
    let fits = largest_size(&kernels, free - device.properties.l2_bytes);
    let rows = sweep(
        device.clone(),
        &Bandwidth::new(&kernels, &[fits + 1, 1 << 40, u64::MAX], &[1024], &[]),
    );
    assert_eq!(device.allocated.get(), 0);
    for row in &rows[..2] {
        let (stage, reason) = failure(row);
        assert_eq!(stage, Stage::Memory);
        assert!(
            reason.contains(&format!("{free} are free"))
                && reason.contains(&format!("largest size that fits is {fits} ")),
            "{reason}"
        );
    }
    assert!(failure(&rows[2]).1.contains("grid x would be"));
    let rows = sweep(device, &Bandwidth::new(&kernels, &[fits], &[1024], &[]));
    assert_ne!(failure_or_ok(&rows[0]), Some(Stage::Memory));
}

fn failure_or_ok(row: &Row) -> Option<Stage> {
    match &row.status {
        Status::Failed { stage, .. } => Some(*stage),
        _ => None,
    }
}

#[test]
fn a_failing_configuration_does_not_stop_the_rest() {
    let device = Fake::with(|device, launch| {
        if launch.config.block.x == 64 {
            return Err(DeviceError::Failed("illegal address".to_string()));
        }
        correct(device, launch)
    });
    let rows = sweep(
        device,
        &Bandwidth::new(&vector_add(), &[100], &[32, 64, 128, 2048], &[]),
    );
    assert_eq!(failure(&rows[1]), (Stage::Launch, "illegal address"));
    assert!(failure(&rows[3]).1.contains("exceeds the limit of 1024"));
    assert_eq!(rows[0].status, Status::Ok);
    assert_eq!(rows[2].status, Status::Ok);
    assert!(!crate::experiments::succeeded(&rows));
    assert!(crate::experiments::succeeded(&rows[..1]));
}

#[test]
fn a_grid_beyond_the_limit_is_a_row() {
    let rows = sweep(
        Fake::with(correct),
        &Bandwidth::new(&vector_add(), &[1 << 40], &[32], &[]),
    );
    let (stage, reason) = failure(&rows[0]);
    assert_eq!(stage, Stage::Launch);
    assert!(
        reason.contains("grid x would be 34359738368, the limit is 2147483647"),
        "{reason}"
    );
}

#[test]
fn a_given_grid_beyond_the_limit_is_what_to_change() {
    let strided = [kernel("vector_add_strided_4").expect("in the list")];
    let rows = sweep(
        Fake::with(correct),
        &Bandwidth::new(&strided, &[100], &[32], &[u32::MAX]),
    );
    let (stage, reason) = failure(&rows[0]);
    assert_eq!(stage, Stage::Launch);
    assert!(reason.ends_with("give a smaller --grid"), "{reason}");
}

#[test]
fn throttled_rows_are_skipped_and_say_so() {
    let device = Fake::with(correct);
    device.clock_khz.set(Some(300_000));
    let rows = sweep(device, &Bandwidth::new(&vector_add(), &[100], &[32], &[]));
    assert!(
        matches!(&rows[0].status, Status::Skipped { reason } if reason.starts_with("throttled")),
        "{:?}",
        rows[0].status
    );
    assert!(rows[0].verified && rows[0].time.is_none());
}

#[test]
fn a_modelled_device_runs_each_configuration_once() {
    let mut device = Fake::with(correct);
    Rc::get_mut(&mut device)
        .expect("nothing else holds it yet")
        .properties
        .modelled = true;
    let rows = sweep(
        device.clone(),
        &Bandwidth::new(&vector_add(), &[100], &[32, 64], &[]),
    );
    assert!(
        rows.iter()
            .all(|row| row.status == Status::Ok && row.verified)
    );
    assert_eq!((device.launches.get(), device.samples.get()), (2, 2));
}

#[test]
fn arrays_are_kept_from_row_to_row() {
    let device = Fake::with(correct);
    sweep(
        device.clone(),
        &Bandwidth::new(&vector_add(), &[100], &[32, 64, 128], &[]),
    );
    assert_eq!(device.allocated.get(), 3);
}

#[test]
fn kernels_have_names_of_their_own() {
    let names: HashSet<&str> = KERNELS.iter().map(StreamKernel::name).collect();
    assert_eq!(names.len(), KERNELS.len());
    assert!(kernel("no_such_kernel").is_none());
}
