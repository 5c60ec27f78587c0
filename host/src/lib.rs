//! warplab's library: devices, launches, measurements, experiments and exports.

pub mod comparison;
pub mod device;
pub mod doctor;
pub mod experiments;
pub mod export;
pub mod hierarchy;
pub mod host_memory;
pub mod launch;
pub mod measure;
pub mod options;
pub mod output;
pub mod program;
pub mod quantity;
pub mod random;
pub mod report;
pub mod session;
mod terminal;
