//! warplab's library: devices, launches, measurements, experiments and exports.

pub mod device;
pub mod launch;
pub mod measure;
pub mod quantity;
pub mod random;
pub mod report;
