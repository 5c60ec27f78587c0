//! Shuffles of whole warps and of parts of them: launch, comparison, records.

use std::rc::Rc;

use super::{
    cases::{ARGUMENTS, MaskCase, PerLane, VALUES},
    configurations::{Choice, OWN_ARGUMENTS, Part, PartialShown},
    model::{self, LANES, Mode, WHOLE},
    values::{LaneType, LaneValue, download, upload, with_type},
    worker::{Verified, at_launch, at_memory, at_verification, disagreement, record},
};
use crate::{
    device::{Buffer, Device},
    experiments::{Failure, verify::POISON},
    launch::LaunchConfig,
    random::Stream,
    report::{LaneOperation, LaneRecord},
};

/// A warp's masks and arguments, one of each per lane.
#[derive(Debug, Clone)]
pub(super) struct Warp {
    pub(super) masks: PerLane,
    pub(super) arguments: PerLane,
    /// The argument, where it is the same in all lanes.
    pub(super) argument: Option<u32>,
}

impl Warp {
    pub(super) fn uniform(masks: PerLane, argument: u32) -> Self {
        Self {
            masks,
            arguments: [argument; 32],
            argument: Some(argument),
        }
    }
}

/// A launch of one warp per block.
pub(super) struct Launch<'a> {
    pub(super) mode: Mode,
    pub(super) ty: LaneType,
    pub(super) width: u32,
    pub(super) warps: &'a [Warp],
    /// Bits of each thread's value, distinct within a warp.
    pub(super) input: &'a [u64],
}

/// What came back, per thread; poison from threads that took no part.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) values: Vec<u64>,
    pub(super) in_range: Vec<u32>,
}

/// Every chosen argument, then warps in which each lane has its own.
pub(super) fn whole(
    device: &Rc<dyn Device>,
    mode: Mode,
    ty: LaneType,
    width: u32,
    run: &Choice,
    shown: &Choice,
    seed: u64,
) -> Result<Verified, Failure> {
    let own = Stream::new(seed, ARGUMENTS);
    let uniform = run.arguments.iter();
    let warps: Vec<Warp> = uniform
        .map(|&argument| Warp::uniform([WHOLE; 32], argument))
        .chain((0..OWN_ARGUMENTS as u64).map(|warp| Warp {
            masks: [WHOLE; 32],
            // All 32 bits are in use: only five may count.
            arguments: std::array::from_fn(|lane| own.bits(32 * warp + lane as u64) as u32),
            argument: None,
        }))
        .collect();
    let input = ty.distinct(Stream::new(seed, VALUES), warps.len());
    let launch = Launch {
        mode,
        ty,
        width,
        warps: &warps,
        input: &input,
    };
    let chosen = shown.parts.contains(&Part::Shuffle)
        && shown.modes.contains(&mode)
        && shown.types.contains(&ty)
        && shown.widths.contains(&width);
    verified(device, &launch, &|argument| {
        chosen && shown.arguments.contains(&argument)
    })
}

/// Every mode and width; the arguments with which no lane reads outside its mask, and warps in which
/// each lane has its own such argument.
pub(super) fn partial(
    device: &Rc<dyn Device>,
    case: MaskCase,
    ty: LaneType,
    run: &Choice,
    shown: &Choice,
    seed: u64,
) -> Result<Verified, Failure> {
    let masks = case.masks(seed);
    let own = Stream::new(seed, ARGUMENTS);
    let mut all = Verified::default();
    for &mode in &run.modes {
        let is_defined =
            |width, argument| model::defined(mode, width, &masks, &[argument; LANES as usize]);
        let first = shown.widths.iter().find_map(|&width| {
            let mut arguments = shown.arguments.iter();
            let argument = arguments.find(|&&argument| is_defined(width, argument))?;
            Some((width, *argument))
        });
        for &width in &run.widths {
            let mut warps: Vec<Warp> = run
                .arguments
                .iter()
                .filter(|&&argument| is_defined(width, argument))
                .map(|&argument| Warp::uniform(masks, argument))
                .collect();
            warps.extend((0..OWN_ARGUMENTS as u64).map(|warp| Warp {
                masks,
                arguments: std::array::from_fn(|lane| {
                    let candidates: Vec<u32> = (0..64)
                        .filter(|&argument| {
                            let source = model::shuffle(mode, lane as u32, argument, width).source;
                            masks[lane] >> source & 1 != 0
                        })
                        .collect();
                    let index = own.bits(32 * warp + lane as u64) as usize;
                    // A lane outside its mask has none and needs none.
                    candidates
                        .get(index % candidates.len().max(1))
                        .copied()
                        .unwrap_or(0)
                }),
                argument: None,
            }));
            let input = ty.distinct(Stream::new(seed, VALUES), warps.len());
            let launch = Launch {
                mode,
                ty,
                width,
                warps: &warps,
                input: &input,
            };
            let chosen = shown.parts.contains(&Part::Partial)
                && shown.modes.contains(&mode)
                && shown.types.contains(&ty)
                && shown.widths.contains(&width);
            let some = matches!(
                case,
                MaskCase::EvenLanes | MaskCase::LowerHalf | MaskCase::TwoGroups
            );
            let is_first = |argument| first == Some((width, argument));
            all.add(verified(device, &launch, &|argument| {
                chosen
                    && match shown.partial {
                        PartialShown::SomeMasks => some && is_first(argument),
                        PartialShown::EveryMask => is_first(argument),
                        PartialShown::EveryArgument => shown.arguments.contains(&argument),
                    }
            })?);
        }
    }
    Ok(all)
}

/// Launches, compares every lane, and records the warps whose argument is to be shown.
fn verified(
    device: &Rc<dyn Device>,
    launch: &Launch,
    shown: &dyn Fn(u32) -> bool,
) -> Result<Verified, Failure> {
    let outcome = with_type!(launch.ty, T => run::<T>(device, launch))?;
    let comparisons = check(launch, &outcome).map_err(disagreement)?;
    Ok(Verified {
        comparisons,
        records: records(launch, &outcome, shown),
    })
}

/// Launches a warp per block.
pub(super) fn run<T: LaneValue>(
    device: &Rc<dyn Device>,
    launch: &Launch,
) -> Result<Outcome, Failure> {
    let per_lane =
        |of: &dyn Fn(&Warp) -> PerLane| -> Vec<u32> { launch.warps.iter().flat_map(of).collect() };
    let buffer = |values: Vec<u32>| Buffer::from_slice(device, &values).map_err(at_memory);
    let masks = buffer(per_lane(&|warp| warp.masks))?;
    let arguments = buffer(per_lane(&|warp| warp.arguments))?;
    let input = upload::<T>(device, launch.input).map_err(at_memory)?;
    let mut values = Buffer::<T>::new(device, launch.input.len()).map_err(at_memory)?;
    let mut in_range = Buffer::<u32>::new(device, launch.input.len()).map_err(at_memory)?;
    values.fill(POISON).map_err(at_memory)?;
    in_range.fill(POISON).map_err(at_memory)?;
    let number = match launch.mode {
        Mode::Idx => kernels::shuffle::IDX,
        Mode::Up => kernels::shuffle::UP,
        Mode::Down => kernels::shuffle::DOWN,
        Mode::Xor => kernels::shuffle::XOR,
    };
    let config = LaunchConfig::new(launch.warps.len() as u32, LANES);
    device
        .launch(
            T::SHUFFLE,
            config,
            (
                number,
                launch.width,
                &masks,
                &arguments,
                &input,
                &mut values,
                &mut in_range,
            ),
        )
        .map_err(at_launch)?;
    Ok(Outcome {
        values: download(&values).map_err(at_verification)?,
        in_range: in_range.to_vec().map_err(at_verification)?,
    })
}

/// Compares value and predicate of every lane with the model; how many comparisons that were.
///
/// # Errors
/// The first lane that got something else.
pub(super) fn check(launch: &Launch, outcome: &Outcome) -> Result<u64, String> {
    let Launch {
        mode, ty, width, ..
    } = *launch;
    let mut comparisons = 0;
    for (warp, lane, thread) in threads(launch) {
        let (value, flag) = (outcome.values[thread], outcome.in_range[thread]);
        let (mask, argument) = (warp.masks[lane as usize], warp.arguments[lane as usize]);
        let place = || {
            format!(
                "{}, width {width}, argument {argument}, mask {mask:#010x}: lane {lane}",
                mode.name()
            )
        };
        if !model::takes_part(&warp.masks, lane) {
            if value != ty.poison() || flag != u32::MAX {
                return Err(format!("{} takes no part, but wrote something", place()));
            }
            continue;
        }
        let expected = model::shuffle(mode, lane, argument, width);
        let values = &launch.input[thread - lane as usize..][..LANES as usize];
        if value != values[expected.source as usize] {
            let of = values.iter().position(|&other| other == value);
            return Err(format!(
                "{} received {}, {}; {}, the value of lane {}, is required",
                place(),
                ty.hexadecimal(value),
                of.map_or("which no lane gave".to_string(), |of| format!(
                    "the value of lane {of}"
                )),
                ty.hexadecimal(values[expected.source as usize]),
                expected.source
            ));
        }
        if flag != u32::from(expected.in_range) {
            return Err(format!(
                "{} has the predicate {flag}; {} is required",
                place(),
                u32::from(expected.in_range)
            ));
        }
        comparisons += 2;
    }
    Ok(comparisons)
}

/// What each lane received. The source lane is the one whose value came back from the device.
fn records(launch: &Launch, outcome: &Outcome, shown: &dyn Fn(u32) -> bool) -> Vec<LaneRecord> {
    let Launch { ty, width, .. } = *launch;
    let operation = match launch.mode {
        Mode::Idx => LaneOperation::Idx,
        Mode::Up => LaneOperation::Up,
        Mode::Down => LaneOperation::Down,
        Mode::Xor => LaneOperation::Xor,
    };
    threads(launch)
        .filter(|(warp, lane, _)| {
            warp.argument.is_some_and(shown) && model::takes_part(&warp.masks, *lane)
        })
        .map(|(warp, lane, thread)| {
            let value = outcome.values[thread];
            let values = &launch.input[thread - lane as usize..][..LANES as usize];
            let source = values.iter().position(|&other| other == value);
            LaneRecord {
                width: Some(width),
                argument: warp.argument,
                given_bits: Some(ty.hexadecimal(launch.input[thread])),
                source_lane: source.map(|source| source as u32),
                in_range: Some(outcome.in_range[thread] == 1),
                received: Some(ty.text(value)),
                received_bits: Some(ty.hexadecimal(value)),
                ..record(operation, lane, warp.masks[lane as usize])
            }
        })
        .collect()
}

/// Every thread of a launch: its warp, its lane, its number.
fn threads<'a>(launch: &Launch<'a>) -> impl Iterator<Item = (&'a Warp, u32, usize)> {
    launch.warps.iter().enumerate().flat_map(|(number, warp)| {
        (0..LANES).map(move |lane| (warp, lane, 32 * number + lane as usize))
    })
}
