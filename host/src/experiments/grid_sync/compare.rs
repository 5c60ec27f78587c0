//! What the barrier costs against a launch per round, from the rows alone.

use serde_json::Value;

use super::{METHOD_AXIS, Method};
use crate::report::{Row, Status, Times};

/// A sentence per grid with ratios; of modelled times, one on their range.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    let timed: Vec<&Row> = rows
        .iter()
        .filter(|row| row.status == Status::Ok && row.verified && row.time.is_some())
        .collect();
    let modelled = |row: &&Row| {
        let times = row.time.as_ref().map(|time| time.times);
        times == Some(Times::Modelled)
    };
    if timed.iter().any(modelled) {
        return modelled_range(&timed).into_iter().collect();
    }
    let mut sentences = Vec::new();
    for barrier in timed.iter().filter(|row| is(row, Method::GridBarrier)) {
        let same = |row: &&&Row| (row.grid, row.block) == (barrier.grid, barrier.block);
        let of = |method| timed.iter().filter(same).find(|row| is(row, method));
        let mut sentence = format!(
            "{}x{}: a grid barrier takes {}",
            barrier.grid.x,
            barrier.block.x,
            time(barrier)
        );
        if let Some(exchange) = of(Method::Exchange) {
            sentence += &format!("; a round of the exchange with it {}", time(exchange));
            let against = [
                (Method::Relaunch, "relaunched"),
                (Method::Graph, "in a graph"),
            ];
            for (row, how) in against
                .into_iter()
                .filter_map(|(method, how)| Some((of(method)?, how)))
            {
                sentence += &format!(
                    ", {how} {} (ratio {:.2})",
                    time(row),
                    nanoseconds(exchange) / nanoseconds(row)
                );
            }
        }
        sentences.push(sentence + ".");
    }
    sentences
}

fn modelled_range(rows: &[&Row]) -> Option<String> {
    let barriers: Vec<&&Row> = rows
        .iter()
        .filter(|row| is(row, Method::GridBarrier))
        .collect();
    let by_time = |a: &&&&Row, b: &&&&Row| nanoseconds(a).total_cmp(&nanoseconds(b));
    let (least, most) = (
        barriers.iter().min_by(by_time)?,
        barriers.iter().max_by(by_time)?,
    );
    Some(format!(
        "Modelled, a grid barrier takes {} at {}x{} to {} at {}x{}. What a launch costs is not \
         modelled: measure on a GPU to compare.",
        time(least),
        least.grid.x,
        least.block.x,
        time(most),
        most.grid.x,
        most.block.x
    ))
}

fn is(row: &Row, method: Method) -> bool {
    row.axes.get(METHOD_AXIS).and_then(Value::as_str) == Some(method.name())
}

fn nanoseconds(row: &Row) -> f64 {
    row.time.as_ref().map_or(0.0, |time| time.median_ns)
}

fn time(row: &Row) -> String {
    format!("{:.3} us", nanoseconds(row) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{
            Experiment, Measuring,
            grid_sync::{GridSync, Shape},
        },
        report::{Cache, Timing},
    };

    /// The rows of one grid with these times in the order of the methods.
    fn rows(times: Times, nanoseconds: [f64; 4]) -> Vec<Row> {
        let experiment = GridSync {
            shapes: vec![Shape {
                blocks: 132,
                threads: 32,
            }],
            methods: Method::ALL.to_vec(),
            rounds: 100,
            seed: 1,
            measuring: Measuring::default(),
        };
        let row = |(index, median_ns): (usize, f64)| Row {
            status: Status::Ok,
            verified: true,
            time: Some(Timing {
                times,
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
            }),
            ..experiment.outline(index)
        };
        nanoseconds.into_iter().enumerate().map(row).collect()
    }

    #[test]
    fn ratios_compare_the_same_work() {
        let mut rows = rows(Times::Measured, [900.0, 1500.0, 3000.0, 1000.0]);
        assert_eq!(
            conclusions(&rows),
            [
                "132x32: a grid barrier takes 0.900 us; a round of the exchange with it 1.500 us, \
                 relaunched 3.000 us (ratio 0.50), in a graph 1.000 us (ratio 1.50)."
            ]
        );
        rows[2].verified = false;
        rows[3].time = None;
        assert_eq!(
            conclusions(&rows),
            ["132x32: a grid barrier takes 0.900 us; a round of the exchange with it 1.500 us."]
        );
    }

    #[test]
    fn modelled_times_are_compared_with_no_launch() {
        let sentences = conclusions(&rows(Times::Modelled, [900.0, 1500.0, 1.0, 1.0]));
        assert_eq!(sentences.len(), 1);
        assert!(
            sentences[0].starts_with("Modelled, a grid barrier takes 0.900 us at 132x32 to"),
            "{sentences:?}"
        );
    }
}
