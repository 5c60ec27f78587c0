//! Runs a launch without modelling time: resident clusters take turns.

use super::{
    access::AccessLog,
    cluster::{Cluster, Step, Surroundings},
    launch::LaunchContext,
    memory::Memory,
    progress::Progress,
    timed::Ran,
};
use crate::{chip::Chip, fault::Fault};

/// Instructions a warp runs before the next warp of its cluster gets its turn, and rounds a cluster
/// runs before the next one does: long enough to stay in the host's caches.
const TURN: u32 = 1000;
const ROUNDS: u32 = 16;

/// Runs all blocks, `places` clusters at a time: as many as the chip holds. `%clock` counts warp
/// instructions.
pub(crate) fn run(
    launch: &LaunchContext,
    chip: &Chip,
    places: u64,
    memory: &mut Memory,
) -> Result<Ran, Box<Fault>> {
    let mut log = AccessLog::new(false);
    let mut progress = Progress::new();
    let clusters = launch.clusters();
    let mut resident: Vec<(u64, Cluster)> = Vec::new();
    let mut next = 0;
    let mut spare = Vec::new();
    let mut ran = Ran {
        cycles: 0,
        warp_instructions: 0,
    };
    let mut turn = 0;
    loop {
        if resident.len() <= turn && next < clusters && (resident.len() as u64) < places {
            let mut cluster = spare.pop().unwrap_or_else(Cluster::new);
            cluster.start(next, launch);
            resident.push((next, cluster));
            next += 1;
            progress.blocks_started(next * u64::from(launch.cluster_blocks()));
        }
        if resident.is_empty() {
            return Ok(ran);
        }
        turn %= resident.len();
        let (linear, cluster) = &mut resident[turn];
        for _ in 0..ROUNDS {
            for warp in 0..cluster.warps.len() {
                let (rank, slot) = (cluster.warps[warp].rank, cluster.warps[warp].index);
                let sm = sm(*linear, rank, launch, chip);
                cluster.provide_registers(warp, &mut Vec::new(), launch.program.registers);
                for _ in 0..TURN {
                    if cluster.is_blocked(warp) {
                        break;
                    }
                    let mut around = Surroundings {
                        launch,
                        memory,
                        log: &mut log,
                        sm,
                        warp_slot: slot,
                        clock: launch.clock_start + ran.warp_instructions,
                    };
                    let step = cluster.step(warp, &mut around)?;
                    ran.warp_instructions += 1;
                    if matches!(step, Step::Blocked | Step::Finished | Step::Sleep) {
                        break;
                    }
                    progress.count(&mut log);
                    if progress.stalled() {
                        let clusters = resident.iter().map(|(_, cluster)| cluster);
                        return Err(progress.fault(clusters, launch));
                    }
                }
            }
            if cluster.finished() {
                break;
            }
        }
        if cluster.finished() {
            spare.push(resident.swap_remove(turn).1);
        } else {
            turn += 1;
        }
    }
}

/// The SM of a block: those of a cluster lie in one GPC.
fn sm(cluster: u64, rank: u32, launch: &LaunchContext, chip: &Chip) -> u32 {
    if launch.cluster_blocks() == 1 {
        return (cluster % u64::from(chip.sms)) as u32;
    }
    let gpc = chip
        .gpcs()
        .nth((cluster % u64::from(chip.gpcs)) as usize)
        .expect("a chip with clusters has GPCs");
    (gpc.start + rank as usize % gpc.len()) as u32
}
