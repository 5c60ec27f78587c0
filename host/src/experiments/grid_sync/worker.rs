//! One way on one grid, from its memory to its row.

use std::{collections::HashMap, rc::Rc, slice};

use kernels::handle::Kernel;

use super::{GridSync, Method, Shape, exchange};
use crate::{
    device::{Buffer, Device, DeviceError, PreparedLaunch, Sampling, prepare},
    experiments::{
        Experiment, Failure, Worker, memory, residency, timing,
        verify::{GUARD, POISON},
    },
    launch::LaunchConfig,
    measure::{self, Outcome},
    report::{Cache, Row, Stage, Status, Timing},
};

/// The bit of the barrier's word that turns over with each round.
const SENSE: u32 = 1 << 31;

fn threads(shape: Shape) -> u64 {
    u64::from(shape.blocks) * u64::from(shape.threads)
}

/// Device memory in bytes for a grid: two states per thread, the guard, the barrier's word, and what
/// allocations are rounded up by.
pub(super) fn required(shape: Shape) -> u64 {
    threads(shape) * 8 + 4 * GUARD + (4 << 20)
}

pub(super) struct GridSyncWorker<'a> {
    experiment: &'a GridSync,
    device: Rc<dyn Device>,
    grid: Option<Grid>,
}

/// Memory of a grid, kept while the shape stays the same.
struct Grid {
    shape: Shape,
    states: Buffer<u32>,
    barrier: Buffer<u32>,
    /// The first states, and those after so many rounds, once they were needed.
    initial: Vec<u32>,
    expected: HashMap<u32, Vec<u32>>,
    /// Whether the exchange was verified, with grid barriers and held-up blocks, and by launches.
    verified: bool,
    verified_by_launches: bool,
}

impl<'a> GridSyncWorker<'a> {
    pub(super) fn new(experiment: &'a GridSync, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            grid: None,
        }
    }

    fn attempt(&mut self, shape: Shape, method: Method, row: &mut Row) -> Result<Status, Failure> {
        residency::fill(&*self.device, &method.kernel(), 0, row)?;
        let mut grid = match self.grid.take() {
            Some(grid) if grid.shape == shape => grid,
            _ => self.allocate(shape)?,
        };
        let status = self.run_on(&mut grid, method, row);
        self.grid = Some(grid);
        status
    }

    fn allocate(&self, shape: Shape) -> Result<Grid, Failure> {
        let at_memory = |error| Failure::at(Stage::Memory)(error);
        memory::require(&*self.device, required(shape), Cache::Hot, |_| {
            "use fewer blocks or threads".to_owned()
        })?;
        let states = 2 * threads(shape) + GUARD;
        Ok(Grid {
            shape,
            states: Buffer::new(&self.device, states as usize).map_err(at_memory)?,
            barrier: Buffer::from_slice(&self.device, &[0]).map_err(at_memory)?,
            initial: exchange::initial(self.experiment.seed, threads(shape) as usize),
            expected: HashMap::new(),
            verified: false,
            verified_by_launches: false,
        })
    }

    fn run_on(&self, grid: &mut Grid, method: Method, row: &mut Row) -> Result<Status, Failure> {
        let rounds = self.experiment.rounds_of(method);
        let Shape { blocks, threads } = grid.shape;
        let config = LaunchConfig::new(blocks, threads);
        if method.is_cooperative() {
            let config = config.cooperative();
            // In the row's own name, before the kernel that verifies is refused.
            config
                .validate_residency(row.blocks_per_sm.unwrap_or(0), self.device.properties().sms)
                .map_err(|error| DeviceError::refused(&row.kernel, &error))
                .map_err(Failure::at(Stage::Launch))?;
            if !grid.verified {
                self.exchange_with_barriers(kernels::GRID_SYNC_SKEWED, grid, config, rounds)?;
                grid.verified = true;
            }
            if method == Method::Exchange {
                if self.device.properties().modelled {
                    return self.exchange_timed(grid, config, rounds, row);
                }
                self.exchange_with_barriers(kernels::GRID_SYNC_EXCHANGE, grid, config, rounds)?;
            }
            row.verified = true;
        } else {
            let modelled = self.device.properties().modelled;
            if modelled && method == Method::Graph {
                return Ok(Status::Skipped {
                    reason: "the simulator has no graphs of launches; relaunch verifies the kernel"
                        .to_string(),
                });
            }
            if !grid.verified_by_launches {
                self.exchange_by_launches(grid, config, rounds)?;
            }
            row.verified = true;
            if modelled {
                row.notes.push(
                    "no time: the simulator models what a kernel takes, not what it costs to \
                     launch one"
                        .to_string(),
                );
                return Ok(Status::Ok);
            }
        }
        let launch = match method {
            Method::GridBarrier => prepare(
                kernels::GRID_SYNC_ROUNDS,
                config.cooperative(),
                (rounds, &mut grid.barrier),
            ),
            Method::Exchange => prepare(
                kernels::GRID_SYNC_EXCHANGE,
                config.cooperative(),
                (rounds, &mut grid.barrier, &mut grid.states),
            ),
            Method::Relaunch | Method::Graph => {
                prepare(kernels::GRID_SYNC_STEP, config, (0_u32, &mut grid.states))
            }
        };
        let outcome = self.measure(&launch, method, rounds, Stage::Time)?;
        if method.is_cooperative() {
            check_word(&grid.barrier)?;
        }
        Ok(report_time(outcome, method, rounds, row))
    }

    /// A model is deterministic: the launch that is verified is also the one that counts.
    fn exchange_timed(
        &self,
        grid: &mut Grid,
        config: LaunchConfig,
        rounds: u32,
        row: &mut Row,
    ) -> Result<Status, Failure> {
        grid.reset(&*self.device)?;
        let arguments = (rounds, &mut grid.barrier, &mut grid.states);
        let launch = prepare(kernels::GRID_SYNC_EXCHANGE, config, arguments);
        let outcome = self.measure(&launch, Method::Exchange, rounds, Stage::Launch)?;
        check_word(&grid.barrier)?;
        grid.verify(rounds, "grid_sync_exchange")?;
        row.verified = true;
        Ok(report_time(outcome, Method::Exchange, rounds, row))
    }

    /// Runs the exchange in one launch, and compares the states after it with the reference.
    fn exchange_with_barriers(
        &self,
        kernel: Kernel<(u32, *mut u32, *mut u32)>,
        grid: &mut Grid,
        config: LaunchConfig,
        rounds: u32,
    ) -> Result<(), Failure> {
        grid.reset(&*self.device)?;
        let arguments = (rounds, &mut grid.barrier, &mut grid.states);
        self.device
            .launch(kernel, config, arguments)
            .map_err(Failure::at(Stage::Launch))?;
        check_word(&grid.barrier)?;
        grid.verify(rounds, kernel.declaration().name)
    }

    /// The same with one launch per round.
    fn exchange_by_launches(
        &self,
        grid: &mut Grid,
        config: LaunchConfig,
        rounds: u32,
    ) -> Result<(), Failure> {
        grid.reset(&*self.device)?;
        for round in 0..rounds {
            self.device
                .launch(kernels::GRID_SYNC_STEP, config, (round, &mut grid.states))
                .map_err(Failure::at(Stage::Launch))?;
        }
        grid.verify(rounds, "grid_sync_step")?;
        grid.verified_by_launches = true;
        Ok(())
    }

    fn measure(
        &self,
        launch: &PreparedLaunch,
        method: Method,
        rounds: u32,
        stage: Stage,
    ) -> Result<Outcome, Failure> {
        let sampling = match method {
            // The rounds of one launch outweigh what starting it costs.
            Method::GridBarrier | Method::Exchange => Sampling::Stream { launches: 1 },
            Method::Relaunch => Sampling::Stream { launches: rounds },
            Method::Graph => Sampling::Hot { launches: rounds },
        };
        self.experiment
            .measuring
            .measure(&*self.device, slice::from_ref(launch), sampling, stage)
    }
}

impl Grid {
    /// The first states in the first half; what no kernel writes by chance in all else.
    fn reset(&mut self, device: &dyn Device) -> Result<(), Failure> {
        let at_memory = |error| Failure::at(Stage::Memory)(error);
        self.states.fill(POISON).map_err(at_memory)?;
        let initial = bytemuck::cast_slice(&self.initial);
        device
            .write_bytes(self.states.address(), initial)
            .map_err(at_memory)
    }

    /// Compares the states after `rounds` rounds with the reference, and the guard with the poison.
    fn verify(&mut self, rounds: u32, kernel: &str) -> Result<(), Failure> {
        let fail = |reason: String| {
            let reason = format!("kernel {kernel}: {reason}");
            Err(Failure::new(Stage::Verification, reason))
        };
        let Shape { blocks, threads } = self.shape;
        let initial = &self.initial;
        let expected = self.expected.entry(rounds).or_insert_with(|| {
            exchange::after(initial.clone(), rounds, blocks as usize, threads as usize)
        });
        let states = self
            .states
            .to_vec()
            .map_err(Failure::at(Stage::Verification))?;
        let (halves, guard) = states.split_at(2 * expected.len());
        let (even, odd) = halves.split_at(expected.len());
        let last = if rounds.is_multiple_of(2) { even } else { odd };
        let wrong = |(index, (got, expected)): (usize, (&u32, &u32))| {
            (got != expected).then_some((index, *got, *expected))
        };
        let mut differing = last.iter().zip(&*expected).enumerate().filter_map(wrong);
        if let Some((index, got, expected)) = differing.next() {
            let (block, thread) = (index / threads as usize, index % threads as usize);
            return fail(format!(
                "after {rounds} rounds the state of thread {thread} of block {block} is {got:#010x}, \
                 expected {expected:#010x}, and {} other states are wrong: a block went on before \
                 the data of another was there, or a launch did not do its round",
                differing.count()
            ));
        }
        let poison = u32::from_ne_bytes([POISON; 4]);
        match guard.iter().position(|value| *value != poison) {
            Some(index) => fail(format!(
                "word {index} behind the states was overwritten with {:#010x}",
                guard[index]
            )),
            None => Ok(()),
        }
    }
}

/// Between launches the bits below the sense must be 0: every block has arrived in every round.
fn check_word(barrier: &Buffer<u32>) -> Result<(), Failure> {
    let word = barrier
        .to_vec()
        .map_err(Failure::at(Stage::Verification))?
        .first()
        .map_or(0, |word| word & !SENSE);
    if word == 0 {
        return Ok(());
    }
    Err(Failure::new(
        Stage::Verification,
        format!("the barrier's word counts {word} arrivals after its last round: 0 is required"),
    ))
}

/// Puts a series' times into the row.
fn report_time(outcome: Outcome, method: Method, rounds: u32, row: &mut Row) -> Status {
    match outcome {
        Outcome::Timed(timing) => {
            row.notes.extend(measure::throttled(&timing));
            row.time = Some(if method.is_cooperative() {
                per_round(timing, rounds)
            } else {
                timing
            });
            Status::Ok
        }
        Outcome::Throttled { discarded } => timing::throttled(discarded),
    }
}

/// The times of one of so many rounds.
fn per_round(timing: Timing, rounds: u32) -> Timing {
    let rounds = f64::from(rounds);
    Timing {
        median_ns: timing.median_ns / rounds,
        lower_quartile_ns: timing.lower_quartile_ns / rounds,
        upper_quartile_ns: timing.upper_quartile_ns / rounds,
        minimum_ns: timing.minimum_ns / rounds,
        maximum_ns: timing.maximum_ns / rounds,
        ..timing
    }
}

impl Worker for GridSyncWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        let (shape, method) = self.experiment.configuration(index);
        row.status = match self.attempt(shape, method, &mut row) {
            Ok(status) => status,
            Err(failure) => failure.into(),
        };
        row
    }
}
