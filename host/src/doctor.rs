//! What this machine has, what is missing for what, and how to get it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Serialize;

use crate::{
    device::{modules, select},
    program,
};

/// Something that warplab can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub subject: &'static str,
    /// What needs it.
    pub needed_for: &'static str,
    /// What was found, one line each; empty where there is none.
    pub found: Vec<String>,
    /// What is wrong with it, or why there is none.
    pub problem: Option<String>,
    /// How to get it; null where nothing is missing.
    pub remedy: Option<&'static str>,
}

/// Looks at the machine. Changes nothing.
pub fn examine() -> Vec<Finding> {
    vec![gpus(), simulator(), embedded_ptx(), ptx_compiler(), ptxas()]
}

fn gpus() -> Finding {
    let finding = |found, problem: Option<String>| Finding {
        subject: "NVIDIA GPU and driver",
        needed_for: "measured times; without it the simulator runs the same kernels",
        found,
        remedy: problem
            .is_some()
            .then_some("install NVIDIA's driver, or in a container start it with --gpus all"),
        problem,
    };
    match select::list().gpus {
        Ok(gpus) if gpus.is_empty() => finding(
            Vec::new(),
            Some("the driver is there, but shows no GPU (CUDA_VISIBLE_DEVICES?)".to_string()),
        ),
        Ok(gpus) => {
            let lines = gpus.iter().enumerate().map(|(number, gpu)| {
                let gpu = program::describe(gpu);
                let driver = gpu.driver.as_deref().unwrap_or("unknown");
                format!(
                    "gpu:{number} {}, driver for CUDA {driver}",
                    program::device_line(&gpu)
                )
            });
            finding(lines.collect(), None)
        }
        Err(error) => finding(Vec::new(), Some(error.to_string())),
    }
}

fn simulator() -> Finding {
    Finding {
        subject: "simulator",
        needed_for: "running and checking kernels without a GPU, with modelled times",
        found: select::list()
            .chips
            .iter()
            .map(|chip| format!("sim:{} {}", chip.name, chip.product))
            .collect(),
        problem: None,
        remedy: None,
    }
}

fn embedded_ptx() -> Finding {
    let stale: Vec<&str> = modules::all()
        .iter()
        // What this build has just made itself carries no digest.
        .filter(|(_, text)| modules::ORIGIN != "rustc_codegen_nvvm" && modules::is_stale(text))
        .map(|(name, _)| *name)
        .collect();
    Finding {
        subject: "embedded PTX",
        needed_for: "every launch",
        found: modules::all()
            .iter()
            .map(|(name, text)| {
                let header = |key: &str| {
                    text.lines()
                        .take_while(|line| line.starts_with("//"))
                        .find_map(|line| line.strip_prefix(key))
                        .unwrap_or("unknown")
                };
                format!(
                    "{name} ({}), sources {}, compiler {}",
                    modules::ORIGIN,
                    header("// sources: "),
                    header("// compiler: ")
                )
            })
            .collect(),
        problem: (!stale.is_empty()).then(|| {
            format!(
                "built from other sources than those in kernels/src: {}",
                stale.join(", ")
            )
        }),
        remedy: (!stale.is_empty()).then_some("cargo xtask ptx, then build warplab again"),
    }
}

fn ptx_compiler() -> Finding {
    let mut found = Vec::new();
    let mut passed_over = Vec::new();
    for (name, rustc) in compilers() {
        match library_source(&rustc) {
            Ok(version) => found.push(format!("{name}: {version}")),
            Err(reason) => passed_over.push(format!("{name}: {reason}")),
        }
    }
    let missing = found.is_empty();
    Finding {
        subject: "PTX compiler",
        needed_for: "cargo xtask ptx, after a change of a kernel; the prebuilt PTX needs none",
        problem: missing.then(|| {
            if passed_over.is_empty() {
                "no nightly toolchain, no Debian rustc-web, no WARPLAB_PTX_RUSTC".to_string()
            } else {
                passed_over.join("; ")
            }
        }),
        found,
        remedy: missing.then_some(
            "rustup toolchain install nightly --component rust-src, or on Debian apt-get install rustc-web rust-web-src",
        ),
    }
}

/// Compilers that may be able to make PTX, as `cargo xtask ptx` looks for them.
fn compilers() -> Vec<(String, PathBuf)> {
    let mut compilers = Vec::new();
    if let Some(named) = env::var_os("WARPLAB_PTX_RUSTC").filter(|value| !value.is_empty()) {
        compilers.push(("WARPLAB_PTX_RUSTC".to_string(), PathBuf::from(named)));
    }
    let toolchains = output(Path::new("rustup"), &["toolchain", "list"]).unwrap_or_default();
    for name in toolchains
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with("nightly"))
    {
        let which = ["which", "--toolchain", name, "rustc"];
        if let Some(rustc) = output(Path::new("rustup"), &which) {
            compilers.push((format!("rustup {name}"), PathBuf::from(rustc.trim())));
        }
    }
    let debian = Path::new("/usr/bin/rustc");
    if debian.exists() {
        compilers.push((debian.display().to_string(), debian.to_path_buf()));
    }
    compilers
}

/// The version of a compiler that has its library's source and knows the PTX target.
fn library_source(rustc: &Path) -> Result<String, String> {
    let ask = |arguments: &[&str]| {
        output(rustc, arguments).ok_or_else(|| format!("{} does not run", rustc.display()))
    };
    let sysroot = PathBuf::from(ask(&["--print", "sysroot"])?.trim());
    if !sysroot.join("lib/rustlib/src/rust/library/core").is_dir() {
        return Err("without the library's source (component rust-src)".to_string());
    }
    if !ask(&["--print", "target-list"])?
        .lines()
        .any(|target| target == "nvptx64-nvidia-cuda")
    {
        return Err("without the target nvptx64-nvidia-cuda".to_string());
    }
    Ok(ask(&["--version"])?.trim().to_string())
}

fn ptxas() -> Finding {
    let candidates = [
        env::var_os("WARPLAB_PTXAS").map(PathBuf::from),
        Some(PathBuf::from("ptxas")),
        env::var_os("CUDA_PATH").map(|root| Path::new(&root).join("bin/ptxas")),
        env::var_os("CUDA_HOME").map(|root| Path::new(&root).join("bin/ptxas")),
        Some(PathBuf::from("/usr/local/cuda/bin/ptxas")),
    ];
    let found = candidates.into_iter().flatten().find_map(|path| {
        let version = output(&path, &["--version"])?;
        let release = version.lines().find(|line| line.contains("release"))?;
        Some(format!("{}: {}", path.display(), release.trim()))
    });
    let missing = found.is_none();
    Finding {
        subject: "ptxas",
        needed_for: "the tests that assemble the PTX for each architecture",
        found: found.into_iter().collect(),
        problem: missing.then(|| {
            "not on PATH, not named by WARPLAB_PTXAS, not in CUDA_PATH, CUDA_HOME or /usr/local/cuda"
                .to_string()
        }),
        remedy: missing.then_some("pip install nvidia-cuda-nvcc, and set WARPLAB_PTXAS to its bin/ptxas"),
    }
}

/// What a program prints; `None` if it does not run or fails.
fn output(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The findings for people.
pub fn render(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let state = match (&finding.problem, finding.found.is_empty()) {
            (None, _) => "ok",
            (Some(_), false) => "problem",
            (Some(_), true) => "missing",
        };
        text.push_str(&format!(
            "{}: {state} (for {})\n",
            finding.subject, finding.needed_for
        ));
        for line in &finding.found {
            text.push_str(&format!("    {line}\n"));
        }
        if let Some(problem) = &finding.problem {
            text.push_str(&format!("    {problem}\n"));
        }
        if let Some(remedy) = finding.remedy {
            text.push_str(&format!("    to get it: {remedy}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_a_remedy_and_a_reason() {
        for finding in examine() {
            assert_eq!(
                finding.problem.is_some(),
                finding.remedy.is_some(),
                "{finding:?}"
            );
            assert!(
                !finding.found.is_empty() || finding.problem.is_some(),
                "{finding:?}"
            );
        }
    }

    #[test]
    fn the_embedded_modules_and_all_chips_are_told() {
        let text = render(&examine());
        for (name, _) in modules::all() {
            assert!(text.contains(&format!("    {name} (")), "{text}");
        }
        for chip in select::list().chips {
            assert!(text.contains(&format!("sim:{}", chip.name)), "{text}");
        }
    }

    #[test]
    fn a_changed_digest_is_stale() {
        let (_, text) = modules::all()[0];
        assert!(modules::is_stale(&text.replacen("sha256:", "sha256:0", 1)));
        assert!(modules::is_stale(""));
    }
}
