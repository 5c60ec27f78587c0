//! `shuffle` as a user calls it, without a GPU.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;

fn shuffle(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shuffle"))
        .args(["--device", "sim"])
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What a run that must succeed prints.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = shuffle(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Its report, valid under the schema.
#[track_caller]
fn report(arguments: &[&str]) -> Value {
    let printed = printed(&[arguments, &["--json", "-", "--quiet"]].concat());
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    let schema: Value =
        serde_json::from_str(warplab::export::json::SCHEMA_TEXT).expect("the schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a JSON Schema");
    let errors: Vec<_> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0]);
    let known: BTreeSet<&String> = schema["properties"]["records"]["items"]["properties"]
        .as_object()
        .expect("members")
        .keys()
        .collect();
    for record in report["records"].as_array().into_iter().flatten() {
        for name in record.as_object().expect("an object").keys() {
            assert!(known.contains(name), "the schema does not describe {name}");
        }
    }
    report
}

fn records(report: &Value) -> &[Value] {
    report["records"].as_array().expect("records")
}

/// The numbers and marks of a line of the listing, behind its label of so many words.
fn cells(line: &str, label: usize) -> Vec<String> {
    // A mark may touch the next number: "10*11*".
    let line = line.replace('*', "* ");
    line.split_whitespace()
        .skip(label)
        .map(str::to_owned)
        .collect()
}

/// Lines of a section: from its title to the next blank line.
fn section<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| !line.starts_with(title));
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(lines.len() > 1, "no section {title} in:\n{text}");
    lines
}

#[test]
fn the_default_shows_an_overview_and_verifies_everything() {
    let text = printed(&[]);
    for mode in ["idx", "up", "down", "xor"] {
        let lines = section(&text, &format!("i32, {mode}:"));
        // Title, lanes, and arguments 1, 2, 4, 8, 16 in two widths.
        assert_eq!(lines.len(), 12, "{lines:?}");
        assert_eq!(cells(lines[1], 2).len(), 32);
        for line in &lines[2..] {
            assert_eq!(cells(line, 2).len(), 32, "{line}");
        }
    }
    // Up by 2 within 8 lanes (PTX ISA 9.7.9.6): lanes 0 and 1 of each segment keep their own.
    let up = section(&text, "i32, up:");
    let line = up
        .iter()
        .find(|line| line.trim_start().starts_with("8        2 "))
        .expect("a line");
    let expected = "0* 1* 0 1 2 3 4 5 8* 9* 8 9 10 11 12 13 16* 17* 16 17 18 19 20 21 24* 25* 24 25 26 27 28 29";
    assert_eq!(cells(line, 2).join(" "), expected);
    for part in [
        "Votes:",
        "i32, partial mask, even lanes: 0x55555555",
        "i32, inclusive scan by up",
    ] {
        section(&text, part);
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 150),
        "{text}"
    );
    assert!(text.lines().count() < 120, "two screens");
    // 120 combinations of shuffles and more; all of them counted.
    let line = text.lines().last().expect("a conclusion");
    let count: u64 = line
        .split(" comparisons")
        .next()
        .and_then(|number| number.replace(' ', "").parse().ok())
        .expect("a count");
    assert!(count > 2 * 32 * 64 * 120, "{line}");
    assert!(
        line.contains("all agree") && line.contains("31 kernels"),
        "{line}"
    );
}

#[test]
fn options_restrict_what_is_run_and_shown() {
    let report = report(&[
        "--mode",
        "down",
        "--type",
        "u64,f32",
        "--width",
        "4",
        "--argument",
        "0..2,33",
    ]);
    let rows = report["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["verified"] == true));
    let shuffles: Vec<&Value> = rows
        .iter()
        .filter(|row| row["axes"]["case"].is_null())
        .collect();
    assert_eq!(shuffles.len(), 2, "one mode, two types, one width");
    assert_eq!(shuffles[0]["axes"]["arguments"], "0..2, 33; one per lane");
    let records = records(&report);
    assert_eq!(records.len(), 2 * 4 * 32);
    for record in records {
        assert_eq!(record["operation"], "down");
        let (lane, argument) = (
            record["lane"].as_u64().unwrap(),
            record["argument"].as_u64().unwrap(),
        );
        let source = lane + argument % 32;
        let in_range = source / 4 == lane / 4;
        assert_eq!(record["in_range"], in_range);
        assert_eq!(record["source_lane"], if in_range { source } else { lane });
    }
}

/// Bits and text agree in what a reader of JSON gets, and a lane received what its source gave.
#[test]
fn values_survive_json() {
    let report = report(&[
        "--show",
        "shuffle",
        "--type",
        "all",
        "--width",
        "all",
        "--argument",
        "3",
    ]);
    let rows = report["rows"].as_array().expect("rows");
    let records = records(&report);
    assert_eq!(records.len(), 4 * 6 * 5 * 32);
    let mut high_bits = 0;
    for warp in records.chunks(32) {
        let ty = rows[warp[0]["row"].as_u64().unwrap() as usize]["axes"]["type"]
            .as_str()
            .unwrap();
        for record in warp {
            let bits = |name: &str| {
                let text = record[name]
                    .as_str()
                    .expect("bits")
                    .strip_prefix("0x")
                    .expect("0x");
                u64::from_str_radix(text, 16).expect("hexadecimal")
            };
            let (received, text) = (bits("received_bits"), record["received"].as_str().unwrap());
            let read = match ty {
                "i32" => text.parse::<i32>().unwrap() as u32 as u64,
                "u32" => text.parse::<u32>().unwrap().into(),
                "i64" => text.parse::<i64>().unwrap() as u64,
                "u64" => text.parse().unwrap(),
                "f32" => text.parse::<f32>().unwrap().to_bits().into(),
                _ => text.parse::<f64>().unwrap().to_bits(),
            };
            assert!(read == received || text == "NaN", "{record}");
            let source = record["source_lane"].as_u64().expect("a lane") as usize;
            assert_eq!(warp[source]["given_bits"], record["received_bits"]);
            high_bits |= received >> 32;
        }
    }
    assert_eq!(high_bits, 0xffff_ffff, "all 64 bits are in use");
}

#[test]
fn seeds_change_values_and_nothing_else() {
    let of = |seed: &str| report(&["--mode", "xor", "--seed", seed]);
    let (one, again, two) = (of("1"), of("1"), of("2"));
    assert_eq!(one, again);
    let pick = |report: &Value, name: &str| -> Vec<Value> {
        records(report)
            .iter()
            .map(|record| record[name].clone())
            .collect()
    };
    assert_ne!(pick(&one, "received_bits"), pick(&two, "received_bits"));
    assert_eq!(pick(&one, "source_lane"), pick(&two, "source_lane"));
}

#[test]
fn votes_matches_sums_and_broadcasts_are_listed() {
    let text = printed(&[
        "--show",
        "vote,match,reduce,broadcast",
        "--type",
        "f64",
        "--width",
        "4",
    ]);
    let votes = section(&text, "Votes:");
    let words = |name: &str| -> Vec<&str> {
        let line = votes
            .iter()
            .find(|line| line.starts_with(name))
            .expect("a vote");
        line[name.len()..].split_whitespace().collect()
    };
    assert_eq!(
        words("all but one")[..6],
        ["0xffffffff", "0x7fffffff", "no", "yes", "no", "0x7fffffff"]
    );
    // What lanes outside the mask would vote does not count.
    assert_eq!(
        words("even lanes, only odd ones")[..6],
        ["0x55555555", "0x00000000", "no", "no", "yes", "0x00000000"]
    );
    let matches = section(&text, "Match:").join("\n");
    for part in [
        "lane 5's highest bit    f64   0xffffffff  0-4, 6-31 | 5  ",
        "two groups, each alike",
    ] {
        assert!(matches.contains(part), "{part} is not in {matches}");
    }
    // 0 + 1 + 2 + 3 in every lane of the first segment; by down in its first lane alone.
    let butterfly = section(&text, "f64, reduction by butterfly");
    assert_eq!(
        cells(butterfly.last().expect("a step"), 2)[..4],
        ["6", "6", "6", "6"]
    );
    let down = section(&text, "f64, reduction by down");
    assert_eq!(
        cells(down.last().expect("a step"), 2)[..4],
        ["6", "8", "10", "12*"]
    );
    assert!(
        section(&text, "Broadcast:")
            .join("\n")
            .contains("0xffffffff  0x00002000  13"),
        "{text}"
    );
}

#[test]
fn every_partial_mask_is_shown_where_it_is_asked_for() {
    let text = printed(&["--show", "partial"]);
    for case in [
        "even lanes",
        "lower half",
        "two groups",
        "one lane",
        "random lanes",
    ] {
        let lines = section(&text, &format!("i32, partial mask, {case}: 0x"));
        let modes: Vec<&str> = lines[2..]
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        let known = ["idx", "up", "down", "xor"];
        assert!(modes.iter().all(|mode| known.contains(mode)), "{lines:?}");
    }
    let text = printed(&[
        "--show",
        "partial",
        "--mode",
        "up",
        "--width",
        "16",
        "--argument",
        "0..31",
    ]);
    // By any number, whatever is out of range is the lane's own; with the even lanes by even numbers, or
    // beyond the segment.
    assert_eq!(
        section(&text, "i32, partial mask, lower half").len(),
        2 + 32
    );
    assert_eq!(
        section(&text, "i32, partial mask, even lanes").len(),
        2 + 8 + 16 + 1
    );
}

#[test]
fn a_scan_counts_its_lanes() {
    let report = report(&["--show", "scan", "--type", "i64", "--width", "32"]);
    let last: Vec<&str> = records(&report)
        .iter()
        .filter(|record| record["step"] == 4 && record["input"] == "ones")
        .map(|record| record["sum"].as_str().expect("a sum"))
        .collect();
    assert_eq!(
        last,
        (1..=32).map(|sum| sum.to_string()).collect::<Vec<_>>()
    );
}

#[test]
fn reading_outside_the_mask_is_demonstrated_on_the_simulator() {
    let text = printed(&["--demonstrate-undefined"]);
    for part in [
        "kernel shuffle_i32: undefined warp operation: lane 15 reads lane 16, which does not take part \
         (lanes 0x0000ffff do)",
        "lane 16 reads lane 15",
        "shfl.sync.down.b32",
        "the mistake is deliberate",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    let report = report(&["--demonstrate-undefined"]);
    for row in report["rows"].as_array().expect("rows") {
        assert_eq!(
            (&row["status"], &row["verified"]),
            (&"ok".into(), &false.into())
        );
        assert!(
            row["notes"][0]
                .as_str()
                .expect("a note")
                .contains("undefined warp operation")
        );
    }
}

#[test]
fn the_figure_has_an_arrow_or_a_mark_for_every_lane() {
    let svg = printed(&[
        "--mode",
        "down",
        "--width",
        "2,8",
        "--argument",
        "3",
        "--quiet",
        "--svg",
        "-",
    ]);
    let document = roxmltree::Document::parse(&svg).expect("XML");
    let of = |class: &str| {
        document
            .descendants()
            .filter(|node| node.attribute("class") == Some(class))
            .collect::<Vec<_>>()
    };
    let panels: Vec<_> = of("panel");
    let titles: Vec<_> = panels
        .iter()
        .map(|panel| {
            panel
                .children()
                .find(roxmltree::Node::is_element)
                .and_then(|node| node.text())
        })
        .collect();
    assert_eq!(
        titles[..2],
        [
            Some("down, width 2, argument 3"),
            Some("down, width 8, argument 3")
        ]
    );
    let marks = |panel: &roxmltree::Node, class: &str| {
        panel
            .descendants()
            .filter(|node| node.attribute("class") == Some(class))
            .count()
    };
    let lines = |panel: &roxmltree::Node| -> usize {
        let paths = panel
            .descendants()
            .filter(|node| node.attribute("class") == Some("arrows"));
        paths
            .map(|path| path.attribute("d").expect("a path").matches('M').count())
            .sum()
    };
    // Width 2: all 32 keep their own. Width 8: the last three lanes of four segments do.
    assert_eq!((lines(&panels[0]), marks(&panels[0], "own")), (0, 32));
    assert_eq!((lines(&panels[1]), marks(&panels[1], "own")), (20, 12));
    // Nothing is outside the picture.
    let root = document.root_element();
    let size = |name: &str| {
        root.attribute(name)
            .and_then(|text| text.parse::<f64>().ok())
            .expect("a size")
    };
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
    {
        let at = |name: &str| {
            node.attribute(name)
                .and_then(|text| text.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        assert!(at("x") + at("width") <= size("width") && at("y") + at("height") <= size("height"));
    }
    let subtitle = root.attribute("aria-label").expect("a label");
    assert!(subtitle.contains("simulated NVIDIA H200"), "{subtitle}");
}

#[test]
fn a_figure_without_shuffles_says_so() {
    let svg = printed(&["--show", "vote", "--quiet", "--svg", "-"]);
    assert!(svg.contains("No shuffle is in this report"), "{svg}");
}

#[test]
fn values_are_shown_where_asked_for() {
    let arguments = [
        "--type",
        "u32",
        "--width",
        "32",
        "--argument",
        "1",
        "--mode",
        "idx",
    ];
    let text = printed(&[&arguments[..], &["--values"]].concat());
    let report = report(&arguments);
    let line = *section(&text, "u32, idx:").last().expect("a line");
    let received = records(&report)[0]["received"].as_str().expect("a value");
    assert_eq!(cells(line, 2), vec![received; 32]);
}

#[test]
fn files_are_written() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let names = ["json", "csv", "md", "svg"].map(|ending| {
        folder
            .join(format!("shuffle-cli.{ending}"))
            .display()
            .to_string()
    });
    let files = [
        "--json", &names[0], "--csv", &names[1], "--md", &names[2], "--svg", &names[3],
    ];
    printed(&[&["--type", "i32"], &files[..]].concat());
    for name in &names[..3] {
        let written = std::fs::read_to_string(name).expect("it was written");
        assert!(written.contains("shuffle_scan_i32"), "{name}: {written}");
    }
    assert!(
        std::fs::read_to_string(&names[3])
            .expect("it was written")
            .contains("</svg>")
    );
}

#[test]
fn mistakes_are_usage_errors() {
    for (arguments, part) in [
        (
            &["--width", "3"][..],
            "'3' for '--width <LIST>': one of these is required: all, 2, 4, 8, 16, 32",
        ),
        (
            &["--width", "64"],
            "'64' for '--width <LIST>': one of these",
        ),
        (
            &["--mode", "left"],
            "'left' for '--mode <NAMES>': one of these is required: all, idx, up, down, xor",
        ),
        (&["--type", "i16"], "one of these is required: all, i32"),
        (&["--show", ""], "one of these is required: all, shuffle"),
        (&["--argument", "5..1"], "the range 5..1 is empty"),
        (&["--argument", "-1"], "negative"),
        (&["--argument", "0..2000"], "at most 1024 arguments"),
        (&["--argument", "2^32"], "at most 4294967295"),
        (&["--argument", "x"], "not a number"),
        (
            &["--demonstrate-undefined", "--mode", "up"],
            "cannot be used with",
        ),
        (
            &["--show", "vote", "--mode", "xor"],
            "--mode is about shuffle, partial, and --show names none",
        ),
        (
            &["--show", "broadcast", "--width", "4"],
            "--width is about shuffle, partial, reduce, scan",
        ),
        (&["--show", "vote", "--type", "f32"], "--type is about"),
        (
            &["--show", "scan", "--argument", "3"],
            "--argument is about",
        ),
        (
            &["--demonstrate-undefined", "--svg", "-"],
            "--svg: what is undefined",
        ),
        (&["--json", "-", "--svg", "-"], "both go to standard output"),
    ] {
        let output = shuffle(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
}
