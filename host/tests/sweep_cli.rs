//! The sweep as a user meets it: exit status, what goes to which stream, files.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

fn sweep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sweep"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Arguments of a run that takes no time.
const SMALL: [&str; 7] = [
    "--device",
    "sim",
    "--size",
    "100",
    "--block",
    "32,64",
    "--kernel=vector_add",
];

fn small(arguments: &[&str]) -> Output {
    sweep(&[&SMALL, arguments].concat())
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A new empty folder of a test's own.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sweep_cli_{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

#[test]
fn all_verified_is_status_0_with_table_chart_and_conclusion() {
    let output = small(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "simulated NVIDIA H200",
        "modelled",
        "GB/s",
        "✓",
        "vector_add: best at block",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn every_kernel_at_odd_sizes() {
    let sizes = "0,1,31,33,1000,4097";
    let output = sweep(&[
        "--device=sim",
        "--kernel=all",
        "--size",
        sizes,
        "--block=32,96,1024",
        "--json=-",
        "-q",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    let rows = report["rows"].as_array().expect("rows");
    let kernels = stdout(&sweep(&["--list"])).lines().count();
    assert_eq!(rows.len(), kernels * 6 * 3);
    for row in rows {
        assert_eq!(
            (&row["status"], &row["verified"]),
            (&"ok".into(), &true.into()),
            "{row}"
        );
    }
}

#[test]
fn a_failing_row_is_status_1_and_the_rest_runs() {
    let output = sweep(&[
        "--device=sim",
        "--size=100",
        "--block=64,2048,32",
        "--kernel=vector_add",
        "--json=-",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    let status: Vec<_> = report["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["status"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(status, ["ok", "failed", "ok"]);
    let failed = &report["rows"][1];
    assert_eq!(failed["stage"], "launch");
    assert!(
        failed["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("2048")),
        "{failed}"
    );
    assert!(
        stderr(&output).contains("2048"),
        "the table is on standard error"
    );
}

#[test]
fn too_large_for_the_chip_is_a_row_that_says_what_fits() {
    let output = sweep(&[
        "--device=sim:t4",
        "--size=2^33,32",
        "--block=1024",
        "--kernel=vector_add",
        "--json=-",
        "-q",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    let (large, small) = (&report["rows"][0], &report["rows"][1]);
    assert_eq!(
        (&large["status"], &large["stage"]),
        (&"failed".into(), &"memory".into())
    );
    assert!(
        large["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("largest size that fits is")),
        "{large}"
    );
    assert_eq!(small["status"], "ok");
}

#[test]
fn a_chip_with_more_memory_than_the_simulator_offers_says_so() {
    let output = sweep(&[
        "--device=sim:h200",
        "--size=2^32",
        "--block=1024",
        "--kernel=vector_add",
        "-q",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.contains("the simulator offers 16.0 GiB of this chip's 139.8 GiB"),
        "{text}"
    );
}

#[test]
fn every_format_is_alone_on_standard_output() {
    for option in ["--json=-", "--csv=-", "--md=-", "--svg=-"] {
        let output = small(&[option]);
        assert_eq!(output.status.code(), Some(0));
        let text = stdout(&output);
        // What the rows say is part of a report.
        let whole = ["--json=-", "--md=-"].contains(&option);
        assert_eq!(text.contains("best at block"), whole, "{option}: {text}");
        assert!(stderr(&output).contains("best at block"), "{option}");
        match option {
            "--json=-" => drop(serde_json::from_str::<Value>(&text).expect("JSON alone")),
            "--csv=-" => {
                let widths: Vec<_> = csv::Reader::from_reader(text.as_bytes())
                    .records()
                    .map(|record| record.expect("CSV alone").len())
                    .collect();
                assert_eq!(widths.len(), 2, "{text}");
            }
            "--md=-" => assert!(text.starts_with('#'), "{text}"),
            _ => drop(roxmltree::Document::parse(&text).expect("XML alone")),
        }
        let quiet = small(&[option, "--quiet"]);
        assert_eq!(stderr(&quiet), "", "{option}");
        if option != "--json=-" {
            // JSON records the command, of which --quiet is a part.
            assert_eq!(stdout(&quiet), text, "{option}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_run() {
    let arguments = [
        "--device=sim",
        "--kernel=all",
        "--size=5000",
        "--block=32..128",
        "--csv=-",
        "-q",
    ];
    for cache in ["--cache=cold", "--cache=hot"] {
        let run = || stdout(&sweep(&[&arguments[..], &[cache]].concat()));
        let first = run();
        assert_eq!(first.lines().count(), 1 + 3 * 8);
        assert_eq!(first, run());
        let alone = Command::new("taskset")
            .args(["-c", "0", env!("CARGO_BIN_EXE_sweep")])
            .args([&arguments[..], &[cache]].concat())
            .output();
        if let Ok(alone) = alone.inspect_err(|error| println!("not pinned to one core: {error}")) {
            assert_eq!(stdout(&alone), first, "one core gives what all cores give");
        }
    }
}

#[test]
fn files_hold_the_whole_report() {
    let folder = folder("files");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("r.json"), "x".repeat(1 << 20)).expect("an older, longer file");
    let output = small(&[
        "--json",
        &path("r.json"),
        "--csv",
        &path("r.csv"),
        "--md",
        &path("r.md"),
        "--svg",
        &path("r.svg"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(path("r.json")).expect("written");
    let report: Value = serde_json::from_str(&text).expect("nothing of the older file is left");
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["device"]["times"], "modelled");
    for name in ["r.csv", "r.md", "r.svg"] {
        assert!(
            fs::read_to_string(path(name))
                .expect("written")
                .contains("vector_add"),
            "{name}"
        );
    }
}

#[test]
fn mistakes_in_the_command_line_are_status_2_and_measure_nothing() {
    let folder = folder("usage");
    let missing = folder.join("missing/r.json").display().to_string();
    let here = folder.display().to_string();
    fs::write(folder.join("file"), "").expect("a file");
    let below_file = folder.join("file/r.csv").display().to_string();
    for (arguments, parts) in [
        (
            &["--kernel", "nope"][..],
            &["nope", "--kernel", "vector_add_x4"][..],
        ),
        (&["--size", "-1"], &["--size", "negative"]),
        (&["--timeout", "-1"], &["--timeout", "above 0"]),
        (&["--block", "-32"], &["--block", "negative"]),
        (&["--size", "1.5"], &["1.5", "--size", "whole number"]),
        (&["--size", "2^64"], &["2^64", "64 bits"]),
        (&["--block", "0"], &["--block", "1 to"]),
        (&["--block", "64..32"], &["--block", "smaller end first"]),
        (
            &["--grid", "8"],
            &["--grid", "grid-stride", "vector_add_strided_4"],
        ),
        (&["--grid", "x"], &["--grid", "x"]),
        (&["--device", "gpu:x"], &["gpu:x"]),
        (&["--device", "sim:h300"], &["h300", "h200"]),
        (&["--device", "tpu"], &["tpu", "sim:CHIP"]),
        (&["--cache", "warm"], &["warm", "cold, hot"]),
        (&["--min-samples", "0"], &["--min-samples", "1 to"]),
        (&["--timeout", "0"], &["--timeout", "above 0"]),
        (&["--timeout", "nan"], &["--timeout", "above 0"]),
        (&["--timeout", "1e20"], &["--timeout", "below 2^64"]),
        (&["--seed", "x"], &["--seed", "whole number"]),
        (&["--seed", "-1"], &["--seed", "negative"]),
        (&["--seed", "2^64"], &["--seed", "64 bits"]),
        (&["--block", "32.."], &["--block", "an end is missing"]),
        (&["--color", "blue"], &["blue", "auto, always, never"]),
        (
            &["--json", "-", "--csv", "-"],
            &["--json", "--csv", "standard output"],
        ),
        (
            &["--json", "a", "--svg", "a"],
            &["--json", "--svg", "both go to a"],
        ),
        (&["--json", ""], &["--json", "path"]),
        (
            &["--json", &missing],
            &["missing", "there is no folder", "create it first"],
        ),
        (
            &["--csv", &below_file],
            &["--csv", "there is no folder", "file: create it first"],
        ),
        (
            &["--md", &here],
            &["--md", "this is a folder", "file's name"],
        ),
        (&["--svg", "new/"], &["--svg", "this is a folder"]),
        (&["--no-such-option"], &["--no-such-option"]),
    ] {
        let output = sweep(&[&["--kernel=vector_add"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        for part in parts {
            assert!(text.contains(part), "{arguments:?}: {part} in {text}");
        }
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(!text.contains("warplab [OPTIONS]"), "{text}");
    }
}

#[test]
fn a_program_tells_its_own_name() {
    let version = stdout(&sweep(&["--version"]));
    assert_eq!(version, format!("sweep {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn one_file_by_two_paths_is_refused() {
    let folder = folder("same_file");
    let run = |csv: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_sweep"))
            .args(SMALL)
            .args(["--json", "a", "--csv", csv])
            .current_dir(&folder)
            .output()
            .expect("the program starts");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("--json and --csv both go to"), "{text}");
    };
    run("./a");
    assert!(!folder.join("a").exists(), "nothing is left of the attempt");
    fs::write(folder.join("a"), "kept").expect("written");
    run("../sweep_cli_same_file/a");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a", folder.join("link")).expect("a link");
        run("link");
    }
    let kept = fs::read_to_string(folder.join("a"));
    assert_eq!(kept.expect("still there"), "kept");
}

#[test]
fn a_run_that_cannot_start_leaves_no_empty_files() {
    let folder = folder("not_started");
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("old.json"), "kept").expect("written");
    for (json, csv) in [("old.json", "new.csv"), ("new.json", "new.csv")] {
        let output = small(&[
            "--json",
            &path(json),
            "--csv",
            &path(csv),
            "--svg",
            &path(""),
        ]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let output = Command::new(env!("CARGO_BIN_EXE_sweep"))
            .args([
                "--device=gpu:4000000000",
                "--json",
                &path(json),
                "--csv",
                &path(csv),
            ])
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    let names: Vec<_> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["old.json"]);
    let kept = fs::read_to_string(path("old.json"));
    assert_eq!(kept.expect("still there"), "kept");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_terminal_costs_no_report() {
    let full = || {
        fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full")
    };
    let output = Command::new(env!("CARGO_BIN_EXE_sweep"))
        .args(SMALL)
        .args(["--quiet", "--json", "/dev/stderr"])
        .stdout(full())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    let (report, error) = text.split_at(text.rfind("error: ").expect("an error"));
    drop(serde_json::from_str::<Value>(report).expect("the whole report"));
    assert!(error.contains("cannot write the table"), "{error}");
    // Where nothing can be said, the status still says it.
    let status = Command::new(env!("CARGO_BIN_EXE_sweep"))
        .args(SMALL)
        .args(["--json", "-"])
        .stdout(Stdio::null())
        .stderr(full())
        .status();
    assert_eq!(status.expect("the program starts").code(), Some(1));
}

#[test]
fn lists() {
    let output = sweep(&["--list"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output)
            .lines()
            .any(|line| line.starts_with("vector_add_x4 "))
    );
    let output = sweep(&["--list-devices"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output)
            .lines()
            .any(|line| line.starts_with("sim:h200 "))
    );
}

#[test]
fn colours_only_where_asked_for() {
    assert!(stdout(&small(&["--color=always"])).contains("\x1b["));
    for arguments in [&["--color=never"][..], &[]] {
        let output = small(arguments);
        assert!(!stdout(&output).contains('\x1b') && !stderr(&output).contains('\x1b'));
    }
}

/// A sweep that goes on for minutes, and the file it writes.
fn long(test: &str) -> (std::process::Child, PathBuf) {
    let path = folder(test).join("r.json");
    let blocks = "--block=64,128,256,32,96,160,192,224";
    let child = Command::new(env!("CARGO_BIN_EXE_sweep"))
        .args([
            "--device=sim",
            "--kernel=all",
            "--size=100,1000,4Mi,8Mi",
            blocks,
            "--json",
        ])
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    while rows(&path).is_none_or(|rows| rows.len() < 3) {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no rows within a minute"
        );
        thread::sleep(Duration::from_millis(20));
    }
    (child, path)
}

fn rows(path: &PathBuf) -> Option<Vec<Value>> {
    let report: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
    report["rows"].as_array().cloned()
}

#[test]
fn a_killed_run_keeps_its_rows() {
    let (mut child, path) = long("killed");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let rows = rows(&path).expect("valid JSON");
    assert!(rows.len() >= 3 && rows[..3].iter().all(|row| row["status"] == "ok"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_its_rows_and_names_the_others() {
    let (child, path) = long("interrupted");
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(status.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let text = stderr(&output);
    assert!(text.contains("Ctrl-C again stops at once"), "{text}");
    let rows = rows(&path).expect("valid JSON");
    assert_eq!(rows.len(), 8 * 4 * 8);
    assert_eq!(rows[0]["status"], "ok");
    let last = rows.last().expect("rows");
    assert_eq!(
        (&last["status"], &last["reason"]),
        (&"skipped".into(), &"interrupted".into())
    );
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sweep"))
        .args(SMALL)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"));
}
