//! What the rows say: the best block of each variant, what it teaches, and what limits the best.

use serde_json::Value;

use super::{DETERMINISTIC_AXIS, LaunchKind, VARIANTS, Variant};
use crate::{
    quantity,
    report::{Row, Status},
};

/// Share of the plain read's bandwidth from which a reduction is as fast as reading.
const AS_FAST_AS_READING: f64 = 0.95;
/// Share of the device's peak from which memory is what limits reading: streams reach about 90 % of
/// it, and what latency limits far less.
const MEMORY_BOUND: f64 = 0.75;

/// One sentence per variant that has a verified time, and one on the fastest of each size, type and
/// operation.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let verified: Vec<Verified> = rows.iter().filter_map(Verified::of).collect();
    let work = quantity::distinct(verified.iter().map(Verified::work));
    let mut sentences = Vec::new();
    for variant in VARIANTS {
        let of_variant = || verified.iter().filter(|row| row.variant == variant);
        let best: Vec<&Row> = work
            .iter()
            .filter_map(|&work| fastest(of_variant().filter(|row| row.work() == work)))
            .map(|best| best.row)
            .collect();
        sentences.extend(best_blocks(&best, work.len()).map(|best| {
            let (name, teaches) = (variant.name, variant.teaches);
            format!("{name}: {best}: {teaches}.")
        }));
    }
    sentences.extend(same_bits(&verified));
    for work in work {
        let reductions = verified
            .iter()
            .filter(|row| row.work() == work && row.row.kernel.starts_with("reduce_"));
        sentences.extend(fastest(reductions).and_then(limit));
    }
    sentences
}

/// Which variants give the same bits in every run.
fn same_bits(verified: &[Verified]) -> Option<String> {
    let with = |same: bool| {
        verified.iter().filter(move |row| {
            row.row
                .axes
                .get(DETERMINISTIC_AXIS)
                .and_then(Value::as_bool)
                == Some(same)
        })
    };
    let same = quantity::distinct(with(true).map(|row| row.variant.name));
    // Integers of the same variant may be.
    let other = quantity::distinct(
        with(false).map(|row| match same.contains(&row.variant.name) {
            true => format!(
                "{} of {}",
                row.variant.name,
                row.suffix.replace('_', " of ")
            ),
            false => row.variant.name.to_owned(),
        }),
    );
    match (&same[..], &other[..]) {
        ([], []) => None,
        (_, []) => Some("Deterministic, with the same bits in every run: all of them.".to_owned()),
        ([], _) => Some("Deterministic, with the same bits in every run: none of them.".to_owned()),
        _ => Some(format!(
            "Deterministic, with the same bits in every run: all but {}.",
            other.join(", ")
        )),
    }
}

/// A row with a verified time.
struct Verified<'a> {
    row: &'a Row,
    variant: &'static Variant,
    /// Operation and type, as in the kernel's name.
    suffix: &'a str,
    median_ns: f64,
}

impl<'a> Verified<'a> {
    fn of(row: &'a Row) -> Option<Self> {
        let time = row.time.as_ref()?;
        if row.status != Status::Ok || !row.verified {
            return None;
        }
        let family = row.kernel.strip_prefix("reduce_").unwrap_or(&row.kernel);
        VARIANTS.iter().find_map(|variant| {
            let suffix = family.strip_prefix(variant.name)?.strip_prefix('_')?;
            (suffix.matches('_').count() == 1).then_some(Self {
                row,
                variant,
                suffix,
                median_ns: time.median_ns,
            })
        })
    }

    /// What was done, in whichever way.
    fn work(&self) -> (u64, &'a str) {
        (self.row.elements, self.suffix)
    }
}

fn fastest<'a, 'b>(rows: impl Iterator<Item = &'b Verified<'a>>) -> Option<&'b Verified<'a>>
where
    'a: 'b,
{
    rows.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))
}

/// The best blocks over all work; with the bandwidth where there is but one work.
fn best_blocks(best: &[&Row], works: usize) -> Option<String> {
    let blocks = best.iter().map(|row| row.block.x);
    let (least, most) = (blocks.clone().min()?, blocks.max()?);
    Some(match best {
        [row] if works == 1 => {
            let rate = row
                .gb_per_s
                .map_or_else(String::new, |rate| format!(", {} GB/s", significant(rate)));
            format!("best at block {least}{rate}")
        }
        _ if least == most => format!("best at block {least}"),
        _ => format!("best at blocks {least} to {most}, depending on the work"),
    })
}

/// Three significant digits, and no digit of a large number left out.
fn significant(value: f64) -> String {
    let places = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

fn limit(best: &Verified) -> Option<String> {
    let row = best.row;
    let share = row.share_of_read?;
    let limit = if share > 1.0 && best.variant.launch == LaunchKind::Overlapping {
        ": its launches overlap, which those of the plain read do not"
    } else if share < AS_FAST_AS_READING {
        // It reads as the plain read does, so that the difference is what comes after.
        match best.variant.vectorized {
            true => "; the rest is what launches and handing over results take",
            false => "",
        }
    } else if row
        .share_of_peak
        .is_some_and(|of_peak| of_peak >= MEMORY_BOUND)
    {
        ", so memory is the limit"
    } else {
        ", so reading is the limit, and not reducing"
    };
    Some(format!(
        "{} elements: {} is fastest with {:.1} % of the bandwidth of a plain read{limit}.",
        quantity::display(row.elements),
        row.kernel,
        share * 100.0
    ))
}
