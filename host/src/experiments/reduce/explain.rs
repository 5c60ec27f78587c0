//! What the rows say: the best block of each variant, what it teaches, and what limits the best.

use super::{VARIANTS, Variant};
use crate::report::{Row, Status};

/// Share of the plain read's bandwidth from which memory counts as the limit.
const MEMORY_BOUND: f64 = 0.95;

/// One sentence per variant and size that has a verified time, and one on the fastest.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.elements).collect();
    sizes.dedup();
    for variant in VARIANTS {
        let best = fastest(rows.iter().filter(|row| is_of(row, variant)));
        if let Some(row) = best {
            let rate = row
                .gb_per_s
                .map_or_else(String::new, |rate| format!(", {rate:.0} GB/s"));
            sentences.push(format!(
                "{}: best at block {}{rate}: {}.",
                variant.name, row.block.x, variant.teaches
            ));
        }
    }
    for elements in sizes {
        let reductions = rows
            .iter()
            .filter(|row| row.elements == elements && row.kernel.starts_with("reduce_"));
        sentences.extend(fastest(reductions).and_then(limit));
    }
    sentences
}

fn is_of(row: &Row, variant: &Variant) -> bool {
    let family = row.kernel.strip_prefix("reduce_").unwrap_or(&row.kernel);
    family
        .strip_prefix(variant.name)
        .is_some_and(|rest| rest.starts_with('_') && rest.matches('_').count() == 2)
}

fn median(row: &Row) -> f64 {
    row.time
        .as_ref()
        .map_or(f64::INFINITY, |time| time.median_ns)
}

fn fastest<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.filter(|row| row.status == Status::Ok && row.verified && row.time.is_some())
        .min_by(|a, b| median(a).total_cmp(&median(b)))
}

fn limit(best: &Row) -> Option<String> {
    let share = best.share_of_read?;
    let reads = format!("{:.1} % of the bandwidth of a plain read", share * 100.0);
    Some(if share >= MEMORY_BOUND {
        format!(
            "{} elements: {} is fastest with {reads}, so memory is the limit.",
            best.elements, best.kernel
        )
    } else {
        format!(
            "{} elements: {} is fastest with {reads}: launches and trips to the L2 are the limit.",
            best.elements, best.kernel
        )
    })
}
