//! The list of symbols against the source of the `cust_raw` that the workspace builds with.

use std::{collections::BTreeSet, path::PathBuf, process::Command};

use driver::Symbol;

/// Where Cargo keeps the source of the workspace's `cust_raw`.
fn cust_raw_source() -> PathBuf {
    let metadata = |extra: &[&str]| {
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .args(extra)
            .output()
            .expect("cargo starts")
    };
    // Offline, `cargo metadata` fails if some other platform's crate was never fetched.
    let mut output = metadata(&["--offline"]);
    if !output.status.success() {
        output = metadata(&[]);
    }
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let manifests: Vec<&str> = metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .filter(|package| package["name"] == "cust_raw")
        .map(|package| package["manifest_path"].as_str().expect("a path"))
        .collect();
    assert_eq!(manifests.len(), 1, "one cust_raw in the workspace");
    PathBuf::from(manifests[0]).with_file_name("src/cuda.rs")
}

#[test]
fn every_function_that_cust_raw_declares_is_defined() {
    let source = std::fs::read_to_string(cust_raw_source()).expect("cust_raw's source");
    let declared: BTreeSet<&str> = source
        .split("pub fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next())
        .filter(|name| name.starts_with("cu"))
        .collect();
    assert!(declared.contains("cuInit"), "the source reads as expected");
    assert!(
        !source.contains("link_name"),
        "names are exported as declared"
    );
    let defined: BTreeSet<&str> = Symbol::CUST_RAW
        .iter()
        .map(|symbol| symbol.name())
        .collect();
    assert_eq!(declared, defined);
}
