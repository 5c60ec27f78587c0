//! The time of a configuration: from its launches to what its row says about time.

use std::time::{Duration, Instant};

use super::Failure;
use crate::{
    device::{Device, PreparedLaunch},
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
    /// Measures a sequence of launches. `hot_launches` is how often a graph holds it where the
    /// cache is hot: short sequences need more, to outlast what two events cost.
    pub(super) fn measure(
        &self,
        device: &dyn Device,
        sequence: &[PreparedLaunch],
        hot_launches: u32,
        stage: Stage,
    ) -> Result<Outcome, Failure> {
        let properties = device.properties();
        let rule = Rule {
            cache: self.cache,
            minimum_samples: self.minimum_samples,
            timeout: self.timeout,
            modelled: properties.modelled,
            default_clock_khz: properties.clock_khz,
            hot_launches,
        };
        let mut sampler = device
            .sampler(sequence, rule.sampling())
            .map_err(Failure::at(stage))?;
        let begin = Instant::now();
        measure::measure(&mut *sampler, &rule, &mut || begin.elapsed()).map_err(Failure::at(stage))
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
        Outcome::Throttled { discarded } => Status::Skipped {
            reason: format!(
                "throttled: in all {discarded} samples the SM clock was under {} % of its default; \
                 let the GPU cool down or raise its power limit",
                measure::THROTTLED_CLOCK * 100.0
            ),
        },
    }
}
