//! Whether dimensionality costs anything, from the rows alone.

use serde_json::Value;

use super::{LAUNCH_AXIS, SIZE_AXIS, Shape};
use crate::report::{Row, Status};

/// Differences up to this share count as none, or up to the rows' own noise where that is more.
const NOTHING: f64 = 0.03;

/// One sentence per size on dimensions, and one on shapes.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut rest: Vec<&Row> = rows.iter().filter(|row| usable(row)).collect();
    while let Some(size) = rest.first().map(|row| text(row, SIZE_AXIS)) {
        let group: Vec<&Row>;
        (group, rest) = rest
            .into_iter()
            .partition(|row| text(row, SIZE_AXIS) == size);
        sentences.extend(sentence(&size, &group));
    }
    sentences
}

fn usable(row: &Row) -> bool {
    row.status == Status::Ok && row.verified && row.time.is_some()
}

fn text(row: &Row, axis: &str) -> String {
    let value = row.axes.get(axis).and_then(Value::as_str);
    value.unwrap_or_default().to_string()
}

fn nanoseconds(row: &Row) -> f64 {
    row.time.as_ref().map_or(0.0, |time| time.median_ns)
}

fn sentence(size: &str, group: &[&Row]) -> Option<String> {
    let is_line = |row: &&&Row| Shape::is_adjacent(row.block);
    let lines: Vec<&Row> = group.iter().filter(is_line).copied().collect();
    let base = *lines.first()?;
    if lines.len() < 2 || nanoseconds(base) <= 0.0 {
        return None;
    }
    let noise = |row: &Row| row.time.as_ref().map_or(0.0, |time| time.relative_noise);
    let tolerance = lines.iter().map(|row| noise(row)).fold(NOTHING, f64::max);
    let change = |row: &Row| nanoseconds(row) / nanoseconds(base) - 1.0;
    let worst = lines[1..]
        .iter()
        .map(|row| change(row))
        .fold(f64::MIN, f64::max);
    let best = lines[1..]
        .iter()
        .map(|row| change(row))
        .fold(f64::MAX, f64::min);
    let verdict = if worst > tolerance {
        format!("more dimensions cost up to {:.0} %", worst * 100.0)
    } else if best < -tolerance {
        format!(
            "more dimensions cost nothing; 1D, which has to divide for its coordinates, is up to \
             {:.0} % slower",
            (1.0 / (1.0 + best) - 1.0) * 100.0
        )
    } else {
        format!(
            "dimensions cost nothing: all within {:.0} %",
            tolerance * 100.0
        )
    };
    let times: Vec<String> = lines.iter().map(|row| time(row)).collect();
    let mut sentence = format!(
        "{size}: warps of adjacent elements, {}: {verdict}.",
        times.join(", ")
    );
    for row in group.iter().filter(|row| !is_line(row)) {
        let against = lines
            .iter()
            .map(|row| nanoseconds(row))
            .fold(f64::MAX, f64::min);
        let change = (nanoseconds(row) / against - 1.0) * 100.0;
        sentence += &format!(
            " {} against the best of them: {change:+.0} %.",
            text(row, LAUNCH_AXIS)
        );
    }
    Some(sentence)
}

fn time(row: &Row) -> String {
    let launch = text(row, LAUNCH_AXIS);
    let dimensions = launch.split(' ').next().unwrap_or_default();
    format!("{dimensions} {:.2} us", nanoseconds(row) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{Experiment, geometry::Geometry},
        report::{Cache, Times, Timing},
    };

    /// Rows of an image with these times in the order of the launches.
    fn rows(times: [f64; 5]) -> Vec<Row> {
        let geometry = Geometry::new(&[(1024, 1024).into()]);
        let row = |(index, median_ns): (usize, f64)| Row {
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
                relative_noise: 0.01,
                stopped_by: String::new(),
                throttled: 0,
            }),
            ..geometry.outline(index)
        };
        times.into_iter().enumerate().map(row).collect()
    }

    #[test]
    fn the_verdict_follows_the_times() {
        let same = conclusions(&rows([5000.0, 5050.0, 4950.0, 5050.0, 6000.0]));
        assert_eq!(same.len(), 1);
        assert!(
            same[0].contains("dimensions cost nothing: all within 3 %"),
            "{same:?}"
        );
        assert!(
            same[0].contains("1D 5.00 us, 2D 5.05 us, 3D 4.95 us"),
            "{same:?}"
        );
        assert!(
            same[0].contains("2D 16x16 against the best of them: +2 %."),
            "{same:?}"
        );
        assert!(
            same[0].contains("3D 16x16x1 against the best of them: +21 %."),
            "{same:?}"
        );
        let dear = conclusions(&rows([5000.0, 5000.0, 6000.0, 5000.0, 5000.0]));
        assert!(
            dear[0].contains("more dimensions cost up to 20 %"),
            "{dear:?}"
        );
        let division = conclusions(&rows([6000.0, 5000.0, 5000.0, 5000.0, 5000.0]));
        assert!(division[0].contains("up to 20 % slower"), "{division:?}");
    }

    #[test]
    fn unverified_rows_do_not_count() {
        let mut rows = rows([5000.0; 5]);
        rows[1].verified = false;
        rows[2].status = Status::Skipped {
            reason: "throttled".to_string(),
        };
        assert_eq!(conclusions(&rows), [""; 0]);
    }
}
