//! The time of a configuration: from its launches to what its row says about time.

use std::time::{Duration, Instant};

use super::Failure;
use crate::{
    device::{Device, PreparedLaunch, Sampling},
    measure::{self, Outcome, Rule},
    report::{Cache, Row, Stage, Status},
};

/// How samples are taken, as the command line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measuring {
    /// State of the L2 before a sample.
    pub cache: Cache,
    /// Samples at least.
    pub minimum_samples: u32,
    /// Cap on the wall time of one configuration's samples.
    pub timeout: Duration,
}

impl Default for Measuring {
    /// The command line's defaults.
    fn default() -> Self {
        Self {
            cache: Cache::Cold,
            minimum_samples: 10,
            timeout: Duration::from_secs(15),
        }
    }
}

impl Measuring {
    /// How a device samples under these settings; a graph holds the sequence `hot_launches` times:
    /// short sequences need more, to outlast what two events cost.
    pub(super) fn sampling(&self, device: &dyn Device, hot_launches: u32) -> Sampling {
        match self.cache {
            Cache::Cold => Sampling::Cold,
            Cache::Hot if device.properties().modelled => Sampling::Hot { launches: 1 },
            Cache::Hot => Sampling::Hot {
                launches: hot_launches,
            },
        }
    }

    /// Measures a sequence of launches.
    pub(super) fn measure(
        &self,
        device: &dyn Device,
        sequence: &[PreparedLaunch],
        sampling: Sampling,
        stage: Stage,
    ) -> Result<Outcome, Failure> {
        let properties = device.properties();
        let rule = Rule {
            cache: self.cache,
            minimum_samples: self.minimum_samples,
            timeout: self.timeout,
            modelled: properties.modelled,
            default_clock_khz: properties.clock_khz,
        };
        let mut sampler = device
            .sampler(sequence, sampling)
            .map_err(Failure::at(stage))?;
        let begin = Instant::now();
        measure::measure_batches(&mut *sampler, &rule, sampling.launches(), &mut || {
            begin.elapsed()
        })
        .map_err(Failure::at(stage))
    }
}

/// Writes an outcome to its row: time, and bandwidth from the row's bytes.
pub(super) fn report(device: &dyn Device, outcome: Outcome, row: &mut Row) -> Status {
    let properties = device.properties();
    match outcome {
        Outcome::Timed(timing) => {
            let bytes = row.bytes.unwrap_or(0);
            row.gb_per_s = measure::bandwidth(bytes, timing.median_ns);
            row.share_of_peak = row
                .gb_per_s
                .zip(properties.peak_gb_per_s)
                .map(|(gb_per_s, peak)| gb_per_s / peak);
            row.notes = measure::warnings(properties, &timing, bytes, row.gb_per_s);
            row.time = Some(timing);
            Status::Ok
        }
        Outcome::Throttled { discarded } => throttled(discarded),
    }
}

/// The status of a configuration all of whose samples were taken at a throttled clock.
pub(super) fn throttled(discarded: u32) -> Status {
    Status::Skipped {
        reason: format!(
            "throttled: in all {discarded} samples the SM clock was under {} % of its default; let \
             the GPU cool down or raise its power limit",
            measure::THROTTLED_CLOCK * 100.0
        ),
    }
}
