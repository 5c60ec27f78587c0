//! The barrier of a cluster (PTX ISA 9.7.13, `barrier.cluster`): threads arrive, and later wait until
//! all threads of the cluster that have not exited have arrived.

use super::{
    Stopped,
    launch::Place,
    split::{Split, State},
    stop,
    warp::Warp,
};
use crate::fault::FaultKind;

impl Warp {
    /// The current split arrives and goes on.
    pub(crate) fn arrive_at_cluster(
        &mut self,
        release: bool,
        place: &mut Place,
    ) -> Result<(), Stopped> {
        let mask = self.splits[self.current].mask;
        let again = mask & (self.arrived | self.passing);
        if again != 0 {
            let detail =
                "the thread arrives at the cluster barrier again: barrier.cluster.wait is \
                          required between two arrivals"
                    .to_owned();
            return Err(stop(again.trailing_zeros(), FaultKind::Other { detail }));
        }
        self.arrived |= mask;
        self.splits[self.current].pc += 1;
        if let Some(races) = &mut place.races {
            races.cluster_arrive(self.id, release);
        }
        Ok(())
    }

    /// The current split waits. Gives whether it passes at once, since all have arrived already.
    pub(crate) fn wait_at_cluster(&mut self, place: &mut Place) -> Result<bool, Stopped> {
        let Split { pc, mask, .. } = self.splits[self.current];
        let never = mask & !(self.arrived | self.passing);
        if never != 0 {
            let detail = "the thread waits at the cluster barrier without having arrived: \
                          barrier.cluster.arrive is required before it"
                .to_owned();
            return Err(stop(never.trailing_zeros(), FaultKind::Other { detail }));
        }
        let passing = mask & self.passing;
        if passing == 0 {
            self.splits[self.current].state = State::Cluster;
            return Ok(false);
        }
        if passing != mask {
            let mut rest = Split::at(pc, mask & !passing);
            rest.state = State::Cluster;
            self.splits.push(rest);
            self.splits[self.current].mask = passing;
        }
        self.passing &= !passing;
        self.splits[self.current].pc += 1;
        if let Some(races) = &mut place.races {
            races.cluster_wait(self.id);
        }
        Ok(true)
    }

    /// Whether all its threads that have not exited have arrived.
    pub(crate) fn has_arrived(&self) -> bool {
        self.live & !self.arrived == 0
    }

    /// All threads of the cluster have arrived: those that wait go on. Gives whether there are any.
    pub(crate) fn pass_cluster(&mut self) -> bool {
        self.passing |= self.arrived & self.live;
        self.arrived = 0;
        let mut waited = false;
        for split in &mut self.splits {
            if split.state == State::Cluster {
                waited = true;
                self.passing &= !split.mask;
                split.pc += 1;
                split.state = State::Running;
            }
        }
        waited
    }
}
