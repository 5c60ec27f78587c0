//! Values of the special registers (PTX ISA 10).

use super::launch::Place;
use crate::program::{Lanes, Special, WARP_SIZE};

/// A special register's value in each lane of the block's `warp`-th warp.
pub(crate) fn value(special: Special, warp: u32, place: &Place) -> Lanes {
    let launch = place.launch;
    let all = |value: u64| [value; WARP_SIZE];
    let low = |value: u64| all(value & 0xffff_ffff);
    let axis = |extent: [u32; 3], axis: u8| all(u64::from(extent[usize::from(axis)]));
    let mask = |bits: fn(u32) -> u32| std::array::from_fn(|lane| u64::from(bits(lane as u32)));
    match special {
        Special::Tid(axis) => launch.thread_indices[warp as usize][usize::from(axis)],
        Special::Ntid(a) => axis(launch.block, a),
        Special::Ctaid(a) => axis(place.block, a),
        Special::Nctaid(a) => axis(launch.grid, a),
        Special::LaneId => std::array::from_fn(|lane| lane as u64),
        Special::WarpId => all(u64::from(place.warp_slot)),
        Special::NWarpId => all(u64::from(launch.max_warps_per_sm)),
        Special::SmId => all(u64::from(place.sm)),
        Special::NSmId => all(u64::from(launch.sms)),
        Special::GridId => all(launch.grid_id),
        Special::LaneMaskEq => mask(|lane| 1 << lane),
        Special::LaneMaskLt => mask(|lane| (1 << lane) - 1),
        Special::LaneMaskLe => mask(|lane| (2u64 << lane).wrapping_sub(1) as u32),
        Special::LaneMaskGt => mask(|lane| !((2u64 << lane).wrapping_sub(1) as u32)),
        Special::LaneMaskGe => mask(|lane| !((1 << lane) - 1)),
        Special::Clock => low(place.clock),
        Special::ClockHi => all(place.clock >> 32),
        Special::Clock64 => all(place.clock),
        Special::GlobalTimer => all(place.timer()),
        Special::GlobalTimerLo => low(place.timer()),
        Special::GlobalTimerHi => all(place.timer() >> 32),
        Special::DynamicSmemSize => all(u64::from(launch.dynamic_shared_bytes)),
        Special::TotalSmemSize | Special::AggrSmemSize => all(u64::from(launch.shared_bytes)),
        Special::IsExplicitCluster => all(u64::from(launch.explicit_cluster)),
        Special::ClusterCtaId(a) => axis(
            std::array::from_fn(|a| place.block[a] % launch.cluster[a]),
            a,
        ),
        Special::ClusterCtaRank => all(u64::from(place.rank)),
        Special::ClusterId(a) => axis(
            std::array::from_fn(|a| place.block[a] / launch.cluster[a]),
            a,
        ),
        Special::NClusterId(a) => axis(launch.cluster_grid(), a),
        Special::ClusterNCtaId(a) => axis(launch.cluster, a),
        Special::ClusterNCtaRank => all(u64::from(launch.cluster_blocks())),
    }
}
