//! The figure as XML: what it says and where things lie. Set `WARPLAB_SVG_DIR` to a folder to get
//! the figures themselves for a look.

use roxmltree::{Document, Node};
use warplab::{
    export::svg::render,
    report::{Report, Stage},
};

use crate::reports::{failed, h200, latencies, mixed, row, simulated, skipped, two_kernels};

fn eight_kernels() -> Report {
    let kernel = |number: u32| {
        (5..=10).map(move |power| {
            let rate = 400.0 * f64::from(number + 1) * f64::from(power) / 8.0;
            row(&format!("vector_add_strided_{number}"), 1 << power, rate)
        })
    };
    h200((0..8).flat_map(kernel).collect())
}

fn all_failed() -> Report {
    let blocks = [32, 64, 128, 256, 512];
    h200(
        blocks
            .map(|block| failed("vector_add", block, Stage::Memory, "no memory"))
            .into(),
    )
}

/// Every multiple of 32, so that labels must make way for each other.
fn crowded() -> Report {
    let rate = |step: u32| 4000.0 * f64::from(step) / (f64::from(step) + 4.0);
    simulated(
        (1..=32)
            .map(|step| row("vector_add", 32 * step, rate(step) / 20.0))
            .collect(),
    )
}

fn noisy() -> Report {
    let mut report = two_kernels();
    for row in &mut report.rows {
        let time = row.time.as_mut().expect("a time");
        time.lower_quartile_ns = time.median_ns * 0.92;
        time.upper_quartile_ns = time.median_ns * 1.08;
    }
    report
}

fn elements() -> Report {
    let mut rows = Vec::new();
    for power in (10..=28).step_by(2) {
        let mut row = row("reduce", 256, 4500.0 * f64::from(power - 9) / 19.0);
        row.elements = 1 << power;
        rows.push(row);
    }
    h200(rows)
}

/// Unroll factors as curves beside a kernel without that axis, a size that no logarithm has, and a
/// name longer than the picture is wide.
fn unusual() -> Report {
    let mut rows = Vec::new();
    for unroll in [1, 2, 4] {
        for block in [64, 256] {
            let mut row = row("vector_add_strided", block, f64::from(500 * unroll + block));
            row.axes.insert("unroll".to_owned(), unroll.into());
            rows.push(row);
        }
    }
    rows.push(row(&"a_rather_long_name_".repeat(12), 64, 900.0));
    rows.push(row("empty", 0, 100.0));
    h200(rows)
}

fn every() -> Vec<(&'static str, Report)> {
    vec![
        ("two_kernels", two_kernels()),
        ("mixed", mixed()),
        ("latencies", latencies()),
        ("one_point", h200(vec![row("vector_add", 256, 3496.0)])),
        ("eight_kernels", eight_kernels()),
        ("all_failed", all_failed()),
        ("crowded", crowded()),
        ("noisy", noisy()),
        ("elements", elements()),
        (
            "simulated",
            simulated(vec![row("k", 32, 20.0), row("k", 64, 40.0)]),
        ),
        ("unusual", unusual()),
        ("no_rows", h200(Vec::new())),
    ]
}

fn texts(document: &Document<'_>) -> Vec<String> {
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    nodes
        .map(|node| node.text().unwrap_or("").to_owned())
        .collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    let text = node.attribute(name).expect(name);
    text.parse().expect("a number")
}

fn of_class<'a, 'input>(document: &'a Document<'input>, class: &str) -> Vec<Node<'a, 'input>> {
    document
        .descendants()
        .filter(|node| node.attribute("class") == Some(class))
        .collect()
}

#[test]
fn every_figure_names_device_axes_and_kind_of_times() {
    for (name, report) in every() {
        let svg = render(&report).expect("finite");
        if let Ok(folder) = std::env::var("WARPLAB_SVG_DIR") {
            std::fs::write(format!("{folder}/{name}.svg"), &svg).expect("a folder to write to");
        }
        let document = Document::parse(&svg).expect("XML");
        for attribute in document.descendants().flat_map(|node| node.attributes()) {
            let value = attribute.value();
            assert!(
                !value.contains("NaN") && value != "inf",
                "{name}: {attribute:?}"
            );
        }
        let root = document.root_element();
        assert_eq!(root.attribute("width"), Some("900"));
        assert_eq!(root.attribute("font-family"), Some("sans-serif"));
        let texts = texts(&document);
        let says = |part: &str| texts.iter().any(|text| text.contains(part));
        assert!(says(&report.device.name), "{name}: {texts:?}");
        let times = if name == "crowded" || name == "simulated" {
            "modelled"
        } else {
            "· measured"
        };
        assert!(says(times), "{name}: {texts:?}");
        let (y, x) = match name {
            "latencies" => ("time per launch (µs)", "threads per block"),
            "elements" => ("bandwidth (GB/s)", "elements"),
            _ => ("bandwidth (GB/s)", "threads per block"),
        };
        assert!(
            texts.iter().any(|t| t == x) && texts.iter().any(|t| t == y),
            "{name}: {texts:?}"
        );
    }
}

/// Everything lies within the picture, and all of the legend above the plot.
#[test]
fn marks_lie_in_the_picture_and_the_legend_above_the_plot() {
    for (name, report) in every() {
        let svg = render(&report).expect("finite");
        let document = Document::parse(&svg).expect("XML");
        let height = number(document.root_element(), "height");
        for node in document.descendants() {
            for (axis, most) in [
                ("x", 900.0),
                ("x1", 900.0),
                ("cx", 900.0),
                ("y", height),
                ("y2", height),
                ("cy", height),
            ] {
                if node.has_attribute(axis) {
                    let value = number(node, axis);
                    assert!((0.0..=most).contains(&value), "{name}: {axis} = {value}");
                }
            }
        }
        let plot_top = document
            .descendants()
            .filter(|node| {
                node.tag_name().name() == "line" && node.attribute("stroke") == Some("#e3e6ea")
            })
            .map(|node| number(node, "y1"))
            .fold(f64::INFINITY, f64::min);
        for node in of_class(&document, "legend")[0]
            .descendants()
            .filter(|n| n.has_attribute("y"))
        {
            assert!(
                number(node, "y") < plot_top,
                "{name}: the legend reaches into the plot"
            );
        }
    }
}

#[test]
fn one_marker_per_result_and_one_cross_per_failure() {
    let report = mixed();
    let svg = render(&report).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    assert_eq!(of_class(&document, "missing").len(), 3);
    let tooltips: Vec<_> = of_class(&document, "curve")
        .iter()
        .flat_map(|curve| curve.descendants())
        .filter(|node| node.tag_name().name() == "title")
        .map(|node| node.text().unwrap_or(""))
        .collect();
    assert_eq!(tooltips.len(), report.rows.len());
    assert!(
        tooltips
            .iter()
            .any(|t| t.contains("4950 GB/s (quartiles 4901 to 5000)")),
        "{tooltips:?}"
    );
}

/// Twice the bandwidth is twice as high, and double block sizes are equally far apart.
#[test]
fn marks_stand_where_their_values_are() {
    let report = h200(vec![
        row("k", 64, 1000.0),
        row("k", 128, 2000.0),
        row("k", 256, 3000.0),
    ]);
    let svg = render(&report).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let places: Vec<_> = of_class(&document, "curve")[0]
        .descendants()
        .filter(|node| node.tag_name().name() == "circle")
        .map(|node| (number(node, "cx"), number(node, "cy")))
        .collect();
    assert_eq!(places.len(), 3);
    let near = |a: f64, b: f64| (a - b).abs() < 0.05;
    assert!(
        near(places[1].0 - places[0].0, places[2].0 - places[1].0),
        "{places:?}"
    );
    assert!(
        near(places[0].1 - places[1].1, places[1].1 - places[2].1),
        "{places:?}"
    );
    let peak = of_class(&document, "peak")[0]
        .first_element_child()
        .expect("a line");
    let per_gb = (places[0].1 - places[2].1) / 2000.0;
    assert!(
        near(places[2].1 - number(peak, "y1"), 1800.0 * per_gb),
        "{places:?}"
    );
}

#[test]
fn whiskers_only_where_they_show() {
    let whiskers = |report: &Report| {
        let svg = render(report).expect("finite");
        of_class(&Document::parse(&svg).expect("XML"), "quartiles").len()
    };
    assert!(whiskers(&noisy()) >= 10);
    assert_eq!(
        whiskers(&h200(vec![row("k", 64, 100.0), row("k", 128, 4000.0)])),
        0
    );
}

#[test]
fn a_peak_far_away_is_named_below() {
    let svg = render(&simulated(vec![row("k", 32, 20.0)])).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    assert!(of_class(&document, "peak").is_empty());
    assert!(
        texts(&document)
            .iter()
            .any(|t| t == "The device's peak, 320 GB/s, is off the scale.")
    );
}

#[test]
fn text_is_escaped() {
    let name = "a<b> & \"c\" \u{1b}[31m";
    let mut report = h200(vec![row(name, 32, 100.0), row("other", 32, 50.0)]);
    report.device.name = name.to_owned();
    let svg = render(&report).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let texts = texts(&document);
    assert!(
        texts.iter().any(|text| text == "a<b> & \"c\"  [31m"),
        "{texts:?}"
    );
}

#[test]
fn nan_is_refused() {
    let mut report = two_kernels();
    report.rows[0].gb_per_s = Some(f64::NAN);
    assert!(render(&report).is_err());
}

/// A line drawn across a failed block size would claim a result there.
#[test]
fn lines_break_at_missing_results() {
    let report = h200(vec![
        row("k", 32, 1000.0),
        row("k", 64, 2000.0),
        failed("k", 128, Stage::Time, "no time"),
        row("k", 256, 2000.0),
        row("k", 512, 2100.0),
        row("k", 1024, 2200.0),
    ]);
    let svg = render(&report).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let lines = document
        .descendants()
        .filter_map(|node| node.attribute("points"));
    let lengths: Vec<_> = lines.map(|points| points.split(' ').count()).collect();
    assert_eq!(lengths, [2, 3]);
}

/// Without a result there is no scale: tick labels would be made up.
#[test]
fn no_figures_without_results() {
    let svg = render(&all_failed()).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let numbers: Vec<_> = texts(&document)
        .into_iter()
        .filter(|t| t.parse::<f64>().is_ok())
        .collect();
    assert_eq!(numbers, ["32", "64", "128", "256", "512"]);
    assert_eq!(of_class(&document, "missing").len(), 5);
    let reasons: Vec<_> = texts(&document)
        .into_iter()
        .filter(|t| t.starts_with("× "))
        .collect();
    assert_eq!(
        reasons,
        ["× vector_add, block 32, 64, 128, 256, 512: failed: memory: no memory"]
    );
}

#[test]
fn an_axis_that_varies_makes_curves() {
    let svg = render(&unusual()).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let texts = texts(&document);
    for label in [
        "vector_add_strided, unroll 1",
        "vector_add_strided, unroll 4",
        "empty",
    ] {
        assert!(texts.iter().any(|text| text == label), "{label}: {texts:?}");
    }
    assert_eq!(of_class(&document, "curve").len(), 5);
}

#[test]
fn blocks_that_follow_from_the_elements_are_no_axis() {
    let mut report = elements();
    for row in &mut report.rows {
        row.block = if row.elements < 1 << 16 { 256 } else { 1024 }.into();
    }
    let svg = render(&report).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let found = texts(&document);
    for label in [
        "Bandwidth against number of elements: reduce",
        "elements",
        "256 Mi",
    ] {
        assert!(found.iter().any(|text| text == label), "{label}: {found:?}");
    }
    assert_eq!(of_class(&document, "curve").len(), 1);
    // One size with a second block is over blocks again.
    let mut other = report.rows[0].clone();
    other.block = 512.into();
    report.rows.push(other);
    let svg = render(&report).expect("finite");
    assert!(svg.contains("Bandwidth against block size"), "{svg}");
}

#[test]
fn a_remark_names_its_kernel_once() {
    let reason = "kernel reduce_cluster needs compute capability 9.0 or later";
    let rows = vec![
        row("reduce_cluster", 32, 1000.0),
        skipped("reduce_cluster", 64, reason),
        skipped("reduce_cluster", 128, "kernel reduce_cluster: refused"),
        skipped("reduce_cluster", 256, "kernel reduce_clusters: another"),
    ];
    let svg = render(&h200(rows)).expect("finite");
    let document = Document::parse(&svg).expect("XML");
    let found = texts(&document);
    for label in [
        "× reduce_cluster, block 64: skipped: needs compute capability 9.0 or later",
        "× reduce_cluster, block 128: skipped: refused",
        "× reduce_cluster, block 256: skipped: kernel reduce_clusters: another",
    ] {
        assert!(found.iter().any(|text| text == label), "{label}: {found:?}");
    }
}
