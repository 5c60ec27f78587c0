//! `reduce` as a user calls it, without a GPU.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use warplab::experiments::reduce::{ElementType, Operation, VARIANTS};

fn reduce(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reduce"));
    // A device given later replaces this one.
    let device = match arguments.iter().any(|text| text.starts_with("--device")) {
        true => &[][..],
        false => &["--device=sim"],
    };
    command.args(device).args(arguments);
    command.output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What a run that must succeed prints.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = reduce(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The report of a run that must end with this status; valid under the schema.
#[track_caller]
fn report(status: i32, arguments: &[&str]) -> Value {
    let output = reduce(&[arguments, &["--json=-", "--quiet"]].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema: Value =
        serde_json::from_str(warplab::export::json::SCHEMA_TEXT).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a JSON Schema");
    let errors: Vec<_> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    report
}

fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().expect("rows")
}

#[track_caller]
fn all_verified(rows: &[Value]) {
    for row in rows {
        assert_eq!(
            (&row["status"], &row["verified"]),
            (&"ok".into(), &true.into()),
            "{row}"
        );
    }
}

/// The kernels of rows, each once, in order.
fn kernels(rows: &[Value]) -> Vec<&str> {
    let mut kernels: Vec<&str> = rows
        .iter()
        .map(|row| row["kernel"].as_str().expect("a name"))
        .collect();
    kernels.dedup();
    kernels
}

/// How many variants have a kernel for any of the operations and types.
fn variants(operations: &[Operation], elements: &[ElementType]) -> usize {
    let has = |variant: &&warplab::experiments::reduce::Variant| {
        operations.iter().any(|&operation| {
            elements
                .iter()
                .any(|&element| variant.kernel(operation, element).is_some())
        })
    };
    VARIANTS.iter().filter(has).count()
}

fn path(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("reduce_cli_{name}"));
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn the_ladder_with_its_table_chart_and_lessons() {
    let text = printed(&["--size=1000", "--block=32,256"]);
    for part in [
        "simulated NVIDIA H200",
        "Times are modelled by the simulator, not measured",
        "sum of 1 000 elements of f32; cold L2; random inputs of seed 1; every result is verified",
        "GB/s",
        "of read",
        "launches",
        "deterministic",
        "Bandwidth in GB/s by threads per block, modelled",
        "\nreduce_gather_sum_f32\n",
        "1 000 elements: reduce_",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for variant in VARIANTS {
        let blocks = text
            .lines()
            .filter(|line| {
                let family = format!("reduce_{}_sum_f32 ", variant.name);
                let cells = line.split_once(' ').map_or("", |(_, cells)| cells);
                cells.starts_with(&family) || cells.starts_with(&family["reduce_".len()..])
            })
            .count();
        let expected = if variant.name == "redux" { 0 } else { 2 };
        assert_eq!(blocks, expected, "{} in {text}", variant.name);
        let lesson = format!("\n{}: best at block ", variant.name);
        assert_eq!(text.contains(&lesson), expected > 0, "{lesson} in {text}");
        assert_eq!(text.contains(variant.teaches), expected > 0);
    }
}

#[test]
fn shares_launches_and_determinism_are_in_the_report() {
    let report = report(
        0,
        &["--size=40000", "--block=64", "--grid=6", "--cluster=2"],
    );
    let rows = rows(&report);
    all_verified(rows);
    assert_eq!(rows.len(), variants(&[Operation::Sum], &[ElementType::F32]));
    let row = |variant: &str| {
        let kernel = format!("reduce_{variant}_sum_f32");
        let found = rows.iter().find(|row| row["kernel"] == kernel);
        found.unwrap_or_else(|| panic!("{kernel} in {rows:?}"))
    };
    let read = &rows[0];
    assert_eq!(read["kernel"], "read_sum_f32");
    assert_eq!(read["share_of_read"], 1.0, "there is one block alone");
    assert!(read["axes"]["deterministic"].is_null());
    let rate = |row: &Value| row["gb_per_s"].as_f64().expect("a rate");
    for row in rows {
        assert_eq!(row["grid"]["x"], 6, "{row}");
        assert_eq!(row["bytes"], 160_000);
        let share = row["share_of_read"].as_f64().expect("a share");
        assert!((share - rate(row) / rate(read)).abs() < 1e-9, "{row}");
    }
    for (variant, launches, deterministic) in [
        ("shuffle", 2, true),
        ("vectorized", 2, true),
        ("atomic", 2, false),
        ("last_block", 1, true),
        ("gather", 1, true),
        ("cluster", 1, true),
    ] {
        let row = row(variant);
        assert_eq!(row["launches"], launches, "{row}");
        assert_eq!(row["axes"]["deterministic"], deterministic, "{row}");
    }
    assert_eq!(row("cluster")["axes"]["cluster"], 2);
}

/// All types are in `reductions.rs`, which needs no program for each.
#[test]
fn every_variant_and_operation() {
    let report = report(
        0,
        &[
            "--type=u32,f64",
            "--operation=sum,min,max",
            "--size=1000",
            "--block=48",
        ],
    );
    let rows = rows(&report);
    all_verified(rows);
    let names: BTreeSet<&str> = kernels(rows).into_iter().collect();
    let expected: BTreeSet<&str> = VARIANTS
        .iter()
        .flat_map(|variant| {
            [ElementType::U32, ElementType::F64]
                .into_iter()
                .flat_map(move |element| {
                    Operation::ALL
                        .into_iter()
                        .filter_map(move |operation| variant.kernel(operation, element))
                })
        })
        .map(|kernel| kernel.name)
        .collect();
    assert_eq!(names, expected);
    assert_eq!(rows.len(), expected.len());
}

/// All variants with such sizes and blocks are in `reductions.rs`.
#[test]
fn small_sizes_and_blocks_that_are_no_whole_warps() {
    let sizes = [0, 1, 2, 3, 4097];
    let report = report(
        0,
        &[
            "--size=0,1,2,3,4097",
            "--block=17,33,45,48",
            "--type=f64",
            "--variant=shuffle,gather",
        ],
    );
    let rows = rows(&report);
    all_verified(rows);
    let per_size = 3 * 4;
    assert_eq!(rows.len(), sizes.len() * per_size);
    for (rows, size) in rows.chunks(per_size).zip(sizes) {
        for row in rows {
            assert_eq!(row["elements"], size);
            // Nothing is read of nothing, so that nothing is a share of it.
            assert_eq!(row["share_of_read"].is_null(), size == 0, "{row}");
        }
    }
}

#[test]
fn operations_that_a_variant_lacks_leave_it_out() {
    let arguments = [
        "--operation=min,max",
        "--size=500",
        "--block=64",
        "--type=i32",
    ];
    let report = report(0, &arguments);
    let rows = rows(&report);
    all_verified(rows);
    let kernels = kernels(rows);
    // The plain read has no operation of its own; it is there for the shares.
    assert_eq!(kernels[0], "read_sum_i32");
    assert!(
        kernels[1..]
            .iter()
            .all(|name| name.contains("_min_") || name.contains("_max_"))
    );
    assert!(
        kernels.contains(&"reduce_redux_max_i32") && kernels.contains(&"reduce_gather_min_i32")
    );
    assert!(rows.iter().all(|row| row["share_of_read"].is_number()));
}

#[test]
fn a_block_that_suits_the_size() {
    let of = |size: &str| {
        let size = format!("--size={size}");
        let report = report(0, &[&size, "--block=auto", "--variant=gather"]);
        let rows = rows(&report);
        all_verified(rows);
        assert_eq!(kernels(rows), ["read_sum_f32", "reduce_gather_sum_f32"]);
        assert_eq!(rows[0]["block"], rows[1]["block"]);
        rows[1]["block"]["x"].as_u64().expect("a number")
    };
    assert_eq!(of("100"), 256);
    assert_ne!(of("16Ki"), of("100"), "one block that reads all is larger");
    // A number that auto gives as well is one row.
    let report = report(
        0,
        &["--size=100", "--block=auto,256,32", "--variant=gather"],
    );
    assert_eq!(rows(&report).len(), 2 * 2);
}

#[test]
fn clusters_are_an_axis_and_grids_are_rounded_up_to_them() {
    let report = report(
        0,
        &[
            "--size=3000",
            "--block=32",
            "--variant=cluster",
            "--cluster=1,2,16",
            "--grid=3",
        ],
    );
    let rows = &rows(&report)[1..];
    all_verified(rows);
    let of = |row: &Value| (row["axes"]["cluster"].as_u64(), row["grid"]["x"].as_u64());
    let found: Vec<_> = rows.iter().map(of).collect();
    let expected = [(1, 3), (2, 4), (16, 16)];
    assert_eq!(
        found,
        expected.map(|(cluster, grid)| (Some(cluster), Some(grid)))
    );
}

#[test]
fn what_a_chip_lacks_is_skipped_with_the_reason() {
    for (chip, lacking) in [
        ("a100", &["cluster", "overlapped"][..]),
        ("v100", &["redux", "cluster", "overlapped"]),
        // Older than the base module, whose kernels it models nevertheless.
        ("gtx1080", &["redux", "cluster", "overlapped"]),
    ] {
        let device = format!("--device=sim:{chip}");
        let report = report(0, &[&device, "--size=1000", "--block=64", "--type=u32"]);
        let mut skipped = Vec::new();
        for row in rows(&report) {
            let kernel = row["kernel"].as_str().expect("a name");
            if row["status"] == "skipped" {
                let reason = row["reason"].as_str().expect("a reason");
                let required = if kernel.contains("redux") {
                    "8.0"
                } else {
                    "9.0"
                };
                let part = format!("compute capability {required} or later");
                assert!(
                    reason.contains(kernel) && reason.contains(&part),
                    "{reason}"
                );
                assert_eq!(
                    (&row["time"], &row["verified"]),
                    (&Value::Null, &false.into())
                );
                skipped.push(kernel.split('_').nth(1).expect("a variant"));
            } else {
                all_verified(std::slice::from_ref(row));
            }
        }
        assert_eq!(skipped, lacking, "{chip}");
    }
}

#[test]
fn a_launch_that_is_refused_is_status_1_and_the_rest_runs() {
    let report = report(
        1,
        &[
            "--size=100",
            "--block=2048,64",
            "--variant=shuffle,cluster",
            "--cluster=17,4",
        ],
    );
    let mut outcomes = Vec::new();
    for row in rows(&report) {
        if row["status"] == "failed" {
            let reason = row["reason"].as_str().expect("a reason");
            assert_eq!(row["stage"], "launch", "{row}");
            assert!(
                reason.contains("at most 1024") || reason.contains("at most 16 per cluster"),
                "{reason}"
            );
        }
        let cluster = row["axes"]["cluster"].as_u64().unwrap_or(0);
        let block = row["block"]["x"].as_u64().expect("a block");
        outcomes.push((block, cluster, row["status"] == "ok"));
    }
    let expected = [
        (2048, 0, false), // the plain read
        (64, 0, true),
        (2048, 0, false),
        (64, 0, true),
        (2048, 17, false),
        (2048, 4, false),
        (64, 17, false),
        (64, 4, true),
    ];
    assert_eq!(outcomes, expected);
}

#[test]
fn variants_are_listed_with_what_they_teach() {
    let output = reduce(&["--list"]);
    assert_eq!(output.status.code(), Some(0));
    let listed = text(&output.stdout);
    assert_eq!(listed.lines().count(), VARIANTS.len());
    for (line, variant) in listed.lines().zip(VARIANTS) {
        let (name, teaches) = line.split_once(' ').expect("two columns");
        assert_eq!((name, teaches.trim()), (variant.name, variant.teaches));
    }
}

#[test]
fn a_run_beside_an_earlier_one() {
    let old = path("old.json");
    let common = ["--size=1000", "--variant=shuffle,gather,cluster", "-q"];
    printed(
        &[
            &common[..],
            &["--block=32,64", "--cluster=2,4", "--json", &old],
        ]
        .concat(),
    );
    let again = ["--block=64,128", "--cluster=4", "--compare", &old];
    let shown = printed(&[&common[..], &again].concat());
    // The model is deterministic, so that nothing may differ.
    let parts = [
        "4 configurations of 1000 elements in both: 4 equal; median ratio 1.000, geometric mean 1.000.",
        "Only in the file (6): ",
        "Only now (4): ",
    ];
    for part in parts {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let both = printed(&["--compare", &old, "--compare", &old]);
    assert!(
        both.contains("10 configurations of 1000 elements in both: 10 equal"),
        "{both}"
    );
}

#[test]
fn files_are_written() {
    let names = ["json", "csv", "md", "svg"].map(|ending| path(&format!("files.{ending}")));
    let files = [
        "--json", &names[0], "--csv", &names[1], "--md", &names[2], "--svg", &names[3],
    ];
    let common = [
        "--size=1000",
        "--block=32,64,128",
        "--variant=shuffle,gather",
    ];
    printed(&[&common[..], &files].concat());
    let read = |index: usize| fs::read_to_string(&names[index]).expect("it was written");
    for index in [0, 1] {
        for column in ["share_of_read", "launches"] {
            assert!(read(index).contains(column), "{column} in {}", names[index]);
        }
    }
    assert!(
        read(2).contains("| of read |") && read(2).contains("| launches |"),
        "{}",
        read(2)
    );
    let svg = read(3);
    for part in [
        "Bandwidth against block size",
        "reduce_gather_sum_f32",
        "</svg>",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
}

#[test]
fn seeds_change_inputs_and_are_named() {
    let text = printed(&["--size=100", "--block=32", "--variant=shuffle", "--seed=99"]);
    assert!(text.contains("random inputs of seed 99"), "{text}");
}

#[test]
fn mistakes_are_usage_errors() {
    for (arguments, part) in [
        (
            &["--variant=nope"][..],
            "'nope' for '--variant <NAMES>': one of these is required: all, read, interleaved",
        ),
        (
            &["--variant=redux", "--type=f32"],
            "variant redux does none of what --operation and --type ask for: ask for sum i32, min i32",
        ),
        (
            &["--variant=interleaved", "--operation=min"],
            "ask for sum i32, sum u32, sum i64, sum f32, sum f64",
        ),
        (&["--cluster=0"], "'0' for '--cluster <BLOCKS>'"),
        (&["--block=0"], "1 to 4294967295 is required; or auto"),
        (&["--block=5..1"], "the range 5..1 is empty"),
        (&["--block=automatic"], "or auto for what suits the size"),
        (&["--grid=0"], "'0' for '--grid <BLOCKS>'"),
        (
            &["--type=i16"],
            "one of these is required: all, i32, u32, i64, f32, f64",
        ),
        (
            &["--operation=product"],
            "one of these is required: all, sum, min, max",
        ),
        (&["--size=-1"], "negative"),
        (&["--size=1.5"], "whole"),
        (&["--json=-", "--svg=-"], "both go to standard output"),
        (&["--device=sim:abacus"], "'abacus' is no chip"),
    ] {
        let output = reduce(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
    // One of several that has no kernel is left out, since another has.
    let report = report(
        0,
        &[
            "--variant=redux",
            "--type=f32,u32",
            "--size=10",
            "--block=32",
        ],
    );
    let found = kernels(rows(&report));
    assert_eq!(
        found,
        ["read_sum_f32", "read_sum_u32", "reduce_redux_sum_u32"]
    );
}

#[test]
fn a_size_that_does_not_fit_names_the_largest_that_does() {
    let report = report(
        1,
        &[
            "--device=sim:t4",
            "--size=2^40,10",
            "--block=32",
            "--variant=shuffle",
        ],
    );
    let (large, small) = rows(&report).split_at(2);
    for row in large {
        assert_eq!(
            (&row["status"], &row["stage"]),
            (&"failed".into(), &"memory".into())
        );
        let reason = row["reason"].as_str().expect("a reason");
        assert!(
            reason.contains("the largest size that fits is "),
            "{reason}"
        );
    }
    all_verified(small);
}
