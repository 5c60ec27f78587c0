//! `kernels/rust-cuda` cannot be built without CUDA's libNVVM and a pinned nightly; what can be
//! checked without them is checked here: its manifests, its pins, and that its sources parse.

mod common;

use std::fs;

use common::package;
use toml::{Table, Value};

fn manifest(path: &str) -> Table {
    let path = package().join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_workspace_has_its_crates_and_keeps_jump_threading_off() {
    let workspace = manifest("rust-cuda/Cargo.toml");
    for member in workspace["workspace"]["members"].as_array().unwrap() {
        let path = package().join("rust-cuda").join(member.as_str().unwrap());
        assert!(path.join("Cargo.toml").is_file(), "{}", path.display());
    }
    assert_eq!(
        workspace["cargo-features"].as_array().unwrap()[0].as_str(),
        Some("profile-rustflags")
    );
    let flags = workspace["profile"]["release"]["rustflags"]
        .as_array()
        .unwrap();
    let flag = "-Zmir-enable-passes=-JumpThreading";
    assert!(flags.iter().any(|value| value.as_str() == Some(flag)));
    assert!(
        common::digest::FLAGS.contains(&flag),
        "both compilers get the same flag"
    );
    let excluded = manifest("../Cargo.toml");
    let excluded = excluded["workspace"]["exclude"].as_array().unwrap();
    assert!(
        excluded
            .iter()
            .any(|value| value.as_str() == Some("kernels/rust-cuda"))
    );
}

#[test]
fn the_pins_agree() {
    let builder = manifest("rust-cuda/builder/Cargo.toml");
    let device = manifest("rust-cuda/device/Cargo.toml");
    let (cuda_builder, cuda_std) = (
        &builder["dependencies"]["cuda_builder"],
        &device["dependencies"]["cuda_std"],
    );
    for key in ["git", "rev"] {
        assert!(cuda_builder[key].is_str());
        assert_eq!(cuda_builder[key], cuda_std[key], "{key}");
    }
    let readme = fs::read_to_string(package().join("rust-cuda/README.md")).unwrap();
    assert!(
        readme.contains(cuda_std["rev"].as_str().unwrap()),
        "README names the revision"
    );

    let toolchain = manifest("rust-cuda/rust-toolchain.toml");
    let toolchain = &toolchain["toolchain"];
    let channel = toolchain["channel"].as_str().unwrap();
    assert!(
        channel.starts_with("nightly-20"),
        "a dated nightly: {channel}"
    );
    assert!(readme.contains(channel), "README names the toolchain");
    let components = toolchain["components"].as_array().unwrap();
    for component in ["rust-src", "rustc-dev", "llvm-tools-preview"] {
        assert!(
            components
                .iter()
                .any(|value| value.as_str() == Some(component)),
            "{component}"
        );
    }
}

#[test]
fn the_device_crate_is_these_kernels() {
    let device = manifest("rust-cuda/device/Cargo.toml");
    let library = package()
        .join("rust-cuda/device")
        .join(device["lib"]["path"].as_str().unwrap());
    assert_eq!(
        library.canonicalize().unwrap(),
        package().join("src/lib.rs").canonicalize().unwrap()
    );
    let own = manifest("Cargo.toml");
    let edition = manifest("../Cargo.toml")["workspace"]["package"]["edition"].clone();
    assert_eq!(device["package"]["name"], own["package"]["name"]);
    assert_eq!(device["package"]["edition"], edition);
    let features = |manifest: &Table| -> Vec<String> {
        let features: &Table = manifest["features"].as_table().unwrap();
        features
            .keys()
            .filter(|name| *name != "default")
            .cloned()
            .collect()
    };
    assert_eq!(features(&device), features(&own));
    assert_eq!(
        device["features"]["default"],
        Value::Array(vec![Value::String("rust-cuda".to_owned())])
    );
}
