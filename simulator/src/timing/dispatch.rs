//! Starts clusters: on which SMs, and when.

use super::Dispatcher;
use crate::chip::Chip;

/// Hands out the places for clusters, or for single blocks where there are no clusters.
pub enum Dispatch {
    /// Blocks start one by one.
    Blocks(Dispatcher),
    /// The blocks of a cluster start together.
    Clusters(ClusterDispatcher),
}

/// Hands out the places for clusters of several blocks.
///
/// All blocks of a cluster start in the same cycle, on SMs of one GPC: on as many different ones as
/// have room. The GPC that has enough free places first takes the cluster, of several the one with
/// the most. A cluster's dispatch takes as long as that of its blocks one by one, and it starts at
/// the end of it.
pub struct ClusterDispatcher {
    /// By SM: when each free place became free.
    free: Vec<Vec<u64>>,
    /// SMs of each GPC.
    gpcs: Vec<std::ops::Range<usize>>,
    blocks: usize,
    /// Earliest start of the next cluster's dispatch, in cycles.
    next: f64,
    /// Between the starts of two blocks, in cycles.
    interval: f64,
    turnaround: u64,
}

impl Dispatch {
    /// An empty chip whose SMs take `blocks_per_sm` blocks each, for clusters of `cluster_blocks`.
    pub fn new(chip: &Chip, blocks_per_sm: u32, cluster_blocks: u32) -> Self {
        if cluster_blocks == 1 {
            return Self::Blocks(Dispatcher::new(chip, blocks_per_sm));
        }
        Self::Clusters(ClusterDispatcher {
            free: vec![vec![0; blocks_per_sm as usize]; chip.sms as usize],
            gpcs: chip.gpcs().collect(),
            blocks: cluster_blocks as usize,
            next: (chip.launch_latency_ns * chip.clock_ghz).round(),
            interval: chip.clock_ghz / chip.block_dispatch_per_ns,
            turnaround: chip.block_turnaround.into(),
        })
    }

    /// Starts a cluster: fills `sms` with the SM of each of its blocks, by rank, and gives the cycle.
    /// `None` while there is no room.
    #[inline]
    pub fn start(&mut self, sms: &mut Vec<usize>) -> Option<u64> {
        sms.clear();
        match self {
            Self::Blocks(dispatcher) => {
                let (cycle, sm) = dispatcher.start()?;
                sms.push(sm);
                Some(cycle)
            }
            Self::Clusters(dispatcher) => dispatcher.start(sms),
        }
    }

    /// A block of `sm` ended at cycle `at`: its last warp exited and its stores are accepted.
    pub fn finish(&mut self, sm: usize, at: u64) {
        match self {
            Self::Blocks(dispatcher) => dispatcher.finish(sm, at),
            Self::Clusters(dispatcher) => {
                let free = at + dispatcher.turnaround;
                dispatcher.free[sm].push(free);
            }
        }
    }
}

impl ClusterDispatcher {
    fn start(&mut self, sms: &mut Vec<usize>) -> Option<u64> {
        let (ready, _, gpc) = self
            .gpcs
            .iter()
            .enumerate()
            .filter_map(|(gpc, sms)| {
                let mut times: Vec<u64> = self.free[sms.clone()].concat();
                times.sort_unstable();
                let ready = *times.get(self.blocks - 1)?;
                Some((ready, usize::MAX - times.len(), gpc))
            })
            .min()?;
        let places = self.gpcs[gpc].clone();
        for _ in 0..self.blocks {
            // The SM with the fewest blocks of this cluster, then with the most room.
            let sm = places
                .clone()
                .filter(|&sm| self.free[sm].iter().any(|&free| free <= ready))
                .min_by_key(|&sm| {
                    let own = sms.iter().filter(|&&other| other == sm).count();
                    (own, usize::MAX - self.free[sm].len())
                })?;
            let free = &mut self.free[sm];
            let earliest = (0..free.len()).min_by_key(|&place| free[place])?;
            free.swap_remove(earliest);
            sms.push(sm);
        }
        self.next = self.next.max(ready as f64) + self.interval * (self.blocks - 1) as f64;
        let start = self.next.ceil() as u64;
        self.next += self.interval;
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::H200;

    #[test]
    fn a_cluster_lies_on_different_sms_of_one_gpc() {
        for blocks in [2, 4, 8, 16] {
            let mut dispatch = Dispatch::new(&H200, 2, blocks);
            let (mut sms, mut clusters, mut last) = (Vec::new(), 0, 0);
            let mut used = vec![0; H200.sms as usize];
            while let Some(cycle) = dispatch.start(&mut sms) {
                assert!(cycle > last, "clusters start one after the other");
                last = cycle;
                assert_eq!(sms.len(), blocks as usize);
                let gpc = H200.gpcs().find(|gpc| gpc.contains(&sms[0])).unwrap();
                assert!(sms.iter().all(|sm| gpc.contains(sm)), "{sms:?} in {gpc:?}");
                let mut different = sms.clone();
                different.sort_unstable();
                different.dedup();
                // The last cluster of a GPC may have to share SMs.
                if clusters < 8 {
                    assert_eq!(different.len(), sms.len(), "{sms:?}");
                }
                sms.iter().for_each(|&sm| used[sm] += 1);
                clusters += 1;
            }
            assert!(used.iter().all(|&places| places <= 2));
            assert_eq!(
                clusters,
                crate::occupancy::active_clusters(&H200, 2, blocks)
            );
        }
    }

    #[test]
    fn a_cluster_waits_until_one_gpc_has_room_for_all_of_it() {
        let mut dispatch = Dispatch::new(&H200, 1, 16);
        let mut sms = Vec::new();
        let mut first = Vec::new();
        for cluster in 0..8 {
            assert!(dispatch.start(&mut sms).is_some());
            if cluster == 3 {
                first.clone_from(&sms);
            }
        }
        assert_eq!(dispatch.start(&mut sms), None);
        for (count, &sm) in first.iter().enumerate() {
            assert_eq!(dispatch.start(&mut sms), None, "{count} places are free");
            dispatch.finish(sm, 50_000 + count as u64);
        }
        let start = dispatch.start(&mut sms).unwrap();
        assert!(
            start >= 50_015 + u64::from(H200.block_turnaround),
            "{start}"
        );
        sms.sort_unstable();
        first.sort_unstable();
        assert_eq!(sms, first);
    }
}
