//! Every report is valid under the published schema, and the schema refuses broken ones.

use jsonschema::Validator;
use serde_json::{Value, json};
use warplab::{
    export::json::{SCHEMA_TEXT, render},
    report::{Report, SCHEMA, Stage},
};

use crate::reports::{failed, h200, latencies, mixed, row, simulated, skipped, two_kernels};

fn schema() -> Value {
    serde_json::from_str(SCHEMA_TEXT).expect("the schema is JSON")
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is a JSON Schema")
}

fn value(report: &Report) -> Value {
    serde_json::from_str(&render(report).expect("finite")).expect("JSON")
}

fn errors(instance: &Value) -> Vec<String> {
    let validator = validator();
    let mut errors: Vec<_> = validator
        .iter_errors(instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    errors.sort();
    errors
}

#[test]
fn the_schema_itself_is_valid() {
    jsonschema::draft202012::meta::validate(&schema()).expect("valid under the meta-schema");
    assert_eq!(schema()["properties"]["schema"]["const"], SCHEMA);
}

#[test]
fn produced_reports_are_valid() {
    let mut without_peak = two_kernels();
    without_peak.device.peak_gb_per_s = None;
    without_peak
        .rows
        .iter_mut()
        .for_each(|row| row.share_of_peak = None);
    let mut largest_seed = two_kernels();
    largest_seed.seed = u64::MAX;
    let reports = [
        two_kernels(),
        mixed(),
        latencies(),
        simulated(vec![row("k", 32, 20.0)]),
        h200(vec![skipped(
            "k",
            32,
            "no cooperative launch on this device",
        )]),
        h200(
            [
                Stage::Memory,
                Stage::Launch,
                Stage::Verification,
                Stage::Time,
            ]
            .map(|stage| failed("k", 32, stage, "r"))
            .into(),
        ),
        h200(Vec::new()),
        without_peak,
        largest_seed,
    ];
    for report in reports {
        assert_eq!(errors(&value(&report)), Vec::<String>::new());
    }
}

#[test]
fn records_are_flat_objects() {
    let mut report = value(&two_kernels());
    report["records"] = json!([{ "row": 0, "thread": 31, "clock": 812, "place": "last" }]);
    assert_eq!(errors(&report), Vec::<String>::new());
    report["records"][0]["nested"] = json!({ "a": 1 });
    assert_ne!(errors(&report), Vec::<String>::new());
    for (member, wrong) in [
        ("lane", json!(32)),
        ("clock", json!(1_u64 << 32)),
        ("sm", json!("none")),
        ("completion_clocks", json!(-1)),
        ("thread_x", json!(0.5)),
        ("operation", json!("left")),
        ("width", json!(3)),
        ("mask", json!(1_u64 << 32)),
        ("source_lane", json!(32)),
        ("in_range", json!(1)),
        ("received", json!(1.5)),
        ("received_bits", json!("0x1")),
    ] {
        report["records"] = json!([{ "row": 0 }]);
        assert_eq!(errors(&report), Vec::<String>::new());
        report["records"][0][member] = wrong;
        assert_ne!(errors(&report), Vec::<String>::new(), "{member}");
    }
}

/// Breaks a valid report in one way each: `rows[0]` is ok, `rows[3]` skipped, `rows[4]` failed.
#[test]
fn broken_reports_are_refused() {
    type Break = fn(&mut Value);
    let breaks: &[(&str, Break)] = &[
        ("NaN as a string", |r| {
            r["rows"][0]["gb_per_s"] = json!("NaN")
        }),
        ("null for a median", |r| {
            r["rows"][0]["time"]["median_ns"] = json!(null)
        }),
        ("a name without its unit", |r| {
            let time = r["rows"][0]["time"].as_object_mut().expect("an object");
            let median = time.remove("median_ns").expect("a median");
            time.insert("median".to_owned(), median);
        }),
        ("a figure beside the one with a unit", |r| {
            r["rows"][0]["time"]["median"] = json!(1.0)
        }),
        ("unknown status", |r| {
            r["rows"][0]["status"] = json!("passed")
        }),
        ("no status", |r| remove(&mut r["rows"][0], "status")),
        ("ok with a reason", |r| {
            r["rows"][0]["reason"] = json!("none")
        }),
        ("ok with a stage", |r| {
            r["rows"][0]["stage"] = json!("launch")
        }),
        ("skipped without a reason", |r| {
            remove(&mut r["rows"][3], "reason")
        }),
        ("skipped with an empty reason", |r| {
            r["rows"][3]["reason"] = json!("")
        }),
        ("skipped with a stage", |r| {
            r["rows"][3]["stage"] = json!("time")
        }),
        ("skipped with a time", |r| {
            r["rows"][3]["time"] = r["rows"][0]["time"].clone()
        }),
        ("failed without a stage", |r| {
            remove(&mut r["rows"][4], "stage")
        }),
        ("failed without a reason", |r| {
            remove(&mut r["rows"][4], "reason")
        }),
        ("unknown stage", |r| {
            r["rows"][4]["stage"] = json!("compile")
        }),
        ("failed verification that is verified", |r| {
            r["rows"][4]["verified"] = json!(true)
        }),
        ("bandwidth without a time", |r| {
            r["rows"][0]["time"] = json!(null)
        }),
        ("bandwidth without bytes", |r| {
            r["rows"][0]["bytes"] = json!(null)
        }),
        ("share of peak without a bandwidth", |r| {
            r["rows"][0]["gb_per_s"] = json!(null)
        }),
        ("negative bandwidth", |r| {
            r["rows"][0]["gb_per_s"] = json!(-1.0)
        }),
        ("occupancy in per cent", |r| {
            r["rows"][0]["occupancy"] = json!(100.0)
        }),
        ("half a block", |r| r["rows"][0]["block"]["x"] = json!(32.5)),
        ("a block as one number", |r| {
            r["rows"][0]["block"] = json!(32)
        }),
        ("an axis that is an object", |r| {
            r["rows"][0]["axes"]["unroll"] = json!({})
        }),
        ("neither measured nor modelled", |r| {
            r["device"]["times"] = json!("guessed")
        }),
        ("unknown cache state", |r| {
            r["rows"][0]["time"]["cache"] = json!("warm")
        }),
        ("no samples", |r| r["rows"][0]["time"]["samples"] = json!(0)),
        ("another schema's name", |r| {
            r["schema"] = json!("warplab/report/2")
        }),
        ("no device", |r| remove(r, "device")),
        ("a device without its peak", |r| {
            remove(&mut r["device"], "peak_gb_per_s")
        }),
        ("a row's misspelt member", |r| {
            r["rows"][0]["gbps"] = json!(1.0)
        }),
        ("a negative seed", |r| r["seed"] = json!(-1)),
    ];
    for (what, change) in breaks {
        let mut report = value(&mixed());
        assert_eq!(errors(&report), Vec::<String>::new());
        change(&mut report);
        assert_ne!(errors(&report), Vec::<String>::new(), "{what} is accepted");
    }
}

fn remove(object: &mut Value, member: &str) {
    let removed = object.as_object_mut().expect("an object").remove(member);
    assert!(removed.is_some(), "{member} was not there");
}

/// Nothing is left undescribed: every property, definition and branch says what it is.
#[test]
fn every_property_is_described() {
    fn undescribed(path: &str, schema: &Value, found: &mut Vec<String>) {
        for group in ["properties", "$defs"] {
            for (name, part) in schema[group].as_object().into_iter().flatten() {
                let path = format!("{path}/{name}");
                let described = part["description"].is_string()
                    || part["$ref"].as_str().is_some_and(|target| {
                        let definition = target.trim_start_matches('#');
                        self::schema()
                            .pointer(definition)
                            .is_some_and(|d| d["description"].is_string())
                    });
                if !described {
                    found.push(path.clone());
                }
                undescribed(&path, part, found);
            }
        }
        if schema["items"].is_object() {
            undescribed(&format!("{path}/items"), &schema["items"], found);
        }
    }
    let mut found = Vec::new();
    undescribed("", &schema(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}
