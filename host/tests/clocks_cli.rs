//! The listing of clocks and the map of warps as a user meets them.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use warplab::export::json::SCHEMA_TEXT;

fn clocks(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_clocks"))
        .args(["--device", "sim"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// The listing of a run that succeeds.
fn listing(arguments: &[&str]) -> String {
    let output = clocks(&[&["-q"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

/// The JSON of a run, which the schema must allow.
fn report(arguments: &[&str]) -> Value {
    let text = listing(&[&["--json", "-"], arguments].concat());
    let report: Value = serde_json::from_str(&text).expect("JSON alone");
    let schema = serde_json::from_str(SCHEMA_TEXT).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

/// The rows of numbers under a heading: for each block and slice its heading and its lines.
fn sections(text: &str) -> Vec<(String, Vec<Vec<u64>>)> {
    let mut sections: Vec<(String, Vec<Vec<u64>>)> = Vec::new();
    for line in text.lines() {
        if line.ends_with(':') {
            sections.push((line.to_string(), Vec::new()));
        } else if let Some((_, rows)) = sections.last_mut() {
            let parse = |word: &str| u64::from_str_radix(word, 16).expect("a hexadecimal number");
            rows.push(line.split_whitespace().map(parse).collect());
        }
    }
    sections
}

/// Splits a listing at the lines that tell the time.
fn launches(text: &str) -> Vec<(&str, String)> {
    let mut launches: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        if line.contains(" ms for ") {
            launches.push((line, String::new()));
        } else {
            let launch = launches
                .last_mut()
                .expect("a line with the time comes first");
            launch.1 += &format!("{line}\n");
        }
    }
    launches
}

#[test]
fn the_default_is_the_books_listing() {
    let text = listing(&[]);
    let launches = launches(&text);
    assert_eq!(launches.len(), 2);
    for ((time, text), columns) in launches.iter().zip([16_usize, 14]) {
        let threads = 2 * 8 * columns;
        let words: Vec<&str> = time.split(' ').collect();
        let [ms, _, _, count, _, _, us, _] = words[..] else {
            panic!("{time}")
        };
        assert_eq!(
            *time,
            format!("{ms} ms for {count} threads = {us} us/thread")
        );
        assert_eq!(count, threads.to_string());
        let (ms, us): (f64, f64) = (ms.parse().expect("a time"), us.parse().expect("a time"));
        assert!(
            ms > 0.0 && (us * threads as f64 / 1e3 / ms - 1.0).abs() < 0.1,
            "{time}"
        );

        let headings = [
            "Completion times (clocks):",
            "Grid (0, 0, 0) - slice 0:",
            "Grid (1, 0, 0) - slice 0:",
            "Thread IDs:",
            "Grid (0, 0, 0) - slice 0:",
            "Grid (1, 0, 0) - slice 0:",
        ];
        let sections = sections(text);
        let found: Vec<&str> = sections.iter().map(|(heading, _)| &heading[..]).collect();
        assert_eq!(found, headings);
        // Eight rows of columns that are four wide.
        for line in text.lines().filter(|line| !line.ends_with(':')) {
            assert_eq!(line.len(), 4 * columns, "{line}");
        }
        for (heading, block) in [(1, &sections[1].1), (2, &sections[2].1)] {
            assert_eq!(block.len(), 8, "section {heading}");
            let times: Vec<u64> = block.concat();
            // One value a warp of 32 consecutive threads, the last short; later warps later.
            let warps: Vec<&[u64]> = times.chunks(32).collect();
            for warp in &warps {
                assert!(warp.iter().all(|time| *time == warp[0]), "{warp:?}");
            }
            assert!(warps.is_sorted_by(|a, b| a[0] < b[0]), "{times:?}");
            assert_eq!(times[0], 0, "each block is alone on its SM");
            let groups = times.chunk_by(|a, b| a == b).map(<[u64]>::len);
            let expected = if columns == 16 {
                [32, 32, 32, 32]
            } else {
                [32, 32, 32, 16]
            };
            assert_eq!(groups.collect::<Vec<_>>(), expected);
        }
        for block in [&sections[4].1, &sections[5].1] {
            for (y, row) in block.iter().enumerate() {
                let expected: Vec<u64> = (0..columns as u64).map(|x| (y as u64) << 4 | x).collect();
                assert_eq!(*row, expected);
            }
        }
    }
}

#[test]
fn the_remarks_explain_28_threads_to_a_warp() {
    let output = clocks(&[]);
    let text = stdout(&output);
    for part in [
        "block 14x8 = 112 threads: 4 warps, 16 of 128 lanes idle (12.5 %)",
        "32, 32, 32, 16 threads in its warps, 28 on average",
        "8 of 8 warps read one clock value",
        "modelled",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn ids_stay_distinct_above_16_columns_and_say_how() {
    let text = listing(&["--grid", "1", "--block", "20x3"]);
    assert!(text.contains("Thread IDs (y<<8|x):\n"), "{text}");
    let rows = &sections(&text).pop().expect("thread IDs").1;
    let ids: HashSet<u64> = rows.concat().into_iter().collect();
    assert_eq!(ids.len(), 60);
    assert_eq!(rows[2][19], 0x213);
    let report = report(&["--block", "20x3"]);
    let note = report["rows"][0]["notes"][0].as_str().expect("a note");
    assert!(
        note.contains("y<<8|x") && note.contains("20 columns"),
        "{note}"
    );
}

#[test]
fn wide_numbers_keep_their_columns_apart() {
    // y<<4|x has four digits from y = 256 on.
    let text = listing(&["--grid", "1", "--block", "2x300"]);
    let ids = text.split("Thread IDs:").nth(1).expect("thread IDs");
    assert!(ids.contains("\n 12b0 12b1\n"), "{ids}");
}

#[test]
fn every_block_and_slice_has_a_heading_and_its_own_number() {
    let text = listing(&["--grid", "2x3x2", "--block", "3x2x2"]);
    let headings: Vec<String> = sections(&text)
        .into_iter()
        .map(|(heading, _)| heading)
        .collect();
    let mut expected = vec!["Completion times (clocks):".to_string()];
    for z in 0..2 {
        for y in 0..3 {
            for x in 0..2 {
                expected
                    .extend((0..2).map(|slice| format!("Grid ({x}, {y}, {z}) - slice {slice}:")));
            }
        }
    }
    assert_eq!(headings[1..expected.len()], expected[1..]);
    // Blocks are numbered by gridDim: with blockDim, as published, blocks would share a number.
    let report = report(&["--grid", "2x3x2", "--block", "3x2x2"]);
    let records = report["records"].as_array().expect("records");
    assert_eq!(records.len(), 12 * 12);
    for (index, record) in records.iter().enumerate() {
        let of = |name: &str| record[name].as_u64().unwrap_or_else(|| panic!("{name}"));
        let block = of("block_x") + 2 * (of("block_y") + 3 * of("block_z"));
        let thread = of("thread_x") + 3 * (of("thread_y") + 2 * of("thread_z"));
        assert_eq!(of("block_id"), block);
        assert_eq!(of("thread_id"), thread);
        assert_eq!(of("global_id"), block * 12 + thread);
        assert_eq!(of("global_id"), index as u64);
        assert_eq!((of("warp"), of("lane")), (thread / 32, thread % 32));
        assert_eq!(of("packed_id"), of("thread_y") << 4 | of("thread_x"));
    }
}

/// Threads by SM: the smallest completion time and the smallest clock.
fn earliest_by_sm(report: &Value) -> BTreeMap<u64, (u64, u64)> {
    let mut earliest = BTreeMap::new();
    for record in report["records"].as_array().expect("records") {
        let of = |name: &str| record[name].as_u64().expect("a number");
        let seen = (of("completion_clocks"), of("clock"));
        let entry = earliest.entry(of("sm")).or_insert(seen);
        *entry = (entry.0.min(seen.0), entry.1.min(seen.1));
    }
    earliest
}

#[test]
fn each_sm_starts_at_0_unless_the_grid_does() {
    // More blocks than the chip has SMs, so that some share one.
    let geometry = ["--grid=300", "--block=64"];
    let per_sm = earliest_by_sm(&report(&geometry));
    assert!(per_sm.len() > 1);
    assert!(
        per_sm.values().all(|(completion, _)| *completion == 0),
        "{per_sm:?}"
    );
    let grid = earliest_by_sm(&report(&[&geometry[..], &["--normalise=grid"]].concat()));
    let smallest = grid.values().map(|(_, clock)| *clock).min().expect("SMs");
    for (completion, clock) in grid.values() {
        assert_eq!(*completion, clock - smallest);
    }
    assert!(
        grid.values().any(|(completion, _)| *completion > 0),
        "{grid:?}"
    );
}

#[test]
fn the_map_counts_idle_lanes() {
    let text = format!("\n{}", listing(&["--map"]));
    for heading in [
        "\n32 threads: 1 warp, no lane idle\n",
        "16x2 = 32 threads: 1 warp, no lane idle\n",
        "8x4 = 32 threads: 1 warp, no lane idle\n",
        "\n28 threads: 1 warp, 4 of 32 lanes idle (12.5 %)\n",
        "14x2 = 28 threads: 1 warp, 4 of 32 lanes idle (12.5 %)\n",
        "7x4 = 28 threads: 1 warp, 4 of 32 lanes idle (12.5 %)\n",
    ] {
        assert_eq!(text.matches(heading).count(), 1, "{heading} in {text}");
    }
    assert_eq!(
        text.matches("idle in warp 0: lanes 28 to 31 (4)\n").count(),
        3
    );
    let text = listing(&["--map", "--block", "66"]);
    assert!(
        text.contains("66 threads: 3 warps, 30 of 96 lanes idle"),
        "{text}"
    );
    assert!(
        text.contains("idle in warp 2: lanes 2 to 31 (30)"),
        "{text}"
    );
    let cells: Vec<&str> = text
        .split_whitespace()
        .filter(|word| word.contains(':'))
        .collect();
    assert_eq!(
        cells.iter().filter(|cell| cell.starts_with("2:0")).count(),
        2
    );
    assert!(
        cells.contains(&"1:31") && !cells.contains(&"2:02"),
        "{text}"
    );
    let report = report(&["--map", "--block", "66"]);
    assert_eq!(report["rows"][0]["axes"]["idle_lanes"], 30);
    assert_eq!(report["rows"][0]["axes"]["warps"], 3);
    assert_eq!(report["rows"][0]["verified"], true);
    assert_eq!(report["records"].as_array().map(Vec::len), Some(66));
}

#[test]
fn the_map_has_a_colour_for_each_warp_where_colours_are_wanted() {
    let colors = |text: &str| -> HashSet<String> {
        let codes = text.split("\x1b[97;48;5;").skip(1);
        codes
            .filter_map(|rest| Some(rest.split_once('m')?.0.to_string()))
            .collect()
    };
    let text = listing(&["--map", "--block", "16x8", "--color", "always"]);
    assert_eq!(colors(&text).len(), 4);
    assert!(!listing(&["--map", "--block", "16x8"]).contains('\x1b'));
}

#[test]
fn figures_show_every_thread_and_idle_lane() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("clocks_cli_figures");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("figure.svg");
    let count = |arguments: &[&str]| {
        listing(&[&["--svg", path.to_str().expect("UTF-8")], arguments].concat());
        let text = fs::read_to_string(&path).expect("it was written");
        let document = roxmltree::Document::parse(&text).expect("XML");
        let of = |class: &str| {
            document
                .descendants()
                .filter(|node| node.attribute("class") == Some(class))
                .count()
        };
        (of("thread"), of("warp"), of("lane"), of("idle"))
    };
    assert_eq!(count(&["--map", "--block", "66"]), (66, 3, 66, 30));
    assert_eq!(count(&["--map", "--block", "8x4x3"]), (96, 3, 96, 0));
    // Two blocks are drawn, the warps of one of them.
    assert_eq!(count(&["--block", "14x8"]), (224, 4, 112, 16));
}

#[test]
fn a_launch_that_fails_leaves_the_others_there() {
    let output = clocks(&["-q", "--block", "32x1,2000,16x2"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert_eq!(text.matches(" ms for 64 threads").count(), 2, "{text}");
    assert!(
        text.contains("block.x is 2000: the device takes at most 1024"),
        "{text}"
    );
}

#[test]
fn mistakes_in_the_command_line_are_status_2_and_say_what_is_required() {
    let extents = "one to three extents of at least 1 are required, for example 256, 16x8 or 8x8x4";
    for (arguments, expected) in [
        (&["--block", "0x2"][..], extents),
        (&["--block", "-1"], extents),
        (&["--block", "16x"], extents),
        (&["--block", "2x2x2x2"], extents),
        (&["--grid", "axb"], extents),
        (&["--grid", "4294967296"], extents),
        (
            &["--grid", "1Mi", "--block", "2"],
            "is more than 1048576 threads",
        ),
        (
            &["--grid", "65535x65535x65535", "--block", "1024x1024x64"],
            "give a smaller --grid",
        ),
        (&["--map", "--grid", "2"], "cannot be used with"),
        (&["--normalise", "warp"], "possible values: sm, grid"),
        (&["--json", "-", "--svg", "-"], "both go to standard output"),
    ] {
        let output = clocks(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = stderr(&output);
        assert!(text.contains(expected), "{expected} in {text}");
        assert!(stdout(&output).is_empty(), "{arguments:?}");
    }
}
