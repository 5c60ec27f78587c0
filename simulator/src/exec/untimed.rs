//! Runs a launch without modelling time: resident blocks take turns.

use super::{
    access::AccessLog,
    block::{Block, Step, Surroundings},
    launch::LaunchContext,
    memory::Memory,
    progress::Progress,
    timed::Ran,
};
use crate::{chip::Chip, fault::Fault};

/// Instructions a warp runs before the next warp of its block gets its turn, and rounds a block
/// runs before the next block does: long enough to stay in the host's caches.
const TURN: u32 = 1000;
const ROUNDS: u32 = 16;

/// Runs all blocks, as many at a time as the chip holds. `%clock` counts warp instructions.
pub(crate) fn run(
    launch: &LaunchContext,
    chip: &Chip,
    blocks_per_sm: u32,
    memory: &mut Memory,
) -> Result<Ran, Box<Fault>> {
    let mut log = AccessLog::new(false);
    let mut progress = Progress::new();
    let blocks = launch.blocks();
    let places = (u64::from(blocks_per_sm) * u64::from(chip.sms)).min(blocks);
    let mut resident: Vec<(u64, Block)> = Vec::new();
    let mut next_block = 0;
    let mut spare = Vec::new();
    let mut ran = Ran {
        cycles: 0,
        warp_instructions: 0,
    };
    let mut turn = 0;
    loop {
        if resident.len() <= turn && next_block < blocks && (resident.len() as u64) < places {
            let mut block = spare.pop().unwrap_or_else(|| Block::new(launch.checks));
            block.start(next_block, launch);
            resident.push((next_block, block));
            next_block += 1;
            progress.blocks_started(next_block);
        }
        if resident.is_empty() {
            return Ok(ran);
        }
        turn %= resident.len();
        let (linear, block) = &mut resident[turn];
        let sm = (*linear % u64::from(chip.sms)) as u32;
        for _ in 0..ROUNDS {
            for warp in 0..block.warps.len() {
                block.provide_registers(warp, &mut Vec::new(), launch.program.registers);
                for _ in 0..TURN {
                    if block.is_blocked(warp) {
                        break;
                    }
                    let mut around = Surroundings {
                        launch,
                        memory,
                        log: &mut log,
                        sm,
                        warp_slot: warp as u32,
                        clock: launch.clock_start + ran.warp_instructions,
                    };
                    let step = block.step(warp, &mut around)?;
                    ran.warp_instructions += 1;
                    if matches!(step, Step::Blocked | Step::Finished | Step::Sleep) {
                        break;
                    }
                    progress.count(&mut log);
                    if progress.stalled() {
                        let running = resident.iter().map(|(_, block)| block);
                        return Err(progress.fault(running, launch));
                    }
                }
            }
            if block.finished() {
                break;
            }
        }
        if block.finished() {
            spare.push(resident.swap_remove(turn).1);
        } else {
            turn += 1;
        }
    }
}
