//! Warp operations: the lanes of a mask wait for each other, then exchange values.

use arrayvec::ArrayVec;

use super::{
    Stopped, collective, lanes, lanes_where,
    launch::Place,
    split::{Split, State},
    stop,
    warp::{Outcome, Warp},
};
use crate::{
    fault::FaultKind,
    program::{Action, Instruction, WARP_SIZE},
};

impl Warp {
    /// A warp operation: the current split waits, or, if it completes its mask, all members run it.
    pub(crate) fn rendezvous(
        &mut self,
        instruction: &Instruction,
        mask: u32,
        place: &mut Place,
    ) -> Result<Outcome, Stopped> {
        let member_operand = *instruction
            .sources
            .last()
            .expect("warp operations name members");
        let members = self.value(member_operand, mask, place)?;
        let members_of = members[mask.trailing_zeros() as usize] as u32;
        let group = lanes_where(mask, |lane| members[lane] as u32 == members_of);
        if let Some(outsider) = lanes(group & !members_of).next() {
            let detail = format!(
                "lane {outsider} executes it, but its member mask {members_of:#010x} does not \
                 name that lane"
            );
            return Err(stop(outsider as u32, FaultKind::WarpOperation { detail }));
        }
        if group != mask {
            let pc = self.splits[self.current].pc;
            self.splits[self.current].mask = group;
            self.splits.push(Split::at(pc, mask & !group));
        }
        let state = State::Members(members_of);
        self.splits[self.current].state = state;
        let same = |split: &Split| {
            let other = &place.launch.program.instructions[split.pc as usize];
            split.state == state
                && std::mem::discriminant(&other.action)
                    == std::mem::discriminant(&instruction.action)
        };
        let present = self
            .splits
            .iter()
            .filter(|s| same(s))
            .fold(0, |m, split| m | split.mask);
        if members_of & self.live & !present == 0 {
            let complete: ArrayVec<usize, WARP_SIZE> = (0..self.splits.len())
                .filter(|&index| same(&self.splits[index]))
                .collect();
            self.exchange(&complete, present, place)?;
            if let (Action::WarpBarrier, Some(races)) = (instruction.action, &mut place.races) {
                races.warp_barrier(self.id, present, self.live);
            }
            for index in complete {
                self.splits[index].state = State::Running;
                self.splits[index].pc += 1;
            }
        }
        if self.splits.len() == 1 && self.splits[0].state == State::Running {
            return Ok(Outcome::Continue);
        }
        self.choose()
    }

    /// Performs a warp operation for the lanes of the given splits together.
    fn exchange(&mut self, splits: &[usize], present: u32, place: &Place) -> Result<(), Stopped> {
        let program = place.launch.program;
        let zero = [0; WARP_SIZE];
        let mut inputs = collective::Inputs {
            present,
            a: zero,
            b: zero,
            c: zero,
        };
        for &index in splits {
            let Split { pc, mask, .. } = self.splits[index];
            let sources = &program.instructions[pc as usize].sources;
            let values = &sources[..sources.len() - 1];
            for (operand, input) in values
                .iter()
                .zip([&mut inputs.a, &mut inputs.b, &mut inputs.c])
            {
                let value = self.value(*operand, mask, place)?;
                for lane in lanes(mask) {
                    input[lane] = value[lane];
                }
            }
        }
        for &index in splits {
            let Split { pc, mask, .. } = self.splits[index];
            let instruction = &program.instructions[pc as usize];
            let (value, predicate) = match instruction.action {
                Action::Shuffle(mode) => collective::shuffle(mode, &inputs)?,
                Action::Vote(mode) => ([collective::vote(mode, &inputs); WARP_SIZE], zero),
                Action::Match { all, bits } => collective::matching(all, bits, &inputs),
                Action::Reduce(operation) => {
                    ([collective::reduce(operation, &inputs); WARP_SIZE], zero)
                }
                Action::Elect => {
                    let leader = present.trailing_zeros() as usize;
                    let elected = std::array::from_fn(|lane| u64::from(lane == leader));
                    ([leader as u64; WARP_SIZE], elected)
                }
                _ => (zero, zero),
            };
            for (destination, result) in instruction.destinations.iter().zip([&value, &predicate]) {
                self.assign(*destination, mask, result);
            }
        }
        Ok(())
    }
}
