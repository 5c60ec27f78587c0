//! Every variant of the reductions over sizes, under criterion's statistics.
//!
//! On a GPU a sample is device time, from a graph that holds the variant's launches many times, for
//! 2^10 to 2^28 elements. Without one it is the wall time that the simulator takes for them: a
//! figure about the simulator, which the name says, for sizes it runs in moments.
//! Run: `cargo bench --bench reductions`

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use warplab::{
    device::{
        Device, DeviceError, Sampling,
        select::{self, Selection},
    },
    experiments::reduce::{
        Arrays, Bound, Configuration, ElementType, Input, LaunchKind, Operation, VARIANTS, Variant,
        automatic_block, hot_launches, verify,
    },
    random::Stream,
};

const SEED: u64 = 1;
const ELEMENT: ElementType = ElementType::F32;
const OPERATION: Operation = Operation::Sum;
/// Blocks per cluster: the most that every device with clusters takes.
const CLUSTER: u32 = 8;

fn reductions(criterion: &mut Criterion) {
    let opened = select::open(Selection::Auto).expect("the simulator always opens");
    if let Some(notice) = &opened.notice {
        println!("{notice}");
        println!("so this benches the wall time of the simulator, not the speed of a reduction");
    }
    let device = opened.device;
    let modelled = device.properties().modelled;
    let (name, sizes): (_, Vec<u32>) = if modelled {
        ("simulator wall time of reductions", vec![10, 12, 14])
    } else {
        ("reductions", (10..=28).step_by(2).collect())
    };
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    if !modelled {
        // Device time repeats itself: what counts is that there are many cases.
        group.warm_up_time(Duration::from_millis(100));
        group.measurement_time(Duration::from_millis(500));
    }
    for exponent in sizes {
        let n = 1 << exponent;
        let arrays = Arrays::new(&device, ELEMENT, n, SEED).expect("the arrays fit");
        for variant in VARIANTS {
            let Some(bound) = prepare(&device, &arrays, variant, n) else {
                continue;
            };
            let sequence = bound.sequence(&arrays, Input::Random);
            group.throughput(Throughput::Bytes(n * ELEMENT.bytes()));
            let id = BenchmarkId::new(variant.name, format!("2^{exponent}"));
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|times| {
                    if modelled {
                        let begin = Instant::now();
                        for _ in 0..times {
                            for launch in &sequence {
                                device.launch_prepared(launch).expect("it ran before");
                            }
                        }
                        return begin.elapsed();
                    }
                    let sampling = Sampling::Hot {
                        launches: hot_launches(n * ELEMENT.bytes()),
                    };
                    let mut sampler = device
                        .sampler(&sequence, sampling)
                        .expect("launches that ran can be sampled");
                    (0..times)
                        .map(|_| {
                            let sample = sampler.sample().expect("it ran before");
                            Duration::from_secs_f64(sample.nanoseconds / 1e9)
                        })
                        .sum()
                });
            });
        }
    }
    group.finish();
}

/// A variant's launches, verified; `None` where there is no such kernel or the device cannot run it.
fn prepare(
    device: &Rc<dyn Device>,
    arrays: &Arrays,
    variant: &'static Variant,
    n: u64,
) -> Option<Bound> {
    let configuration = Configuration {
        variant,
        kernel: variant.kernel(OPERATION, ELEMENT)?,
        operation: OPERATION,
        element: ELEMENT,
        n,
        block: automatic_block(n, ELEMENT),
        cluster: (variant.launch == LaunchKind::Clustered).then_some(CLUSTER),
        grid: None,
    };
    let mut bound = match Bound::new(device, configuration) {
        Ok(bound) => bound,
        Err(DeviceError::Unsupported(reason)) => {
            println!("{} skipped: {reason}", variant.name);
            return None;
        }
        Err(error) => panic!("{}: {error}", variant.name),
    };
    for input in [Input::Whole, Input::Random] {
        let reference = ELEMENT.reference(OPERATION, input, Stream::new(SEED, 0), n);
        verify(&**device, &mut bound, arrays, input, &reference).expect("the result is right");
    }
    Some(bound)
}

criterion_group!(benches, reductions);
criterion_main!(benches);
