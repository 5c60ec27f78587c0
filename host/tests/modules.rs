//! Modules given as PTX text: loading, shared memory beyond the default, parameters, errors.

mod support;

use std::rc::Rc;

use support::on_every_device;
use warplab::{
    device::{Buffer, Device, DeviceError, KernelReference, ModuleId, PreparedLaunch},
    launch::LaunchConfig,
};

/// Thread 0 writes `value` at the end of `bytes` of dynamic shared memory and copies it out.
const SHARED: &str = "
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry through_shared(.param .u64 out, .param .u32 bytes, .param .u32 value)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [bytes];
    ld.param.u32 %r2, [value];
    mov.u32 %r3, room;
    add.u32 %r3, %r3, %r1;
    st.shared.u32 [%r3+-4], %r2;
    ld.shared.u32 %r4, [%r3+-4];
    cvta.to.global.u64 %rd1, %rd1;
    st.global.u32 [%rd1], %r4;
    ret;
}
";

fn launch(module: ModuleId, config: LaunchConfig, arguments: [u64; 3]) -> PreparedLaunch {
    PreparedLaunch {
        kernel: KernelReference::Loaded {
            module,
            name: "through_shared".into(),
            parameter_bytes: vec![8, 4, 4],
        },
        config,
        arguments: arguments.to_vec(),
    }
}

fn written(device: &Rc<dyn Device>, module: ModuleId, bytes: u32) -> Result<u32, DeviceError> {
    let mut out = Buffer::<u32>::new(device, 1)?;
    out.fill(0)?;
    let config = LaunchConfig::new(1, 1).with_dynamic_shared(bytes);
    let arguments = [out.address(), u64::from(bytes), 0xdead_beef];
    device.launch_prepared(&launch(module, config, arguments))?;
    Ok(out.to_vec()?[0])
}

#[test]
fn dynamic_shared_memory_reaches_to_the_opt_in_limit_and_no_further() {
    on_every_device(|device| {
        let module = device.load_module(SHARED).unwrap();
        let limits = &device.properties().limits;
        let (default, most) = (limits.shared_per_block, limits.shared_per_block_optin);
        assert!(most > default, "a device with an opt-in");
        for bytes in [4, default, default + 4, most] {
            assert_eq!(
                written(device, module, bytes),
                Ok(0xdead_beef),
                "{bytes} bytes"
            );
        }
        let error = written(device, module, most + 4).unwrap_err().to_string();
        assert!(
            error.contains("kernel through_shared: ") && error.contains(&format!("at most {most}")),
            "{error}"
        );
        let reference = launch(module, LaunchConfig::new(1, 1), [0; 3]).kernel;
        assert_eq!(device.blocks_per_sm(&reference, 32, most), Ok(1));
        assert!(device.blocks_per_sm(&reference, 32, 0).unwrap() > 1);
        for (threads, bytes) in [(32, most + 4), (32, u32::MAX), (0, 0), (1025, 0)] {
            let blocks = device.blocks_per_sm(&reference, threads, bytes);
            assert_eq!(blocks, Ok(0), "{threads} threads, {bytes} bytes");
        }
    });
}

#[test]
fn arguments_that_do_not_fit_the_module_are_refused() {
    on_every_device(|device| {
        let module = device.load_module(SHARED).unwrap();
        let config = LaunchConfig::new(1, 1);
        let refused = |launch: &PreparedLaunch| match device.launch_prepared(launch).unwrap_err() {
            DeviceError::InvalidLaunch { kernel, message } => {
                assert_eq!(kernel, "through_shared");
                message
            }
            error => panic!("{error:?}"),
        };
        let mut few = launch(module, config, [0; 3]);
        few.arguments.pop();
        assert!(refused(&few).starts_with("2 arguments are given: the kernel has 3 parameters"));
        let wide = launch(module, config, [0, 1 << 32, 0]);
        assert!(refused(&wide).starts_with("argument 1 is 0x100000000: parameter 1 has only 4"));
        let odd = PreparedLaunch {
            kernel: KernelReference::Loaded {
                module,
                name: "through_shared".into(),
                parameter_bytes: vec![8, 4, 3],
            },
            ..launch(module, config, [0; 3])
        };
        assert!(refused(&odd).starts_with("parameter 2 is said to have 3 bytes"));
    });
}

#[test]
fn declared_parameters_are_compared_with_the_module() {
    on_every_device(|device| {
        let module = device.load_module(SHARED).unwrap();
        let mut wrong = launch(module, LaunchConfig::new(1, 1), [0; 3]);
        wrong.kernel = KernelReference::Loaded {
            module,
            name: "through_shared".into(),
            parameter_bytes: vec![8, 8, 4],
        };
        let error = device.launch_prepared(&wrong).unwrap_err().to_string();
        assert!(
            error.contains("[8, 4, 4] bytes in the loaded module, [8, 8, 4] as"),
            "{error}"
        );
    });
}

#[test]
fn a_missing_entry_and_a_foreign_module_are_named() {
    on_every_device(|device| {
        let module = device.load_module(SHARED).unwrap();
        for (module, name, part) in [
            (
                module,
                "absent",
                "kernel absent: the module has no such entry",
            ),
            (module, "nul\0", "the module has no such entry"),
            (
                ModuleId(99),
                "through_shared",
                "its module was loaded on another device",
            ),
        ] {
            let kernel = KernelReference::Loaded {
                module,
                name: name.into(),
                parameter_bytes: vec![],
            };
            let error = device.kernel_attributes(&kernel).unwrap_err().to_string();
            assert!(error.contains(part), "{part} in {error}");
        }
    });
}

#[test]
fn a_module_that_does_not_compile_is_explained() {
    on_every_device(|device| {
        let broken = SHARED.replace("st.shared.u32", "st.shred.u32");
        let error = device.load_module(&broken).unwrap_err().to_string();
        assert!(error.contains("cannot load the module"), "{error}");
        assert!(error.contains("line 15"), "{error}");
        // The device goes on.
        let module = device.load_module(SHARED).unwrap();
        assert_eq!(written(device, module, 4), Ok(0xdead_beef));
    });
}
