//! When things happen: modelled times for a chip.
//!
//! Three parts, called by the executor in order of time: [`Dispatch`] says which SM takes the next
//! block and when, or which SMs the next cluster, [`SmClock`] which warp of an SM issues next and when, [`MemorySystem`]
//! when a global access is done. All times are whole SM cycles since the launch began, and the
//! same calls always give the same times.

mod cost;
mod dispatch;
mod dispatcher;
mod l2;
mod memory;
mod pipes;
mod server;
mod sm;

pub use cost::{Cost, Costs};
pub use dispatch::{ClusterDispatcher, Dispatch};
pub use dispatcher::Dispatcher;
pub use memory::{AccessKind, MemorySystem};
pub use sm::SmClock;
