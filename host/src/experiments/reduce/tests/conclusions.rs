//! What is said of rows beside each other: shares of the plain read, and the conclusions.

use super::*;

/// The rows of an experiment as if they had taken so many nanoseconds.
fn timed(experiment: &Reduce, medians: &[f64]) -> Vec<Row> {
    assert_eq!(experiment.len(), medians.len());
    let mut rows: Vec<Row> = (0..experiment.len())
        .map(|i| experiment.outline(i))
        .collect();
    for (row, &median_ns) in rows.iter_mut().zip(medians) {
        row.status = Status::Ok;
        row.verified = true;
        row.gb_per_s = Some(row.bytes.expect("bytes") as f64 / median_ns);
        row.time = Some(Timing {
            times: Times::Measured,
            cache: Cache::Hot,
            samples: 10,
            median_ns,
            lower_quartile_ns: median_ns,
            upper_quartile_ns: median_ns,
            minimum_ns: median_ns,
            maximum_ns: median_ns,
            relative_noise: 0.0,
            stopped_by: String::new(),
            throttled: 0,
        });
    }
    rows
}

#[test]
fn shares_are_of_the_fastest_plain_read_of_the_same_data() {
    let types = [ElementType::F32, ElementType::I64];
    let ladder = experiment(&["read", "shuffle"], &types, &[100, 200]);
    // Per type and size: read at 32 and at 64, shuffle at 32 and at 64.
    let medians = [
        10.0, 5.0, 20.0, 10.0, // f32, 100
        40.0, 80.0, 50.0, 20.0, // f32, 200
        10.0, 10.0, 10.0, 100.0, // i64, 100
        10.0, 20.0, 40.0, 40.0, // i64, 200
    ];
    let mut rows = timed(&ladder, &medians);
    // One that failed has no share, and none is left over from before.
    rows[15].gb_per_s = None;
    rows[15].share_of_read = Some(1.0);
    // The plain reads of one size failed.
    (rows[8].gb_per_s, rows[9].gb_per_s) = (None, None);
    ladder.relate(&mut rows);
    let shares: Vec<_> = rows.iter().map(|row| row.share_of_read).collect();
    let some = |share: f64| Some(share);
    let expected = [
        [some(0.5), some(1.0), some(0.25), some(0.5)],
        [some(1.0), some(0.5), some(0.8), some(2.0)],
        [None; 4],
        [some(1.0), some(0.5), some(0.25), None],
    ];
    for (share, expected) in shares.iter().zip(expected.as_flattened()) {
        match (share, expected) {
            (Some(share), Some(expected)) => {
                assert!((share - expected).abs() < 1e-12, "{shares:?}")
            }
            _ => assert_eq!(share, expected, "{shares:?}"),
        }
    }
    // While the run goes on there are fewer rows.
    ladder.relate(&mut rows[..3]);
}

#[test]
fn conclusions_name_the_best_block_and_the_limit() {
    let ladder = experiment(
        &["read", "interleaved", "gather"],
        &[ElementType::F32],
        &[1 << 20],
    );
    let conclude = |medians: &[f64], of_peak| {
        let mut rows = timed(&ladder, medians);
        for row in &mut rows {
            row.share_of_peak = of_peak;
        }
        ladder.relate(&mut rows);
        conclusions(&rows)
    };
    let sentences = conclude(&[1000.0, 2000.0, 9000.0, 8000.0, 4000.0, 1020.0], Some(0.9));
    assert_eq!(sentences.len(), 3 + 1 + 1, "{sentences:?}");
    let begins = |index: usize, part: &str| {
        assert!(sentences[index].starts_with(part), "{sentences:?}");
    };
    // 2^22 bytes in 1000 ns.
    begins(0, "read: best at block 32, 4194 GB/s: a plain read");
    begins(1, "interleaved: best at block 64, 524 GB/s: ");
    begins(2, "gather: best at block 64, 4112 GB/s: ");
    begins(
        3,
        "Deterministic, with the same bits in every run: all of them.",
    );
    begins(
        4,
        "1Mi elements: reduce_gather_sum_f32 is fastest with 98.0 % of the bandwidth of a plain \
         read, so memory is the limit.",
    );
    // As fast as a read that is itself far from the peak.
    let ends = |sentences: Vec<String>, part: &str| {
        assert!(sentences[4].ends_with(part), "{sentences:?}");
    };
    let medians = [1000.0, 2000.0, 9000.0, 8000.0, 4000.0, 1020.0];
    ends(
        conclude(&medians, Some(0.2)),
        ", so reading is the limit, and not reducing.",
    );
    ends(
        conclude(&medians, None),
        ", so reading is the limit, and not reducing.",
    );
    ends(
        conclude(&[1000.0, 2000.0, 9000.0, 8000.0, 4000.0, 2000.0], Some(0.4)),
        "50.0 % of the bandwidth of a plain read; the rest is what launches and handing over results take.",
    );
    // One element at a time: nothing is known about where the rest went.
    ends(
        conclude(&[1000.0, 2000.0, 2000.0, 8000.0, 4000.0, 3000.0], Some(0.4)),
        "reduce_interleaved_sum_f32 is fastest with 50.0 % of the bandwidth of a plain read.",
    );
}

#[test]
fn conclusions_name_what_is_not_deterministic() {
    let of_types = |variants: &[&str], types: &[ElementType]| {
        let ladder = experiment(variants, types, &[100]);
        let rows = timed(&ladder, &vec![10.0; 2 * variants.len() * types.len()]);
        let mut sentences = conclusions(&rows);
        sentences.retain(|sentence| sentence.starts_with("Deterministic"));
        sentences.concat()
    };
    let of = |variants: &[&str]| of_types(variants, &[ElementType::F32]);
    assert!(of(&["read", "gather", "atomic", "cluster"]).ends_with(": all but atomic."));
    assert!(of(&["atomic"]).ends_with(": none of them."));
    assert_eq!(of(&["read"]), "");
    // Integers are the same in any order.
    let both = of_types(&["atomic"], &[ElementType::I32, ElementType::F32]);
    assert!(both.ends_with(": all but atomic of sum of f32."), "{both}");
}

#[test]
fn conclusions_tell_sizes_and_types_apart() {
    let types = [ElementType::F32, ElementType::I64];
    let ladder = experiment(&["read", "gather"], &types, &[100, 200]);
    let mut rows = timed(
        &ladder,
        &[
            10.0, 10.0, 20.0, 10.0, 10.0, 10.0, 20.0, 10.0, //
            10.0, 10.0, 10.0, 20.0, 10.0, 10.0, 20.0, 10.0,
        ],
    );
    ladder.relate(&mut rows);
    // Nothing that failed or was not verified counts, however fast.
    rows[7].verified = false;
    rows[15].status = Status::Skipped {
        reason: "throttled".to_owned(),
    };
    let sentences = conclusions(&rows);
    assert_eq!(sentences.len(), 2 + 1 + 4, "{sentences:?}");
    assert!(sentences[0].starts_with("read: best at block 32: "));
    assert!(
        sentences[1].starts_with("gather: best at blocks 32 to 64, depending on the work: "),
        "{sentences:?}"
    );
    let of: Vec<&str> = sentences[3..]
        .iter()
        .map(|sentence| sentence.split(" is fastest with ").next().expect("it"))
        .collect();
    assert_eq!(
        of,
        [
            "100 elements: reduce_gather_sum_f32",
            "200 elements: reduce_gather_sum_f32",
            "100 elements: reduce_gather_sum_i64",
            "200 elements: reduce_gather_sum_i64",
        ]
    );
    assert_eq!(conclusions(&[]), [""; 0]);
}
