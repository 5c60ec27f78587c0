//! Results of reductions recorded on a GPU: the simulator must give the same bits, since every
//! deterministic order of additions follows from the launch's geometry.
//!
//! `WARPLAB_RECORD=FILE` on a machine with a GPU writes what it computes; the file belongs in
//! `tests/recorded`.

mod support;

use std::{env, fmt::Write, fs, path::Path, rc::Rc};

use support::{gpu, simulated};
use warplab::{
    device::{Device, DeviceError},
    experiments::reduce::{
        Arrays, Bound, Configuration, ElementType, Input, LaunchKind, Operation, VARIANTS, verify,
    },
    random::Stream,
};

const SEED: u64 = 11;
/// Elements, threads per block, blocks; clusters of four. The last has more blocks than one warp gathers from
/// in one go.
const GEOMETRIES: [(u64, u32, u32); 4] = [
    (1000, 32, 4),
    (100_003, 256, 40),
    (100_003, 48, 8),
    (300_007, 64, 600),
];
const CLUSTER: u32 = 4;

fn file() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/reductions.tsv")
}

/// One line per configuration that the device runs: what it is, and the result's bits.
fn results(device: &Rc<dyn Device>) -> String {
    let mut text = format!("# {}\n", device.properties().name);
    text += "# kernel\telements\tblock\tgrid\tbits\n";
    for element in ElementType::ALL {
        for (n, block, grid) in GEOMETRIES {
            let arrays = Arrays::new(device, element, n, SEED).unwrap();
            for variant in VARIANTS {
                for operation in Operation::ALL {
                    let Some(kernel) = variant.kernel(operation, element) else {
                        continue;
                    };
                    // What the host combines or what comes in any order says nothing here.
                    if kernel.name.starts_with("read_")
                        || !variant.deterministic(operation, element)
                    {
                        continue;
                    }
                    let configuration = Configuration {
                        variant,
                        kernel,
                        operation,
                        element,
                        n,
                        block,
                        cluster: (variant.launch == LaunchKind::Clustered).then_some(CLUSTER),
                        grid: Some(grid),
                    };
                    let mut bound = match Bound::new(device, configuration) {
                        Ok(bound) => bound,
                        Err(DeviceError::Unsupported(reason)) => {
                            eprintln!("not recorded: {reason}");
                            continue;
                        }
                        Err(error) => panic!("{}: {error}", kernel.name),
                    };
                    let stream = Stream::new(SEED, 0);
                    let reference = element.reference(operation, Input::Random, stream, n);
                    verify(&**device, &mut bound, &arrays, Input::Random, &reference)
                        .unwrap_or_else(|failure| panic!("{}: {failure:?}", kernel.name));
                    let bits = bound.result().unwrap();
                    let name = kernel.name;
                    writeln!(text, "{name}\t{n}\t{block}\t{grid}\t{bits:016x}").unwrap();
                }
            }
        }
    }
    text
}

/// The lines that hold results.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn the_simulator_gives_the_bits_that_a_gpu_gave() {
    let recorded = fs::read_to_string(file()).expect("recorded results are committed");
    assert!(!recorded.contains("# simulated"), "recorded on a simulator");
    let computed = results(&simulated("h200"));
    let (computed, recorded) = (lines(&computed), lines(&recorded));
    assert!(recorded.len() > 200, "{}", recorded.len());
    assert_eq!(computed.len(), recorded.len());
    for (computed, recorded) in computed.iter().zip(recorded) {
        assert_eq!(*computed, recorded);
    }
}

#[test]
fn this_gpu_gives_the_bits_that_another_gave() {
    let Some(gpu) = gpu() else {
        return;
    };
    let computed = results(&gpu);
    if let Some(path) = env::var_os("WARPLAB_RECORD") {
        fs::write(path, &computed).unwrap();
        return;
    }
    let recorded = fs::read_to_string(file()).expect("recorded results are committed");
    // A GPU without clusters or `redux.sync` leaves out what needs them.
    let recorded = lines(&recorded);
    for line in lines(&computed) {
        assert!(recorded.contains(&line), "{line}");
    }
}
