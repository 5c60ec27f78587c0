//! What becomes of the files of a run that goes wrong.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Output, Stdio},
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

/// A small sweep whose files end at so many blocks of 512 or 1024 bytes, as the shell counts.
#[cfg(unix)]
fn sweep_on_a_full_disk(blocks: u32, outputs: &[&str]) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!(r#"trap '' XFSZ; ulimit -f {blocks}; exec "$@""#))
        .args([
            "sh",
            SWEEP,
            "--device=sim",
            "--size=100",
            "--kernel=vector_add",
        ])
        .args(["-q", "--block=32,33,34,35,36,37,38,39,40,41"])
        .args(outputs)
        .output()
        .expect("a shell")
}

/// One output ended all others, and lost its own rows of before.
#[test]
#[cfg(unix)]
fn a_full_disk_costs_neither_the_other_outputs_nor_what_was_written() {
    let folder = folder("full");
    let path = |name: &str| folder.join(name).display().to_string();
    let (json, csv) = (path("full.json"), path("full.csv"));
    // Four rows or so of JSON, and every row as CSV.
    let output = sweep_on_a_full_disk(8, &["--json", &json, "--csv", &csv]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&format!("--json {json}: ")), "{stderr}");
    let rows = fs::read_to_string(&csv).expect("written");
    assert_eq!(rows.lines().count(), 1 + 10);
    let report: Value =
        serde_json::from_slice(&fs::read(&json).expect("written")).expect("a whole report");
    let rows = report["rows"].as_array().expect("rows");
    assert!((1..10).contains(&rows.len()), "{}", rows.len());
    // No room even for the first row: what was there before is put back.
    fs::write(&json, "what was before").expect("written");
    assert_eq!(
        sweep_on_a_full_disk(1, &["--json", &json]).status.code(),
        Some(1)
    );
    assert_eq!(fs::read_to_string(&json).expect("kept"), "what was before");
}

/// What was measured before was emptied before anything else was measured.
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
