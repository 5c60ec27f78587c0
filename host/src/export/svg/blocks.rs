//! Blocks over time, a lane per SM and resident block: the first wave, what follows, and the tail.

use super::{
    FAINT_INK, INK,
    element::{Element, line, text},
    legend::appearance,
};
use crate::{
    export::{
        blocks::blocks,
        layout::{figures::TimeUnit, style::printable},
    },
    report::{BlockRecord, Report, Times},
};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
/// Height of the lanes of all SMs together, at least.
const HEIGHT: f64 = 480.0;
/// A lane is no lower than this.
const LANE: f64 = 1.5;
/// Blocks of one figure; it says how many more there are.
const MOST: usize = 20_000;

/// The figure of a report that has records of blocks: its first launch.
pub(super) fn render(report: &Report) -> String {
    let row = report.records.first().map_or(0, |record| record.row);
    let mut blocks = blocks(report, row);
    let all = blocks.len();
    blocks.sort_by_key(|block| (block.start_ns, block.ticket));
    let end = blocks
        .iter()
        .map(|block| block.end_ns)
        .max()
        .unwrap_or(1)
        .max(1) as f64;
    let first_end = blocks.iter().map(|block| block.end_ns).min().unwrap_or(0);
    let wave = blocks
        .iter()
        .filter(|block| block.start_ns < first_end)
        .count()
        .max(1);
    let (lanes, per_sm) = lanes(&blocks);
    let sms = blocks
        .iter()
        .map(|block| block.sm as usize + 1)
        .max()
        .unwrap_or(1);
    let band = (HEIGHT / sms as f64).max(LANE * per_sm as f64);
    let (top, right) = (92.0, WIDTH - RIGHT);
    let bottom = top + band * sms as f64;
    let x_of = |ns: f64| LEFT + ns / end * (right - LEFT);

    let mut marks = Element::new("g");
    for (block, lane) in blocks.iter().zip(lanes).take(MOST) {
        let height = band / per_sm as f64;
        let (x, y) = (
            x_of(block.start_ns as f64),
            top + band * f64::from(block.sm) + height * lane as f64,
        );
        let number = block.ticket as usize / wave;
        let rectangle = Element::new("rect")
            .attribute("class", "block")
            .number("x", x)
            .number("y", y)
            .number("width", (x_of(block.end_ns as f64) - x).max(0.5))
            .number("height", height * 0.9)
            .attribute("fill", appearance(number).color);
        marks.push(rectangle.child(Element::new("title").text(&tooltip(block))));
    }
    let title = "Blocks over time and SM";
    let times = match report.device.times {
        Times::Measured => "measured",
        Times::Modelled => "modelled by the simulator, not measured",
    };
    let rest = match all.saturating_sub(MOST) {
        0 => String::new(),
        rest => format!(" · {rest} further blocks are left out; the JSON report has them all"),
    };
    let subtitle = format!(
        "{} · {times} · launch {} · a colour per {wave} tickets, the size of the first wave{rest}",
        printable(&report.device.name),
        row + 1
    );
    let height = bottom + 64.0;
    Element::new("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", WIDTH)
        .number("height", height)
        .attribute("viewBox", &format!("0 0 {WIDTH} {height}"))
        .attribute("font-family", "sans-serif")
        .attribute("role", "img")
        .attribute("aria-label", &format!("{title}. {subtitle}"))
        .child(Element::new("title").text(title))
        .child(
            Element::new("rect")
                .attribute("width", "100%")
                .attribute("height", "100%")
                .attribute("fill", "#ffffff"),
        )
        .child(text(LEFT, 34.0, 20.0, INK, "start", title).attribute("font-weight", "bold"))
        .child(text(LEFT, 57.0, 13.0, FAINT_INK, "start", &subtitle))
        .child(axes(sms, band, top, bottom, end, &x_of))
        .child(marks)
        .document()
}

/// Time below, SMs at the left.
fn axes(
    sms: usize,
    band: f64,
    top: f64,
    bottom: f64,
    end: f64,
    x_of: &dyn Fn(f64) -> f64,
) -> Element {
    let mut group = Element::new("g");
    let unit = TimeUnit::of(end);
    for tick in 0..=5 {
        let ns = end * f64::from(tick) / 5.0;
        let x = x_of(ns);
        group.push(line((x, top), (x, bottom + 5.0), "#e3e6ea", 1.0));
        let label = format!("{:.1}", ns / unit.nanoseconds());
        group.push(text(x, bottom + 21.0, 13.0, INK, "middle", &label));
    }
    let step = sms.div_ceil(12).max(1);
    for sm in (0..sms).step_by(step) {
        let y = top + band * (sm as f64 + 0.5) + 4.0;
        group.push(text(LEFT - 8.0, y, 11.0, INK, "end", &format!("SM {sm}")));
    }
    let label = format!("time since the first block started ({})", unit.symbol(true));
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    group.push(text(middle, bottom + 46.0, 14.0, INK, "middle", &label));
    group
}

/// For each block, in order of their starts, a lane of its SM that is free then, and the most lanes
/// of an SM.
fn lanes(blocks: &[&BlockRecord]) -> (Vec<usize>, usize) {
    let mut free_from: std::collections::BTreeMap<u32, Vec<u64>> =
        std::collections::BTreeMap::new();
    let mut most = 1;
    let lanes = blocks
        .iter()
        .map(|block| {
            let lanes = free_from.entry(block.sm).or_default();
            let free = lanes.iter().position(|&free| free <= block.start_ns);
            let lane = free.unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(0);
            }
            lanes[lane] = block.end_ns;
            most = most.max(lanes.len());
            lane
        })
        .collect();
    (lanes, most)
}

fn tooltip(block: &BlockRecord) -> String {
    format!(
        "block {} ({}, {}, {}), ticket {}, SM {}: {} to {} ns",
        block.block_id,
        block.block_x,
        block.block_y,
        block.block_z,
        block.ticket,
        block.sm,
        block.start_ns,
        block.end_ns
    )
}
