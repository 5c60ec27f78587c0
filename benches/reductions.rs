//! Every variant of the reductions over sizes, under criterion's statistics.
//!
//! On a GPU a sample is device time, from a graph that holds the variant's launches many times, for
//! 2^10 to 2^28 elements. Without one it is the wall time that the simulator takes for them: a
//! figure about the simulator, for sizes it runs in moments. The groups' names say which. Sums of
//! f32, and of u32 where a variant is for integers alone.
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
/// A variant is benched with the first that it has.
const ELEMENTS: [ElementType; 2] = [ElementType::F32, ElementType::U32];
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
        (
            "reductions, wall time of the simulator",
            vec![10, 12, 14, 16],
        )
    } else {
        ("reductions, device time", (10..=28).step_by(2).collect())
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
        let arrays =
            ELEMENTS.map(|element| Arrays::new(&device, element, n, SEED).expect("the arrays fit"));
        for variant in VARIANTS {
            let Some((bound, arrays)) = prepare(&device, &arrays, variant, n) else {
                continue;
            };
            let bytes = n * bound.configuration().element.bytes();
            let sequence = bound.sequence(arrays, Input::Random);
            group.throughput(Throughput::Bytes(bytes));
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
                        launches: hot_launches(bytes),
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

/// A variant's launches, verified, and the inputs that they take; `None` where the device cannot run it.
fn prepare<'a>(
    device: &Rc<dyn Device>,
    arrays: &'a [Arrays; 2],
    variant: &'static Variant,
    n: u64,
) -> Option<(Bound, &'a Arrays)> {
    let (element, arrays, kernel) = ELEMENTS
        .into_iter()
        .zip(arrays)
        .find_map(|(element, arrays)| Some((element, arrays, variant.kernel(OPERATION, element)?)))
        .expect("every variant sums one of these types");
    let configuration = Configuration {
        variant,
        kernel,
        operation: OPERATION,
        element,
        n,
        block: automatic_block(n, element),
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
        if arrays.has(input) {
            let reference = element.reference(OPERATION, input, Stream::new(SEED, 0), n);
            verify(&**device, &mut bound, arrays, input, &reference).expect("the result is right");
        }
    }
    Some((bound, arrays))
}

criterion_group!(benches, reductions);
criterion_main!(benches);
