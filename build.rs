//! Build script of `host`: decides which PTX gets embedded.
//!
//! 1. With the feature `rust-cuda`, what the builder in `kernels/rust-cuda` makes.
//! 2. With `WARPLAB_PTX_DIR` set, the `*.ptx` files of that directory.
//! 3. Otherwise the prebuilt `kernels/ptx/*.ptx`.
//!
//! Nothing falls back: if the way that was asked for fails, so does the build.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, exit},
};

#[path = "xtask/src/digest.rs"]
#[allow(dead_code)]
mod digest;

const DIRECTORY_VARIABLE: &str = "WARPLAB_PTX_DIR";

fn main() {
    if let Err(message) = embed() {
        // One instruction per line: Cargo ends an error at a line break.
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        exit(1);
    }
}

fn embed() -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is set by Cargo")?);
    let host = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("set by Cargo")?);
    let kernels = host
        .parent()
        .ok_or("the package `host` lies in the workspace")?
        .join("kernels");
    println!("cargo::rerun-if-env-changed={DIRECTORY_VARIABLE}");

    let (directory, origin) = if env::var_os("CARGO_FEATURE_RUST_CUDA").is_some() {
        let built = out.join("rust-cuda");
        build_with_rust_cuda(&kernels, &built)?;
        (built, "rustc_codegen_nvvm")
    } else if let Some(directory) = env::var_os(DIRECTORY_VARIABLE) {
        // Relative to the workspace, where the user's command ran, not to `host`.
        (kernels.join("..").join(directory), DIRECTORY_VARIABLE)
    } else {
        (kernels.join("ptx"), "prebuilt")
    };
    println!("cargo::rerun-if-changed={}", directory.display());
    println!("cargo::rerun-if-changed={}", kernels.join("src").display());
    println!(
        "cargo::rerun-if-changed={}",
        kernels.join("Cargo.toml").display()
    );

    let modules = read_modules(&directory)?;
    if origin != "rustc_codegen_nvvm" {
        warn_if_stale(&kernels, &directory, &modules)?;
    }
    let mut table = format!(
        "/// Where the embedded PTX comes from.\npub(crate) const ORIGIN: &str = {origin:?};\n\
         /// Digest of the kernels' sources at build time.\n\
         pub(crate) const SOURCES: &str = {:?};\n\
         /// Target name and PTX text.\npub(crate) const MODULES: &[(&str, &str)] = &[\n",
        digest::sources_digest(&kernels)
            .map_err(|error| format!("digest of the kernels' sources: {error}"))?
    );
    for (name, text) in &modules {
        let file = format!("{name}.ptx");
        fs::write(out.join(&file), text).map_err(|error| format!("{file}: {error}"))?;
        table += &format!("    ({name:?}, include_str!({file:?})),\n");
    }
    table += "];\n";
    fs::write(out.join("embedded.rs"), table).map_err(|error| format!("embedded.rs: {error}"))
}

/// The `*.ptx` files of a directory: name without the ending, and text; sorted.
fn read_modules(directory: &Path) -> Result<Vec<(String, String)>, String> {
    let describe = |error| {
        format!(
            "PTX directory {}: {error}; build it with `cargo xtask ptx`",
            directory.display()
        )
    };
    let mut modules = Vec::new();
    for entry in fs::read_dir(directory).map_err(describe)? {
        let path = entry.map_err(describe)?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).map_err(describe)?;
            modules.push((name.into_owned(), text));
        }
    }
    if modules.is_empty() {
        return Err(format!(
            "no *.ptx file in {}; build them with `cargo xtask ptx`",
            directory.display()
        ));
    }
    modules.sort();
    Ok(modules)
}

fn warn_if_stale(
    kernels: &Path,
    directory: &Path,
    modules: &[(String, String)],
) -> Result<(), String> {
    let current = digest::sources_digest(kernels)
        .map_err(|error| format!("digest of the kernels' sources: {error}"))?;
    for (name, text) in modules {
        let problem = match digest::digest_in_header(text) {
            Some(found) if found == current => continue,
            Some(_) => "was built from other sources than those in kernels/src",
            None => "does not say in its header what it was built from",
        };
        println!(
            "cargo::warning={}/{name}.ptx {problem}; rebuild it with `cargo xtask ptx`",
            directory.display()
        );
    }
    Ok(())
}

/// Builds every target that has kernels, which are those with committed PTX, into `built` with
/// the builder in `kernels/rust-cuda`.
fn build_with_rust_cuda(kernels: &Path, built: &Path) -> Result<(), String> {
    let workspace = kernels.join("rust-cuda");
    let unreadable = |error| format!("the builder's workspace {}: {error}", workspace.display());
    for entry in fs::read_dir(&workspace).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name().is_some_and(|name| name != "target") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    for variable in ["LLVM_CONFIG", "CUDA_HOME", "CUDA_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    check_rust_cuda_toolchain(&workspace)?;
    if built.exists() {
        fs::remove_dir_all(built).map_err(|error| format!("{}: {error}", built.display()))?;
    }
    fs::create_dir_all(built).map_err(|error| format!("{}: {error}", built.display()))?;
    for (target, _, _) in digest::TARGETS {
        let file = format!("{target}.ptx");
        if kernels.join("ptx").join(&file).exists() {
            run_builder(&workspace, target, &built.join(file))?;
        }
    }
    Ok(())
}

fn run_builder(workspace: &Path, target: &str, output: &Path) -> Result<(), String> {
    // The proxy `cargo` picks the toolchain that the workspace pins, if nothing of this build's
    // own toolchain and flags reaches it.
    let mut command = Command::new("cargo");
    command
        .args(["run", "--release", "--", target])
        .arg(output)
        .current_dir(workspace);
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let of_this_build = ["CARGO_", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"];
        if name == "CARGO"
            || name != "CARGO_HOME" && of_this_build.iter().any(|start| name.starts_with(start))
        {
            command.env_remove(name);
        }
    }
    let result = command
        .output()
        .map_err(|error| format!("feature rust-cuda: cargo does not start: {error}"))?;
    if result.status.success() {
        return Ok(());
    }
    Err(format!(
        "feature rust-cuda: building {target} in {} failed ({}); {} says what is needed\n{}",
        workspace.display(),
        result.status,
        workspace.join("README.md").display(),
        String::from_utf8_lossy(&result.stderr)
    ))
}

/// What can be missing, all at once and before the long build.
fn check_rust_cuda_toolchain(workspace: &Path) -> Result<(), String> {
    let mut missing = Vec::new();
    let pinned = workspace.join("rust-toolchain.toml");
    let channel = fs::read_to_string(&pinned)
        .map_err(|error| format!("{}: {error}", pinned.display()))?
        .lines()
        .find_map(|line| {
            line.trim()
                .strip_prefix("channel")?
                .split('"')
                .nth(1)
                .map(String::from)
        })
        .ok_or_else(|| format!("{} names no channel", pinned.display()))?;
    match Command::new("rustup").args(["toolchain", "list"]).output() {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains(&channel) => {}
        Ok(_) => missing.push(format!(
            "the toolchain {channel}: rustup toolchain install {channel} --component \
             rust-src,rustc-dev,llvm-tools-preview"
        )),
        Err(_) => missing.push("rustup: see https://rustup.rs".into()),
    }
    let cuda = env::var_os("CUDA_HOME")
        .or_else(|| env::var_os("CUDA_PATH"))
        .map_or_else(|| "/usr/local/cuda".into(), PathBuf::from);
    if !cuda.join("nvvm").is_dir() {
        missing.push(format!(
            "libNVVM: no folder nvvm in {}; install CUDA 12.0 or later, or set CUDA_HOME to it",
            cuda.display()
        ));
    }
    let llvm_config = env::var_os("LLVM_CONFIG").unwrap_or_else(|| "llvm-config".into());
    match Command::new(&llvm_config).arg("--version").output() {
        Ok(output) if output.stdout.starts_with(b"7.") => {}
        Ok(output) => missing.push(format!(
            "LLVM 7: {} is version {}; set LLVM_CONFIG to the llvm-config of an LLVM 7",
            llvm_config.to_string_lossy(),
            String::from_utf8_lossy(&output.stdout).trim()
        )),
        Err(_) => missing.push(format!(
            "LLVM 7: {} does not start; set LLVM_CONFIG to the llvm-config of an LLVM 7",
            llvm_config.to_string_lossy()
        )),
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "feature rust-cuda: missing\n  {}",
        missing.join("\n  ")
    ))
}
