//! Where threads are, as the device computes it, against their six coordinates: random grids of one,
//! two and three dimensions, of whole warps and of others, on the simulator and on a GPU.

mod support;

use std::cell::Cell;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use support::on_every_device;
use warplab::{
    experiments::thread_map::{DeviceView, ask},
    hierarchy::Hierarchy,
    launch::Dim3,
};

/// Threads of a launch at most, so that many launches take little time.
const MOST: u64 = 20_000;

/// A geometry of one to three dimensions, about half of them of whole warps.
fn geometries() -> impl Strategy<Value = Hierarchy> {
    let grid = (1_u32..8, 1_u32..6, 1_u32..5);
    let block = prop_oneof![
        // Any shape.
        (1_u32..100, 1_u32..20, 1_u32..9),
        // Whole warps.
        (1_u32..5, 1_u32..5, 1_u32..3).prop_map(|(x, y, z)| (32 * x, y, z)),
        (1_u32..5, 1_u32..5, 1_u32..3).prop_map(|(x, y, z)| (8 * x, 4 * y, z)),
        // One long row.
        (1_u32..=1024).prop_map(|x| (x, 1, 1)),
    ];
    (grid, block, 1_u32..=3, 1_u32..=3)
        .prop_map(|(grid, block, grid_axes, block_axes)| Hierarchy {
            grid: flattened(grid, grid_axes),
            block: flattened(block, block_axes),
        })
        .prop_filter("too many threads", |hierarchy| {
            hierarchy.block.count() <= 1024 && hierarchy.threads() <= MOST
        })
}

/// The extents on the first `axes` axes.
fn flattened((x, y, z): (u32, u32, u32), axes: u32) -> Dim3 {
    match axes {
        1 => Dim3::new(x, 1, 1),
        2 => Dim3::new(x, y, 1),
        _ => Dim3::new(x, y, z),
    }
}

/// The definition (CUDA Programming Guide, "Thread Hierarchy"), written out for one thread.
fn expected(hierarchy: &Hierarchy, [bx, by, bz, tx, ty, tz]: [u64; 6]) -> DeviceView {
    let [gx, gy, _] = hierarchy.grid.to_array().map(u64::from);
    let [dx, dy, dz] = hierarchy.block.to_array().map(u64::from);
    let in_block = tx + ty * dx + tz * dx * dy;
    let global_id = (bx + by * gx + bz * gx * gy) * (dx * dy * dz) + in_block;
    DeviceView {
        global_id,
        warp: in_block / 32,
        lane: in_block % 32,
        global_id_over_32: global_id / 32,
    }
}

#[test]
fn every_thread_is_where_its_six_coordinates_say() {
    on_every_device(|device| {
        let (whole, partial) = (Cell::new(0), Cell::new(0));
        let mut runner = TestRunner::new(Config {
            cases: 100,
            failure_persistence: None,
            ..Config::default()
        });
        let outcome = runner.run(&geometries(), |hierarchy| {
            let views = ask(device, hierarchy).expect("a sound launch");
            prop_assert_eq!(views.len() as u64, hierarchy.threads());
            for (position, view) in hierarchy.positions().zip(&views) {
                let ([bx, by, bz], [tx, ty, tz]) = (position.block, position.thread);
                let coordinates = [bx, by, bz, tx, ty, tz].map(u64::from);
                prop_assert_eq!(*view, expected(&hierarchy, coordinates), "{:?}", position);
                // The library's formulas are the same as the definition.
                prop_assert_eq!(*view, DeviceView::expected(&hierarchy, position));
            }
            let threads = hierarchy.block.count() as usize;
            let warps = threads.div_ceil(32) as u64;
            let warp_in_grid = |index: usize| (index / threads) as u64 * warps + views[index].warp;
            if threads.is_multiple_of(32) {
                // Here, and only here, the number in the grid over 32 is the warp.
                whole.set(whole.get() + 1);
                for (index, view) in views.iter().enumerate() {
                    prop_assert_eq!(view.global_id_over_32, warp_in_grid(index));
                }
            } else if views.len() > threads {
                // The last thread of the first block and the first of the second are in two warps
                // of two blocks, and have one and the same number in the grid over 32.
                partial.set(partial.get() + 1);
                let (last, first) = (threads - 1, threads);
                prop_assert_eq!(
                    views[last].global_id_over_32,
                    views[first].global_id_over_32
                );
                prop_assert_ne!(warp_in_grid(last), warp_in_grid(first));
                prop_assert_ne!(views[first].global_id_over_32, warp_in_grid(first));
                prop_assert_eq!(views[first].lane, 0);
            }
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{}: {error}", device.properties().name));
        // Both kinds were among them, or the test has shown nothing.
        assert!(
            whole.get() >= 10,
            "{} geometries of whole warps",
            whole.get()
        );
        assert!(partial.get() >= 10, "{} of others", partial.get());
    });
}
