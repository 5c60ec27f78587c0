//! What makes a comparison questionable.

use super::Side;
use crate::{
    comparison::{Comparison, Pair},
    export::layout::style::printable,
    report::{Cache, DeviceDescription, Times},
};

/// One line for each condition in which the two reports differ and that changes times.
pub(super) fn differences(comparison: &Comparison) -> Vec<String> {
    let (before, after) = (comparison.before, comparison.after);
    let sides = &comparison.sides;
    let mut lines = Vec::new();
    let mut differ = |what: &str, first: String, second: String| {
        if first != second {
            lines.push(format!(
                "{what}: {} {}, {} {}",
                printable(&first),
                sides.place(Side::Before),
                printable(&second),
                sides.place(Side::After)
            ));
        }
    };
    if before.device.name == after.device.name {
        differ("other device", size(&before.device), size(&after.device));
    } else {
        let [first, second] = [before, after].map(|report| report.device.name.clone());
        differ("other device", first, second);
    }
    differ(
        "other kind of times",
        times(before.device.times).to_owned(),
        times(after.device.times).to_owned(),
    );
    // A simulator has no driver, and the line above says enough then.
    if let (Some(first), Some(second)) = (&before.device.driver, &after.device.driver) {
        let cuda = |version: &str| format!("for CUDA {version}");
        differ("other driver", cuda(first), cuda(second));
    }
    differ(
        "other version of warplab",
        before.version.clone(),
        after.version.clone(),
    );
    lines.extend(caches(comparison));
    lines.extend(grids(comparison));
    lines
}

/// What tells devices of one name apart, such as a part of a GPU or another clock.
fn size(device: &DeviceDescription) -> String {
    let clock = f64::from(device.clock_khz) / 1e6;
    format!("{} SMs at {clock:.2} GHz", device.sms)
}

fn times(times: Times) -> &'static str {
    match times {
        Times::Measured => "measured",
        Times::Modelled => "modelled",
    }
}

fn caches(comparison: &Comparison) -> Option<String> {
    let (pairs, sides) = (&comparison.pairs, &comparison.sides);
    let state = |cache| match cache {
        Cache::Cold => "cold",
        Cache::Hot => "hot",
    };
    let timed: Vec<_> = pairs.iter().filter_map(Pair::times).collect();
    let other: Vec<_> = timed.iter().filter(|(a, b)| a.cache != b.cache).collect();
    let (first, second) = other.first()?;
    let places = if other.iter().all(|(a, _)| a.cache == first.cache) {
        let (before, after) = (sides.place(Side::Before), sides.place(Side::After));
        format!(
            ": {} {before}, {} {after}",
            state(first.cache),
            state(second.cache)
        )
    } else {
        String::new()
    };
    Some(format!(
        "other state of the L2 cache{places}{}",
        share(other.len(), timed.len())
    ))
}

fn grids(comparison: &Comparison) -> Option<String> {
    let pairs = &comparison.pairs;
    let other = pairs.iter().filter(|p| p.before.grid != p.after.grid);
    let other = other.count();
    (other > 0).then(|| format!("other grid{}", share(other, pairs.len())))
}

/// In how many configurations, where that is not in all.
fn share(some: usize, all: usize) -> String {
    if some == all {
        String::new()
    } else {
        format!(", in {some} of {all} configurations")
    }
}
