//! warplab's library: devices, launches, measurements, experiments and exports.

pub mod device;
pub mod experiments;
pub mod launch;
pub mod measure;
pub mod quantity;
pub mod random;
pub mod report;
