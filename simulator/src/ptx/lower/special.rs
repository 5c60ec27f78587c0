//! Special registers by name (PTX ISA 10).

use crate::program::Special;

/// The special register of a name such as `%tid.x`; `None` if there is none that is modelled.
pub(super) fn special(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    if let Some((vector, axis)) = name.split_once('.') {
        let axis = match axis {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return Some(match vector {
            "tid" => Special::Tid(axis),
            "ntid" => Special::Ntid(axis),
            "ctaid" => Special::Ctaid(axis),
            "nctaid" => Special::Nctaid(axis),
            "clusterid" => Special::ClusterId(axis),
            "nclusterid" => Special::NClusterId(axis),
            "cluster_ctaid" => Special::ClusterCtaId(axis),
            "cluster_nctaid" => Special::ClusterNCtaId(axis),
            _ => return None,
        });
    }
    Some(match name {
        "laneid" => Special::LaneId,
        "warpid" => Special::WarpId,
        "nwarpid" => Special::NWarpId,
        "smid" => Special::SmId,
        "nsmid" => Special::NSmId,
        "gridid" => Special::GridId,
        "lanemask_eq" => Special::LaneMaskEq,
        "lanemask_le" => Special::LaneMaskLe,
        "lanemask_lt" => Special::LaneMaskLt,
        "lanemask_ge" => Special::LaneMaskGe,
        "lanemask_gt" => Special::LaneMaskGt,
        "clock" | "clock_lo" => Special::Clock,
        "clock_hi" => Special::ClockHi,
        "clock64" => Special::Clock64,
        "globaltimer" => Special::GlobalTimer,
        "globaltimer_lo" => Special::GlobalTimerLo,
        "globaltimer_hi" => Special::GlobalTimerHi,
        "dynamic_smem_size" => Special::DynamicSmemSize,
        "total_smem_size" => Special::TotalSmemSize,
        "aggr_smem_size" => Special::AggrSmemSize,
        "is_explicit_cluster" => Special::IsExplicitCluster,
        "cluster_ctarank" => Special::ClusterCtaRank,
        "cluster_nctarank" => Special::ClusterNCtaRank,
        _ => return None,
    })
}
