//! The PTX that the build embedded.

use kernels::handle::Target;

use super::{DeviceError, Result};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// Where the embedded PTX comes from: `prebuilt`, `rustc_codegen_nvvm`, or the environment
/// variable that named its directory at build time.
pub const ORIGIN: &str = embedded::ORIGIN;

/// The module for a target as PTX text.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the build embedded none.
pub fn embedded(target: Target) -> Result<&'static str> {
    embedded::MODULES
        .iter()
        .find(|(name, _)| *name == target.name())
        .map(|(_, text)| *text)
        .ok_or_else(|| {
            DeviceError::Unsupported(format!(
                "this build embeds no PTX for {} (its PTX is {ORIGIN}); build it with `cargo \
                 xtask ptx`, then build warplab again",
                target.name()
            ))
        })
}

/// Name and text of every embedded module.
pub fn all() -> &'static [(&'static str, &'static str)] {
    embedded::MODULES
}

/// Whether a module's header names other sources than those the build found.
pub fn is_stale(text: &str) -> bool {
    !text
        .lines()
        .take_while(|line| line.starts_with("//"))
        .any(|line| line.trim_end().rsplit(':').next() == Some(embedded::SOURCES))
}

/// The lowest compute capability that runs a target's PTX.
pub const fn required_capability(target: Target) -> (u32, u32) {
    match target {
        Target::Sm70 => (7, 0),
        Target::Sm80 => (8, 0),
        Target::Sm90 => (9, 0),
    }
}
