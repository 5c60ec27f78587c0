//! Operations in which the lanes of a warp exchange values, as functions of all lanes' inputs.

use super::{Stopped, lanes, lanes_where, stop};
use crate::{
    fault::FaultKind,
    program::{AtomicOperation, Lanes, Number, ShuffleMode, VoteMode, WARP_SIZE},
};

/// The inputs of a warp operation from the lanes that take part.
pub(crate) struct Inputs {
    /// The lanes that take part.
    pub(crate) present: u32,
    /// First source of each lane.
    pub(crate) a: Lanes,
    /// Second source: lane or offset of a shuffle.
    pub(crate) b: Lanes,
    /// Third source: clamp and segment mask of a shuffle.
    pub(crate) c: Lanes,
}

/// `shfl.sync` (PTX ISA 9.7.10.6): values and in-range predicates.
pub(crate) fn shuffle(mode: ShuffleMode, inputs: &Inputs) -> Result<(Lanes, Lanes), Stopped> {
    let (mut value, mut predicate) = ([0; WARP_SIZE], [0; WARP_SIZE]);
    for lane in lanes(inputs.present) {
        let offset = (inputs.b[lane] & 31) as i32;
        let clamp = (inputs.c[lane] & 31) as i32;
        let segment = (inputs.c[lane] >> 8 & 31) as i32;
        let this = lane as i32;
        let bound = (this & segment) | (clamp & !segment);
        let (source, in_range) = match mode {
            ShuffleMode::Up => (this - offset, this - offset >= bound),
            ShuffleMode::Down => (this + offset, this + offset <= bound),
            ShuffleMode::Butterfly => (this ^ offset, this ^ offset <= bound),
            ShuffleMode::Index => {
                let source = (this & segment) | (offset & !segment);
                (source, source <= bound)
            }
        };
        let source = if in_range { source as usize } else { lane };
        if inputs.present >> source & 1 == 0 {
            let detail = format!(
                "lane {lane} reads lane {source}, which does not take part (lanes {:#010x} do)",
                inputs.present
            );
            return Err(stop(lane as u32, FaultKind::WarpOperation { detail }));
        }
        value[lane] = inputs.a[source];
        predicate[lane] = u64::from(in_range);
    }
    Ok((value, predicate))
}

/// `vote.sync` (9.7.13): one value for all lanes that take part.
pub(crate) fn vote(mode: VoteMode, inputs: &Inputs) -> u64 {
    let (VoteMode::All { negated }
    | VoteMode::Any { negated }
    | VoteMode::Uniform { negated }
    | VoteMode::Ballot { negated }) = mode;
    let set = lanes_where(inputs.present, |lane| (inputs.a[lane] != 0) != negated);
    match mode {
        VoteMode::All { .. } => u64::from(set == inputs.present),
        VoteMode::Any { .. } => u64::from(set != 0),
        VoteMode::Uniform { .. } => u64::from(set == 0 || set == inputs.present),
        VoteMode::Ballot { .. } => u64::from(set),
    }
}

/// `match.sync`: the lanes with the same value as each lane, or, for `.all`, the members if all
/// values agree and else 0, with the predicate that says so.
pub(crate) fn matching(all: bool, bits: u8, inputs: &Inputs) -> (Lanes, Lanes) {
    let keep = if bits == 64 {
        u64::MAX
    } else {
        u64::from(u32::MAX)
    };
    let (mut value, mut predicate) = ([0; WARP_SIZE], [0; WARP_SIZE]);
    for lane in lanes(inputs.present) {
        let same = lanes_where(inputs.present, |other| {
            inputs.a[lane] & keep == inputs.a[other] & keep
        });
        let agree = same == inputs.present;
        value[lane] = if all && !agree { 0 } else { u64::from(same) };
        predicate[lane] = u64::from(agree);
    }
    (value, predicate)
}

/// `redux.sync` on 32-bit values: one value for all lanes that take part.
pub(crate) fn reduce(operation: AtomicOperation, inputs: &Inputs) -> u64 {
    let values = lanes(inputs.present).map(|lane| inputs.a[lane] as u32);
    let combine = |x: u32, y: u32| match operation {
        AtomicOperation::Add(_) => x.wrapping_add(y),
        AtomicOperation::Min(Number::Signed) => (x as i32).min(y as i32) as u32,
        AtomicOperation::Max(Number::Signed) => (x as i32).max(y as i32) as u32,
        AtomicOperation::Min(_) => x.min(y),
        AtomicOperation::Max(_) => x.max(y),
        AtomicOperation::And => x & y,
        AtomicOperation::Or => x | y,
        AtomicOperation::Xor => x ^ y,
        other => unreachable!("redux does not decode to {other:?}"),
    };
    values.reduce(combine).map_or(0, u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(present: u32, b: u64, c: u64) -> Inputs {
        Inputs {
            present,
            a: std::array::from_fn(|lane| lane as u64 + 100),
            b: [b; WARP_SIZE],
            c: [c; WARP_SIZE],
        }
    }

    /// Width w: segment mask 32 - w, clamp 31, or 0 for up.
    fn word(width: u64, clamp: u64) -> u64 {
        (32 - width) << 8 | clamp
    }

    #[test]
    fn shuffles_stay_in_their_segment() {
        let (value, predicate) = shuffle(ShuffleMode::Down, &inputs(!0, 3, word(8, 31))).unwrap();
        assert_eq!((value[0], predicate[0]), (103, 1));
        assert_eq!((value[5], predicate[5]), (105, 0));
        assert_eq!((value[20], predicate[20]), (123, 1));
        let (value, predicate) = shuffle(ShuffleMode::Up, &inputs(!0, 1, word(32, 0))).unwrap();
        assert_eq!((value[0], predicate[0], value[31]), (100, 0, 130));
        let (value, _) = shuffle(ShuffleMode::Index, &inputs(!0, 9, word(8, 31))).unwrap();
        assert_eq!((value[0], value[17]), (101, 117));
        let (value, predicate) =
            shuffle(ShuffleMode::Butterfly, &inputs(!0, 16, word(16, 31))).unwrap();
        assert_eq!((value[3], predicate[3]), (103, 0));
        assert_eq!((value[19], predicate[19]), (103, 1));
    }

    #[test]
    fn shuffling_from_an_absent_lane_is_reported() {
        let stopped = shuffle(ShuffleMode::Down, &inputs(0xffff, 1, word(32, 31))).unwrap_err();
        assert_eq!(stopped.lane, 15);
        assert!(stopped.kind.to_string().contains("lane 15 reads lane 16"));
    }

    #[test]
    fn votes_look_at_members_only() {
        let mut input = inputs(0x0f, 0, 0);
        input.a = [0; WARP_SIZE];
        input.a[2] = 1;
        input.a[9] = 1;
        assert_eq!(vote(VoteMode::Ballot { negated: false }, &input), 0b100);
        assert_eq!(vote(VoteMode::Ballot { negated: true }, &input), 0b1011);
        assert_eq!(vote(VoteMode::Any { negated: false }, &input), 1);
        assert_eq!(vote(VoteMode::All { negated: false }, &input), 0);
        assert_eq!(vote(VoteMode::Uniform { negated: false }, &input), 0);
    }

    #[test]
    fn matches_compare_at_their_width() {
        let mut input = inputs(0xff, 0, 0);
        input.a = std::array::from_fn(|lane| ((lane as u64 % 2) << 32) | (lane as u64 / 4));
        assert_eq!(matching(false, 32, &input).0[0], 0x0f);
        assert_eq!(matching(false, 64, &input).0[0], 0b0101);
        assert_eq!(matching(true, 32, &input), ([0; WARP_SIZE], [0; WARP_SIZE]));
    }
}
