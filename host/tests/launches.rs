//! Launches of embedded kernels, on the simulator and on the GPU if there is one.

mod support;

use std::{rc::Rc, slice};

use support::on_every_device;
use warplab::{
    device::{Buffer, Device, DeviceError, KernelReference, PreparedLaunch, Sampling, prepare},
    launch::LaunchConfig,
};

/// Fills outputs with a NaN's bytes, which no sum of the inputs here gives.
const POISON: u8 = 0xff;

fn inputs(n: usize) -> (Vec<f32>, Vec<f32>) {
    let a = (0..n).map(|i| (i * 7 % 1013) as f32 * 0.25 - 3.0);
    let b = (0..n).map(|i| (i * 11 % 509) as f32 * 0.5 + 1.0);
    (a.collect(), b.collect())
}

fn check_vector_add(device: &Rc<dyn Device>, n: usize, block: u32) {
    // More room than elements: what lies behind the last one must stay as it was.
    let (a, b) = inputs(n);
    let a_device = Buffer::from_slice(device, &a).unwrap();
    let b_device = Buffer::from_slice(device, &b).unwrap();
    let mut c = Buffer::<f32>::new(device, n + 64).unwrap();
    c.fill(POISON).unwrap();
    let config = LaunchConfig::for_elements(n as u64, block);
    device
        .launch(
            kernels::VECTOR_ADD,
            config,
            (n as u64, &a_device, &b_device, &mut c),
        )
        .unwrap();
    let c = c.to_vec().unwrap();
    for i in 0..n {
        assert_eq!(c[i], a[i] + b[i], "element {i} of {n}, block {block}");
    }
    for (i, value) in c.iter().enumerate().skip(n) {
        assert_eq!(
            value.to_bits(),
            u32::MAX,
            "element {i} behind {n}, block {block}"
        );
    }
}

#[test]
fn vector_add_is_exact_for_every_tail() {
    on_every_device(|device| {
        for n in [0, 1, 31, 32, 33, 255, 256, 257, 1000, 4099] {
            for block in [32, 96, 256, 1024] {
                check_vector_add(device, n, block);
            }
        }
    });
}

#[test]
fn every_embedded_kernel_is_in_its_module_as_declared() {
    on_every_device(|device| {
        for declaration in kernels::ALL {
            let kernel = KernelReference::Declared(declaration);
            let attributes = match device.kernel_attributes(&kernel) {
                Err(DeviceError::Unsupported(reason)) => {
                    eprintln!("{}: {reason}", declaration.name);
                    continue;
                }
                result => result.unwrap(),
            };
            assert!(attributes.registers > 0, "{}", declaration.name);
            let blocks = device.blocks_per_sm(&kernel, 32, 0).unwrap();
            assert!(blocks > 0, "{}", declaration.name);
        }
    });
}

#[test]
fn misuse_is_refused_alike_on_every_device() {
    on_every_device(|device| {
        let a = Buffer::from_slice(device, &[1.0_f32; 32]).unwrap();
        let mut c = Buffer::<f32>::new(device, 32).unwrap();
        for (config, expected) in [
            (LaunchConfig::new(0, 32), "grid.x is 0: "),
            (
                LaunchConfig::new((1, 65536), 32),
                "grid.y is 65536: the device takes at most 65535;",
            ),
            (LaunchConfig::new((1, 1, 65536), 32), "grid.z is 65536: "),
            (
                LaunchConfig::new(0x8000_0000, 32),
                "grid.x is 2147483648: the device takes at most 2147483647;",
            ),
            (
                LaunchConfig::new(1, (1, 1, 65)),
                "block.z is 65: the device takes at most 64;",
            ),
            (
                LaunchConfig::new(1, (32, 33)),
                "block (32, 33, 1) has 1056 threads: ",
            ),
            (
                LaunchConfig::new(1, 32).with_dynamic_shared(1 << 20),
                "1048576 bytes of shared memory per block (0 static, 1048576 dynamic): ",
            ),
            (
                LaunchConfig::new(1 << 20, 32).cooperative(),
                "a cooperative launch of 1048576 blocks: at most ",
            ),
        ] {
            let error = device
                .launch(kernels::VECTOR_ADD, config, (0_u64, &a, &a, &mut c))
                .unwrap_err();
            let DeviceError::InvalidLaunch { kernel, message } = &error else {
                panic!("{error:?}");
            };
            assert_eq!(kernel, "vector_add");
            assert!(message.starts_with(expected), "{expected} in {message}");
        }
    });
}

#[test]
fn a_sample_of_no_launches_is_refused() {
    on_every_device(|device| {
        let a = Buffer::from_slice(device, &[1.0_f32; 32]).unwrap();
        let mut c = Buffer::<f32>::new(device, 32).unwrap();
        let config = LaunchConfig::new(1, 32);
        let launch = prepare(kernels::VECTOR_ADD, config, (32_u64, &a, &a, &mut c));
        for sampling in [
            Sampling::Hot { launches: 0 },
            Sampling::Stream { launches: 0 },
        ] {
            let result = device.sampler(slice::from_ref(&launch), sampling);
            assert!(matches!(
                result.err(),
                Some(DeviceError::InvalidLaunch { .. })
            ));
        }
    });
}

#[test]
fn samples_are_times_of_one_launch() {
    on_every_device(|device| {
        let n = 1 << 18;
        let (a, b) = inputs(n);
        let a = Buffer::from_slice(device, &a).unwrap();
        let b = Buffer::from_slice(device, &b).unwrap();
        let mut c = Buffer::<f32>::new(device, n).unwrap();
        let config = LaunchConfig::for_elements(n as u64, 256);
        let launch = prepare(kernels::VECTOR_ADD, config, (n as u64, &a, &b, &mut c));
        device.launch_prepared(&launch).unwrap();

        let median = |sampling| {
            let mut sampler = device.sampler(slice::from_ref(&launch), sampling).unwrap();
            let count = if device.properties().modelled { 3 } else { 31 };
            let mut times: Vec<f64> = (0..count)
                .map(|_| sampler.sample().unwrap().nanoseconds)
                .collect();
            times.sort_by(f64::total_cmp);
            times[count / 2]
        };
        let hot = median(Sampling::Hot { launches: 20 });
        let more = median(Sampling::Hot { launches: 200 });
        let cold = median(Sampling::Cold);
        let queued = median(Sampling::Stream { launches: 200 });
        // 3 MiB moved: no memory of these times is faster than 100 TB/s, nor slower than 3 GB/s.
        for time in [hot, more, cold, queued] {
            assert!((30.0..1e6).contains(&time), "{time} ns");
        }
        assert!(
            cold > hot,
            "cold {cold} ns, hot {hot} ns: the inputs fit in the L2"
        );
        // The device is never faster than in a graph, where it need not wait for the host.
        assert!(
            queued > 0.8 * more,
            "queued {queued} ns, in a graph {more} ns"
        );
        // A sample is the time of one launch, however many there are in the graph.
        assert!((0.5..2.0).contains(&(more / hot)), "{more} ns and {hot} ns");
        let c = c.to_vec().unwrap();
        assert_eq!(
            c[n - 1],
            a.to_vec().unwrap()[n - 1] + b.to_vec().unwrap()[n - 1]
        );
    });
}

#[test]
fn the_sm_clock_is_reported_over_cold_samples() {
    on_every_device(|device| {
        let a = Buffer::from_slice(device, &[1.0_f32; 32]).unwrap();
        let mut c = Buffer::<f32>::new(device, 32).unwrap();
        let config = LaunchConfig::new(1, 32);
        let launch = prepare(kernels::VECTOR_ADD, config, (32_u64, &a, &a, &mut c));
        device.launch_prepared(&launch).unwrap();
        let mut sampler = device
            .sampler(slice::from_ref(&launch), Sampling::Cold)
            .unwrap();
        let clocks: Vec<u32> = (0..20)
            .filter_map(|_| sampler.sample().unwrap().clock_khz)
            .collect();
        assert!(
            !clocks.is_empty(),
            "at least one of 20 samples tells its clock"
        );
        let default = device.properties().clock_khz;
        for clock in clocks {
            // An idle GPU may start at a low clock, and none runs far above its default.
            assert!(
                clock > 100_000 && clock < default / 10 * 12,
                "{clock} of {default} kHz"
            );
        }
    });
}

#[test]
fn modelled_times_are_deterministic() {
    let time = || {
        let device = support::simulated("a100");
        let a = Buffer::from_slice(&device, &[1.0_f32; 4096]).unwrap();
        let mut c = Buffer::<f32>::new(&device, 4096).unwrap();
        let config = LaunchConfig::for_elements(4096, 128);
        let launch = prepare(kernels::VECTOR_ADD, config, (4096_u64, &a, &a, &mut c));
        let mut sampler = device
            .sampler(slice::from_ref(&launch), Sampling::Cold)
            .unwrap();
        let first = sampler.sample().unwrap();
        assert_eq!(sampler.sample().unwrap(), first, "a second cold sample");
        first
    };
    assert_eq!(time(), time());
    assert!(support::simulated("a100").properties().modelled);
}

#[test]
fn clusters_are_counted_and_refused_beforehand() {
    on_every_device(|device| {
        let mut out = Buffer::<u32>::new(device, 15 * 64 * 1024).unwrap();
        let kernel = prepare(
            kernels::PROBE_CLUSTER_RANKS,
            LaunchConfig::new(64, 1024),
            (&mut out,),
        );
        let with = |config| PreparedLaunch {
            config,
            ..kernel.clone()
        };
        let limits = &device.properties().limits;
        let config = LaunchConfig::new(64, 1024).with_cluster(2);
        if limits.max_cluster == 0 {
            let error = device.launch_prepared(&with(config)).unwrap_err();
            assert!(matches!(error, DeviceError::Unsupported(_)), "{error}");
            assert_eq!(device.active_clusters(&kernel.kernel, &config), Ok(0));
            return;
        }
        // Two blocks of 1024 threads per SM, in whole clusters.
        let sms = device.properties().sms;
        let active = device.active_clusters(&kernel.kernel, &config).unwrap();
        assert!(
            (1..=sms).contains(&active),
            "{active} clusters on {sms} SMs"
        );
        let larger = device
            .active_clusters(&kernel.kernel, &LaunchConfig::new(64, 1024).with_cluster(8))
            .unwrap();
        assert!((1..=active / 4).contains(&larger), "{larger}");
        for (config, part) in [
            (LaunchConfig::new(63, 32).with_cluster(2), "grid.x is 63"),
            (LaunchConfig::new(64, 32).with_cluster(64), "has 64 blocks"),
            (
                LaunchConfig::new(4096, 1024).with_cluster(8).cooperative(),
                "are resident at once",
            ),
        ] {
            let error = device.launch_prepared(&with(config)).unwrap_err();
            assert!(
                matches!(error, DeviceError::InvalidLaunch { .. }),
                "{error}"
            );
            assert!(error.to_string().contains(part), "{error}");
        }
        let both = LaunchConfig::new(16, 1024).with_cluster(8).cooperative();
        device.launch_prepared(&with(both)).unwrap();
        let mut sampler = device
            .sampler(
                slice::from_ref(&with(config)),
                Sampling::Hot { launches: 3 },
            )
            .unwrap();
        assert!(sampler.sample().unwrap().nanoseconds > 0.0);
        drop(sampler);
        if limits.max_cluster >= 16 {
            let large = LaunchConfig::new(64, 64).with_cluster(16);
            assert!(device.active_clusters(&kernel.kernel, &large).unwrap() > 0);
            device.launch_prepared(&with(large)).unwrap();
        }
    });
}

#[test]
fn clusters_on_a_chip_without_them_are_not_supported() {
    let device = support::simulated("a100");
    assert_eq!(device.properties().limits.max_cluster, 0);
    let mut out = Buffer::<u32>::new(&device, 15 * 64).unwrap();
    let config = LaunchConfig::new(2, 32).with_cluster(2);
    let error = device
        .launch(kernels::PROBE_CLUSTER_RANKS, config, (&mut out,))
        .unwrap_err();
    let DeviceError::Unsupported(reason) = &error else {
        panic!("{error}");
    };
    assert!(
        reason.contains("compute capability 9.0 or later"),
        "{reason}"
    );
}
