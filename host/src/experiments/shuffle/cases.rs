//! Masks, votes and values that the collectives are tried with.

use super::{
    model::{LANES, WHOLE},
    values::LaneType,
};
use crate::random::Stream;

/// One value per lane.
pub(super) type PerLane = [u32; LANES as usize];

/// Masks in which not the whole warp calls together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MaskCase {
    EvenLanes,
    LowerHalf,
    TwoGroups,
    OneLane,
    Random,
}

impl MaskCase {
    pub(super) const ALL: [Self; 5] = [
        Self::EvenLanes,
        Self::LowerHalf,
        Self::TwoGroups,
        Self::OneLane,
        Self::Random,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EvenLanes => "even lanes",
            Self::LowerHalf => "lower half",
            Self::TwoGroups => "two groups",
            Self::OneLane => "one lane",
            Self::Random => "random lanes",
        }
    }

    /// The mask that each lane has; one that does not name the lane keeps it out.
    pub(super) fn masks(self, seed: u64) -> PerLane {
        const GROUP: u32 = 0xff;
        match self {
            Self::EvenLanes => [0x5555_5555; 32],
            Self::LowerHalf => [0xffff; 32],
            Self::TwoGroups => std::array::from_fn(|lane| if lane < 8 { GROUP } else { !GROUP }),
            Self::OneLane => [1 << 19; 32],
            // Two lanes at least, and not all.
            Self::Random => {
                [Stream::new(seed, MASKS).bits(0) as u32 & 0xffff_fbff | 0x0001_0010; 32]
            }
        }
    }
}

/// Streams of random values, one for each use.
pub(super) const MASKS: u64 = 0;
pub(super) const VOTES: u64 = 1;
pub(super) const VALUES: u64 = 2;
pub(super) const ARGUMENTS: u64 = 3;
pub(super) const CLASSES: u64 = 4;
pub(super) const SUMMANDS: u64 = 5;

/// A vote: who takes part, and who says yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VoteCase {
    pub(super) name: &'static str,
    pub(super) masks: PerLane,
    /// A bit per lane, of lanes outside the mask as well.
    pub(super) yes: u32,
}

/// The votes.
pub(super) fn votes(seed: u64) -> Vec<VoteCase> {
    let random = |index| Stream::new(seed, VOTES).bits(index) as u32;
    let partial = |case: MaskCase| case.masks(seed);
    [
        ("none", [WHOLE; 32], 0),
        ("one", [WHOLE; 32], 1 << 13),
        ("all but one", [WHOLE; 32], !(1 << 31)),
        ("all", [WHOLE; 32], WHOLE),
        ("random", [WHOLE; 32], random(0)),
        (
            "even lanes, all of them",
            partial(MaskCase::EvenLanes),
            0x5555_5555,
        ),
        (
            "even lanes, only odd ones",
            partial(MaskCase::EvenLanes),
            0xaaaa_aaaa,
        ),
        (
            "lower half, random",
            partial(MaskCase::LowerHalf),
            random(1),
        ),
        ("two groups, the first", partial(MaskCase::TwoGroups), 0xff),
        ("one lane, itself", partial(MaskCase::OneLane), 1 << 19),
        ("random lanes, random", partial(MaskCase::Random), random(2)),
    ]
    .map(|(name, masks, yes)| VoteCase { name, masks, yes })
    .into()
}

/// Values to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchCase {
    Alike,
    Different,
    Classes,
    LastBit,
    EvenAlike,
    TwoGroups,
}

impl MatchCase {
    pub(super) const ALL: [Self; 6] = [
        Self::Alike,
        Self::Different,
        Self::Classes,
        Self::LastBit,
        Self::EvenAlike,
        Self::TwoGroups,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Alike => "all alike",
            Self::Different => "all different",
            Self::Classes => "four values",
            Self::LastBit => "lane 5's highest bit",
            Self::EvenAlike => "even lanes alike",
            Self::TwoGroups => "two groups, each alike",
        }
    }

    pub(super) fn masks(self, seed: u64) -> PerLane {
        match self {
            Self::EvenAlike => MaskCase::EvenLanes.masks(seed),
            Self::TwoGroups => MaskCase::TwoGroups.masks(seed),
            _ => [WHOLE; 32],
        }
    }

    /// The bits of each lane's value.
    pub(super) fn values(self, seed: u64, ty: LaneType) -> Vec<u64> {
        let different = ty.distinct(Stream::new(seed, VALUES), 1);
        let class = |lane: u64| Stream::new(seed, CLASSES).bits(lane) as usize % 4;
        (0..LANES as usize)
            .map(|lane| match self {
                Self::Alike => different[0],
                Self::Different => different[lane],
                Self::Classes => different[class(lane as u64)],
                // As a float, the sign.
                Self::LastBit if lane == 5 => different[0] ^ 1 << (ty.size() - 1),
                Self::LastBit => different[0],
                Self::EvenAlike if lane % 2 == 0 => different[0],
                Self::EvenAlike => different[lane],
                Self::TwoGroups => different[usize::from(lane >= 8)],
            })
            .collect()
    }
}
