//! warplab's library: devices, launches, measurements, experiments and exports.

pub mod device;
pub mod export;
pub mod launch;
pub mod report;
