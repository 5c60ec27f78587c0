//! What becomes of the files of a run that goes wrong.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

const SWEEP: &str = env!("CARGO_BIN_EXE_sweep");

/// A new empty folder of a test's own.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs_cli_{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// on a full disk, one output ended all others and lost its own rows of before.
#[test]
#[cfg(unix)]
fn a_full_disk_costs_neither_the_other_outputs_nor_what_was_written() {
    let folder = folder("full");
    let (json, csv) = (folder.join("full.json"), folder.join("full.csv"));
    // Files end at 4 or 8 KiB, as the shell counts: four rows or so of JSON, and every row as CSV.
    let output = Command::new("sh")
        .arg("-c")
        .arg(r#"trap '' XFSZ; ulimit -f 8; exec "$@""#)
        .args([
            "sh",
            SWEEP,
            "--device=sim",
            "--size=100",
            "--kernel=vector_add",
            "-q",
        ])
        .args(["--block=32,33,34,35,36,37,38,39,40,41", "--json"])
        .arg(&json)
        .arg("--csv")
        .arg(&csv)
        .output()
        .expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("--json") && stderr.contains("full.json"),
        "{stderr}"
    );
    let rows = fs::read_to_string(&csv).expect("written");
    assert_eq!(rows.lines().count(), 1 + 10);
    let report: Value =
        serde_json::from_slice(&fs::read(&json).expect("written")).expect("a whole report");
    let rows = report["rows"].as_array().expect("rows");
    assert!((1..10).contains(&rows.len()), "{}", rows.len());
}

/// what was measured before was emptied before anything else was measured.
#[test]
fn a_report_of_before_stays_until_there_is_a_row() {
    let json = folder("before").join("before.json");
    fs::write(&json, "what was before").expect("written");
    let mut child = Command::new(SWEEP)
        .args(["--device=sim", "--size=64Mi", "--block=32", "--json"])
        .arg(&json)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let header = BufReader::new(child.stdout.take().expect("piped")).lines();
    // The outputs are open once the header is there, and a row takes seconds.
    assert!(header.take(5).all(|line| line.is_ok()));
    thread::sleep(Duration::from_millis(300));
    child.kill().expect("it runs still");
    child.wait().expect("it has ended");
    assert_eq!(fs::read_to_string(&json).expect("kept"), "what was before");
}

/// Mistakes that show only once the device is known left empty files.
#[test]
fn a_usage_error_leaves_no_empty_file() {
    let file = folder("usage").join("usage.json");
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_grid_sync"), &["--threads=4096"][..]),
        (
            env!("CARGO_BIN_EXE_grid_sync"),
            &["--demonstrate-deadlock", "--blocks=1"],
        ),
    ] {
        let status = Command::new(program)
            .args(["--device=sim", "--json"])
            .arg(&file)
            .args(arguments)
            .stderr(Stdio::null())
            .status();
        assert_eq!(status.expect("it starts").code(), Some(2), "{arguments:?}");
        assert!(!file.exists(), "{arguments:?}");
    }
}
