//! What happens when a lane reads from a lane that its mask does not name: undefined (PTX ISA 9.7.9.6).
//! A GPU hands out some value and says nothing, so this runs on the simulator alone, which reports it.

use std::rc::Rc;

use super::{
    cases::VALUES,
    model::Mode,
    shuffles::{Launch, Warp, run},
    values::LaneType,
};
use crate::{device::Device, experiments::Failure, random::Stream, report::Stage};

const LOWER: u32 = 0x0000_ffff;
const UPPER: u32 = !LOWER;

/// Mask and argument of a mode's shuffle: half of the warp, with a step across its border.
pub(super) fn read(mode: Mode) -> (u32, u32) {
    match mode {
        Mode::Idx => (LOWER, 20),
        Mode::Up => (UPPER, 1),
        Mode::Down => (LOWER, 1),
        Mode::Xor => (LOWER, 16),
    }
}

/// What the simulator says.
pub(super) fn demonstrate(device: &Rc<dyn Device>, mode: Mode) -> Result<String, Failure> {
    if !device.properties().modelled {
        return Err(Failure::new(
            Stage::Launch,
            "only a simulator tells when a lane reads from one outside its mask: use --device sim",
        ));
    }
    let (mask, argument) = read(mode);
    let warps = [Warp::uniform([mask; 32], argument)];
    let launch = Launch {
        mode,
        ty: LaneType::I32,
        width: 32,
        warps: &warps,
        input: &LaneType::I32.distinct(Stream::new(0, VALUES), 1),
    };
    match run::<i32>(device, &launch) {
        Err(Failure {
            stage: Stage::Launch,
            reason,
        }) if reason.contains("undefined warp operation") => Ok(format!(
            "the mistake is deliberate, and this is what the simulator says: {reason}"
        )),
        Err(failure) => Err(failure),
        Ok(_) => Err(Failure::new(
            Stage::Verification,
            "a lane reads from one outside its mask, and the simulator has not noticed",
        )),
    }
}
