//! The experiment on a device whose clocks and mistakes are chosen.

use std::{rc::Rc, sync::atomic::AtomicBool};

use super::*;
use crate::{
    device::PreparedLaunch,
    experiments::{Devices, fake::Fake, run, verify::GUARD},
    report::{RecordData, Stage, Status, ThreadRecord},
};

const LAUNCH: Hierarchy = Hierarchy {
    grid: crate::launch::Dim3::new(2, 1, 1),
    block: crate::launch::Dim3::new(20, 2, 1),
};

/// What a thread writes: clock, packed ID, SM and lane.
type Write = fn(index: u64, correct: [u32; 4]) -> [u32; 4];

/// A device whose SM n is n * 2^31 + 2^32 - 4 clocks old at the launch and starts a warp every 8;
/// `write` may change what threads write.
fn device(write: Write) -> Rc<dyn Device> {
    let mut fake = Fake::with(move |fake, launch: &PreparedLaunch| {
        let [shift, outputs @ ..] = &launch.arguments[..] else {
            unreachable!()
        };
        for position in LAUNCH.positions() {
            let (warp, lane) = LAUNCH.warp_and_lane(position);
            let sm = position.block[0];
            let clock = (sm << 31).wrapping_sub(4).wrapping_add(8 * warp);
            let id = position.thread[1] << shift | position.thread[0];
            let index = LAUNCH.global_id(position);
            for (address, value) in outputs.iter().zip(write(index, [clock, id, sm, lane])) {
                fake.write_bytes(address + 4 * index, &value.to_le_bytes())?;
            }
        }
        Ok(())
    });
    // Sampling then runs the kernel as well.
    Rc::get_mut(&mut fake)
        .expect("nobody else has it")
        .properties
        .modelled = true;
    fake
}

fn experiment(normalise: Normalise) -> Clocks {
    Clocks {
        launches: vec![LAUNCH],
        normalise,
        cache: Cache::Cold,
    }
}

fn outcome(write: Write, normalise: Normalise) -> (Row, Vec<ThreadRecord>) {
    let mut outcomes = Vec::new();
    run(
        &experiment(normalise),
        Devices::One(device(write)),
        &AtomicBool::new(false),
        &mut |row, records| {
            let threads = records.into_iter().map(|data| match data {
                RecordData::Thread(thread) => thread,
                other => panic!("a block's record: {other:?}"),
            });
            outcomes.push((row, threads.collect()));
        },
    );
    outcomes.pop().expect("one launch")
}

#[test]
fn clocks_that_wrap_between_two_warps_are_in_order() {
    let (row, threads) = outcome(|_, correct| correct, Normalise::Sm);
    assert_eq!(row.status, Status::Ok);
    assert!(row.verified && row.time.is_some());
    assert_eq!(threads.len(), 80);
    assert_eq!(
        (threads[0].clock, threads[39].clock),
        (Some(0xffff_fffc), Some(4))
    );
    for thread in &threads {
        assert_eq!(thread.completion_clocks, Some(8 * u64::from(thread.warp)));
        assert_eq!(thread.sm, Some(thread.block_x));
    }
    let (_, threads) = outcome(|_, correct| correct, Normalise::Grid);
    // SM 1 has the smaller value at the start; SM 0 wraps and goes on above 2^32.
    let completion = |index: usize| threads[index].completion_clocks;
    assert_eq!((completion(40), completion(79)), (Some(0), Some(8)));
    assert_eq!(
        (completion(0), completion(39)),
        (Some(1 << 31), Some((1 << 31) + 8))
    );
}

#[test]
fn mistakes_of_the_device_are_found_and_named() {
    let mistakes: [(Write, &str); 4] = [
        // The published index: threads of both blocks write to the first one's places.
        (
            |index, [clock, id, sm, lane]| {
                if index < 40 {
                    [clock, id, sm, lane]
                } else {
                    [u32::MAX; 4]
                }
            },
            "thread [0, 0, 0] of block [1, 0, 0]: thread ID 0xffffffff, expected 0x0",
        ),
        (
            |index, [clock, id, sm, lane]| [clock, id + u32::from(index == 41), sm, lane],
            "thread [1, 0, 0] of block [1, 0, 0]: thread ID 0x2, expected 0x1",
        ),
        (
            |index, [clock, id, sm, lane]| {
                [clock, id, sm, if index == 72 { lane + 1 } else { lane }]
            },
            "thread [12, 1, 0] of block [1, 0, 0]: lane 0x1, expected 0x0",
        ),
        (
            |_, [clock, id, _, lane]| [clock, id, u32::MAX, lane],
            "wrote no SM",
        ),
    ];
    for (write, expected) in mistakes {
        let (row, threads) = outcome(write, Normalise::Sm);
        let Status::Failed {
            stage: Stage::Verification,
            reason,
        } = &row.status
        else {
            panic!("{:?}", row.status);
        };
        assert!(reason.contains(expected), "{expected} in {reason}");
        assert!(!row.verified && threads.is_empty());
    }
}

#[test]
fn memory_holds_the_outputs_and_their_guards() {
    let needed = experiment(Normalise::Sm).required_memory();
    assert_eq!(needed, 4 * 4 * (80 + GUARD));
}
