//! Memory bandwidth of the sweep's kernels, under criterion's statistics.
//!
//! On a GPU a sample is device time, from a graph of launches. Without one it is the wall time that
//! the simulator takes for the launch: a figure about the simulator, which the name says.
//! Run: `cargo bench --bench bandwidth`

use std::{
    rc::Rc,
    slice,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warplab::{
    device::{
        Buffer, Device, Sampling,
        select::{self, Selection},
    },
    experiments::{
        bandwidth::{Inputs, KERNELS},
        verify,
    },
    launch::LaunchConfig,
    measure::HOT_LAUNCHES,
};

const BLOCK: u32 = 256;

fn bandwidth(criterion: &mut Criterion) {
    let opened = select::open(Selection::Auto).expect("the simulator always opens");
    if let Some(notice) = &opened.notice {
        println!("{notice}");
        println!("so this benches the wall time of the simulator, not the bandwidth of a GPU");
    }
    let device = opened.device;
    let modelled = device.properties().modelled;
    let elements: u64 = if modelled { 1 << 16 } else { 1 << 28 };
    let mut group = criterion.benchmark_group(if modelled {
        "simulator wall time"
    } else {
        "bandwidth"
    });
    group.sample_size(10);
    for kernel in KERNELS {
        let inputs = Inputs::new(1);
        let arrays: Vec<Buffer<f32>> = [inputs.first, inputs.second]
            .into_iter()
            .take(kernel.operation.inputs() as usize)
            .map(|stream| filled(&device, elements, stream))
            .collect();
        let mut output = filled(&device, elements, inputs.second);
        let resident = u64::from(device.properties().sms) * 8;
        let blocks = kernel.blocks(elements, BLOCK, resident) as u32;
        let launch = kernel.operation.prepare(
            LaunchConfig::new(blocks, BLOCK),
            elements,
            inputs.alpha,
            &arrays,
            &mut output,
        );
        device
            .launch_prepared(&launch)
            .expect("a kernel of the sweep runs");
        group.throughput(Throughput::Bytes(kernel.bytes(elements)));
        group.bench_function(kernel.name(), |bencher| {
            bencher.iter_custom(|launches| {
                if modelled {
                    let begin = Instant::now();
                    for _ in 0..launches {
                        device.launch_prepared(&launch).expect("it ran before");
                    }
                    return begin.elapsed();
                }
                let sampling = Sampling::Hot {
                    launches: HOT_LAUNCHES,
                };
                let mut sampler = device
                    .sampler(slice::from_ref(&launch), sampling)
                    .expect("a launch that ran can be sampled");
                (0..launches)
                    .map(|_| {
                        let sample = sampler.sample().expect("it ran before");
                        Duration::from_secs_f64(sample.nanoseconds / 1e9)
                    })
                    .sum()
            });
        });
    }
    group.finish();
}

fn filled(device: &Rc<dyn Device>, elements: u64, stream: warplab::random::Stream) -> Buffer<f32> {
    let buffer = Buffer::new(device, elements as usize).expect("the arrays fit");
    verify::write_stream(&**device, buffer.address(), elements, stream)
        .expect("it was just allocated");
    buffer
}

criterion_group!(benches, bandwidth);
criterion_main!(benches);
