//! Runs what CI runs: `.ci/run` is the one list of steps.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, ensure};

/// Runs `.ci/run` from the repository's root.
pub(crate) fn run(root: &Path) -> Result<()> {
    let script = root.join(".ci").join("run");
    ensure!(
        script.is_file(),
        "{} is missing: it lists CI's steps",
        script.display()
    );
    let status = Command::new("bash")
        .arg(&script)
        .current_dir(root)
        .status()
        .context("bash is required to run .ci/run: install it")?;
    ensure!(status.success(), ".ci/run failed ({status})");
    Ok(())
}
