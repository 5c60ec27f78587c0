//! Every shuffle, vote, match and sum on the simulator and, where there is one, on the GPU: all of it
//! agrees with the model, and every device gives the same.

mod support;

use std::{cell::RefCell, rc::Rc, sync::atomic::AtomicBool};

use support::on_every_device;
use warplab::{
    device::Device,
    experiments::{
        Devices, run,
        shuffle::{COMPARISONS_AXIS, Choice, Part, Shuffle, values::LaneType},
    },
    report::{LaneOperation, LaneRecord, RecordData, Row, Status},
};

fn everything_of(device: &Rc<dyn Device>, experiment: &Shuffle) -> (Vec<Row>, Vec<LaneRecord>) {
    let (mut rows, mut lanes) = (Vec::new(), Vec::new());
    let devices = Devices::One(Rc::clone(device));
    run(
        experiment,
        devices,
        &AtomicBool::new(false),
        &mut |row, records| {
            for record in records {
                let RecordData::Lane(lane) = record else {
                    panic!("{record:?}");
                };
                lanes.push(lane);
            }
            rows.push(row);
        },
    );
    (rows, lanes)
}

#[test]
fn every_combination_is_verified_and_alike_on_every_device() {
    let shown = Choice {
        parts: Part::ALL.to_vec(),
        types: LaneType::ALL.to_vec(),
        arguments: vec![0, 1, 7, 16, 31, 33],
        ..Choice::overview()
    };
    let experiment = Shuffle::new(Choice::everything(), shown, 7);
    let first: RefCell<Option<Vec<LaneRecord>>> = RefCell::default();
    on_every_device(|device| {
        let (rows, mut lanes) = everything_of(device, &experiment);
        for row in &rows {
            assert_eq!(row.status, Status::Ok, "{row:?}");
            assert!(row.verified, "{row:?}");
        }
        let compared = |kernel: &str| -> u64 {
            let rows = rows
                .iter()
                .filter(|row| row.kernel == kernel && !row.axes.contains_key("case"));
            rows.filter_map(|row| row.axes[COMPARISONS_AXIS].as_u64())
                .sum()
        };
        // Values and predicates of 32 lanes: 64 arguments, and 32 warps with one per lane; 4 modes, 5
        // widths.
        assert_eq!(compared("shuffle_f64"), 2 * 32 * (64 + 32) * 4 * 5);
        // Received and held in 9 warps after each of 1 to 5 steps, butterfly and down.
        assert_eq!(
            compared("shuffle_reduce_i32"),
            2 * 2 * 32 * 9 * (1 + 2 + 3 + 4 + 5)
        );
        assert_eq!(
            compared("shuffle_scan_u64"),
            2 * 32 * 9 * (1 + 2 + 3 + 4 + 5)
        );
        // Which lanes run together is for the device to choose.
        for lane in &mut lanes {
            lane.active_mask = None;
        }
        match &mut *first.borrow_mut() {
            Some(first) => assert_eq!(*first, lanes),
            none => *none = Some(lanes),
        }
    });
}

#[test]
fn no_partial_mask_reads_from_outside_itself_whatever_the_seed() {
    let parts = |choice: Choice| Choice {
        parts: vec![Part::Partial, Part::Vote, Part::Broadcast],
        types: vec![LaneType::U64],
        ..choice
    };
    on_every_device(|device| {
        for seed in 0..8 {
            let choices = (parts(Choice::everything()), parts(Choice::overview()));
            let experiment = Shuffle::new(choices.0, choices.1, seed);
            let (rows, lanes) = everything_of(device, &experiment);
            assert!(rows.iter().all(|row| row.verified), "seed {seed}: {rows:?}");
            for lane in lanes {
                let source = lane.source_lane.unwrap_or(lane.lane);
                assert!(
                    lane.mask >> lane.lane & 1 == 1 && lane.mask >> source & 1 == 1,
                    "{lane:?}"
                );
            }
        }
    });
}

#[test]
fn sums_of_random_values_are_recorded_to_the_bit() {
    let choice = Choice {
        parts: vec![Part::Reduce],
        types: vec![LaneType::F64],
        widths: vec![32],
        ..Choice::everything()
    };
    let experiment = Shuffle::new(choice.clone(), choice, 3);
    on_every_device(|device| {
        let (_, lanes) = everything_of(device, &experiment);
        let steps = |operation, step| -> Vec<&LaneRecord> {
            let of = |lane: &&LaneRecord| lane.operation == operation && lane.step == Some(step);
            lanes.iter().filter(of).collect()
        };
        for operation in [LaneOperation::ReduceButterfly, LaneOperation::ReduceDown] {
            // Lane 0's sum of the second warp, which began with random values.
            let bits = |text: &Option<String>| {
                let text = text.as_deref().expect("bits").trim_start_matches("0x");
                f64::from_bits(u64::from_str_radix(text, 16).expect("hexadecimal"))
            };
            let given: f64 = steps(operation, 0)[32..]
                .iter()
                .map(|lane| bits(&lane.given_bits))
                .sum();
            let last = steps(operation, 4)[32];
            let sum = bits(&last.sum_bits);
            assert!((sum - given).abs() < 1e-12, "{sum} {given}");
            assert_eq!(
                last.sum.as_deref().and_then(|text| text.parse().ok()),
                Some(sum)
            );
        }
    });
}
