//! One reduction from its memory to its row.

use std::{collections::HashMap, rc::Rc};

use super::{
    Arrays, Bound, Configuration, ElementType, Input, Operation, Reduce, Reference, hot_launches,
    setup, verify, verify::verify_left_behind,
};
use crate::{
    device::{Device, DeviceError, KernelReference},
    experiments::{Experiment, Failure, Worker, memory, residency, timing},
    quantity,
    report::{Row, Stage, Status},
};

pub(super) struct ReduceWorker<'a> {
    experiment: &'a Reduce,
    device: Rc<dyn Device>,
    arrays: Option<Arrays>,
    /// What the CPU says, kept from one configuration to the next.
    references: HashMap<(Operation, ElementType, u64, Input), Reference>,
}

impl<'a> ReduceWorker<'a> {
    pub(super) fn new(experiment: &'a Reduce, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            arrays: None,
            references: HashMap::new(),
        }
    }

    fn attempt(&mut self, configuration: &Configuration, row: &mut Row) -> Result<Status, Failure> {
        let kernel = KernelReference::Declared(configuration.kernel);
        // Before the arrays: what the device cannot run needs none.
        let mut bound = match Bound::new(&self.device, *configuration) {
            Ok(bound) => bound,
            Err(DeviceError::Unsupported(reason)) => return Ok(Status::Skipped { reason }),
            Err(error) => return Err(Failure::at(Stage::Launch)(error)),
        };
        self.provide_arrays(configuration)?;
        row.grid = bound.config().grid;
        residency::fill(
            &*self.device,
            &kernel,
            bound.config().dynamic_shared_bytes,
            row,
        )?;
        let launches = bound.sequence(self.arrays()?, Input::Random).len();
        row.launches = u32::try_from(launches).ok();
        for input in [Input::Whole, Input::Random] {
            if self.arrays()?.has(input) {
                let reference = self.reference(configuration, input);
                verify(&*self.device, &mut bound, self.arrays()?, input, &reference)?;
            }
        }
        row.verified = true;
        let sequence = bound.sequence(self.arrays()?, Input::Random);
        let blocks = bound.config().grid.x;
        let measuring = &self.experiment.measuring;
        let times = hot_launches(row.bytes.unwrap_or(0));
        let sampling = measuring.sampling(&*self.device, times);
        bound.poison().map_err(Failure::at(Stage::Memory))?;
        let outcome = measuring.measure(&*self.device, &sequence, sampling, Stage::Time)?;
        // Only here do launches follow each other at once, or overlap.
        let reference = self.reference(configuration, Input::Random);
        let when = " after the timed launches";
        if let Err(failure) = verify_left_behind(&bound, Input::Random, &reference, when) {
            row.verified = false;
            return Err(failure);
        }
        let status = timing::report(&*self.device, outcome, row);
        if let Some(asked) = configuration.grid.filter(|&asked| asked != blocks) {
            row.notes.push(format!(
                "{blocks} blocks rather than {asked}: a grid is whole clusters"
            ));
        }
        Ok(status)
    }

    fn arrays(&self) -> Result<&Arrays, Failure> {
        self.arrays
            .as_ref()
            .ok_or_else(|| Failure::new(Stage::Memory, "the arrays are not allocated"))
    }

    fn provide_arrays(&mut self, configuration: &Configuration) -> Result<(), Failure> {
        if self
            .arrays
            .as_ref()
            .is_some_and(|arrays| arrays.fit(configuration))
        {
            return Ok(());
        }
        self.arrays = None;
        let (element, n) = (configuration.element, configuration.n);
        memory::require(
            &*self.device,
            setup::required(element, n),
            self.experiment.measuring.cache,
            |available| {
                format!(
                    "the largest size that fits is {} elements, {} are asked for",
                    setup::largest(element, available),
                    quantity::display(n)
                )
            },
        )?;
        let arrays = Arrays::new(&self.device, element, n, self.experiment.seed)
            .map_err(Failure::at(Stage::Memory))?;
        self.arrays = Some(arrays);
        Ok(())
    }

    fn reference(&mut self, configuration: &Configuration, input: Input) -> Reference {
        let (operation, element, n) = (
            configuration.operation,
            configuration.element,
            configuration.n,
        );
        let stream = setup::stream(self.experiment.seed);
        *self
            .references
            .entry((operation, element, n, input))
            .or_insert_with(|| element.reference(operation, input, stream, n))
    }
}

impl Worker for ReduceWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        let configuration = self.experiment.configurations[index];
        row.status = match self.attempt(&configuration, &mut row) {
            Ok(status) => status,
            Err(failure) => failure.into(),
        };
        row
    }
}
