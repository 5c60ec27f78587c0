//! `--compare` as a user meets it, on the simulator.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn run(program: &str, arguments: &[&str]) -> Output {
    // All programs lie in one folder, also those that this file does not name.
    let path = Path::new(env!("CARGO_BIN_EXE_sweep")).with_file_name(program);
    let path = path.with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(path).args(arguments).output();
    output.expect("the program starts")
}

/// A sweep that takes no time.
fn small(arguments: &[&str]) -> Output {
    let common = ["--device=sim", "--size=100", "--kernel=vector_add", "-q"];
    run("sweep", &[&common, arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A file of a test's own.
fn path(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("compare_cli_{name}"));
    path.to_str().expect("UTF-8").to_owned()
}

/// The report of a small sweep over these blocks, in a file.
fn report(name: &str, blocks: &str) -> String {
    let path = path(name);
    let output = small(&["--block", blocks, "--json", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

fn recorded(name: &str) -> String {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/nvidia-h200");
    results.join(name).to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_run_beside_an_earlier_one() {
    let old = report("run_old.json", "32,64,128");
    let markdown = path("run.md");
    let output = small(&["--block=64,128,256", "--compare", &old, "--md", &markdown]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (shown, written) = (
        text(&output.stdout),
        fs::read_to_string(markdown).expect("it"),
    );
    // The model is deterministic, so that nothing may differ.
    for part in [
        "Only in the file (1): vector_add, block 32",
        "Only now (1): vector_add, block 256",
        "2 configurations of 100 elements in both: 2 equal; median ratio 1.000, geometric mean 1.000.",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
        assert!(written.contains(part), "{part} in {written}");
    }
    assert!(shown.contains("verified") && written.contains("## sweep on simulated"));
    assert!(
        shown.contains(&format!("This run against {old}")),
        "{shown}"
    );
    assert!(!shown.contains("other"), "{shown}");
}

#[test]
fn a_slower_chip_is_slower() {
    let old = report("chip.json", "64");
    let output = run(
        "sweep",
        &[
            "--device=sim:t4",
            "--size=100",
            "--block=64",
            "--kernel=vector_add",
            "--compare",
            &old,
        ],
    );
    let shown = text(&output.stdout);
    let after = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(path).expect("written")).expect("JSON")
    };
    let median = after(&old)["rows"][0]["time"]["median_ns"].as_f64();
    let again = path("chip_now.json");
    run(
        "sweep",
        &[
            "--device=sim:t4",
            "--size=100",
            "--block=64",
            "--kernel=vector_add",
            "--json",
            &again,
        ],
    );
    let now = after(&again)["rows"][0]["time"]["median_ns"].as_f64();
    let ratio = median.expect("a time") / now.expect("a time");
    assert!(ratio < 1.0);
    assert!(
        shown.contains(&format!("1 slower; ratio {ratio:.3}.")),
        "{shown}"
    );
    assert!(
        shown.contains("other device: simulated NVIDIA H200"),
        "{shown}"
    );
}

#[test]
fn a_file_may_be_compared_with_and_then_overwritten() {
    let file = report("overwritten.json", "32");
    let output = small(&["--block=32,64", "--compare", &file, "--json", &file]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("1 configuration of 100 elements in both: 1 equal"),
        "{shown}"
    );
    let report: Value = serde_json::from_slice(&fs::read(&file).expect("written")).expect("JSON");
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(2));
}

/// Of a bad-input hunt: a table took the place of the report that the run was to be compared with.
#[test]
fn what_is_compared_with_is_no_table_afterwards() {
    let file = report("kept.json", "32");
    let before = fs::read(&file).expect("a report");
    let link = format!("{file}.link");
    let _ = fs::remove_file(&link);
    fs::hard_link(&file, &link).expect("a second name");
    for option in ["--csv", "--md", "--svg"] {
        for path in [&file, &link] {
            let output = small(&["--block=64", "--compare", &file, option, path]);
            assert_eq!(output.status.code(), Some(2), "{option} {path}");
            assert!(text(&output.stderr).contains("--compare reads this file"));
        }
    }
    assert_eq!(fs::read(&file).expect("a report"), before);
}

#[test]
fn endless_files_and_impossible_times_are_usage_errors() {
    let output = small(&["--compare", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("longer than 256 MiB"));
    let file = report("impossible.json", "32");
    let report = fs::read_to_string(&file).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    for median in [5e-324, 1e308, -5.0, 0.0] {
        let mut wrong = report.clone();
        for name in [
            "minimum_ns",
            "lower_quartile_ns",
            "median_ns",
            "upper_quartile_ns",
            "maximum_ns",
        ] {
            wrong["rows"][0]["time"][name] = median.into();
        }
        fs::write(&file, wrong.to_string()).expect("written");
        let output = small(&["--compare", &file]);
        assert_eq!(output.status.code(), Some(2), "{median}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("row 0 has impossible times"), "{stderr}");
    }
}

#[test]
fn standard_output_is_left_to_the_format() {
    let old = report("streams.json", "32");
    let arguments = [
        "--device=sim",
        "--size=100",
        "--kernel=vector_add",
        "--block=32",
    ];
    let arguments = [&arguments[..], &["--json=-", "--compare", &old]].concat();
    let output = run("sweep", &arguments);
    serde_json::from_slice::<Value>(&output.stdout).expect("JSON alone");
    let shown = text(&output.stderr);
    assert!(
        shown.contains("1 configuration of 100 elements in both"),
        "{shown}"
    );
    let quiet = run("sweep", &[&arguments[..], &["-q"]].concat());
    assert_eq!(text(&quiet.stderr), "");
}

#[test]
fn two_files_need_no_device() {
    let recorded = recorded("sweep.json");
    let markdown = path("files.md");
    // There is no such device anywhere: it would be an error to open it.
    let output = run(
        "sweep",
        &[
            "--device=gpu:9999",
            "--compare",
            &recorded,
            "--compare",
            &recorded,
            "--md",
            &markdown,
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let report: Value = serde_json::from_slice(&fs::read(&recorded).expect("it")).expect("JSON");
    let rows = report["rows"].as_array().expect("rows").len();
    let closing = format!("{rows} within noise; median ratio 1.000, geometric mean 1.000.");
    assert!(rows > 1);
    assert!(shown.contains(&closing), "{shown}");
    assert!(
        fs::read_to_string(markdown)
            .expect("written")
            .contains(&closing)
    );
}

#[test]
fn the_first_file_is_the_earlier_one() {
    let (old, new) = (
        report("order_old.json", "32,64"),
        report("order_new.json", "64,128"),
    );
    let output = run("sweep", &["--compare", &old, "--compare", &new, "--quiet"]);
    let shown = text(&output.stdout);
    for part in [
        "Only in the first (1): vector_add, block 32",
        "Only in the second (1): vector_add, block 128",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn times_of_a_listing_are_compared_too() {
    let old = path("clocks.json");
    let arguments = ["--device=sim", "--block=33", "--quiet"];
    run("clocks", &[&arguments[..], &["--json", &old]].concat());
    let output = run("clocks", &[&arguments[..], &["--compare", &old]].concat());
    let shown = text(&output.stdout);
    assert!(shown.contains("Completion times"), "{shown}");
    assert!(
        shown.contains("1 configuration of 66 elements in both: 1 equal; ratio 1.000."),
        "{shown}"
    );
}

#[test]
fn failed_rows_are_shown_without_a_ratio() {
    let old = path("failed.json");
    let output = small(&["--block=64,2048", "--json", &old]);
    assert_eq!(output.status.code(), Some(1));
    let output = small(&["--block=64,2048", "--compare", &old]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "comparing changes no exit status"
    );
    let shown = text(&output.stdout);
    assert!(shown.contains("failed (launch) in both"), "{shown}");
    assert!(
        shown.contains("1 equal, 1 without a ratio; ratio 1.000."),
        "{shown}"
    );
}

#[test]
fn bad_files_are_usage_errors_before_anything_runs() {
    let file = |name: &str, text: &str| {
        let path = path(name);
        fs::write(&path, text).expect("a file");
        path
    };
    let good = fs::read_to_string(report("good.json", "32")).expect("written");
    let mut empty: Value = serde_json::from_str(&good).expect("JSON");
    empty["rows"] = Value::Array(Vec::new());
    let mut lacking: Value = serde_json::from_str(&good).expect("JSON");
    lacking["rows"][0]
        .as_object_mut()
        .expect("a row")
        .remove("kernel");
    for (file, part) in [
        (path("no_such_file.json"), "No such file"),
        (env!("CARGO_TARGET_TMPDIR").to_owned(), "s a directory"),
        (file("text.json", "hello"), "this is not JSON"),
        (
            file("half.json", &good[..good.len() / 2]),
            "this is not JSON",
        ),
        (
            file("number.json", "7"),
            "its schema has to be warplab/report/1, and this has none",
        ),
        (
            recorded("peers.json"),
            "its schema has to be warplab/report/1, and this one's is warplab/peers/2",
        ),
        (
            file("lacking.json", &lacking.to_string()),
            "missing field `kernel`",
        ),
        (file("empty.json", &empty.to_string()), "no rows"),
        (
            recorded("clocks.json"),
            "a report of sweep is required, and clocks wrote this one",
        ),
    ] {
        let json = path("never.json");
        let _ = fs::remove_file(&json);
        let output = small(&["--compare", &file, "--json", &json]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{file}: {stderr}");
        assert!(stderr.contains(part), "{part} in {stderr}");
        assert!(stderr.contains("a report"), "what is required, in {stderr}");
        assert!(output.stdout.is_empty() && !Path::new(&json).exists());
    }
}

#[test]
fn contradictions_are_usage_errors() {
    let file = recorded("sweep.json");
    let twice = ["--compare", &file, "--compare", &file];
    for (more, part) in [
        (["--compare", &file], "--compare is given 3 times"),
        (["--json", "-"], "--json: two --compare run nothing"),
        (["--csv", "x.csv"], "--csv: two --compare run nothing"),
        (["--svg", "x.svg"], "--svg: two --compare run nothing"),
        (["--md", "no/such/folder.md"], "there is no folder no/such"),
    ] {
        let output = run("sweep", &[&twice[..], &more].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {stderr}");
        assert!(stderr.contains(part), "{part} in {stderr}");
    }
}

/// A program that forgot `program::instead_of_a_run` would run although two files are given, and would
/// compare reports of other programs.
#[test]
fn every_program_with_the_common_options_compares() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let mut programs = 0;
    for entry in fs::read_dir(folder).expect("the programs") {
        let source = entry.expect("an entry").path();
        let name = source.file_stem().expect("a name").to_str().expect("UTF-8");
        let text_of = fs::read_to_string(&source).expect("a source");
        if !text_of.contains("CommonOptions") {
            continue;
        }
        programs += 1;
        let other = recorded(if name == "sweep" {
            "clocks.json"
        } else {
            "sweep.json"
        });
        for files in [
            &["--compare", &other][..],
            &["--compare", &other, "--compare", &other],
        ] {
            let output = run(name, &[&["--device=gpu:9999"], files].concat());
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
            let required = format!("a report of {name} is required");
            assert!(stderr.contains(&required), "{name}: {stderr}");
        }
    }
    assert!(programs >= 5);
}
