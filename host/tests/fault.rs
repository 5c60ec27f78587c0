//! A kernel that faults. In a program of its own: on a GPU the fault takes the context along.

mod support;

use support::on_every_device;
use warplab::{
    device::{DeviceError, KernelReference, PreparedLaunch},
    launch::LaunchConfig,
};

const TRAP: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry trapping()
{
    trap;
}
";

#[test]
fn a_fault_names_kernel_and_geometry_and_what_is_lost() {
    on_every_device(|device| {
        let launch = PreparedLaunch {
            kernel: KernelReference::Loaded {
                module: device.load_module(TRAP).unwrap(),
                name: "trapping".into(),
                parameter_bytes: vec![],
            },
            config: LaunchConfig::new((2, 3), (32, 2)),
            arguments: vec![],
        };
        let error = device.launch_prepared(&launch).unwrap_err();
        let DeviceError::Failed(text) = &error else {
            panic!("{error:?}");
        };
        for part in ["kernel trapping", "grid (2, 3, 1)", "block (32, 2, 1)"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        if device.properties().modelled {
            assert!(text.contains("trap executed"), "{text}");
        } else {
            assert!(text.contains("start the program again"), "{text}");
            let later = device.allocate_bytes(1 << 20).unwrap_err().to_string();
            assert!(later.contains("start the program again"), "{later}");
        }
    });
}
