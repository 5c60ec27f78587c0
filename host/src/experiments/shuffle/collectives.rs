//! Votes, match, and the broadcast of an elected lane's value: launch, comparison, records.

use std::rc::Rc;

use super::{
    cases::{MatchCase, PerLane, VALUES, VoteCase, votes},
    configurations::{Choice, Part},
    model::{self, LANES},
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

const ANSWERS: usize = kernels::warp_vote::ANSWERS;
/// Byte that answers are filled with before a launch: not 0xff, since all lanes are a right answer.
const UNANSWERED: u8 = 0xcd;
pub(super) const UNTOUCHED: u32 = u32::from_ne_bytes([UNANSWERED; 4]);

/// One vote of one warp.
pub(super) fn vote(
    device: &Rc<dyn Device>,
    case: &VoteCase,
    shown: &Choice,
) -> Result<Verified, Failure> {
    let masks = Buffer::from_slice(device, &case.masks).map_err(at_memory)?;
    let predicates = Buffer::from_slice(device, &predicates(case.yes)).map_err(at_memory)?;
    let mut answers = poisoned(device, ANSWERS * LANES as usize)?;
    let config = LaunchConfig::new(1, LANES);
    device
        .launch(
            kernels::WARP_VOTE,
            config,
            (&masks, &predicates, &mut answers),
        )
        .map_err(at_launch)?;
    let answers = answers.to_vec().map_err(at_verification)?;
    let comparisons = check_vote(case, &answers).map_err(disagreement)?;
    let records = members(&case.masks)
        .filter(|_| shown.parts.contains(&Part::Vote))
        .map(|lane| {
            let own = &answers[ANSWERS * lane as usize..][..ANSWERS];
            LaneRecord {
                predicate: Some(case.yes >> lane & 1 != 0),
                all: Some(own[0] == 1),
                any: Some(own[1] == 1),
                uniform: Some(own[2] == 1),
                ballot: Some(own[3]),
                active_mask: Some(own[4]),
                ..record(LaneOperation::Vote, lane, case.masks[lane as usize])
            }
        })
        .collect();
    Ok(Verified {
        comparisons,
        records,
    })
}

/// Compares every lane's answers with the model. Of the active mask only that is compared which is
/// promised: it holds the lane itself, and none that took another way (PTX ISA 9.7.13).
pub(super) fn check_vote(case: &VoteCase, answers: &[u32]) -> Result<u64, String> {
    let together = members(&case.masks).fold(0, |lanes, lane| lanes | 1 << lane);
    let mut comparisons = 0;
    for (lane, own) in (0..LANES).zip(answers.chunks_exact(ANSWERS)) {
        let mask = case.masks[lane as usize];
        let place = || format!("vote '{}', mask {mask:#010x}: lane {lane}", case.name);
        if !model::takes_part(&case.masks, lane) {
            if own != [UNTOUCHED; ANSWERS] {
                return Err(format!("{} takes no part, but wrote something", place()));
            }
            continue;
        }
        let model::Answers {
            all,
            any,
            uniform,
            ballot,
        } = model::vote(mask, case.yes);
        let expected = [all.into(), any.into(), uniform.into(), ballot];
        if own[..4] != expected {
            return Err(format!(
                "{} got all, any, uniform, ballot {:x?}; {expected:x?} is required",
                place(),
                &own[..4]
            ));
        }
        let active = own[4];
        if active >> lane & 1 == 0 || active & !together != 0 {
            return Err(format!(
                "{} has the active mask {active:#010x}; itself and none but {together:#010x} are \
                 possible",
                place()
            ));
        }
        comparisons += ANSWERS as u64;
    }
    Ok(comparisons)
}

/// One match, any and all, of one warp.
pub(super) fn matching(
    device: &Rc<dyn Device>,
    case: MatchCase,
    ty: LaneType,
    shown: &Choice,
    seed: u64,
) -> Result<Verified, Failure> {
    let (masks, values) = (case.masks(seed), case.values(seed, ty));
    let (any, all) = with_type!(ty, T => launch_match::<T>(device, &masks, &values))?;
    let comparisons = check_match(case, &masks, &values, &any, &all).map_err(disagreement)?;
    let chosen = shown.parts.contains(&Part::Match) && shown.types.contains(&ty);
    let records = members(&masks)
        .filter(|_| chosen)
        .map(|lane| LaneRecord {
            given_bits: Some(ty.hexadecimal(values[lane as usize])),
            match_any: Some(any[lane as usize]),
            match_all: Some(all[lane as usize]),
            ..record(LaneOperation::Match, lane, masks[lane as usize])
        })
        .collect();
    Ok(Verified {
        comparisons,
        records,
    })
}

fn launch_match<T: LaneValue>(
    device: &Rc<dyn Device>,
    masks: &PerLane,
    values: &[u64],
) -> Result<(Vec<u32>, Vec<u32>), Failure> {
    let masks = Buffer::from_slice(device, masks).map_err(at_memory)?;
    let input = upload::<T>(device, values).map_err(at_memory)?;
    let (mut any, mut all) = (
        poisoned(device, LANES as usize)?,
        poisoned(device, LANES as usize)?,
    );
    let config = LaunchConfig::new(1, LANES);
    device
        .launch(T::MATCH, config, (&masks, &input, &mut any, &mut all))
        .map_err(at_launch)?;
    Ok((
        any.to_vec().map_err(at_verification)?,
        all.to_vec().map_err(at_verification)?,
    ))
}

pub(super) fn check_match(
    case: MatchCase,
    masks: &PerLane,
    values: &[u64],
    any: &[u32],
    all: &[u32],
) -> Result<u64, String> {
    let mut comparisons = 0;
    for lane in 0..LANES {
        let (mask, got) = (
            masks[lane as usize],
            [any[lane as usize], all[lane as usize]],
        );
        let place = || format!("match '{}', mask {mask:#010x}: lane {lane}", case.name());
        if !model::takes_part(masks, lane) {
            if got != [UNTOUCHED; 2] {
                return Err(format!("{} takes no part, but wrote something", place()));
            }
            continue;
        }
        let expected = [
            model::match_any(mask, values, lane),
            model::match_all(mask, values, lane),
        ];
        if got != expected {
            return Err(format!(
                "{} got any, all {got:x?}; {expected:x?} is required",
                place()
            ));
        }
        comparisons += 2;
    }
    Ok(comparisons)
}

/// One election and broadcast for each of the votes, a warp each.
pub(super) fn broadcast(
    device: &Rc<dyn Device>,
    ty: LaneType,
    shown: &Choice,
    seed: u64,
) -> Result<Verified, Failure> {
    let cases = votes(seed);
    let input = ty.distinct(Stream::new(seed, VALUES), cases.len());
    let (leaders, values) = with_type!(ty, T => launch_broadcast::<T>(device, &cases, &input))?;
    let comparisons =
        check_broadcast(ty, &cases, &input, &leaders, &values).map_err(disagreement)?;
    let chosen = shown.parts.contains(&Part::Broadcast) && shown.types.contains(&ty);
    let records = cases
        .iter()
        .enumerate()
        .flat_map(|(warp, case)| members(&case.masks).map(move |lane| (warp, case, lane)))
        .filter(|_| chosen)
        .map(|(warp, case, lane)| {
            let thread = 32 * warp + lane as usize;
            LaneRecord {
                predicate: Some(case.yes >> lane & 1 != 0),
                ballot: Some(model::vote(case.masks[lane as usize], case.yes).ballot),
                given_bits: Some(ty.hexadecimal(input[thread])),
                source_lane: Some(leaders[thread]),
                received: Some(ty.text(values[thread])),
                received_bits: Some(ty.hexadecimal(values[thread])),
                ..record(LaneOperation::Broadcast, lane, case.masks[lane as usize])
            }
        })
        .collect();
    Ok(Verified {
        comparisons,
        records,
    })
}

fn launch_broadcast<T: LaneValue>(
    device: &Rc<dyn Device>,
    cases: &[VoteCase],
    input: &[u64],
) -> Result<(Vec<u32>, Vec<u64>), Failure> {
    let masks: Vec<u32> = cases.iter().flat_map(|case| case.masks).collect();
    let yes: Vec<u32> = cases.iter().flat_map(|case| predicates(case.yes)).collect();
    let masks = Buffer::from_slice(device, &masks).map_err(at_memory)?;
    let yes = Buffer::from_slice(device, &yes).map_err(at_memory)?;
    let input = upload::<T>(device, input).map_err(at_memory)?;
    let mut leaders = poisoned(device, input.len())?;
    let mut values = Buffer::<T>::new(device, input.len()).map_err(at_memory)?;
    values.fill(POISON).map_err(at_memory)?;
    let config = LaunchConfig::new(cases.len() as u32, LANES);
    device
        .launch(
            T::BROADCAST,
            config,
            (&masks, &yes, &input, &mut leaders, &mut values),
        )
        .map_err(at_launch)?;
    Ok((
        leaders.to_vec().map_err(at_verification)?,
        download(&values).map_err(at_verification)?,
    ))
}

pub(super) fn check_broadcast(
    ty: LaneType,
    cases: &[VoteCase],
    input: &[u64],
    leaders: &[u32],
    values: &[u64],
) -> Result<u64, String> {
    let mut comparisons = 0;
    for (warp, case) in cases.iter().enumerate() {
        for lane in 0..LANES {
            let thread = 32 * warp + lane as usize;
            let (leader, value) = (leaders[thread], values[thread]);
            let mask = case.masks[lane as usize];
            let place = || format!("broadcast '{}', mask {mask:#010x}: lane {lane}", case.name);
            if !model::takes_part(&case.masks, lane) {
                if leader != UNTOUCHED || value != ty.poison() {
                    return Err(format!("{} takes no part, but wrote something", place()));
                }
                continue;
            }
            let expected = model::leader(mask, case.yes);
            let required = input[32 * warp + expected as usize];
            if (leader, value) != (expected, required) {
                return Err(format!(
                    "{} elected lane {leader} and received {}; lane {expected} and {} are required",
                    place(),
                    ty.hexadecimal(value),
                    ty.hexadecimal(required)
                ));
            }
            comparisons += 2;
        }
    }
    Ok(comparisons)
}

/// The lanes that take part.
fn members(masks: &PerLane) -> impl Iterator<Item = u32> {
    (0..LANES).filter(|&lane| model::takes_part(masks, lane))
}

/// What each lane votes: yes is any number but 0.
fn predicates(yes: u32) -> PerLane {
    std::array::from_fn(|lane| (yes >> lane & 1) * (lane as u32 + 1))
}

fn poisoned(device: &Rc<dyn Device>, values: usize) -> Result<Buffer<u32>, Failure> {
    let mut buffer = Buffer::new(device, values).map_err(at_memory)?;
    buffer.fill(UNANSWERED).map_err(at_memory)?;
    Ok(buffer)
}
