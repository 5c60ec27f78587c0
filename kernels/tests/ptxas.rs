//! `ptxas` assembles every module for every architecture that warplab names, without spills.
//!
//! It is taken from `WARPLAB_PTXAS`, else from the PATH. Where there is none the test is skipped
//! and says so; `WARPLAB_REQUIRE_PTXAS=1` makes that a failure.

mod common;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use common::modules;
use kernels::handle::Target;

const ARCHITECTURES: &[u32] = &[75, 80, 90, 100, 120];

fn ptxas() -> Option<PathBuf> {
    if let Some(named) = env::var_os("WARPLAB_PTXAS").filter(|value| !value.is_empty()) {
        let path = PathBuf::from(named);
        assert!(path.is_file(), "WARPLAB_PTXAS: no file {}", path.display());
        return Some(path);
    }
    let name = format!("ptxas{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH").unwrap_or_default())
        .map(|directory| directory.join(&name))
        .find(|path| path.is_file())
}

fn assemble(ptxas: &Path, module: &Path, architecture: u32) {
    let output = env::temp_dir().join(format!(
        "warplab-{}-{}-{architecture}.cubin",
        std::process::id(),
        module.file_stem().unwrap().to_string_lossy()
    ));
    let result = Command::new(ptxas)
        .arg("-v")
        .arg(format!("--gpu-name=sm_{architecture}"))
        .arg("--output-file")
        .arg(&output)
        .arg(module)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", ptxas.display()));
    let _ = std::fs::remove_file(&output);
    let log = String::from_utf8_lossy(&result.stdout).into_owned()
        + &String::from_utf8_lossy(&result.stderr);
    let what = format!("{} for sm_{architecture}", module.display());
    assert!(result.status.success(), "{what}: {log}");
    assert!(!log.contains("warning"), "{what}: {log}");
    let usage: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("spill stores"))
        .collect();
    assert!(
        !usage.is_empty(),
        "{what}: ptxas -v reported nothing about spills: {log}"
    );
    for line in usage {
        assert!(
            line.contains(" 0 bytes spill stores, 0 bytes spill loads"),
            "{what}: {line}\n{log}"
        );
    }
}

#[test]
fn every_module_assembles_without_spills() {
    let Some(ptxas) = ptxas() else {
        let required = env::var("WARPLAB_REQUIRE_PTXAS").is_ok_and(|value| value == "1");
        assert!(!required, "WARPLAB_REQUIRE_PTXAS=1, but there is no ptxas");
        eprintln!("skipped: no ptxas in WARPLAB_PTXAS or on the PATH");
        return;
    };
    for (target, path, _) in modules() {
        let least = match target {
            Target::Sm70 => 70,
            Target::Sm80 => 80,
            Target::Sm90 => 90,
        };
        for architecture in ARCHITECTURES
            .iter()
            .filter(|architecture| **architecture >= least)
        {
            assemble(&ptxas, &path, *architecture);
        }
    }
}
