//! Reductions and scans made of shuffles: launch, comparison step by step, records.

use std::rc::Rc;

use super::{
    cases::SUMMANDS,
    configurations::{Choice, Part},
    model::{self, LANES, Step, Summing, WHOLE},
    values::{LaneType, LaneValue, download, upload, with_type},
    worker::{Verified, at_launch, at_memory, at_verification, disagreement, record},
};
use crate::{
    device::{Buffer, Device},
    experiments::{Failure, verify::POISON},
    launch::LaunchConfig,
    random::Stream,
    report::{LaneInput, LaneOperation, LaneRecord},
};

/// Places per thread in the outputs.
const STEPS: usize = kernels::shuffle_reduce::STEPS;
/// Warps of a launch: one of small numbers, which is shown, the others of random values.
pub(super) const WARPS: usize = 9;

/// What came back: [`STEPS`] places per thread.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) received: Vec<u64>,
    pub(super) sums: Vec<u64>,
}

/// Every width of the choice.
pub(super) fn sum(
    device: &Rc<dyn Device>,
    summing: Summing,
    ty: LaneType,
    run: &Choice,
    shown: &Choice,
    seed: u64,
) -> Result<Verified, Failure> {
    let part = match summing {
        Summing::Scan => Part::Scan,
        Summing::Butterfly | Summing::Down => Part::Reduce,
    };
    let mut input: Vec<u64> = (0..LANES)
        .map(|lane| match shown_input(summing) {
            LaneInput::Lanes => ty.whole(lane),
            LaneInput::Ones | LaneInput::Random => ty.whole(1),
        })
        .collect();
    input.extend(ty.summands(Stream::new(seed, SUMMANDS), WARPS - 1));
    let mut all = Verified::default();
    for &width in &run.widths {
        let outcome = with_type!(ty, T => launch::<T>(device, summing, width, &input))?;
        let comparisons = check(summing, ty, width, &input, &outcome).map_err(disagreement)?;
        let chosen = shown.parts.contains(&part)
            && shown.types.contains(&ty)
            && shown.widths.contains(&width);
        let records = if chosen {
            records(summing, ty, width, &input, &outcome)
        } else {
            Vec::new()
        };
        all.add(Verified {
            comparisons,
            records,
        });
    }
    Ok(all)
}

/// What the first warp sums. Ones make a scan count; but in a reduction by down they would hide which
/// lanes hold no sum of the segment.
fn shown_input(summing: Summing) -> LaneInput {
    match summing {
        Summing::Butterfly | Summing::Down => LaneInput::Lanes,
        Summing::Scan => LaneInput::Ones,
    }
}

fn launch<T: LaneValue>(
    device: &Rc<dyn Device>,
    summing: Summing,
    width: u32,
    input: &[u64],
) -> Result<Outcome, Failure> {
    let values = upload::<T>(device, input).map_err(at_memory)?;
    let output = || -> Result<Buffer<T>, Failure> {
        let mut buffer = Buffer::new(device, STEPS * input.len()).map_err(at_memory)?;
        buffer.fill(POISON).map_err(at_memory)?;
        Ok(buffer)
    };
    let (mut received, mut held) = (output()?, output()?);
    let config = LaunchConfig::new((input.len() / LANES as usize) as u32, LANES);
    match summing {
        Summing::Scan => {
            let arguments = (width, &values, &mut received, &mut held);
            device.launch(T::SCAN, config, arguments)
        }
        Summing::Butterfly | Summing::Down => {
            let down = u32::from(summing == Summing::Down);
            let arguments = (down, width, &values, &mut received, &mut held);
            device.launch(T::REDUCE, config, arguments)
        }
    }
    .map_err(at_launch)?;
    Ok(Outcome {
        received: download(&received).map_err(at_verification)?,
        sums: download(&held).map_err(at_verification)?,
    })
}

/// Compares what every lane received and held after every step with the model, to the bit.
pub(super) fn check(
    summing: Summing,
    ty: LaneType,
    width: u32,
    input: &[u64],
    outcome: &Outcome,
) -> Result<u64, String> {
    let mut comparisons = 0;
    for (warp, values) in input.chunks_exact(LANES as usize).enumerate() {
        let steps = model::sum(summing, width, ty, values);
        for lane in 0..LANES as usize {
            for step in 0..STEPS {
                let place = STEPS * (32 * warp + lane) + step;
                let got = [outcome.received[place], outcome.sums[place]];
                let expected = match steps.get(step) {
                    Some(lanes) => {
                        comparisons += 2;
                        let Step { received, sum, .. } = lanes[lane];
                        [received, sum]
                    }
                    None => [ty.poison(); 2],
                };
                if got != expected {
                    let [got, expected] = [got, expected].map(|pair| {
                        pair.map(|bits| format!("{} ({})", ty.text(bits), ty.hexadecimal(bits)))
                            .join(" and ")
                    });
                    return Err(format!(
                        "{summing:?}, width {width}, warp {warp}, step {step}: lane {lane} received \
                         and held {got}; {expected} is required"
                    ));
                }
            }
        }
    }
    Ok(comparisons)
}

/// The warp of small numbers and the first one of random values.
fn records(
    summing: Summing,
    ty: LaneType,
    width: u32,
    input: &[u64],
    outcome: &Outcome,
) -> Vec<LaneRecord> {
    let operation = match summing {
        Summing::Butterfly => LaneOperation::ReduceButterfly,
        Summing::Down => LaneOperation::ReduceDown,
        Summing::Scan => LaneOperation::Scan,
    };
    let mut records = Vec::new();
    for (warp, values) in input.chunks_exact(LANES as usize).enumerate().take(2) {
        let steps = model::sum(summing, width, ty, values);
        for (number, lanes) in steps.iter().enumerate() {
            for (lane, step) in lanes.iter().enumerate() {
                let place = |step: usize| STEPS * (32 * warp + lane) + step;
                let given = match number.checked_sub(1) {
                    Some(before) => outcome.sums[place(before)],
                    None => values[lane],
                };
                let (received, sum) =
                    (outcome.received[place(number)], outcome.sums[place(number)]);
                records.push(LaneRecord {
                    width: Some(width),
                    argument: Some(step.delta),
                    step: Some(number as u32),
                    input: Some(if warp == 0 {
                        shown_input(summing)
                    } else {
                        LaneInput::Random
                    }),
                    given_bits: Some(ty.hexadecimal(given)),
                    source_lane: Some(step.reading.source),
                    in_range: Some(step.reading.in_range),
                    received: Some(ty.text(received)),
                    received_bits: Some(ty.hexadecimal(received)),
                    sum: Some(ty.text(sum)),
                    sum_bits: Some(ty.hexadecimal(sum)),
                    ..record(operation, lane as u32, WHOLE)
                });
            }
        }
    }
    records
}
