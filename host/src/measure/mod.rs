//! Taking samples: warm-up, when to stop, what to discard, what to say about the result.
//!
//! The stop rule is nvbench's (`stdrel_criterion`): enough samples, enough accumulated device
//! time, and noise that is either small or no longer changing. Nothing is printed here.

mod statistics;

use std::{collections::VecDeque, time::Duration};

pub use statistics::{Running, Summary};

use crate::{
    device::{DeviceError, Properties, Result, Sampler, Sampling},
    report::{Cache, Times, Timing},
};

/// Launches in one graph of a hot sample.
pub const HOT_LAUNCHES: u32 = 8;
/// Device time in nanoseconds that the samples must add up to.
pub const MINIMUM_TIME_NS: f64 = 0.5e9;
/// Relative standard deviation under which a series counts as quiet.
pub const QUIET_NOISE: f64 = 0.005;
/// Relative deviation of the noise itself under which a series counts as steadily noisy.
pub const STEADY_NOISE: f64 = 0.05;
/// Values of the noise that [`STEADY_NOISE`] looks back on.
pub const STEADY_WINDOW: usize = 64;
/// Share of the default SM clock under which a sample is discarded.
pub const THROTTLED_CLOCK: f64 = 0.75;
/// A series whose first samples are all throttled is given up after so many.
pub const THROTTLED_LIMIT: u32 = 64;
/// Wall time of the warm-up: long enough for a GPU's clock to leave its idle state.
pub const WARM_UP: Duration = Duration::from_millis(50);

/// How a series is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// State of the L2 before each sample.
    pub cache: Cache,
    /// Samples taken at least, unless the time cap ends the series first; 1 or more.
    pub minimum_samples: u32,
    /// Cap on the wall time of one series.
    pub timeout: Duration,
    /// Times come from a model: one sample says everything.
    pub modelled: bool,
    /// The SM clock that throttling is judged against, in kHz.
    pub default_clock_khz: u32,
}

impl Rule {
    /// What to ask of [`Device::sampler`](crate::device::Device::sampler).
    pub fn sampling(&self) -> Sampling {
        match (self.cache, self.modelled) {
            (Cache::Cold, _) => Sampling::Cold,
            (Cache::Hot, true) => Sampling::Hot { launches: 1 },
            (Cache::Hot, false) => Sampling::Hot {
                launches: HOT_LAUNCHES,
            },
        }
    }
}

/// What came of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// At least one sample was kept.
    Timed(Timing),
    /// Every sample was taken at a throttled clock.
    Throttled {
        /// How many.
        discarded: u32,
    },
}

/// Takes samples until the rule is met. `elapsed` is wall time since any fixed moment.
///
/// # Errors
/// Those of the sampler, and a sample that is no time: negative, infinite or not a number.
pub fn measure(
    sampler: &mut dyn Sampler,
    rule: &Rule,
    elapsed: &mut dyn FnMut() -> Duration,
) -> Result<Outcome> {
    measure_batches(sampler, rule, rule.sampling().launches(), elapsed)
}

/// [`measure`] for a sampler of another sampling than the rule's, whose samples hold `launches`
/// launches each.
///
/// # Errors
/// Those of [`measure`].
pub fn measure_batches(
    sampler: &mut dyn Sampler,
    rule: &Rule,
    launches: u32,
    elapsed: &mut dyn FnMut() -> Duration,
) -> Result<Outcome> {
    let mut series = Series::new(rule, launches);
    if rule.modelled {
        let sample = sampler.sample()?;
        series.take(sample.nanoseconds, None)?;
        return Ok(series.finish("the model is deterministic: one sample".to_string()));
    }
    let begin = elapsed();
    let warm_up = WARM_UP.min(rule.timeout / 4);
    loop {
        sampler.sample()?;
        if elapsed() - begin >= warm_up {
            break;
        }
    }
    loop {
        let sample = sampler.sample()?;
        series.take(sample.nanoseconds, sample.clock_khz)?;
        let stopped_by = match series.unmet() {
            Ok(met) => met,
            Err(unmet) if elapsed() - begin >= rule.timeout => {
                format!("time cap of {:?}: {unmet}", rule.timeout)
            }
            Err(_) if series.kept.is_empty() && series.throttled >= THROTTLED_LIMIT => {
                "every sample throttled".to_string()
            }
            Err(_) => continue,
        };
        return Ok(series.finish(stopped_by));
    }
}

struct Series<'a> {
    rule: &'a Rule,
    /// In each sample.
    launches: f64,
    kept: Vec<f64>,
    throttled: u32,
    accumulated_ns: f64,
    running: Running,
    noise: VecDeque<f64>,
}

impl<'a> Series<'a> {
    fn new(rule: &'a Rule, launches: u32) -> Self {
        Self {
            rule,
            launches: launches.into(),
            kept: Vec::new(),
            throttled: 0,
            accumulated_ns: 0.0,
            running: Running::default(),
            noise: VecDeque::with_capacity(STEADY_WINDOW),
        }
    }

    fn take(&mut self, nanoseconds: f64, clock_khz: Option<u32>) -> Result<()> {
        if !nanoseconds.is_finite() || nanoseconds < 0.0 {
            return Err(DeviceError::Failed(format!(
                "the device reported a launch time of {nanoseconds} ns; \
                 a finite time of 0 or more is required"
            )));
        }
        let slowest = THROTTLED_CLOCK * f64::from(self.rule.default_clock_khz);
        if clock_khz.is_some_and(|clock| f64::from(clock) < slowest) {
            self.throttled += 1;
            return Ok(());
        }
        self.kept.push(nanoseconds);
        self.running.push(nanoseconds);
        self.accumulated_ns += nanoseconds * self.launches;
        if self.noise.len() == STEADY_WINDOW {
            self.noise.pop_front();
        }
        self.noise.push_back(self.running.relative_deviation());
        Ok(())
    }

    /// The condition that ends the series, or the first one that is not met yet.
    fn unmet(&self) -> std::result::Result<String, String> {
        let kept = self.kept.len();
        if kept < self.rule.minimum_samples as usize {
            return Err(format!(
                "{kept} of {} samples taken",
                self.rule.minimum_samples
            ));
        }
        if self.accumulated_ns < MINIMUM_TIME_NS {
            return Err(format!(
                "{:.3} of {:.1} s of device time accumulated",
                self.accumulated_ns / 1e9,
                MINIMUM_TIME_NS / 1e9
            ));
        }
        let noise = self.running.relative_deviation();
        if noise < QUIET_NOISE {
            return Ok(format!("noise under {} %", QUIET_NOISE * 100.0));
        }
        // How far the last values of the noise lie from the present one, relative to it.
        let squares: f64 = self
            .noise
            .iter()
            .map(|before| (before - noise) * (before - noise))
            .sum();
        let drift = (squares / self.noise.len() as f64).sqrt() / noise;
        if self.noise.len() == STEADY_WINDOW && drift < STEADY_NOISE {
            return Ok(format!(
                "noise steady at {:.2} % over the last {STEADY_WINDOW} samples",
                noise * 100.0
            ));
        }
        Err(format!(
            "noise of {:.2} % neither under {} % nor steady",
            noise * 100.0,
            QUIET_NOISE * 100.0
        ))
    }

    fn finish(self, stopped_by: String) -> Outcome {
        let Some(summary) = Summary::of(&self.kept) else {
            return Outcome::Throttled {
                discarded: self.throttled,
            };
        };
        Outcome::Timed(Timing {
            times: if self.rule.modelled {
                Times::Modelled
            } else {
                Times::Measured
            },
            cache: self.rule.cache,
            samples: self.kept.len() as u32,
            median_ns: summary.median,
            lower_quartile_ns: summary.lower_quartile,
            upper_quartile_ns: summary.upper_quartile,
            minimum_ns: summary.minimum,
            maximum_ns: summary.maximum,
            relative_noise: summary.relative_spread(),
            stopped_by,
            throttled: self.throttled,
        })
    }
}

/// GB/s (1e9 bytes per second) of a launch that moves `bytes` in `nanoseconds`; `None` where no
/// time passed, since no bandwidth follows from that.
pub fn bandwidth(bytes: u64, nanoseconds: f64) -> Option<f64> {
    (nanoseconds > 0.0).then(|| bytes as f64 / nanoseconds)
}

/// What a reader must know before trusting a bandwidth: small working sets, more than the peak,
/// short launches between events.
pub fn warnings(
    properties: &Properties,
    timing: &Timing,
    working_set: u64,
    gb_per_s: Option<f64>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if working_set < 4 * properties.l2_bytes {
        warnings.push(format!(
            "the working set is under 4x the L2 cache of {}: part of the traffic may not reach memory",
            crate::quantity::bytes(properties.l2_bytes)
        ));
    }
    if let (Some(gb_per_s), Some(peak)) = (gb_per_s, properties.peak_gb_per_s)
        && gb_per_s > peak
    {
        warnings.push("more than the peak memory bandwidth: caches served part of it".to_string());
    }
    if timing.times == Times::Measured && timing.cache == Cache::Cold && timing.median_ns < 50e3 {
        warnings.push(
            "under 50 µs, events around a single launch add several µs: --cache hot times graphs of launches instead"
                .to_string(),
        );
    }
    warnings.extend(throttled(timing));
    warnings
}

/// What is to be said where samples were discarded.
pub fn throttled(timing: &Timing) -> Option<String> {
    (timing.throttled > 0).then(|| {
        format!(
            "{} samples were discarded: the SM clock was under {} % of its default",
            timing.throttled,
            THROTTLED_CLOCK * 100.0
        )
    })
}

#[cfg(test)]
mod tests;
