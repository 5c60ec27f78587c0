//! The simulator's fixtures through the `Device` trait: on the simulator, and, where there is a
//! GPU, on it with the same expected bits.

mod support;

use std::rc::Rc;

use simulator::fixture::{self, ENTRY, Fixture};
use warplab::device::{Buffer, Device, KernelReference, PreparedLaunch};
use warplab::launch::{Dim3, LaunchConfig};

fn run(device: &Rc<dyn Device>, fixture: &Fixture) -> Result<(), String> {
    let at = |error| format!("{}: {error}", fixture.name);
    let module = device.load_module(&fixture.ptx).map_err(at)?;
    let buffer = Buffer::from_slice(device, &fixture.buffer()).map_err(at)?;
    let launch = PreparedLaunch {
        kernel: KernelReference::Loaded {
            module,
            name: ENTRY.to_owned(),
            parameter_bytes: vec![8],
        },
        config: LaunchConfig {
            cluster: fixture.cluster.map(Dim3::from),
            ..LaunchConfig::new(fixture.grid, fixture.block)
        },
        arguments: vec![buffer.address()],
    };
    device.launch_prepared(&launch).map_err(at)?;
    fixture.check(&buffer.to_vec().map_err(at)?)
}

fn run_all(device: &Rc<dyn Device>) {
    let (major, minor) = device.properties().compute_capability;
    let capability = 10 * major + minor;
    let fixtures = fixture::all().unwrap();
    let (runnable, newer): (Vec<_>, Vec<_>) = fixtures
        .iter()
        .partition(|fixture| device.properties().modelled || fixture.minimum_sm <= capability);
    for fixture in newer {
        let required = fixture.minimum_sm;
        eprintln!(
            "{} skipped: sm_{required} is required, the GPU is sm_{capability}",
            fixture.name
        );
    }
    let failures: Vec<_> = runnable
        .iter()
        .filter_map(|fixture| run(device, fixture).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} fixtures failed on {}:\n{}",
        failures.len(),
        runnable.len(),
        device.properties().name,
        failures.join("\n")
    );
}

#[test]
fn fixtures_give_their_bits_on_the_simulator() {
    run_all(&support::simulated("h200"));
}

#[test]
fn fixtures_give_the_same_bits_on_a_gpu() {
    if let Some(gpu) = support::gpu() {
        run_all(&gpu);
    }
}
