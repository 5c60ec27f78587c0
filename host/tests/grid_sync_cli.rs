//! `grid_sync` as a user calls it, without a GPU.

mod support;

use std::process::{Command, Output};

use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grid_sync"));
    command.args(["--device", "sim"]).args(arguments);
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The report of a run that must end with this status; valid under the schema.
#[track_caller]
fn report(status: i32, arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--json", "-", "--quiet"]].concat());
    assert_eq!(
        output.status.code(),
        Some(status),
        "{}",
        text(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema: Value =
        serde_json::from_str(warplab::export::json::SCHEMA_TEXT).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a JSON Schema");
    let errors: Vec<_> = validator
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
    report
}

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().expect("rows")
}

#[track_caller]
fn usage_error(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let text = text(&output.stderr);
    assert!(text.contains(expected), "{expected} in {text}");
}

#[test]
fn every_method_of_every_grid_is_verified() {
    let report = report(
        0,
        &["--blocks", "1,5", "--threads", "1,33,64", "--rounds", "9"],
    );
    let rows = rows(&report);
    assert_eq!(rows.len(), 2 * 3 * 4);
    let methods = ["grid_barrier", "exchange", "relaunch", "graph"];
    for (index, row) in rows.iter().enumerate() {
        let method = methods[index % 4];
        assert_eq!(row["axes"]["method"], method);
        assert_eq!(row["axes"]["rounds"], 9);
        assert_eq!(row["axes"]["blocks"], row["grid"]["x"]);
        if method == "graph" {
            assert_eq!(row["status"], "skipped");
            continue;
        }
        assert_eq!(
            (&row["status"], &row["verified"]),
            (&"ok".into(), &true.into()),
            "{row}"
        );
        // What a launch costs is not modelled, so that a time per launch would mislead.
        assert_eq!(row["time"].is_null(), method == "relaunch", "{row}");
    }
    let time = |row: &Value| row["time"]["median_ns"].as_f64().expect("a time");
    for grid in rows.chunks(4) {
        assert!(time(&grid[0]) > 0.0);
        assert!(
            time(&grid[1]) > time(&grid[0]),
            "a round with work takes longer"
        );
    }
}

#[test]
fn a_time_is_of_one_round() {
    let time = |rounds: &str| {
        let arguments = ["--blocks", "132", "--threads", "32", "--rounds", rounds];
        let report = report(0, &[&arguments[..], &["--method", "grid_barrier"]].concat());
        assert_eq!(rows(&report).len(), 1);
        assert_eq!(rows(&report)[0]["kernel"], "grid_sync_rounds");
        rows(&report)[0]["time"]["median_ns"]
            .as_f64()
            .expect("a time")
    };
    let (some, many) = (time("20"), time("60"));
    assert!((0.8..1.2).contains(&(some / many)), "{some} and {many}");
}

#[test]
fn more_blocks_take_longer_in_the_chart_and_the_figure() {
    let folder = std::env::temp_dir().join(format!("warplab-grid-sync-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("grid_sync.svg");
    let output = run(&[
        "--blocks",
        "132,1056",
        "--threads",
        "32,64",
        "--method",
        "grid_barrier",
        "--rounds",
        "4",
        "--svg",
        path.to_str().expect("UTF-8"),
    ]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Median time per round in "), "{text}");
    assert!(text.contains(" by blocks, modelled"), "{text}");
    assert!(text.contains("\ngrid_sync_rounds, 64 threads\n"), "{text}");
    assert!(text.contains("at 132x32 to "), "{text}");
    let svg = std::fs::read_to_string(&path).expect("the figure");
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(svg.contains("Time per round against blocks"), "{svg}");
    assert!(svg.contains("time per round ("), "{svg}");
}

#[test]
fn a_grid_that_cannot_be_resident_is_refused_with_the_largest_that_can() {
    let report = report(
        1,
        &["--blocks", "265", "--threads", "1024", "--rounds", "1"],
    );
    let rows = rows(&report);
    for row in &rows[..2] {
        assert_eq!(
            (&row["status"], &row["stage"]),
            (&"failed".into(), &"launch".into())
        );
        let reason = row["reason"].as_str().expect("a reason");
        let kernel = row["kernel"].as_str().expect("a name");
        assert!(
            reason.starts_with(&format!("kernel {kernel}: ")),
            "{reason}"
        );
        assert!(
            reason
                .contains(": a cooperative launch of 265 blocks: at most 264 are resident at once"),
            "{reason}"
        );
    }
    // A launch per round needs no resident blocks.
    assert_eq!(
        (&rows[2]["status"], &rows[2]["verified"]),
        (&"ok".into(), &true.into())
    );
}

#[test]
fn the_deadlock_names_who_waits_and_who_never_started() {
    let arguments = [
        "--demonstrate-deadlock",
        "--blocks",
        "270",
        "--threads",
        "1024",
    ];
    let output = run(&arguments);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [
        "The launch never ends. Of its 270 blocks of 1024 threads",
        "- 264 are resident, have arrived at the barrier and wait",
        "- 6 never started",
        "264 warps spinning, PTX line ",
        ": ld.acquire.gpu.global.b32",
        "8184 warps waiting at barrier 0, PTX line ",
        "blocks [264, 0, 0] to [269, 0, 0] (6) never started",
        "a cooperative launch of 270 blocks: at most 264 are resident at once",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let report = report(0, &arguments);
    let axes = &rows(&report)[0]["axes"];
    assert_eq!(
        (&axes["room for"], &axes["waiting"], &axes["never started"]),
        (&264.into(), &264.into(), &6.into())
    );
}

#[test]
fn no_gpu_is_made_to_hang() {
    if support::gpu().is_none() {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_grid_sync"));
    command.args(["--device", "gpu", "--demonstrate-deadlock"]);
    let output = command.output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    let text = text(&output.stderr);
    assert!(text.contains("give --device sim"), "{text}");
}

#[test]
fn usage_errors() {
    usage_error(
        &["--method", "barrier"],
        "grid_barrier, exchange, relaunch, graph",
    );
    usage_error(&["--cache", "cold"], "there is no cold one");
    usage_error(&["--rounds", "0"], "--rounds 0: 1 to ");
    usage_error(&["--blocks", "65537"], "--blocks 65537: at most 65536");
    usage_error(&["--blocks", "0"], "1 to 4294967295 is required");
    usage_error(&["--threads", "1025"], "no block of so many fits on an SM");
    usage_error(
        &["--demonstrate-deadlock", "--rounds", "3"],
        "cannot be used with",
    );
    usage_error(
        &["--demonstrate-deadlock", "--threads", "32,64"],
        "give one number of blocks and threads",
    );
    usage_error(
        &[
            "--demonstrate-deadlock",
            "--threads",
            "1024",
            "--blocks",
            "264",
        ],
        "at least 265 are required to deadlock",
    );
    usage_error(
        &["--demonstrate-deadlock", "--svg", "/tmp/x.svg"],
        "a deadlock is no figure to draw",
    );
}
