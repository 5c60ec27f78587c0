use super::*;
use crate::device::{LaunchLimits, Sample};

/// Gives the samples of a function of their number; time passes with each.
struct Fake<F> {
    next: u32,
    sample: F,
}

impl<F: FnMut(u32) -> Result<Sample>> Sampler for Fake<F> {
    fn sample(&mut self) -> Result<Sample> {
        self.next += 1;
        (self.sample)(self.next - 1)
    }
}

fn rule() -> Rule {
    Rule {
        cache: Cache::Cold,
        minimum_samples: 10,
        timeout: Duration::from_secs(15),
        modelled: false,
        default_clock_khz: 2_000_000,
    }
}

/// Measures with a wall clock that advances by `step` at each look.
fn run(
    rule: &Rule,
    step: Duration,
    sample: impl FnMut(u32) -> Result<Sample>,
) -> (Result<Outcome>, u32) {
    let mut sampler = Fake { next: 0, sample };
    let mut now = Duration::ZERO;
    let outcome = measure(&mut sampler, rule, &mut || {
        now += step;
        now
    });
    (outcome, sampler.next)
}

fn timed(outcome: Result<Outcome>) -> Timing {
    match outcome.unwrap() {
        Outcome::Timed(timing) => timing,
        other => panic!("{other:?}"),
    }
}

fn at(nanoseconds: f64) -> Result<Sample> {
    Ok(Sample {
        nanoseconds,
        clock_khz: Some(1_980_000),
    })
}

const STEP: Duration = Duration::from_millis(10);

#[test]
fn quiet_series_stops_at_the_minimum_of_samples() {
    let (outcome, _) = run(&rule(), STEP, |_| at(1e9));
    let timing = timed(outcome);
    assert_eq!(timing.samples, 10);
    assert_eq!(timing.stopped_by, "noise under 0.5 %");
    assert_eq!(timing.median_ns, 1e9);
    assert_eq!(timing.times, Times::Measured);
}

#[test]
fn quiet_series_goes_on_until_half_a_second_is_accumulated() {
    let (outcome, _) = run(&rule(), STEP, |_| at(1e6));
    assert_eq!(timed(outcome).samples, 500);
}

#[test]
fn hot_samples_count_every_launch_of_the_graph() {
    let hot = Rule {
        cache: Cache::Hot,
        ..rule()
    };
    let (outcome, _) = run(&hot, STEP, |_| at(1e6));
    let timing = timed(outcome);
    assert_eq!(timing.samples, 500_u32.div_ceil(HOT_LAUNCHES));
    assert_eq!(timing.cache, Cache::Hot);
}

#[test]
fn steadily_noisy_series_stops_after_the_window() {
    // Alternates by 10 %: the deviation settles at once, far above half a percent.
    let (outcome, _) = run(&rule(), STEP, |i| {
        at(if i % 2 == 0 { 1.0e8 } else { 1.1e8 })
    });
    let timing = timed(outcome);
    assert!(
        timing.stopped_by.starts_with("noise steady at 4.8"),
        "{}",
        timing.stopped_by
    );
    // The first noise value is infinite, so the window must have passed it.
    assert!(timing.samples as usize > STEADY_WINDOW);
    assert!(timing.samples < 100);
    assert!(timing.relative_noise > 0.05);
}

#[test]
fn growing_noise_runs_into_the_time_cap() {
    let short = Rule {
        timeout: Duration::from_secs(3),
        ..rule()
    };
    let (outcome, _) = run(&short, STEP, |i| at(1e7 * 1.05_f64.powi(i as i32)));
    let timing = timed(outcome);
    assert!(
        timing.stopped_by.starts_with("time cap of 3s: noise of"),
        "{}",
        timing.stopped_by
    );
    assert!(
        timing
            .stopped_by
            .ends_with("neither under 0.5 % nor steady")
    );
}

#[test]
fn time_cap_names_missing_samples_and_missing_time() {
    let short = Rule {
        timeout: Duration::from_secs(1),
        ..rule()
    };
    let (outcome, _) = run(&short, Duration::from_millis(300), |_| at(1e9));
    let timing = timed(outcome);
    assert_eq!(
        timing.stopped_by,
        format!("time cap of 1s: {} of 10 samples taken", timing.samples)
    );
    assert!(timing.samples < 10);
    let (outcome, _) = run(&short, STEP, |_| at(1000.0));
    let stopped_by = timed(outcome).stopped_by;
    assert!(
        stopped_by.contains("of 0.5 s of device time accumulated"),
        "{stopped_by}"
    );
}

#[test]
fn one_sample_is_taken_even_with_no_time_at_all() {
    let none = Rule {
        timeout: Duration::ZERO,
        ..rule()
    };
    let (outcome, taken) = run(&none, STEP, |_| at(5.0));
    assert_eq!(timed(outcome).samples, 1);
    assert_eq!(taken, 2, "one to warm up, one that counts");
}

#[test]
fn warm_up_is_not_counted() {
    let (outcome, taken) = run(&rule(), STEP, |i| at(if i < 5 { 9e9 } else { 1e9 }));
    let timing = timed(outcome);
    assert_eq!(timing.maximum_ns, 1e9);
    assert_eq!(taken, timing.samples + 5);
}

#[test]
fn throttled_samples_are_discarded() {
    let (outcome, _) = run(&rule(), STEP, |i| {
        Ok(Sample {
            nanoseconds: if i % 2 == 0 { 1e9 } else { 3e9 },
            clock_khz: Some(if i % 2 == 0 { 1_500_000 } else { 1_499_999 }),
        })
    });
    let timing = timed(outcome);
    assert_eq!(
        timing.maximum_ns, 1e9,
        "a clock of exactly 75 % is no throttling, less is"
    );
    assert!(timing.throttled >= 9);
}

#[test]
fn a_series_with_only_throttled_samples_is_given_up() {
    let slow = |_| {
        Ok(Sample {
            nanoseconds: 1e6,
            clock_khz: Some(300_000),
        })
    };
    let (outcome, _) = run(&rule(), STEP, slow);
    assert_eq!(
        outcome.unwrap(),
        Outcome::Throttled {
            discarded: THROTTLED_LIMIT
        }
    );
    let short = Rule {
        timeout: Duration::from_millis(200),
        ..rule()
    };
    let (outcome, _) = run(&short, STEP, slow);
    assert!(
        matches!(outcome.unwrap(), Outcome::Throttled { discarded } if discarded < THROTTLED_LIMIT)
    );
}

#[test]
fn unknown_clocks_are_not_throttled() {
    let (outcome, _) = run(&rule(), STEP, |_| {
        Ok(Sample {
            nanoseconds: 1e9,
            clock_khz: None,
        })
    });
    assert_eq!(timed(outcome).throttled, 0);
}

#[test]
fn modelled_times_are_sampled_once_and_claim_no_noise() {
    let modelled = Rule {
        modelled: true,
        ..rule()
    };
    let (outcome, taken) = run(&modelled, STEP, |_| {
        Ok(Sample {
            nanoseconds: 1234.5,
            clock_khz: Some(1),
        })
    });
    let timing = timed(outcome);
    assert_eq!(taken, 1);
    assert_eq!((timing.samples, timing.relative_noise), (1, 0.0));
    assert_eq!(timing.times, Times::Modelled);
    assert!(
        timing.stopped_by.contains("deterministic"),
        "{}",
        timing.stopped_by
    );
}

#[test]
fn what_is_no_time_is_an_error() {
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        for modelled in [false, true] {
            let rule = Rule { modelled, ..rule() };
            let error = run(&rule, STEP, |_| at(bad)).0.unwrap_err().to_string();
            assert!(error.contains("finite time of 0 or more"), "{error}");
        }
    }
}

#[test]
fn errors_of_the_sampler_come_through() {
    let (outcome, taken) = run(&rule(), STEP, |i| {
        if i < 7 {
            at(1e6)
        } else {
            Err(DeviceError::Failed("lost".to_string()))
        }
    });
    assert_eq!(outcome.unwrap_err().to_string(), "lost");
    assert_eq!(taken, 8);
}

#[test]
fn no_bandwidth_follows_from_no_time() {
    assert_eq!(bandwidth(12_000, 4.0), Some(3000.0));
    assert_eq!(bandwidth(0, 4.0), Some(0.0));
    assert_eq!(bandwidth(12, 0.0), None);
}

#[test]
fn warnings_name_what_is_doubtful() {
    let properties = Properties {
        name: "test".to_string(),
        modelled: false,
        compute_capability: (9, 0),
        sms: 132,
        clock_khz: 2_000_000,
        l2_bytes: 60 << 20,
        memory_bytes: 1 << 40,
        peak_gb_per_s: Some(4800.0),
        limits: LaunchLimits {
            max_grid: [1, 1, 1],
            max_block: [1, 1, 1],
            max_threads_per_block: 1,
            max_threads_per_sm: 1,
            warp_size: 32,
            shared_per_block: 0,
            shared_per_block_optin: 0,
            cooperative: false,
            max_cluster: 0,
        },
        driver: None,
    };
    let (outcome, _) = run(&rule(), STEP, |_| at(1e9));
    let quiet = timed(outcome);
    assert_eq!(
        warnings(&properties, &quiet, 240 << 20, Some(4800.0)),
        [""; 0]
    );
    let small = warnings(&properties, &quiet, (240 << 20) - 1, None);
    assert!(
        small.len() == 1 && small[0].contains("4x the L2 cache of 60.0 MiB"),
        "{small:?}"
    );
    let above = warnings(&properties, &quiet, 1 << 30, Some(4800.1));
    assert!(
        above.len() == 1 && above[0].contains("peak memory bandwidth"),
        "{above:?}"
    );
    let unknown = Properties {
        peak_gb_per_s: None,
        ..properties.clone()
    };
    assert_eq!(warnings(&unknown, &quiet, 1 << 30, Some(1e9)), [""; 0]);
    let short = Timing {
        median_ns: 3000.0,
        throttled: 2,
        ..quiet
    };
    let short = warnings(&properties, &short, 1 << 30, None);
    assert!(
        short.len() == 2 && short[0].contains("--cache hot") && short[1].starts_with("2 samples"),
        "{short:?}"
    );
}
