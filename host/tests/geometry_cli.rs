//! `geometry`, `order` and `tile` as a user calls them, without a GPU.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

fn run(program: &str, arguments: &[&str]) -> Output {
    let path = match program {
        "geometry" => env!("CARGO_BIN_EXE_geometry"),
        "order" => env!("CARGO_BIN_EXE_order"),
        "tile" => env!("CARGO_BIN_EXE_tile"),
        _ => panic!("no program {program}"),
    };
    let mut command = Command::new(path);
    command.args(["--device", "sim"]).args(arguments);
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The report of a run that must succeed; valid under the schema.
#[track_caller]
fn report(program: &str, arguments: &[&str]) -> Value {
    let output = run(program, &[arguments, &["--json", "-", "--quiet"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
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

#[test]
fn every_launch_of_every_size_is_verified() {
    let report = report("geometry", &["--size", "64x48,33x17,9x10x11"]);
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 15);
    for row in rows {
        assert_eq!(
            (&row["status"], &row["verified"]),
            (&"ok".into(), &true.into())
        );
        let extent = |what: &str| -> u64 {
            ["x", "y", "z"]
                .iter()
                .map(|axis| row[what][axis].as_u64().expect("an extent"))
                .product()
        };
        let number = |axis: &str| row["axes"][axis].as_u64().expect("a number");
        assert_eq!(number("blocks"), extent("grid"));
        assert_eq!(number("threads"), extent("grid") * extent("block"));
        let elements = row["elements"].as_u64().expect("a count");
        assert_eq!(number("masked"), number("threads") - elements);
        assert!(row["time"]["median_ns"].as_f64().expect("a time") > 0.0);
    }
}

#[test]
fn dimensions_are_compared_in_words() {
    let output = run("geometry", &["--size", "128x64"]);
    let text = text(&output.stdout);
    assert!(
        text.contains("128x64: warps of adjacent elements, 1D "),
        "{text}"
    );
    assert!(text.contains("against the best of them"), "{text}");
}

#[test]
fn a_volume_too_deep_for_a_grid_fails_in_its_row() {
    let output = run(
        "geometry",
        &["--size", "1x1x65536", "--json", "-", "--quiet"],
    );
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    assert_eq!(rows[0]["status"], "ok", "{}", rows[0]);
    assert_eq!(
        (&rows[2]["stage"], &rows[2]["verified"]),
        (&"launch".into(), &false.into())
    );
    let reason = rows[2]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("grid.z is 65536: the device takes at most 65535"),
        "{reason}"
    );
}

#[test]
fn every_block_has_its_record() {
    let report = report(
        "order",
        &[
            "--grid",
            "20x7x3",
            "--block",
            "8x8",
            "--launches",
            "2",
            "--rounds",
            "50",
        ],
    );
    let records = report["records"].as_array().expect("records");
    assert_eq!(records.len(), 2 * 420);
    for launch in 0..2 {
        let blocks: Vec<&Value> = records
            .iter()
            .filter(|record| record["row"] == launch)
            .collect();
        let mut tickets: Vec<u64> = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let value = |name: &str| block[name].as_u64().expect("a number");
            let [x, y, z] = ["block_x", "block_y", "block_z"].map(value);
            assert_eq!(value("block_id"), number as u64);
            assert_eq!((z * 7 + y) * 20 + x, number as u64);
            assert!(value("start_ns") <= value("end_ns"));
            assert!(value("sm") < 132);
            tickets.push(value("ticket"));
        }
        tickets.sort_unstable();
        assert_eq!(tickets, (0..420).collect::<Vec<_>>());
    }
}

#[test]
fn waves_and_tail_are_drawn() {
    // An SM of an H200 holds 2 blocks of 1024 threads: 264 at once.
    let arguments = ["--grid", "600", "--block", "1024", "--launches", "1"];
    let output = run("order", &arguments);
    let shown = text(&output.stdout);
    for part in [
        "Resident blocks by SM over",
        "SM 0-8",
        "264 to 264 blocks started before any ended (2 resident on each of 132 SMs)",
    ] {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
    let svg = run(
        "order",
        &[&arguments[..], &["--svg", "-", "--quiet"]].concat(),
    );
    let svg = text(&svg.stdout);
    let document = roxmltree::Document::parse(&svg).expect("XML");
    let blocks = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("block"))
        .count();
    assert_eq!(blocks, 600);
}

#[test]
fn the_missing_barrier_is_found_and_explained() {
    let report = report("tile", &["--size", "1000"]);
    let rows = report["rows"].as_array().expect("rows");
    let (right, racy) = (&rows[0], &rows[1]);
    assert_eq!(right["kernel"], "tile_neighbour");
    assert_eq!(right["verified"], true);
    assert_eq!(right["axes"]["wrong sums"], 0);
    assert_eq!(
        (&racy["status"], &racy["verified"]),
        (&"ok".into(), &false.into())
    );
    assert_eq!(racy["axes"]["race"], "found");
    let note = racy["notes"][0].as_str().expect("a note");
    for part in [
        "kernel tile_neighbour_racy: data race",
        "ld.shared",
        "st.shared",
        "__syncthreads",
        "shared_neighbour_tile (1024 bytes)",
    ] {
        assert!(note.contains(part), "`{part}` is not in: {note}");
    }
}

#[test]
fn mistakes_are_usage_errors() {
    for (program, arguments, parts) in [
        (
            "geometry",
            &["--size", "0x5"][..],
            &["extents of at least 1"][..],
        ),
        (
            "geometry",
            &["--size", "2x2x2x2"],
            &["more than three extents"],
        ),
        (
            "geometry",
            &["--size", "4294967295x4294967295"],
            &["more than 2^40 elements"],
        ),
        ("geometry", &["--svg", "-"], &["no figure to draw"]),
        ("order", &["--launches", "0"], &["1 to 1000 is required"]),
        ("order", &["--grid", "2048x1024"], &["at most 1048576"]),
        ("order", &["--rounds", "2^32"], &["--rounds 4294967296"]),
        ("order", &["--block", "-1"], &["extents of at least 1"]),
        ("tile", &["--size", "0"], &["--size 0: 1 to"]),
        (
            "tile",
            &["--launches", "1e7"],
            &["--launches 10000000: 1 to"],
        ),
        (
            "tile",
            &["--json", "-", "--csv", "-"],
            &["both go to standard output"],
        ),
    ] {
        let output = run(program, arguments);
        let stderr = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{program} {arguments:?}: {stderr}"
        );
        for part in parts {
            assert!(stderr.contains(part), "{program} {arguments:?}: {stderr}");
        }
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_block_that_does_not_fit_fails_in_its_rows() {
    let output = run("order", &["--block", "1025", "--launches", "2"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("1024"), "{shown}");
}

#[test]
fn files_are_written() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (program, arguments) in [
        ("geometry", &["--size", "40x40"][..]),
        ("order", &["--grid", "9", "--launches", "1"]),
        ("tile", &["--size", "256"]),
    ] {
        let path = |ending: &str| folder.join(format!("geometry-cli-{program}.{ending}"));
        let names = ["json", "csv", "md"].map(|ending| path(ending).display().to_string());
        let files = ["--json", &names[0], "--csv", &names[1], "--md", &names[2]];
        let output = run(program, &[arguments, &files].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        for name in &names {
            let written = std::fs::read_to_string(name).expect("it was written");
            let kernel = kernel_of(program);
            assert!(written.contains(kernel), "{name}: {written}");
        }
    }
}

/// A kernel that every report of the program names.
fn kernel_of(program: &str) -> &'static str {
    match program {
        "geometry" => "checkerboard_3d",
        "order" => "block_order",
        _ => "tile_neighbour_racy",
    }
}
