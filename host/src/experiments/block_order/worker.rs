//! One launch from its tickets to its records.

use std::rc::Rc;

use super::{BlockOrder, Disorder, Waves, describe};
use crate::{
    device::{Buffer, Device, KernelReference, prepare},
    experiments::{
        Experiment, Failure, Worker, residency,
        verify::{self, GUARD, POISON},
    },
    launch::Dim3,
    report::{BlockRecord, RecordData, Row, Stage, Status},
};

/// Values that each block writes.
pub(super) const VALUES: usize = 5;

pub(super) struct OrderWorker<'a> {
    experiment: &'a BlockOrder,
    device: Rc<dyn Device>,
    records: Vec<RecordData>,
}

impl<'a> OrderWorker<'a> {
    pub(super) fn new(experiment: &'a BlockOrder, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            records: Vec::new(),
        }
    }

    fn attempt(&mut self, row: &mut Row) -> Result<(), Failure> {
        let BlockOrder { grid, rounds, .. } = *self.experiment;
        let kernel = kernels::BLOCK_ORDER;
        let reference = KernelReference::Declared(kernel.declaration());
        residency::fill(&*self.device, &reference, 0, row)?;
        let at_memory = |error| Failure::at(Stage::Memory)(error);
        let values = VALUES * grid.count() as usize;
        let mut ticket = Buffer::from_slice(&self.device, &[0_u32]).map_err(at_memory)?;
        // The guard counts f32s, two to a value.
        let mut out =
            Buffer::<u64>::new(&self.device, values + GUARD as usize / 2).map_err(at_memory)?;
        out.fill(POISON).map_err(at_memory)?;
        let config = self.experiment.config();
        let launch = prepare(kernel, config, (rounds, &mut ticket, &mut out));
        self.device
            .launch_prepared(&launch)
            .map_err(Failure::at(Stage::Launch))?;
        let at_verification = |error| Failure::at(Stage::Verification)(error);
        let touched = verify::overwritten_guard(&*self.device, out.address(), 2 * values as u64)
            .map_err(at_verification)?;
        if touched.is_some() {
            return Err(Failure::new(
                Stage::Verification,
                "a value behind the last block's was written",
            ));
        }
        let values = out.to_vec().map_err(at_verification)?;
        let blocks = records(grid, rounds, &values)?;
        let mut by_ticket: Vec<u64> = vec![0; blocks.len()];
        for block in &blocks {
            by_ticket[block.ticket as usize] = block.block_id;
        }
        describe(row, &Disorder::of(&by_ticket), &Waves::of(&blocks));
        row.verified = true;
        self.records = blocks.into_iter().map(RecordData::Block).collect();
        Ok(())
    }
}

/// The blocks' records, once every ticket was given once, every block ends after it starts, and the
/// multiplications gave what they must.
fn records(grid: Dim3, rounds: u32, values: &[u64]) -> Result<Vec<BlockRecord>, Failure> {
    let count = grid.count();
    let wrong = |reason: String| Failure::new(Stage::Verification, reason);
    let mut taken = vec![false; count as usize];
    let zero = values
        .chunks_exact(VALUES)
        .take(count as usize)
        .map(|block| block[2])
        .min()
        .unwrap_or(0);
    let mut records = Vec::with_capacity(taken.len());
    for (block_id, block) in (0..count).zip(values.chunks_exact(VALUES)) {
        let &[ticket, sm, start, end, product] = block else {
            unreachable!("the chunks are of that size");
        };
        if ticket >= count || std::mem::replace(&mut taken[ticket as usize], true) {
            return Err(wrong(format!(
                "block {block_id} has ticket {ticket}: each of 0 to {} once is required",
                count - 1
            )));
        }
        if end < start {
            return Err(wrong(format!(
                "block {block_id} ends at {end} ns, before it starts at {start} ns"
            )));
        }
        let expected = multiplied(ticket as u32, rounds);
        if product != u64::from(expected) {
            return Err(wrong(format!(
                "block {block_id} multiplied its way to {product}: {expected} is required"
            )));
        }
        let sm = u32::try_from(sm)
            .map_err(|_| wrong(format!("block {block_id} ran on SM {sm}, which is no SM")))?;
        let (x, y) = (u64::from(grid.x), u64::from(grid.y));
        records.push(BlockRecord {
            block_x: (block_id % x) as u32,
            block_y: (block_id / x % y) as u32,
            block_z: (block_id / x / y) as u32,
            block_id,
            ticket: ticket as u32,
            sm,
            start_ns: start - zero,
            end_ns: end - zero,
        });
    }
    Ok(records)
}

/// What a block's multiplications give.
fn multiplied(ticket: u32, rounds: u32) -> u32 {
    (0..rounds).fold(ticket | 1, |value, _| value.wrapping_mul(value | 5))
}

impl Worker for OrderWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        row.status = match self.attempt(&mut row) {
            Ok(()) => Status::Ok,
            Err(failure) => failure.into(),
        };
        row
    }

    fn records(&mut self) -> Vec<RecordData> {
        std::mem::take(&mut self.records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of two blocks, the second of which starts first.
    fn values() -> Vec<u64> {
        let block = |ticket: u32, sm, start, end| {
            [
                u64::from(ticket),
                sm,
                start,
                end,
                multiplied(ticket, 3).into(),
            ]
        };
        [block(1, 7, 1020, 1100), block(0, 2, 1000, 1090)].concat()
    }

    #[test]
    fn times_count_from_the_first_start() {
        let blocks = records((2, 1).into(), 3, &values()).expect("good values");
        assert_eq!((blocks[0].ticket, blocks[0].sm), (1, 7));
        assert_eq!((blocks[0].start_ns, blocks[0].end_ns), (20, 100));
        assert_eq!((blocks[1].block_x, blocks[1].start_ns), (1, 0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (position, value, reason) in [
            (0, 0, "has ticket 0"),
            (0, u64::MAX, "has ticket"),
            (1, u64::MAX, "which is no SM"),
            (3, 900, "before it starts"),
            (4, 1, "is required"),
        ] {
            let mut values = values();
            values[position] = value;
            let failure = records((2, 1).into(), 3, &values).expect_err(reason);
            assert!(failure.reason.contains(reason), "{}", failure.reason);
        }
    }
}
