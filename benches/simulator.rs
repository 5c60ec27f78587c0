//! How many warp instructions does the simulator execute per second on one core?
//!
//! `vector_add` with checks and the timing model, with checks alone, with timing alone, with
//! neither. Run: `cargo bench --bench simulator`

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernels::handle::Target;
use simulator::{Launch, ModuleId, Options, Simulator, chip::Chip};
use warplab::{device::modules, random::Stream};

const ELEMENTS: u64 = 1 << 20;
const BLOCK: u32 = 256;

/// A simulator with inputs, and the bytes of `vector_add`'s parameters.
fn prepare(options: Options) -> (Simulator, ModuleId, Vec<u8>) {
    let chip = Chip::named("h200").expect("a chip of the catalog");
    let mut simulator = Simulator::new(chip.clone(), options);
    let module = simulator
        .load(modules::embedded(Target::Sm70).expect("the base module is always embedded"))
        .expect("our own PTX loads");
    let mut parameters = ELEMENTS.to_le_bytes().to_vec();
    let mut values = vec![0.0_f32; ELEMENTS as usize];
    for array in 0..3 {
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
        let (mut simulator, module, parameters) = prepare(Options { checks, timing });
        let launch = Launch {
            kernel: "vector_add",
            grid: [ELEMENTS.div_ceil(BLOCK.into()) as u32, 1, 1],
            block: [BLOCK, 1, 1],
            dynamic_shared_bytes: 0,
            cooperative: false,
            parameters: &parameters,
        };
        let mut run = || {
            simulator
                .launch(module, &launch)
                .expect("vector_add has no fault")
        };
        group.throughput(Throughput::Elements(run().warp_instructions));
        group.bench_function(name, |bencher| bencher.iter(&mut run));
    }
    group.finish();
}

criterion_group!(benches, vector_add);
criterion_main!(benches);
