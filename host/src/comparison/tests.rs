use std::rc::Rc;

use simulator::{Options, chip::Chip};

use super::*;
use crate::{
    device::{Device, simulated::SimulatedDevice},
    experiments::{
        Experiment, Measuring,
        bandwidth::{Bandwidth, KERNELS},
        block_order::BlockOrder,
        clocks::{Clocks, Normalise},
        geometry::Geometry,
        grid_sync::{Deadlock, GridSync, Method, Shape},
        reduce::{ElementType, Operation, Reduce, Threads, VARIANTS},
        shuffle::{Choice, Shuffle},
        thread_map::ThreadMap,
        tile::Tile,
    },
    hierarchy::Hierarchy,
    launch::Dim3,
    report::Cache,
};

/// An axis that running changes is no setting: if it were one, no run would match an earlier one.
#[test]
fn what_running_changes_is_a_finding() {
    let chip = Chip::named("h200").unwrap();
    let device: Rc<dyn Device> = Rc::new(SimulatedDevice::new(chip, Options::default()));
    let block = Dim3::from(64);
    let kernels: Vec<_> = KERNELS.iter().collect();
    let clocks = Clocks {
        launches: vec![Hierarchy {
            grid: 2.into(),
            block,
        }],
        normalise: Normalise::Sm,
        cache: Cache::Cold,
    };
    let order = BlockOrder {
        grid: 300.into(),
        block,
        rounds: 20,
        launches: 2,
    };
    let tile = Tile {
        elements: 512,
        launches: 2,
        seed: 1,
    };
    let variants: Vec<_> = VARIANTS.iter().collect();
    let reduce = Reduce::new(
        &variants,
        &Operation::ALL,
        &ElementType::ALL,
        &[100],
        &[Threads::Given(48), Threads::Automatic],
        &[2, 4],
        Some(4),
    );
    let grid_sync = GridSync {
        shapes: vec![Shape {
            blocks: 2,
            threads: 33,
        }],
        methods: Method::ALL.to_vec(),
        rounds: 3,
        seed: 1,
        measuring: Measuring {
            cache: Cache::Hot,
            ..Measuring::default()
        },
    };
    let room = Deadlock::room(&*device, 1024).expect("a limit");
    let deadlock = Deadlock::new(Shape {
        blocks: room.expect("such a block fits") as u32 + 1,
        threads: 1024,
    });
    let shuffle = Shuffle::new(Choice::overview(), Choice::overview(), 1);
    let experiments: [(&str, &dyn Experiment); 10] = [
        ("sweep", &Bandwidth::new(&kernels, &[100], &[32], &[7])),
        ("clocks", &clocks),
        (
            "clocks",
            &ThreadMap {
                blocks: vec![block],
            },
        ),
        ("geometry", &Geometry::new(&[Dim3::new(33, 17, 1)])),
        ("order", &order),
        ("tile", &tile),
        ("reduce", &reduce),
        ("grid_sync", &grid_sync),
        ("grid_sync", &deadlock),
        ("shuffle", &shuffle),
    ];
    for (program, experiment) in experiments {
        let mut worker = experiment.worker(Rc::clone(&device));
        for index in 0..experiment.len() {
            let (outline, row) = (experiment.outline(index), worker.run(index));
            assert_eq!(
                settings(program, &row),
                settings(program, &outline),
                "{program}: settings are what the outline has; name the others in FINDINGS"
            );
        }
    }
}
