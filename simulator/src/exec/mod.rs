//! Runs programs: warps of 32 lanes, blocks with shared memory and barriers, launches over SMs.

mod access;
mod ahead;
mod atomic;
mod barrier;
mod block;
mod bytes;
pub(crate) mod cluster;
mod cluster_barrier;
mod collective;
pub(crate) mod launch;
mod lookup;
pub(crate) mod memory;
pub(crate) mod passed;
mod peers;
mod progress;
pub(crate) mod races;
mod racing;
mod registers;
mod rendezvous;
mod special;
mod split;
pub(crate) mod timed;
pub(crate) mod untimed;
mod warp;

use crate::fault::FaultKind;

/// A fault and the lane it concerns; the place is added where warp and block are known.
#[derive(Debug)]
pub(crate) struct LaneFault {
    pub(crate) lane: u32,
    pub(crate) kind: FaultKind,
}

/// Faults are rare and large: boxed, they keep results small.
pub(crate) type Stopped = Box<LaneFault>;

pub(crate) fn stop(lane: u32, kind: FaultKind) -> Stopped {
    Box::new(LaneFault { lane, kind })
}

/// The lanes of a mask in ascending order.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// The lanes of a mask for which something holds, as a mask.
pub(crate) fn lanes_where(mask: u32, holds: impl Fn(usize) -> bool) -> u32 {
    lanes(mask)
        .filter(|&lane| holds(lane))
        .fold(0, |kept, lane| kept | 1 << lane)
}
