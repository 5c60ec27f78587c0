//! Finds a compiler that can make PTX: any rustc with the NVPTX backend and the library's source.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

/// Names the rustc to use, over everything that would be found.
const VARIABLE: &str = "WARPLAB_PTX_RUSTC";

const INSTALL: &str = "\
no compiler that can make PTX was found. One of these is required:
  - a nightly toolchain with its library source:
      rustup toolchain install nightly --profile minimal --component rust-src
    (for a nightly that is there already: rustup component add rust-src --toolchain nightly)
  - on Debian: apt-get install --no-install-recommends rustc-web rust-web-src
  - any rustc with the nvptx64-nvidia-cuda target and rust-src in its sysroot, named by the
    environment variable WARPLAB_PTX_RUSTC";

/// A compiler that can make PTX.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// The compiler.
    pub(crate) rustc: PathBuf,
    /// The cargo that drives it.
    pub(crate) cargo: PathBuf,
    /// The folder that holds the standard library's source.
    pub(crate) library: PathBuf,
    /// Compiler and LLVM, for example `rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8`.
    pub(crate) version: String,
}

/// Finds the toolchain, or says what to install. What was passed over is listed in the error.
pub(crate) fn find() -> Result<Toolchain> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Toolchain::new(PathBuf::from(&named), running_cargo())
            .with_context(|| format!("{VARIABLE} is {}", named.to_string_lossy()));
    }
    let mut passed_over = Vec::new();
    for candidate in rustup_nightlies().into_iter().chain(debian()) {
        match candidate {
            (name, Ok(toolchain)) => {
                eprintln!("PTX compiler: {} ({name})", toolchain.version);
                return Ok(toolchain);
            }
            (name, Err(reason)) => passed_over.push(format!("  - {name}: {reason:#}")),
        }
    }
    if passed_over.is_empty() {
        bail!("{INSTALL}");
    }
    bail!("{INSTALL}\nPassed over:\n{}", passed_over.join("\n"));
}

impl Toolchain {
    fn new(rustc: PathBuf, cargo: PathBuf) -> Result<Self> {
        let sysroot = PathBuf::from(output(&rustc, ["--print", "sysroot"])?.trim());
        let library = sysroot.join("lib/rustlib/src/rust/library");
        ensure!(
            library.join("Cargo.lock").is_file(),
            "no library source at {} (component rust-src)",
            library.display()
        );
        let targets = output(&rustc, ["--print", "target-list"])?;
        ensure!(
            targets.lines().any(|target| target == super::ptx::TRIPLE),
            "the compiler does not know {}",
            super::ptx::TRIPLE
        );
        let version = version(&output(&rustc, ["-vV"])?)?;
        Ok(Self {
            rustc,
            cargo,
            library,
            version,
        })
    }
}

/// From `rustc -vV`: name, number, commit and LLVM, which decide the text that is generated.
fn version(verbose: &str) -> Result<String> {
    let field = |name: &str| {
        verbose
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
            .with_context(|| format!("`rustc -vV` gave no line {name:?}:\n{verbose}"))
    };
    let short: String = field("commit-hash:")?.chars().take(9).collect();
    Ok(format!(
        "rustc {} ({short} {}), LLVM {}",
        field("release:")?,
        field("commit-date:")?,
        field("LLVM version:")?
    ))
}

type Candidate = (String, Result<Toolchain>);

/// rustup's nightlies with their own cargo: a nightly's library may need its own cargo.
fn rustup_nightlies() -> Vec<Candidate> {
    let Ok(list) = output("rustup", ["toolchain", "list", "-q"])
        .or_else(|_| output("rustup", ["toolchain", "list"]))
    else {
        return Vec::new();
    };
    list.lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with("nightly"))
        .map(|name| {
            let program = |program| {
                output("rustup", ["which", "--toolchain", name, program])
                    .map(|path| PathBuf::from(path.trim()))
            };
            let toolchain = program("rustc").and_then(|rustc| {
                let cargo = program("cargo").unwrap_or_else(|_| running_cargo());
                Toolchain::new(rustc, cargo)
            });
            (format!("rustup {name}"), toolchain)
        })
        .collect()
}

/// Debian's compiler for the web packages, built with every LLVM target. It is driven by the cargo
/// that runs this program, since the distribution's own may be years older.
fn debian() -> Option<Candidate> {
    let rustc = Path::new("/usr/bin/rustc");
    rustc.exists().then(|| {
        (
            "/usr/bin/rustc".to_owned(),
            Toolchain::new(rustc.to_owned(), running_cargo()),
        )
    })
}

/// The cargo that runs this program.
fn running_cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

fn output<S: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = S>,
) -> Result<String> {
    let program = program.as_ref();
    let name = program.to_string_lossy();
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("{name} could not be started"))?;
    ensure!(
        output.status.success(),
        "{name} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("{name} gave text that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_names_compiler_and_llvm() {
        let verbose = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\n\
            binary: rustc\ncommit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96\n\
            commit-date: 2026-05-25\nhost: x86_64-unknown-linux-gnu\nrelease: 1.96.0\n\
            LLVM version: 22.1.8\n";
        assert_eq!(
            version(verbose).unwrap(),
            "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8"
        );
        assert!(version("rustc 1.96.0\n").is_err());
    }
}
