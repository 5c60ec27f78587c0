//! Runs every fixture on the simulator, checks that each opcode has one, and that `ptxas` takes
//! them all.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use simulator::chip::Chip;
use simulator::fixture::{self, ENTRY, Fixture};
use simulator::{Launch, Options, Simulator};

fn run(fixture: &Fixture) -> Result<(), String> {
    let chip = Chip::named("h200").ok_or("no chip h200")?;
    // Times are no part of what a fixture expects.
    let options = Options {
        timing: false,
        ..Options::default()
    };
    let mut simulator = Simulator::new(chip.clone(), options);
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", fixture.name);
    let module = simulator.load(&fixture.ptx).map_err(|error| at(&error))?;
    let words = fixture.buffer();
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory = simulator.memory();
    let address = memory
        .allocate(bytes.len() as u64, "fixture")
        .map_err(|error| at(&error))?;
    memory.write(address, &bytes).map_err(|error| at(&error))?;
    let launch = Launch {
        kernel: ENTRY,
        grid: [fixture.grid, 1, 1],
        block: [fixture.block, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        cluster: fixture.cluster.map(|blocks| [blocks, 1, 1]),
        parameters: &address.to_le_bytes(),
    };
    simulator
        .launch(module, &launch)
        .map_err(|error| at(&error))?;
    simulator
        .memory()
        .read(address, &mut bytes)
        .map_err(|error| at(&error))?;
    let words: Vec<u64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|&word| u64::from_le_bytes(word))
        .collect();
    fixture.check(&words)
}

#[test]
fn every_fixture_gives_its_expected_bits() {
    let fixtures = fixture::all().unwrap();
    let failures: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| run(fixture).err())
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} fixtures failed:\n{}",
        failures.len(),
        fixtures.len(),
        failures.join("\n")
    );
}

#[test]
fn every_opcode_has_a_fixture_and_every_fixture_an_opcode() {
    let fixtures = fixture::all().unwrap();
    let covered: BTreeSet<&str> = fixtures.iter().map(Fixture::opcode).collect();
    let opcodes: BTreeSet<&str> = simulator::isa::opcodes()
        .map(|opcode| opcode.name)
        .collect();
    let missing: Vec<_> = opcodes.difference(&covered).collect();
    let unknown: Vec<_> = covered.difference(&opcodes).collect();
    assert!(missing.is_empty(), "opcodes without a fixture: {missing:?}");
    assert!(
        unknown.is_empty(),
        "fixtures of unknown opcodes: {unknown:?}"
    );
}

/// A fixture named `add.…` must contain the instruction it is for.
#[test]
fn every_fixture_uses_its_opcode() {
    for fixture in fixture::all().unwrap() {
        let opcode = fixture.opcode();
        let uses = fixture.ptx.lines().any(|line| {
            let line = line.trim();
            let line = match line.strip_prefix('@') {
                Some(guarded) => guarded.split_once(' ').map_or("", |(_, rest)| rest),
                None => line,
            };
            line.strip_prefix(opcode)
                .is_some_and(|rest| rest.starts_with(['.', ' ', ';']))
        });
        assert!(uses, "{} does not use `{opcode}`", fixture.name);
    }
}

/// `ptxas` from the environment variable `PTXAS`, the search path or a CUDA toolkit.
fn ptxas() -> Option<PathBuf> {
    let named = std::env::var_os("PTXAS").map(PathBuf::from);
    let candidates = [
        PathBuf::from("ptxas"),
        PathBuf::from("/usr/local/cuda/bin/ptxas"),
    ];
    named.into_iter().chain(candidates).find(|path| {
        Command::new(path)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    })
}

#[test]
fn ptxas_assembles_every_fixture() {
    let Some(ptxas) = ptxas() else {
        println!("skipped: no ptxas in PTXAS, PATH or /usr/local/cuda/bin");
        return;
    };
    let mut failures = Vec::new();
    for fixture in fixture::all().unwrap() {
        // Recent assemblers start at sm_75.
        let target = ["sm_100a", "sm_90a"]
            .into_iter()
            .find(|target| fixture.ptx.contains(&format!(".target {target}")))
            .map_or_else(
                || format!("sm_{}", fixture.minimum_sm.max(75)),
                str::to_owned,
            );
        let path = fixture::directory().join(format!("{}.ptx", fixture.name));
        let output = Command::new(&ptxas)
            .args(["-arch", &target, "-o", "/dev/null"])
            .arg(&path)
            .output()
            .unwrap();
        if !output.status.success() {
            failures.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
