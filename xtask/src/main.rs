//! Developer tasks: `cargo xtask ptx` builds the committed PTX, `cargo xtask ci` runs what CI runs.

mod ci;
mod digest;
mod ptx;
mod toolchain;

use std::{path::PathBuf, process::ExitCode};

const USAGE: &str = "\
Usage: cargo xtask <task>

Tasks:
  ptx           build the kernels and write kernels/ptx/<target>.ptx
  ptx --check   build them, write nothing, and fail if the committed files are stale: other
                sources or flags, or other text from the same compiler
  ptx --check=digest
                compare the sources' digest only; needs no PTX toolchain
  ci            run what CI runs (.ci/run)

The PTX toolchain is the rustc named by WARPLAB_PTX_RUSTC, else a rustup nightly with the
component rust-src, else Debian's rustc-web with rust-web-src.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["ptx"] => ptx::build(&root()),
        ["ptx", "--check"] => ptx::check(&root(), ptx::Check::Text),
        ["ptx", "--check=digest"] => ptx::check(&root(), ptx::Check::Digest),
        ["ci"] => ci::run(&root()),
        ["-h" | "--help" | "help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root, beside this package.
fn root() -> PathBuf {
    // As cargo runs it: a target folder shared by two checkouts holds one program for both.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR");
    let mut root = manifest.map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    root.pop();
    root
}
