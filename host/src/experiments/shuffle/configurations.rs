//! What is run: the parts of the experiment, and the configurations that a choice among modes, types,
//! widths and arguments makes of them.

use serde_json::{Value, json};

use super::{
    CASE_AXIS, TYPE_AXIS,
    cases::{MaskCase, MatchCase, VoteCase, votes},
    model::{Mode, Summing},
    values::{LaneType, LaneValue, with_type},
};

/// A part of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Shuffles of whole warps.
    Shuffle,
    /// Shuffles in which only some lanes take part.
    Partial,
    /// Votes and ballots.
    Vote,
    /// Match any and all.
    Match,
    /// Sums by butterfly and by down.
    Reduce,
    /// Inclusive scan with up.
    Scan,
    /// A lane that a ballot elects gives its value to all.
    Broadcast,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 7] = [
        Self::Shuffle,
        Self::Partial,
        Self::Vote,
        Self::Match,
        Self::Reduce,
        Self::Scan,
        Self::Broadcast,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shuffle => "shuffle",
            Self::Partial => "partial",
            Self::Vote => "vote",
            Self::Match => "match",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Broadcast => "broadcast",
        }
    }
}

/// How much of the shuffles with partial masks is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialShown {
    /// Some of the masks, each mode with the first argument that is defined for it.
    SomeMasks,
    /// Every mask, each mode with the first argument that is defined for it.
    EveryMask,
    /// Every mask, each mode with every argument that is defined for it.
    EveryArgument,
}

/// Parts, modes, types, widths and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Choice {
    pub parts: Vec<Part>,
    pub modes: Vec<Mode>,
    pub types: Vec<LaneType>,
    pub widths: Vec<u32>,
    pub arguments: Vec<u32>,
    pub partial: PartialShown,
}

impl Choice {
    /// Widths of a segment.
    pub const WIDTHS: [u32; 5] = [2, 4, 8, 16, 32];

    /// Everything; arguments 0 to 63, since those above 31 must count as their lower five bits.
    pub fn everything() -> Self {
        Self {
            parts: Part::ALL.to_vec(),
            modes: Mode::ALL.to_vec(),
            types: LaneType::ALL.to_vec(),
            widths: Self::WIDTHS.to_vec(),
            arguments: (0..64).collect(),
            partial: PartialShown::EveryArgument,
        }
    }

    /// What fits on two screens.
    pub fn overview() -> Self {
        Self {
            parts: vec![Part::Shuffle, Part::Partial, Part::Vote, Part::Scan],
            modes: Mode::ALL.to_vec(),
            types: vec![LaneType::I32],
            widths: vec![32, 8],
            arguments: vec![1, 2, 4, 8, 16],
            partial: PartialShown::SomeMasks,
        }
    }

    pub(super) fn nothing() -> Self {
        Self {
            parts: Vec::new(),
            modes: Vec::new(),
            types: Vec::new(),
            widths: Vec::new(),
            arguments: Vec::new(),
            partial: PartialShown::EveryArgument,
        }
    }
}

/// Warps of a launch of shuffles in which each lane has an argument of its own.
pub(super) const OWN_ARGUMENTS: usize = 32;

/// One configuration: a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Configuration {
    Shuffle {
        mode: Mode,
        ty: LaneType,
        width: u32,
    },
    Partial {
        case: MaskCase,
        ty: LaneType,
    },
    Vote(VoteCase),
    Match {
        case: MatchCase,
        ty: LaneType,
    },
    Sum {
        summing: Summing,
        ty: LaneType,
    },
    Broadcast {
        ty: LaneType,
    },
    Undefined {
        mode: Mode,
    },
}

/// The configurations of a choice, in the order of its parts.
pub(super) fn configurations(choice: &Choice, seed: u64) -> Vec<Configuration> {
    let types = || choice.types.iter().copied();
    let sums = |summing| types().map(move |ty| Configuration::Sum { summing, ty });
    let mut all = Vec::new();
    for part in &choice.parts {
        match part {
            Part::Shuffle => all.extend(choice.modes.iter().flat_map(|&mode| {
                types().flat_map(move |ty| {
                    let widths = choice.widths.iter();
                    widths.map(move |&width| Configuration::Shuffle { mode, ty, width })
                })
            })),
            Part::Partial => all.extend(
                MaskCase::ALL
                    .iter()
                    .flat_map(|&case| types().map(move |ty| Configuration::Partial { case, ty })),
            ),
            Part::Vote => all.extend(votes(seed).into_iter().map(Configuration::Vote)),
            Part::Match => all.extend(
                MatchCase::ALL
                    .iter()
                    .flat_map(|&case| types().map(move |ty| Configuration::Match { case, ty })),
            ),
            Part::Reduce => {
                all.extend(sums(Summing::Butterfly));
                all.extend(sums(Summing::Down));
            }
            Part::Scan => all.extend(sums(Summing::Scan)),
            Part::Broadcast => all.extend(types().map(|ty| Configuration::Broadcast { ty })),
        }
    }
    all
}

impl Configuration {
    /// Each mode, reading from a lane outside the mask.
    pub(super) fn undefined() -> Vec<Self> {
        Mode::ALL.map(|mode| Self::Undefined { mode }).into()
    }

    /// The kernel's name.
    pub(super) fn kernel(&self) -> &'static str {
        let name = match self {
            Self::Shuffle { ty, .. } | Self::Partial { ty, .. } => {
                with_type!(ty, T => T::SHUFFLE.declaration())
            }
            Self::Vote(_) => kernels::WARP_VOTE.declaration(),
            Self::Match { ty, .. } => with_type!(ty, T => T::MATCH.declaration()),
            Self::Sum {
                summing: Summing::Scan,
                ty,
            } => with_type!(ty, T => T::SCAN.declaration()),
            Self::Sum { ty, .. } => with_type!(ty, T => T::REDUCE.declaration()),
            Self::Broadcast { ty } => with_type!(ty, T => T::BROADCAST.declaration()),
            Self::Undefined { .. } => kernels::SHUFFLE_I32.declaration(),
        };
        name.name
    }

    /// Warps of the (largest) launch, one a block.
    pub(super) fn warps(&self, run: &Choice) -> u32 {
        match self {
            Self::Shuffle { .. } | Self::Partial { .. } => {
                (run.arguments.len() + OWN_ARGUMENTS) as u32
            }
            Self::Sum { .. } => super::sums::WARPS as u32,
            Self::Broadcast { .. } => votes(0).len() as u32,
            Self::Vote(_) | Self::Match { .. } | Self::Undefined { .. } => 1,
        }
    }

    /// The row's axes: those that it has.
    pub(super) fn axes(&self, run: &Choice) -> Vec<(&'static str, Value)> {
        let (mut mode, mut ty, mut width, mut arguments, mut case) = (
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        );
        let all_widths = || json!(ranges(&run.widths));
        let tried = || json!(format!("{}; one per lane", ranges(&run.arguments)));
        match self {
            Self::Shuffle {
                mode: m,
                ty: t,
                width: w,
            } => {
                (mode, ty, width) = (json!(m.name()), json!(t.name()), json!(w));
                arguments = tried();
            }
            Self::Partial { case: c, ty: t } => {
                let names: Vec<&str> = run.modes.iter().map(|mode| mode.name()).collect();
                (mode, ty, width) = (json!(names.join(", ")), json!(t.name()), all_widths());
                (arguments, case) = (tried(), json!(c.name()));
            }
            Self::Vote(vote) => case = json!(vote.name),
            Self::Match { case: c, ty: t } => (ty, case) = (json!(t.name()), json!(c.name())),
            Self::Sum { summing, ty: t } => {
                (ty, width) = (json!(t.name()), all_widths());
                mode = json!(match summing {
                    Summing::Butterfly => "butterfly (xor)",
                    Summing::Down => "down",
                    Summing::Scan => "up",
                });
            }
            Self::Broadcast { ty: t } => {
                (mode, ty, width) = (json!("ballot, idx"), json!(t.name()), json!(32));
            }
            Self::Undefined { mode: m } => {
                (mode, ty, width) = (json!(m.name()), json!("i32"), json!(32));
                arguments = json!(super::undefined::read(*m).1);
                case = json!("reads from outside its mask");
            }
        }
        vec![
            ("mode", mode),
            (TYPE_AXIS, ty),
            ("width", width),
            ("arguments", arguments),
            (CASE_AXIS, case),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
    }
}

/// Numbers with runs of successors written as ranges: `0..63`, `1, 2, 4`.
fn ranges(numbers: &[u32]) -> String {
    numbers
        .chunk_by(|a, b| a.checked_add(1) == Some(*b))
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first}..{last}")],
            few => few.iter().map(u32::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers_are_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0..3, 7, 9, 10");
        assert_eq!(ranges(&[u32::MAX]), u32::MAX.to_string());
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn everything_is_every_combination_once() {
        let all = configurations(&Choice::everything(), 1);
        let shuffles: Vec<_> = all
            .iter()
            .filter(|configuration| matches!(configuration, Configuration::Shuffle { .. }))
            .collect();
        assert_eq!(shuffles.len(), 4 * 6 * 5);
        for (number, configuration) in all.iter().enumerate() {
            assert!(!all[..number].contains(configuration), "{configuration:?}");
        }
    }
}
