//! What the committed PTX was built from: the digest of the kernels' sources and of the flags.
//!
//! The build script of `host` and the tests of `kernels` include this file with `#[path]`, so that
//! everyone who asks whether the PTX is stale asks the same question. It uses std and sha2 only.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

/// The header's line that holds the digest starts with this.
pub(crate) const DIGEST_LABEL: &str = "// sources: sha256:";

/// Flags of the PTX build that are the same for every target.
///
/// MIR's jump threading duplicates barriers into both sides of a branch (rust-lang/rust#137086).
/// Loop strength reduction gives every access of an unrolled loop a pointer of its own to advance.
/// Line directives let tools name the Rust line of an instruction. With fat LTO the PTX is the
/// compiler's assembly output, and no bitcode linker is needed.
pub(crate) const FLAGS: &[&str] = &[
    "-Copt-level=3",
    "-Clto=fat",
    "-Ccodegen-units=1",
    "-Cpanic=abort",
    "-Cdebuginfo=line-directives-only",
    "-Zmir-enable-passes=-JumpThreading",
    "-Cllvm-args=-disable-lsr",
];

/// Flags and cargo feature of each target: its name, `-C` flags, feature.
pub(crate) const TARGETS: &[(&str, &[&str], Option<&str>)] = &[
    (
        "sm_70",
        &["-Ctarget-cpu=sm_70", "-Ctarget-feature=+ptx70"],
        None,
    ),
    (
        "sm_80",
        &["-Ctarget-cpu=sm_80", "-Ctarget-feature=+ptx70"],
        Some("sm_80"),
    ),
    (
        "sm_90",
        &["-Ctarget-cpu=sm_90", "-Ctarget-feature=+ptx80"],
        Some("sm_90"),
    ),
];

/// SHA-256, in hex, over the flags, the manifest and the sources in `kernels_directory`: names and
/// contents in the names' order, line ends as `\n`.
pub(crate) fn sources_digest(kernels_directory: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut add = |name: &str, content: &[u8]| {
        hash.update(format!("{name}\0{}\0", content.len()));
        hash.update(content);
    };
    add("flags", format!("{FLAGS:?}{TARGETS:?}").as_bytes());
    for path in source_files(kernels_directory)? {
        let relative = path.strip_prefix(kernels_directory).unwrap_or(&path);
        let name: Vec<_> = relative
            .components()
            .map(|component| component.as_os_str().to_string_lossy())
            .collect();
        let content = fs::read_to_string(&path)?.replace("\r\n", "\n");
        add(&name.join("/"), content.as_bytes());
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The files that the digest covers: the manifest and everything under `src` that ends in `.rs`,
/// sorted.
pub(crate) fn source_files(kernels_directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = vec![kernels_directory.join("Cargo.toml")];
    let mut directories = vec![kernels_directory.join("src")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The digest in a committed PTX's header.
pub(crate) fn digest_in_header(ptx: &str) -> Option<&str> {
    header_value(ptx, DIGEST_LABEL)
}

/// What follows `label` on its line of the header (the comment lines at the top).
pub(crate) fn header_value<'a>(ptx: &'a str, label: &str) -> Option<&'a str> {
    ptx.lines()
        .take_while(|line| line.starts_with("//"))
        .find_map(|line| line.strip_prefix(label))
        .map(str::trim)
}
