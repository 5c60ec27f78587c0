//! The best block of each kernel, and one sentence why, from the rows alone.

use crate::report::{Row, Status};

/// Share of the peak from which memory counts as saturated: streams reach about 90 to 97 % of it.
const SATURATED: f64 = 0.85;
/// Growth from one block size to its double that counts as doubling.
const DOUBLING: f64 = 1.8;
/// Rows within this share of the best are as good as the best.
const AS_GOOD: f64 = 0.98;

/// One sentence per kernel and size that has a verified bandwidth.
pub fn best(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut rest: Vec<&Row> = rows.iter().filter(|row| usable(row)).collect();
    while let Some(first) = rest.first().copied() {
        let group: Vec<&Row>;
        (group, rest) = rest
            .into_iter()
            .partition(|row| row.kernel == first.kernel && row.elements == first.elements);
        sentences.extend(sentence(&group));
    }
    sentences
}

fn usable(row: &Row) -> bool {
    row.status == Status::Ok && row.verified && row.gb_per_s.is_some_and(|value| value > 0.0)
}

fn bandwidth(row: &Row) -> f64 {
    row.gb_per_s.unwrap_or(0.0)
}

fn sentence(group: &[&Row]) -> Option<String> {
    let mut by_block = group.to_vec();
    by_block.sort_by_key(|row| row.block.x);
    let best = *by_block
        .iter()
        .max_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)))?;
    let share = best
        .share_of_peak
        .map(|share| format!(" ({:.1} % of peak)", share * 100.0))
        .unwrap_or_default();
    Some(format!(
        "{}: best at block {} with {:.0} GB/s{share}: {}.",
        best.kernel,
        best.block.x,
        bandwidth(best),
        why(&by_block, best)
    ))
}

fn why(by_block: &[&Row], best: &Row) -> String {
    let as_good: Vec<&Row> = by_block
        .iter()
        .copied()
        .filter(|row| bandwidth(row) >= AS_GOOD * bandwidth(best))
        .collect();
    let doubling = doubling_until(by_block);
    if best.share_of_peak.is_some_and(|share| share > 1.0) {
        return "more than memory can deliver, so caches serve part of it: take a larger --size"
            .to_string();
    }
    if best.share_of_peak.is_some_and(|share| share >= SATURATED) {
        let from = as_good.first().map_or(best.block.x, |row| row.block.x);
        return format!("memory is saturated from block {from} on");
    }
    if by_block.len() == 1 {
        return "the only block that was tried".to_string();
    }
    if let Some((until, rate)) = doubling {
        let limit = format!(
            "up to block {until} it doubles with the block, since blocks start at {rate:.2} per ns whatever their size"
        );
        return if until == best.block.x {
            format!("{limit}, and larger blocks may go on")
        } else {
            format!("{limit}; beyond, bytes in flight and occupancy decide")
        };
    }
    let occupancy = |row: &Row| row.occupancy.unwrap_or(0.0);
    let fuller = by_block.iter().all(|row| {
        as_good.iter().any(|good| good.block == row.block) || occupancy(row) < occupancy(best)
    });
    if fuller && as_good.len() < by_block.len() {
        return format!(
            "it keeps the most warps resident (occupancy {:.0} %), and so the most bytes in flight",
            occupancy(best) * 100.0
        );
    }
    if as_good.len() == by_block.len() {
        return "all blocks are within 2 %, so the block size is not what limits it".to_string();
    }
    "neither memory nor occupancy is exhausted: latency decides".to_string()
}

/// The block up to which bandwidth doubles with it, and the blocks per nanosecond there.
fn doubling_until(by_block: &[&Row]) -> Option<(u32, f64)> {
    let mut until = None;
    for pair in by_block.windows(2) {
        let doubles = pair[1].block.x == 2 * pair[0].block.x
            && bandwidth(pair[1]) >= DOUBLING * bandwidth(pair[0]);
        if !doubles {
            break;
        }
        let time = pair[1].time.as_ref()?;
        until = Some((pair[1].block.x, f64::from(pair[1].grid.x) / time.median_ns));
    }
    until
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::fake,
        report::{Cache, Times, Timing},
    };

    /// Rows of one element per thread, with these bandwidths at blocks 32, 64, …
    fn rows(bandwidths: &[f64]) -> Vec<Row> {
        bandwidths
            .iter()
            .enumerate()
            .map(|(index, &gb_per_s)| {
                let block = 32 << index;
                let median_ns = 12.0 * (1 << 28) as f64 / gb_per_s;
                Row {
                    kernel: "vector_add".to_string(),
                    elements: 1 << 28,
                    grid: ((1 << 28) / block).into(),
                    block: block.into(),
                    occupancy: Some(f64::min(1.0, f64::from(block) / 64.0)),
                    status: Status::Ok,
                    verified: true,
                    time: Some(Timing {
                        times: Times::Measured,
                        cache: Cache::Cold,
                        samples: 10,
                        median_ns,
                        lower_quartile_ns: median_ns,
                        upper_quartile_ns: median_ns,
                        minimum_ns: median_ns,
                        maximum_ns: median_ns,
                        relative_noise: 0.0,
                        stopped_by: String::new(),
                        throttled: 0,
                    }),
                    gb_per_s: Some(gb_per_s),
                    share_of_peak: Some(gb_per_s / 4800.0),
                    share_of_read: None,
                    launches: None,
                    ..fake::row()
                }
            })
            .collect()
    }

    #[test]
    fn the_shape_of_an_h200_is_explained() {
        let scalar = best(&rows(&[638.0, 1276.0, 2535.0, 3496.0, 3281.0, 3002.0]));
        assert_eq!(
            scalar,
            [
                "vector_add: best at block 256 with 3496 GB/s (72.8 % of peak): up to block 128 it \
                 doubles with the block, since blocks start at 1.65 per ns whatever their size; \
                 beyond, bytes in flight and occupancy decide."
            ]
        );
        let vector = best(&rows(&[2552.0, 4384.0, 4384.0, 4384.0, 4374.0, 4404.0]));
        assert_eq!(
            vector,
            [
                "vector_add: best at block 1024 with 4404 GB/s (91.8 % of peak): memory is saturated from block 64 on."
            ]
        );
    }

    #[test]
    fn other_shapes() {
        let still_doubling = &best(&rows(&[100.0, 200.0]))[0];
        assert!(
            still_doubling.contains("larger blocks may go on"),
            "{still_doubling}"
        );
        let occupancy = &best(&rows(&[1000.0, 1500.0, 1490.0]))[0];
        assert!(occupancy.contains("occupancy 100 %"), "{occupancy}");
        let flat = &best(&rows(&[1000.0, 1001.0]))[0];
        assert!(flat.contains("within 2 %"), "{flat}");
        let latency = &best(&rows(&[1000.0, 1500.0, 1200.0]))[0];
        assert!(latency.contains("latency decides"), "{latency}");
        let cached = &best(&rows(&[5000.0]))[0];
        assert!(cached.contains("caches serve part of it"), "{cached}");
        let one = &best(&rows(&[500.0]))[0];
        assert!(one.contains("the only block"), "{one}");
    }

    #[test]
    fn groups_by_kernel_and_size_and_passes_over_what_failed() {
        let mut all = rows(&[100.0, 120.0]);
        let mut other = rows(&[300.0, 900.0]);
        other[0].kernel = "saxpy".to_string();
        other[1].kernel = "saxpy".to_string();
        other[1].verified = false;
        all.append(&mut other);
        let sentences = best(&all);
        assert_eq!(sentences.len(), 2);
        assert!(sentences[1].starts_with("saxpy: best at block 32 with 300 GB/s"));
        assert_eq!(best(&[fake::row()]), [""; 0]);
    }
}
