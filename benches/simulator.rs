//! How many warp instructions does the simulator execute per second on one core?
//!
//! `vector_add` with checks and the timing model, with checks alone, with timing alone, with
//! neither; `tile_neighbour`, which goes through shared memory, with and without the check for
//! races. Run: `cargo bench --bench simulator`

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use kernels::handle::Target;
use simulator::{Launch, ModuleId, Options, Simulator, chip::Chip};
use warplab::{device::modules, random::Stream};

const ELEMENTS: u64 = 1 << 20;
const BLOCK: u32 = 256;

/// A simulator with so many arrays of random numbers, and the bytes of the parameters of a kernel
/// that takes the number of elements and the arrays.
fn prepare(options: Options, arrays: u64) -> (Simulator, ModuleId, Vec<u8>) {
    let chip = Chip::named("h200").expect("a chip of the catalog");
    let mut simulator = Simulator::new(chip.clone(), options);
    let module = simulator
        .load(modules::embedded(Target::Sm70).expect("the base module is always embedded"))
        .expect("our own PTX loads");
    let mut parameters = ELEMENTS.to_le_bytes().to_vec();
    let mut values = vec![0.0_f32; ELEMENTS as usize];
    for array in 0..arrays {
        Stream::new(1, array).fill_f32(0, &mut values);
        let memory = simulator.memory();
        let address = memory
            .allocate(4 * ELEMENTS, "array")
            .expect("a small array fits");
        memory
            .write(address, bytemuck::cast_slice(&values))
            .expect("it was just allocated");
        parameters.extend(address.to_le_bytes());
    }
    (simulator, module, parameters)
}

fn vector_add(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulator/vector_add");
    group.sample_size(20);
    for (name, checks, timing) in [
        ("checks and timing", true, true),
        ("checks", true, false),
        ("timing", false, true),
        ("neither", false, false),
    ] {
        let options = Options {
            checks,
            races: checks,
            timing,
        };
        bench(&mut group, name, "vector_add", 3, options);
    }
    group.finish();
}

fn shared_memory(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulator/tile_neighbour");
    group.sample_size(40);
    for (name, races, timing) in [
        ("races and timing", true, true),
        ("timing", false, true),
        ("races", true, false),
        ("neither", false, false),
    ] {
        let options = Options {
            checks: true,
            races,
            timing,
        };
        bench(&mut group, name, "tile_neighbour", 2, options);
    }
    group.finish();
}

fn bench(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    kernel: &str,
    arrays: u64,
    options: Options,
) {
    let (mut simulator, module, parameters) = prepare(options, arrays);
    let launch = Launch {
        kernel,
        grid: [ELEMENTS.div_ceil(BLOCK.into()) as u32, 1, 1],
        block: [BLOCK, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        cluster: None,
        parameters: &parameters,
    };
    let mut run = || {
        simulator
            .launch(module, &launch)
            .expect("the kernel has no fault")
    };
    group.throughput(Throughput::Elements(run().warp_instructions));
    group.bench_function(name, |bencher| bencher.iter(&mut run));
}

criterion_group!(benches, vector_add, shared_memory);
criterion_main!(benches);
