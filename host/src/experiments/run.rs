//! Runs an experiment's configurations, and hands on their rows in order.

use std::{
    collections::BTreeMap,
    rc::Rc,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::{Experiment, Failure, Worker};
use crate::{
    device::{self, Device},
    report::{RecordData, Row, Stage, Status},
};

/// What the configurations run on.
pub enum Devices<'a> {
    /// One device, one configuration after the other: times are measured undisturbed.
    One(Rc<dyn Device>),
    /// A new device for each configuration, on so many threads. For simulated devices alone: their
    /// times are modelled, so that running side by side cannot disturb them, and a device without
    /// a past makes them the same on every machine.
    Many {
        /// Threads.
        count: usize,
        /// Opens one device.
        open: &'a (dyn Fn() -> device::Result<Rc<dyn Device>> + Sync),
    },
}

/// Runs every configuration and gives each row, with what was recorded for it, to `on_row`, in
/// order, as soon as it and all before it are there. Once `interrupted` is set no further configuration starts: the remaining rows are
/// skipped and say so.
pub fn run(
    experiment: &dyn Experiment,
    devices: Devices,
    interrupted: &AtomicBool,
    on_row: &mut dyn FnMut(Row, Vec<RecordData>),
) {
    let step = |worker: &mut dyn Worker, index| {
        if interrupted.load(Ordering::Relaxed) {
            let row = Row {
                status: Status::Skipped {
                    reason: "interrupted".to_string(),
                },
                ..experiment.outline(index)
            };
            (row, Vec::new())
        } else {
            (worker.run(index), worker.records())
        }
    };
    match devices {
        Devices::One(device) => {
            let mut worker = experiment.worker(device);
            for index in 0..experiment.len() {
                let (row, records) = step(&mut *worker, index);
                on_row(row, records);
            }
        }
        Devices::Many { count, open } => {
            let next = AtomicUsize::new(0);
            let (sender, rows) = mpsc::channel();
            thread::scope(|scope| {
                for _ in 0..count.clamp(1, experiment.len().max(1)) {
                    let (sender, next, step) = (sender.clone(), &next, &step);
                    scope.spawn(move || {
                        loop {
                            let index = next.fetch_add(1, Ordering::Relaxed);
                            if index >= experiment.len() {
                                break;
                            }
                            let mut worker = match open() {
                                Ok(device) => experiment.worker(device),
                                Err(error) => Box::new(Unopened {
                                    experiment,
                                    failure: Failure::at(Stage::Launch)(error),
                                }),
                            };
                            // The receiver is gone only when `on_row` panicked.
                            if sender.send((index, step(&mut *worker, index))).is_err() {
                                break;
                            }
                        }
                    });
                }
                drop(sender);
                let mut waiting = BTreeMap::new();
                let mut due = 0;
                for (index, outcome) in rows {
                    waiting.insert(index, outcome);
                    while let Some((row, records)) = waiting.remove(&due) {
                        on_row(row, records);
                        due += 1;
                    }
                }
            });
        }
    }
}

/// Stands in for the worker of a device that could not be opened.
struct Unopened<'a> {
    experiment: &'a dyn Experiment,
    failure: Failure,
}

impl Worker for Unopened<'_> {
    fn run(&mut self, index: usize) -> Row {
        Row {
            status: self.failure.clone().into(),
            ..self.experiment.outline(index)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{device::DeviceError, experiments::fake};

    /// Rows that take the longer the earlier they are.
    struct Countdown(usize);

    struct Slow<'a>(&'a Countdown);

    impl Experiment for Countdown {
        fn question(&self) -> &str {
            ""
        }
        fn expectation(&self) -> &str {
            ""
        }
        fn work(&self) -> String {
            String::new()
        }
        fn len(&self) -> usize {
            self.0
        }
        fn outline(&self, index: usize) -> Row {
            Row {
                elements: index as u64,
                ..fake::row()
            }
        }
        fn worker(&self, _: Rc<dyn Device>) -> Box<dyn Worker + '_> {
            Box::new(Slow(self))
        }
    }

    impl Worker for Slow<'_> {
        fn run(&mut self, index: usize) -> Row {
            thread::sleep(Duration::from_millis(2 * (self.0.0 - index) as u64));
            Row {
                status: Status::Ok,
                ..self.0.outline(index)
            }
        }
    }

    fn open() -> device::Result<Rc<dyn Device>> {
        Ok(fake::Fake::idle())
    }

    fn rows(devices: Devices, count: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        run(
            &Countdown(count),
            devices,
            &AtomicBool::new(false),
            &mut |row, _| rows.push(row),
        );
        rows
    }

    #[test]
    fn rows_come_in_order_whatever_finishes_first() {
        for count in [0, 1, 9] {
            let devices = Devices::Many {
                count: 4,
                open: &open,
            };
            let parallel = rows(devices, count);
            assert_eq!(parallel, rows(Devices::One(fake::Fake::idle()), count));
            let order: Vec<u64> = parallel.iter().map(|row| row.elements).collect();
            assert_eq!(order, (0..count as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_device_that_does_not_open_fails_every_row() {
        let open = || Err(DeviceError::Unavailable("gone".to_string()));
        let rows = rows(
            Devices::Many {
                count: 2,
                open: &open,
            },
            3,
        );
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|row| row.status
            == Status::Failed {
                stage: Stage::Launch,
                reason: "gone".to_string()
            }));
    }

    #[test]
    fn an_interrupt_skips_what_has_not_begun() {
        let interrupted = AtomicBool::new(false);
        let mut rows = Vec::new();
        run(
            &Countdown(5),
            Devices::One(fake::Fake::idle()),
            &interrupted,
            &mut |row, _| {
                rows.push(row);
                interrupted.store(rows.len() >= 2, Ordering::Relaxed);
            },
        );
        assert_eq!(rows.len(), 5);
        assert!(rows[..2].iter().all(|row| row.status == Status::Ok));
        assert!(rows[2..].iter().all(|row| row.status
            == Status::Skipped {
                reason: "interrupted".to_string()
            }));
    }
}
