//! The doctor on this machine, whatever it has.

use std::process::Command;

use serde_json::Value;

fn doctor(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_doctor"))
        .args(arguments)
        // Nothing on PATH: no rustup, no ptxas.
        .env("PATH", "")
        .env_remove("WARPLAB_PTXAS")
        .env_remove("CUDA_PATH")
        .env_remove("CUDA_HOME")
        .output()
        .expect("the program starts");
    (
        output.status.code(),
        String::from_utf8(output.stdout).expect("UTF-8"),
    )
}

#[test]
fn says_what_is_there_and_what_is_missing() {
    let (status, text) = doctor(&[]);
    assert_eq!(status, Some(0));
    for part in [
        "NVIDIA GPU and driver: ",
        "simulator: ok",
        "sim:h200 ",
        "embedded PTX: ",
        "sm_70 (",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_status_1_without_a_backtrace() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_doctor"))
        .env("RUST_BACKTRACE", "1")
        .stdout(full.expect("/dev/full"))
        .output()
        .expect("the program starts");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.starts_with("error: cannot write to standard output: "),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn json_has_the_same_findings() {
    let (status, text) = doctor(&["--json"]);
    assert_eq!(status, Some(0));
    let findings: Value = serde_json::from_str(&text).expect("JSON alone");
    let subjects: Vec<_> = findings
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| finding["subject"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        subjects,
        [
            "NVIDIA GPU and driver",
            "simulator",
            "embedded PTX",
            "PTX compiler",
            "ptxas"
        ]
    );
}
