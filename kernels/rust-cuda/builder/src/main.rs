//! `builder TARGET OUTPUT`: compiles the kernels for `sm_70`, `sm_80` or `sm_90` with rustc_codegen_nvvm and
//! copies the PTX to OUTPUT.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use cuda_builder::{CudaBuilder, NvvmArch};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, output] = &arguments[..] else {
        eprintln!("usage: builder sm_70|sm_80|sm_90 OUTPUT");
        return ExitCode::from(2);
    };
    let (arch, features): (_, &[&str]) = match target.as_str() {
        "sm_70" => (NvvmArch::Compute70, &[]),
        "sm_80" => (NvvmArch::Compute80, &["--features", "sm_80"]),
        "sm_90" => (NvvmArch::Compute90, &["--features", "sm_90"]),
        _ => {
            eprintln!("target {target:?} is not one of sm_70, sm_80, sm_90");
            return ExitCode::from(2);
        }
    };
    // cuda_builder runs cargo in the device crate's folder, so the output's path must not depend
    // on the folder.
    let output = match std::path::absolute(output) {
        Ok(path) => path,
        Err(error) => {
            eprintln!("error: the output path {output}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match build(arch, features, &output) {
        Ok(path) => {
            eprintln!("wrote {}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build(arch: NvvmArch, features: &[&str], output: &Path) -> Result<PathBuf, String> {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../device");
    CudaBuilder::new(device)
        .arch(arch)
        .build_args(features)
        .copy_to(output)
        .build()
        .map_err(|error| format!("{error}; kernels/rust-cuda/README.md lists what is required"))
}
