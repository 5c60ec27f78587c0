//! The model against the PTX ISA's and the CUDA Programming Guide's words, and the comparison against
//! devices that get something wrong. What devices get right is in `tests/shuffle.rs`.

use serde_json::json;

use super::{
    cases::{MatchCase, VoteCase, votes},
    collectives::{UNTOUCHED, check_broadcast, check_match, check_vote},
    model::{self, LANES, Mode, Reading, Summing, WHOLE},
    shuffles, sums,
    values::LaneType,
    *,
};
use crate::{experiments::fake::Fake, random::Stream, report::Stage};

/// Worked by hand from the pseudocode of PTX ISA 9.7.9.6: mode, width, lane, argument; then the source
/// lane and the predicate.
const BY_HAND: [(Mode, u32, u32, u32, u32, bool); 24] = [
    // Width 32: segment mask 0, one segment.
    (Mode::Idx, 32, 9, 5, 5, true),
    (Mode::Idx, 32, 0, 31, 31, true),
    (Mode::Up, 32, 0, 1, 0, false),
    (Mode::Up, 32, 1, 1, 0, true),
    (Mode::Up, 32, 31, 31, 0, true),
    (Mode::Up, 32, 15, 16, 15, false),
    (Mode::Down, 32, 31, 1, 31, false),
    (Mode::Down, 32, 0, 31, 31, true),
    (Mode::Down, 32, 16, 16, 16, false),
    (Mode::Xor, 32, 5, 3, 6, true),
    (Mode::Xor, 32, 31, 31, 0, true),
    // Width 8: segment mask 24. Lane 17 is in the segment of 16 to 23.
    (Mode::Idx, 8, 17, 9, 17, true),
    (Mode::Idx, 8, 17, 7, 23, true),
    (Mode::Up, 8, 17, 2, 17, false),
    (Mode::Up, 8, 18, 2, 16, true),
    (Mode::Down, 8, 6, 1, 7, true),
    (Mode::Down, 8, 7, 1, 7, false),
    // Xor may leave the segment downwards, since it is compared with the segment's last lane only.
    (Mode::Xor, 8, 3, 8, 3, false),
    (Mode::Xor, 8, 11, 8, 3, true),
    (Mode::Xor, 2, 30, 1, 31, true),
    // b[4:0] alone counts.
    (Mode::Idx, 32, 9, 33, 1, true),
    (Mode::Up, 32, 9, 32, 9, true),
    (Mode::Down, 16, 3, 0xffff_ffe4, 7, true),
    (Mode::Xor, 4, 2, 64, 2, true),
];

#[test]
fn the_model_agrees_with_the_isa_by_hand() {
    for (mode, width, lane, argument, source, in_range) in BY_HAND {
        assert_eq!(
            model::shuffle(mode, lane, argument, width),
            Reading { source, in_range },
            "{mode:?}, width {width}, lane {lane}, argument {argument}"
        );
    }
}

/// The CUDA Programming Guide's words on `__shfl_sync` and its siblings ("Warp Shuffle Functions"), for
/// arguments from 0 to 31, with arithmetic on segments instead of masks.
#[test]
fn the_model_agrees_with_the_programming_guide() {
    for width in Choice::WIDTHS {
        for lane in 0..LANES {
            let (first, logical) = (lane / width * width, lane % width);
            for argument in 0..LANES {
                let own = Reading {
                    source: lane,
                    in_range: false,
                };
                let from = |source| Reading {
                    source,
                    in_range: true,
                };
                let expected = [
                    // "srcLane modulo width"
                    (Mode::Idx, from(first + argument % width)),
                    // "the lower delta lanes will be unchanged"
                    (
                        Mode::Up,
                        if logical < argument {
                            own
                        } else {
                            from(lane - argument)
                        },
                    ),
                    // "the upper delta lanes will remain unchanged"
                    (
                        Mode::Down,
                        if logical + argument >= width {
                            own
                        } else {
                            from(lane + argument)
                        },
                    ),
                    // Groups "are able to access elements from earlier groups", and get their own
                    // value from later ones.
                    (
                        Mode::Xor,
                        if (lane ^ argument) / width > lane / width {
                            own
                        } else {
                            from(lane ^ argument)
                        },
                    ),
                ];
                for (mode, expected) in expected {
                    let got = model::shuffle(mode, lane, argument, width);
                    assert_eq!(got, expected, "{mode:?} {width} {lane} {argument}");
                }
            }
        }
    }
}

#[test]
fn votes_and_matches_by_hand() {
    let answers = |all, any, uniform, ballot| model::Answers {
        all,
        any,
        uniform,
        ballot,
    };
    assert_eq!(model::vote(WHOLE, 0), answers(false, false, true, 0));
    assert_eq!(model::vote(WHOLE, WHOLE), answers(true, true, true, WHOLE));
    assert_eq!(model::vote(WHOLE, 4), answers(false, true, false, 4));
    // Lanes outside the mask count for nothing, whatever they would vote.
    assert_eq!(
        model::vote(0b0101, 0b1111),
        answers(true, true, true, 0b0101)
    );
    assert_eq!(model::vote(0b0101, 0b1010), answers(false, false, true, 0));
    let values: Vec<u64> = (0..32).map(|lane| lane % 2).collect();
    assert_eq!(model::match_any(WHOLE, &values, 3), 0xaaaa_aaaa);
    assert_eq!(model::match_all(WHOLE, &values, 3), 0);
    assert_eq!(model::match_all(0x5555_5555, &values, 2), 0x5555_5555);
    assert_eq!(model::leader(0b1110, 0b1001), 3);
    assert_eq!(model::leader(0b1110, 0b0001), 1);
}

#[test]
fn sums_are_those_of_their_segments() {
    let values: Vec<u64> = LaneType::U64.distinct(Stream::new(3, 9), 1);
    for width in Choice::WIDTHS {
        let total = |lanes: std::ops::RangeInclusive<u32>| {
            lanes.fold(0_u64, |sum, lane| sum.wrapping_add(values[lane as usize]))
        };
        let last = |summing| {
            let steps = model::sum(summing, width, LaneType::U64, &values);
            steps.last().expect("one step at least").clone()
        };
        let (butterfly, down, scan) = (
            last(Summing::Butterfly),
            last(Summing::Down),
            last(Summing::Scan),
        );
        for lane in 0..LANES {
            let first = lane / width * width;
            let segment = total(first..=first + width - 1);
            assert_eq!(butterfly[lane as usize].sum, segment);
            assert_eq!(scan[lane as usize].sum, total(first..=lane));
            if lane == first {
                assert_eq!(down[lane as usize].sum, segment);
            }
        }
    }
}

/// A launch of one warp per argument, and what a device that does what the model says gives back.
fn answered(
    mode: Mode,
    width: u32,
    masks: [u32; 32],
    argument: u32,
    input: &[u64],
) -> (Vec<shuffles::Warp>, shuffles::Outcome) {
    let warps = vec![shuffles::Warp::uniform(masks, argument)];
    let mut outcome = shuffles::Outcome {
        values: vec![LaneType::I32.poison(); 32],
        in_range: vec![u32::MAX; 32],
    };
    for lane in (0..LANES).filter(|&lane| model::takes_part(&masks, lane)) {
        let reading = model::shuffle(mode, lane, argument, width);
        outcome.values[lane as usize] = input[reading.source as usize];
        outcome.in_range[lane as usize] = reading.in_range.into();
    }
    (warps, outcome)
}

#[test]
fn one_wrong_lane_or_predicate_is_found() {
    let input = LaneType::I32.distinct(Stream::new(1, 0), 1);
    for mode in Mode::ALL {
        let (warps, right) = answered(mode, 8, [WHOLE; 32], 3, &input);
        let check = |outcome: &shuffles::Outcome| {
            let launch = shuffles::Launch {
                mode,
                ty: LaneType::I32,
                width: 8,
                warps: &warps,
                input: &input,
            };
            shuffles::check(&launch, outcome)
        };
        assert_eq!(check(&right), Ok(64));
        for lane in 0..32 {
            let mut wrong = right.clone();
            wrong.values[lane] = input[(lane + 16) % 32];
            let error = check(&wrong).expect_err("a wrong lane");
            assert!(
                error.contains(&format!("lane {lane} received"))
                    && error.contains(&format!("the value of lane {}", (lane + 16) % 32)),
                "{error}"
            );
            let mut wrong = right.clone();
            wrong.values[lane] ^= 1 << 31;
            let error = check(&wrong).expect_err("a wrong bit");
            assert!(error.contains("which no lane gave"), "{error}");
            let mut wrong = right.clone();
            wrong.in_range[lane] ^= 1;
            let error = check(&wrong).expect_err("a wrong predicate");
            assert!(
                error.contains(&format!("lane {lane} has the predicate")),
                "{error}"
            );
        }
    }
}

#[test]
fn a_lane_outside_the_mask_that_writes_is_found() {
    let input = LaneType::I32.distinct(Stream::new(1, 0), 1);
    let (warps, right) = answered(Mode::Xor, 32, [0x5555_5555; 32], 2, &input);
    let launch = shuffles::Launch {
        mode: Mode::Xor,
        ty: LaneType::I32,
        width: 32,
        warps: &warps,
        input: &input,
    };
    assert_eq!(shuffles::check(&launch, &right), Ok(32));
    let mut wrong = right.clone();
    wrong.in_range[7] = 1;
    let error = shuffles::check(&launch, &wrong).expect_err("lane 7 wrote");
    assert!(error.contains("lane 7 takes no part, but wrote"), "{error}");
}

#[test]
fn one_wrong_answer_of_a_vote_is_found() {
    for case in votes(1) {
        let right: Vec<u32> = (0..LANES)
            .flat_map(|lane| {
                let model::Answers {
                    all,
                    any,
                    uniform,
                    ballot,
                } = model::vote(case.masks[lane as usize], case.yes);
                if model::takes_part(&case.masks, lane) {
                    [all.into(), any.into(), uniform.into(), ballot, 1 << lane]
                } else {
                    [UNTOUCHED; 5]
                }
            })
            .collect();
        assert!(check_vote(&case, &right).is_ok(), "{}", case.name);
        for place in 0..right.len() {
            let mut wrong = right.clone();
            // Of the active mask this takes the lane itself away.
            wrong[place] ^= if place % 5 == 4 { 1 << (place / 5) } else { 1 };
            assert!(check_vote(&case, &wrong).is_err(), "{} {place}", case.name);
        }
    }
}

#[test]
fn an_active_mask_of_lanes_that_went_elsewhere_is_found() {
    let case = VoteCase {
        name: "two lanes",
        masks: [0b11; 32],
        yes: 0,
    };
    let vote = |active| {
        let mut answers = vec![UNTOUCHED; 160];
        answers[..5].copy_from_slice(&[0, 0, 1, 0, active]);
        answers[5..10].copy_from_slice(&[0, 0, 1, 0, 0b10]);
        check_vote(&case, &answers)
    };
    assert_eq!(vote(0b01), Ok(10));
    assert_eq!(vote(0b11), Ok(10));
    assert!(vote(0b101).is_err());
}

#[test]
fn one_wrong_match_or_leader_is_found() {
    let case = MatchCase::Classes;
    let (masks, values) = (case.masks(1), case.values(1, LaneType::F64));
    let any: Vec<u32> = (0..LANES)
        .map(|lane| model::match_any(WHOLE, &values, lane))
        .collect();
    let all = vec![0; 32];
    assert_eq!(check_match(case, &masks, &values, &any, &all), Ok(64));
    for lane in 0..32 {
        let mut wrong = any.clone();
        wrong[lane] ^= 1 << 31;
        assert!(check_match(case, &masks, &values, &wrong, &all).is_err());
        let mut wrong = all.clone();
        wrong[lane] = WHOLE;
        assert!(check_match(case, &masks, &values, &any, &wrong).is_err());
    }

    let cases = [VoteCase {
        name: "one",
        masks: [WHOLE; 32],
        yes: 1 << 13,
    }];
    let input = LaneType::F32.distinct(Stream::new(1, 0), 1);
    let (leaders, received) = (vec![13; 32], vec![input[13]; 32]);
    let check = |leaders: &[u32], received: &[u64]| {
        check_broadcast(LaneType::F32, &cases, &input, leaders, received)
    };
    assert_eq!(check(&leaders, &received), Ok(64));
    let mut wrong = received.clone();
    wrong[30] = input[12];
    assert!(check(&leaders, &wrong).is_err());
    let mut wrong = leaders.clone();
    wrong[0] = 12;
    assert!(check(&wrong, &received).is_err());
}

#[test]
fn one_wrong_step_of_a_sum_is_found() {
    let ty = LaneType::F32;
    let input = ty.summands(Stream::new(1, 0), 1);
    for summing in [Summing::Butterfly, Summing::Down, Summing::Scan] {
        let steps = model::sum(summing, 8, ty, &input);
        let mut right = sums::Outcome {
            received: vec![ty.poison(); 160],
            sums: vec![ty.poison(); 160],
        };
        for (step, lanes) in steps.iter().enumerate() {
            for (lane, of) in lanes.iter().enumerate() {
                right.received[5 * lane + step] = of.received;
                right.sums[5 * lane + step] = of.sum;
            }
        }
        assert_eq!(sums::check(summing, ty, 8, &input, &right), Ok(32 * 3 * 2));
        for place in 0..160 {
            // The last bit of a sum counts, and so does a place behind the last step.
            let mut wrong = right.clone();
            wrong.sums[place] ^= 1;
            assert!(sums::check(summing, ty, 8, &input, &wrong).is_err());
            let mut wrong = right.clone();
            wrong.received[place] ^= 1;
            assert!(sums::check(summing, ty, 8, &input, &wrong).is_err());
        }
    }
}

#[test]
fn a_failure_is_no_agreement() {
    let row = |verified: bool| Row {
        kernel: "shuffle_i32".to_string(),
        axes: Map::from_iter([(
            COMPARISONS_AXIS.to_string(),
            json!(1000 * u32::from(verified)),
        )]),
        status: if verified {
            Status::Ok
        } else {
            Status::Failed {
                stage: Stage::Verification,
                reason: "lane 1".to_string(),
            }
        },
        verified,
        ..crate::experiments::fake::row()
    };
    let of = |rows: &[bool]| {
        conclusions(
            &rows
                .iter()
                .map(|&verified| row(verified))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        of(&[true, true]),
        [
            "2 000 comparisons of what a lane got with the model: all agree (2 configurations of 1 kernel)."
        ]
    );
    assert_eq!(
        of(&[true, false]),
        [
            "1 of 2 configurations failed, see above; 1 000 comparisons of what a lane got with the model agree \
          in the 1 others."
        ]
    );
    assert!(!of(&[false])[0].contains("all agree"));
    assert_eq!(of(&[]), [""; 0]);
}

/// A device whose kernels write nothing.
#[test]
fn a_device_that_does_nothing_fails_every_row() {
    let experiment = Shuffle::new(Choice::everything(), Choice::overview(), 1);
    let device: Rc<dyn Device> = Fake::idle();
    let mut worker = experiment.worker(device);
    for index in 0..experiment.len() {
        let row = worker.run(index);
        assert!(!row.verified, "{row:?}");
        let Status::Failed { stage, reason } = &row.status else {
            panic!("{row:?}");
        };
        assert_eq!(*stage, Stage::Verification, "{reason}");
        assert_eq!(row.axes[COMPARISONS_AXIS], json!(0));
        assert_eq!(worker.records(), []);
    }
}

/// What is shown for undefined behaviour is refused where nobody would notice it.
#[test]
fn the_demonstration_is_for_a_simulator() {
    let experiment = Shuffle::undefined();
    let mut worker = experiment.worker(Fake::idle());
    let Status::Failed { reason, .. } = worker.run(0).status else {
        panic!("a fake device is no simulator");
    };
    assert!(reason.contains("--device sim"), "{reason}");
}

#[test]
fn text_and_bits_name_one_value() {
    let stream = Stream::new(5, 0);
    for ty in LaneType::ALL {
        let mut all = ty.distinct(stream, 8);
        all.extend(ty.summands(stream, 8));
        all.extend([0, 1, 31].map(|number| ty.whole(number)));
        for bits in all {
            let (text, hexadecimal) = (ty.text(bits), ty.hexadecimal(bits));
            let digits = hexadecimal.strip_prefix("0x").expect("a prefix");
            assert_eq!(digits.len() as u32, ty.size() / 4);
            assert_eq!(u64::from_str_radix(digits, 16), Ok(bits));
            let read = match ty {
                LaneType::I32 => text
                    .parse::<i32>()
                    .map(|value| u64::from(value as u32))
                    .ok(),
                LaneType::U32 => text.parse::<u32>().map(u64::from).ok(),
                LaneType::I64 => text.parse::<i64>().map(|value| value as u64).ok(),
                LaneType::U64 => text.parse().ok(),
                LaneType::F32 => text
                    .parse::<f32>()
                    .map(|value| u64::from(value.to_bits()))
                    .ok(),
                LaneType::F64 => text.parse::<f64>().map(f64::to_bits).ok(),
            };
            if text != "NaN" {
                assert_eq!(read, Some(bits), "{text}");
            }
        }
    }
    assert_eq!(LaneType::F32.text(LaneType::F32.whole(496)), "496");
    assert_eq!(LaneType::F64.text((-0.0_f64).to_bits()), "-0");
}

#[test]
fn values_of_a_warp_differ_and_summands_are_finite() {
    for ty in LaneType::ALL {
        let values = ty.distinct(Stream::new(1, 2), 50);
        let used = values.iter().fold(0, |bits, value| bits | value);
        assert_eq!(used, ty.poison(), "all bits are in use");
        for warp in values.chunks(32) {
            for (lane, value) in warp.iter().enumerate() {
                assert!(!warp[..lane].contains(value) && *value != ty.poison());
            }
        }
    }
    for bits in LaneType::F64.summands(Stream::new(1, 2), 50) {
        let value = f64::from_bits(bits).abs();
        assert!((2f64.powi(-15)..2.0).contains(&value), "{value:e}");
        // More than an f32 holds.
        assert_ne!(f64::from(value as f32), value);
    }
}
