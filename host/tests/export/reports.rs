//! Reports that the tests render.

use serde_json::{Map, Value};
use warplab::{
    launch::Dim3,
    report::{Cache, DeviceDescription, Report, Row, SCHEMA, Stage, Status, Times, Timing},
};

/// An H200 with a known peak.
pub(crate) fn h200(rows: Vec<Row>) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        program: "sweep".to_owned(),
        command: vec!["--size".to_owned(), "256Mi".to_owned()],
        version: "0.1.0".to_owned(),
        device: DeviceDescription {
            name: "NVIDIA H200".to_owned(),
            times: Times::Measured,
            compute_capability: "9.0".to_owned(),
            sms: 132,
            clock_khz: 1_980_000,
            l2_bytes: 60 << 20,
            memory_bytes: 150_754_820_096,
            peak_gb_per_s: Some(4800.0),
            driver: Some("13.0".to_owned()),
        },
        seed: 42,
        rows,
        records: Vec::new(),
        conclusions: Vec::new(),
    }
}

/// A simulated T4.
pub(crate) fn simulated(rows: Vec<Row>) -> Report {
    let mut report = h200(rows);
    report.device = DeviceDescription {
        name: "simulated T4".to_owned(),
        times: Times::Modelled,
        compute_capability: "7.5".to_owned(),
        sms: 40,
        clock_khz: 1_590_000,
        l2_bytes: 4 << 20,
        memory_bytes: 16 << 30,
        peak_gb_per_s: Some(320.0),
        driver: None,
    };
    for row in &mut report.rows {
        if let Some(time) = &mut row.time {
            time.times = Times::Modelled;
        }
        row.share_of_peak = row.gb_per_s.map(|rate| rate / 320.0);
    }
    report
}

/// A vector addition of 2^28 floats at so many GB/s, its quartiles 1 % away.
pub(crate) fn row(kernel: &str, block: u32, gb_per_s: f64) -> Row {
    let elements = 1u64 << 28;
    let bytes = 12 * elements;
    let median_ns = bytes as f64 / gb_per_s;
    Row {
        kernel: kernel.to_owned(),
        elements,
        grid: Dim3::from((elements / u64::from(block.max(1))) as u32),
        block: Dim3::from(block),
        axes: Map::new(),
        blocks_per_sm: Some((2048 / block.max(1)).min(32)),
        occupancy: Some(f64::from((2048 / block.max(1)).min(32) * block) / 2048.0),
        status: Status::Ok,
        verified: true,
        time: Some(Timing {
            times: Times::Measured,
            cache: Cache::Cold,
            samples: 64,
            median_ns,
            lower_quartile_ns: median_ns * 0.99,
            upper_quartile_ns: median_ns * 1.01,
            minimum_ns: median_ns * 0.98,
            maximum_ns: median_ns * 1.05,
            relative_noise: 0.02,
            stopped_by: "noise stable under 5 %".to_owned(),
            throttled: 0,
        }),
        bytes: Some(bytes),
        gb_per_s: Some(gb_per_s),
        share_of_peak: Some(gb_per_s / 4800.0),
        share_of_read: None,
        launches: None,
        notes: Vec::new(),
    }
}

/// A row without a time, for that reason.
pub(crate) fn without_time(kernel: &str, block: u32, status: Status) -> Row {
    Row {
        status,
        verified: false,
        time: None,
        gb_per_s: None,
        share_of_peak: None,
        ..row(kernel, block, 1.0)
    }
}

pub(crate) fn failed(kernel: &str, block: u32, stage: Stage, reason: &str) -> Row {
    let reason = reason.to_owned();
    without_time(kernel, block, Status::Failed { stage, reason })
}

pub(crate) fn skipped(kernel: &str, block: u32, reason: &str) -> Row {
    let reason = reason.to_owned();
    without_time(kernel, block, Status::Skipped { reason })
}

/// Two kernels over six block sizes: the curves of a scalar and a 16-byte vector add.
pub(crate) fn two_kernels() -> Report {
    let scalar = [638.0, 1276.0, 2535.0, 3496.0, 3281.0, 3002.0];
    let vector = [2552.0, 4384.0, 4384.0, 4384.0, 4374.0, 4404.0];
    let curve = |kernel, rates: [f64; 6]| {
        let blocks = (5..).map(|power| 1 << power);
        blocks
            .zip(rates)
            .map(move |(block, rate)| row(kernel, block, rate))
    };
    h200(
        curve("vector_add", scalar)
            .chain(curve("vector_add_x4", vector))
            .collect(),
    )
}

/// Rows of every status, with shared notes, a note with markup and an axis.
pub(crate) fn mixed() -> Report {
    let shared = "the working set is under 4 times the L2: caches serve part of it";
    let mut first = row("saxpy_unrolled", 64, 2100.5);
    first.notes.push(shared.to_owned());
    let mut second = row("saxpy_unrolled", 128, 4950.0);
    second.notes = vec![
        shared.to_owned(),
        "above the peak: |rate| > 100 %".to_owned(),
    ];
    let mut third = row("saxpy_unrolled", 256, 2390.0);
    third.verified = false;
    let mut report = h200(vec![
        first,
        second,
        third,
        skipped(
            "saxpy_unrolled",
            512,
            "throttled: every sample ran below 75 % of the clock",
        ),
        failed(
            "saxpy_unrolled",
            1024,
            Stage::Verification,
            "element 7: 1.5 expected, NaN found\n(first of 3)",
        ),
        failed(
            "saxpy_unrolled",
            2048,
            Stage::Launch,
            "block x is 2048, the limit is 1024",
        ),
    ]);
    for row in &mut report.rows {
        row.axes.insert("unroll".to_owned(), Value::from(2));
    }
    report
}

/// A latency experiment: no bytes, hence no bandwidth.
pub(crate) fn latencies() -> Report {
    let timed = |threads: u32, median_ns: f64| {
        let mut row = row("grid_sync", threads, 1.0);
        row.bytes = None;
        row.gb_per_s = None;
        row.share_of_peak = None;
        let time = row.time.as_mut().expect("row() times");
        time.median_ns = median_ns;
        time.lower_quartile_ns = median_ns * 0.9;
        time.upper_quartile_ns = median_ns * 1.2;
        row
    };
    h200(vec![
        timed(32, 983.0),
        timed(256, 1050.0),
        timed(1024, 2250.0),
    ])
}
