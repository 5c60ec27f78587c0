//! Builds the kernels to PTX and compares the result with what is committed.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use kernels::handle::Target;

use crate::{digest, toolchain, toolchain::Toolchain};

/// The device target's triple.
pub(crate) const TRIPLE: &str = "nvptx64-nvidia-cuda";

const COMPILER_LABEL: &str = "// compiler: ";

/// How far `--check` goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// The sources' digest.
    Digest,
    /// The digest, and the text that the found compiler makes.
    Text,
}

/// Builds every module and writes it; removes modules that no kernel needs any more.
pub(crate) fn build(root: &Path) -> Result<()> {
    let toolchain = toolchain::find()?;
    for target in Target::ALL {
        let path = committed_path(root, target);
        if needed(target) {
            let text = module(root, &toolchain, target)?;
            fs::create_dir_all(path.parent().unwrap_or(root))?;
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            eprintln!("wrote {}", path.display());
        } else if path.exists() {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            eprintln!("removed {}: no kernel needs it", path.display());
        }
    }
    Ok(())
}

/// Compares the committed modules with the sources.
pub(crate) fn check(root: &Path, check: Check) -> Result<()> {
    let expected = digest::sources_digest(&root.join("kernels"))?;
    let mut committed = Vec::new();
    for target in Target::ALL {
        let path = committed_path(root, target);
        if !needed(target) {
            ensure!(
                !path.exists(),
                "{} is committed, but no kernel needs it: run `cargo xtask ptx`",
                path.display()
            );
            continue;
        }
        let text = fs::read_to_string(&path)
            .with_context(|| format!("reading {}: run `cargo xtask ptx`", path.display()))?
            .replace("\r\n", "\n");
        let found = digest::digest_in_header(&text).with_context(|| {
            format!("{} has no line {:?}", path.display(), digest::DIGEST_LABEL)
        })?;
        ensure!(
            found == expected,
            "{} is stale: it was built from sources {found}, the sources are {expected}. \
             Run `cargo xtask ptx` and commit the result",
            path.display()
        );
        committed.push((target, path, text));
    }
    eprintln!("digest: {} module(s) match their sources", committed.len());
    if check == Check::Digest {
        return Ok(());
    }
    let toolchain = toolchain::find()?;
    for (target, path, text) in committed {
        let built = module(root, &toolchain, target)?;
        let compiler = digest::header_value(&text, COMPILER_LABEL).unwrap_or("unknown");
        if compiler != toolchain.version {
            eprintln!(
                "{}: built by {compiler}; {} builds it too, its text is not compared",
                path.display(),
                toolchain.version
            );
            continue;
        }
        if let Some(difference) = first_difference(&text, &built) {
            bail!(
                "{} is not what {compiler} makes of these sources: {difference}. \
                 Run `cargo xtask ptx` and commit the result",
                path.display()
            );
        }
        eprintln!("{}: the same text", path.display());
    }
    Ok(())
}

fn needed(target: Target) -> bool {
    kernels::ALL.iter().any(|kernel| kernel.target == target)
}

fn committed_path(root: &Path, target: Target) -> PathBuf {
    root.join("kernels/ptx")
        .join(format!("{}.ptx", target.name()))
}

/// Compiles one module and puts the header before it.
fn module(root: &Path, toolchain: &Toolchain, target: Target) -> Result<String> {
    let (_, target_flags, feature) = digest::TARGETS
        .iter()
        .find(|(name, ..)| *name == target.name())
        .with_context(|| format!("no build flags for {}", target.name()))?;
    let directory = target_directory(root).join("ptx").join(target.name());
    let assembly = directory.join("kernels.s");
    fs::create_dir_all(&directory)?;

    let mut rustflags: Vec<String> = [digest::FLAGS, target_flags]
        .concat()
        .iter()
        .map(|flag| (*flag).to_owned())
        .collect();
    let flags = rustflags.join(" ");
    // Paths in line directives: relative to the repository, and to the library's source.
    for (prefix, name) in [(root, ""), (&*toolchain.library, "library")] {
        let prefix = prefix
            .to_str()
            .with_context(|| format!("the path {} is not UTF-8: move it", prefix.display()))?;
        rustflags.push(format!("--remap-path-prefix={prefix}={name}"));
    }

    let mut emit = OsString::from("--emit=asm=");
    emit.push(&assembly);
    let mut command = Command::new(&toolchain.cargo);
    command
        .current_dir(root)
        .args(["rustc", "--quiet", "--release", "--package", "kernels"])
        .args(["--lib", "--crate-type", "staticlib", "-Zbuild-std=core"])
        .args(["--target", TRIPLE, "--target-dir"])
        .arg(&directory)
        // The flags below say these themselves; the profile must not contradict them.
        .args(["--config", "profile.release.debug=\"line-directives-only\""])
        .args(["--config", "profile.release.lto=true"])
        .args(["--config", "profile.release.codegen-units=1"])
        .args(["--config", "profile.release.panic=\"abort\""])
        .args(["--config", "profile.release.opt-level=3"]);
    if let Some(feature) = feature {
        command.args(["--features", feature]);
    }
    command
        .arg("--")
        .arg(emit)
        .env("RUSTC", &toolchain.rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags.join("\u{1f}"))
        // These belong to the toolchain that runs this program.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTDOC")
        .env_remove("RUSTFLAGS");
    let status = command
        .status()
        .with_context(|| format!("{} could not be started", toolchain.cargo.display()))?;
    ensure!(
        status.success(),
        "the kernels did not compile for {} ({status})",
        target.name()
    );
    let text = fs::read_to_string(&assembly)
        .with_context(|| format!("reading the compiler's {}", assembly.display()))?;
    ensure!(
        text.contains(&format!(".target {}", target.name())),
        "{} is not a module for {}",
        assembly.display(),
        target.name()
    );
    let digest = digest::sources_digest(&root.join("kernels"))?;
    Ok(format!(
        "// warplab's kernels for {name}, built by `cargo xtask ptx`; do not edit.\n\
         {DIGEST_LABEL}{digest}\n\
         {COMPILER_LABEL}{version}\n\
         // flags: {flags}\n\
         {text}",
        name = target.name(),
        DIGEST_LABEL = digest::DIGEST_LABEL,
        version = toolchain.version,
        text = text.trim_end().to_owned() + "\n",
    ))
}

/// Where cargo builds: `CARGO_TARGET_DIR`, relative to the root if relative, else `target`.
fn target_directory(root: &Path) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        Some(directory) => root.join(directory),
        None => root.join("target"),
    }
}

/// Names the first line in which two texts differ.
fn first_difference(committed: &str, built: &str) -> Option<String> {
    if committed == built {
        return None;
    }
    let (mut left, mut right) = (committed.lines(), built.lines());
    for number in 1.. {
        let (committed, built) = (left.next(), right.next());
        if committed != built {
            return Some(format!(
                "line {number} is {:?}, it should be {:?}",
                committed.unwrap_or("missing"),
                built.unwrap_or("missing")
            ));
        }
        if committed.is_none() {
            break;
        }
    }
    Some("the line ends differ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn a_difference_is_named_by_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(
            first_difference("a\nb\n", "a\nc\n").unwrap(),
            "line 2 is \"b\", it should be \"c\""
        );
        assert_eq!(
            first_difference("a\n", "a\nc\n").unwrap(),
            "line 2 is \"missing\", it should be \"c\""
        );
        assert!(first_difference("a\n", "a").is_some());
    }
}
