//! The host model: what every lane must get, from the PTX ISA's definitions and nothing else. It
//! shares no code with the kernels, and looks at no device.

use super::values::LaneType;

/// Lanes of a warp.
pub const LANES: u32 = 32;
/// The lanes of a whole warp.
pub const WHOLE: u32 = u32::MAX;

/// How a shuffle's argument names the source lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mode {
    Idx,
    Up,
    Down,
    Xor,
}

impl Mode {
    /// Every mode, as the kernels number them.
    pub const ALL: [Self; 4] = [Self::Idx, Self::Up, Self::Down, Self::Xor];

    /// Its name in CUDA's functions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idx => "idx",
            Self::Up => "up",
            Self::Down => "down",
            Self::Xor => "xor",
        }
    }
}

/// Where a lane's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The lane whose value is received.
    pub source: u32,
    /// Whether the lane asked for was in range; where not, the source is the lane itself.
    pub in_range: bool,
}

/// `shfl.sync` (PTX ISA 9.7.9.6) with the clamp and segment mask that a width of 2, 4, 8, 16 or 32
/// stands for: segment mask `32 - width`, clamp 31, or 0 for up. Only the lower five bits of the
/// argument count.
pub fn shuffle(mode: Mode, lane: u32, argument: u32, width: u32) -> Reading {
    let segment_mask = LANES - width;
    let clamp = if mode == Mode::Up { 0 } else { 31 };
    let b = (argument & 31) as i32;
    let first = (lane & segment_mask) as i32;
    let bound = first | (clamp & !segment_mask) as i32;
    let lane = lane as i32;
    let (source, in_range) = match mode {
        Mode::Up => (lane - b, lane - b >= bound),
        Mode::Down => (lane + b, lane + b <= bound),
        Mode::Xor => (lane ^ b, lane ^ b <= bound),
        Mode::Idx => {
            let source = first | (b & !(segment_mask as i32));
            (source, source <= bound)
        }
    };
    Reading {
        source: if in_range { source } else { lane } as u32,
        in_range,
    }
}

/// Whether a shuffle is defined for every lane that takes part: each reads a lane of its own mask.
/// `masks` and `arguments` are per lane; a lane takes part if its mask names it.
pub fn defined(
    mode: Mode,
    width: u32,
    masks: &[u32; LANES as usize],
    arguments: &[u32; LANES as usize],
) -> bool {
    (0..LANES)
        .filter(|&lane| takes_part(masks, lane))
        .all(|lane| {
            let reading = shuffle(mode, lane, arguments[lane as usize], width);
            masks[lane as usize] >> reading.source & 1 != 0
        })
}

/// Whether a lane's mask names it.
pub fn takes_part(masks: &[u32; LANES as usize], lane: u32) -> bool {
    masks[lane as usize] >> lane & 1 != 0
}

/// What a vote tells every lane of its mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Answers {
    pub all: bool,
    pub any: bool,
    pub uniform: bool,
    pub ballot: u32,
}

/// `vote.sync` (PTX ISA 9.7.13): lanes outside the mask count for nothing. `yes` has a bit per lane.
pub fn vote(mask: u32, yes: u32) -> Answers {
    let members: Vec<bool> = (0..LANES)
        .filter(|lane| mask >> lane & 1 != 0)
        .map(|lane| yes >> lane & 1 != 0)
        .collect();
    let (all, any) = (
        members.iter().all(|yes| *yes),
        members.iter().any(|yes| *yes),
    );
    Answers {
        all,
        any,
        uniform: all || !any,
        ballot: lanes_where(|lane| mask >> lane & 1 != 0 && yes >> lane & 1 != 0),
    }
}

/// `match.any.sync` (PTX ISA 9.7.13): the lanes of the mask whose value has the same bits as `lane`'s.
pub fn match_any(mask: u32, values: &[u64], lane: u32) -> u32 {
    lanes_where(|other| mask >> other & 1 != 0 && values[other as usize] == values[lane as usize])
}

/// `match.all.sync`: the mask if all of its lanes have the same value, else 0.
pub fn match_all(mask: u32, values: &[u64], lane: u32) -> u32 {
    if match_any(mask, values, lane) == mask {
        mask
    } else {
        0
    }
}

/// The lane that a mask's lanes elect: the lowest that says yes, or else the lowest.
pub fn leader(mask: u32, yes: u32) -> u32 {
    let members =
        |of: &dyn Fn(u32) -> bool| (0..LANES).find(|&lane| mask >> lane & 1 != 0 && of(lane));
    members(&|lane| yes >> lane & 1 != 0)
        .or_else(|| members(&|_| true))
        .unwrap_or(0)
}

/// How lanes sum with shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summing {
    /// Butterfly: every lane of a segment ends with its sum.
    Butterfly,
    /// Down: the segment's first lane does.
    Down,
    /// Inclusive scan with up.
    Scan,
}

/// One step of a sum in one lane; bits of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The lane read from, or the lane itself where that was out of range.
    pub reading: Reading,
    /// The distance, or the bit, of the step.
    pub delta: u32,
    /// What was received.
    pub received: u64,
    /// The sum after the step.
    pub sum: u64,
}

/// Every step of a sum in each of 32 lanes: `steps[step][lane]`. Each addition is one of the type, in
/// this order, so that floats agree to the bit.
pub fn sum(summing: Summing, width: u32, ty: LaneType, values: &[u64]) -> Vec<Vec<Step>> {
    let mut held = values.to_vec();
    let halves = width.ilog2();
    let deltas: Vec<u32> = match summing {
        Summing::Butterfly | Summing::Down => (0..halves).rev().map(|bit| 1 << bit).collect(),
        Summing::Scan => (0..halves).map(|bit| 1 << bit).collect(),
    };
    let mode = match summing {
        Summing::Butterfly => Mode::Xor,
        Summing::Down => Mode::Down,
        Summing::Scan => Mode::Up,
    };
    deltas
        .into_iter()
        .map(|delta| {
            let steps: Vec<Step> = (0..LANES)
                .map(|lane| {
                    let reading = shuffle(mode, lane, delta, width);
                    let (own, received) = (held[lane as usize], held[reading.source as usize]);
                    // A scan must not add a lane's own value again; in a reduction by down, lanes
                    // out of range do, and their sums mean nothing.
                    let adds = reading.in_range || summing != Summing::Scan;
                    Step {
                        reading,
                        delta,
                        received,
                        sum: if adds { ty.add(own, received) } else { own },
                    }
                })
                .collect();
            held = steps.iter().map(|step| step.sum).collect();
            steps
        })
        .collect()
}

fn lanes_where(condition: impl Fn(u32) -> bool) -> u32 {
    (0..LANES)
        .filter(|&lane| condition(lane))
        .fold(0, |lanes, lane| lanes | 1 << lane)
}
