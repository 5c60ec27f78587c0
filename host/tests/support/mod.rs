//! The devices that tests run on.
#![allow(dead_code)]

use std::rc::Rc;

use simulator::{Options, chip::Chip};
use warplab::device::{Device, DeviceError, cuda::CudaDevice, simulated::SimulatedDevice};

/// Set to 1 where tests on a GPU must run: without one they fail then, instead of being skipped.
pub(crate) const REQUIRE_GPU: &str = "WARPLAB_REQUIRE_GPU";

/// The first GPU; without one, `None` and the reason on stderr.
pub(crate) fn gpu() -> Option<Rc<dyn Device>> {
    match CudaDevice::open(0) {
        Ok(device) => Some(Rc::new(device)),
        Err(error @ (DeviceError::Unavailable(_) | DeviceError::Unsupported(_))) => {
            let required = std::env::var(REQUIRE_GPU).is_ok_and(|value| value == "1");
            assert!(!required, "{REQUIRE_GPU} is 1, but: {error}");
            eprintln!("skipped on a GPU: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The simulator as a chip.
pub(crate) fn simulated(chip: &str) -> Rc<dyn Device> {
    let chip = Chip::named(chip).expect("a described chip");
    Rc::new(SimulatedDevice::new(chip, Options::default()))
}

/// Runs a test on the simulated H200, and on the GPU if there is one.
pub(crate) fn on_every_device(test: impl Fn(&Rc<dyn Device>)) {
    test(&simulated("h200"));
    if let Some(gpu) = gpu() {
        test(&gpu);
    }
}
