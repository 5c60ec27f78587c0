//! One launch from its memory to its row.

use std::{rc::Rc, slice};

use super::{Geometry, Shape};
use crate::{
    device::{Buffer, Device, PreparedLaunch, prepare},
    experiments::{
        Experiment, Failure, Worker, memory, residency, timing,
        verify::{self, GUARD, POISON},
    },
    launch::Dim3,
    measure::{HOT_LAUNCHES, Outcome},
    random::Stream,
    report::{Cache, Row, Stage, Status},
};

/// Device memory in bytes for a size: input and output, the guard, and what allocations are rounded
/// up by.
pub(super) fn required(size: Dim3) -> u64 {
    size.count()
        .saturating_mul(8)
        .saturating_add(4 * GUARD + (4 << 20))
}

pub(super) struct GeometryWorker<'a> {
    experiment: &'a Geometry,
    device: Rc<dyn Device>,
    arrays: Option<Arrays>,
}

/// Arrays on the device, kept while the size stays the same.
struct Arrays {
    size: Dim3,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

/// The reference: an element times alpha, negated where its column plus its row is odd. Negation is
/// exact and the product is rounded once, so results agree to the bit.
struct Reference {
    input: Stream,
    alpha: f32,
    width: u64,
}

impl Reference {
    fn new(seed: u64, size: Dim3) -> Self {
        Self {
            input: Stream::new(seed, 0),
            alpha: Stream::new(seed, 1).f32(0),
            width: size.x.into(),
        }
    }

    fn expected(&self, i: u64) -> f32 {
        let odd = (i % self.width + i / self.width) % 2 == 1;
        let product = self.input.f32(i) * self.alpha;
        if odd { -product } else { product }
    }
}

impl<'a> GeometryWorker<'a> {
    pub(super) fn new(experiment: &'a Geometry, device: Rc<dyn Device>) -> Self {
        Self {
            experiment,
            device,
            arrays: None,
        }
    }

    fn attempt(&mut self, size: Dim3, shape: Shape, row: &mut Row) -> Result<Status, Failure> {
        let reference = Reference::new(self.experiment.seed, size);
        self.provide_arrays(size, &reference)?;
        let arrays = self
            .arrays
            .as_mut()
            .ok_or_else(|| Failure::new(Stage::Memory, "the arrays are not allocated"))?;
        arrays
            .output
            .fill(POISON)
            .map_err(Failure::at(Stage::Memory))?;
        let launch = bind(size, shape, reference.alpha, arrays);
        residency::fill(&*self.device, &launch.kernel, 0, row)?;
        let modelled = self.device.properties().modelled;
        let outcome = if modelled && self.experiment.measuring.cache == Cache::Cold {
            // A model is deterministic: the launch that is verified is also the one that counts.
            let outcome = self.measure(&launch, Stage::Launch)?;
            self.verify(size, &reference, row)?;
            outcome
        } else {
            self.device
                .launch_prepared(&launch)
                .map_err(Failure::at(Stage::Launch))?;
            self.verify(size, &reference, row)?;
            self.measure(&launch, Stage::Time)?
        };
        Ok(timing::report(&*self.device, outcome, row))
    }

    fn provide_arrays(&mut self, size: Dim3, reference: &Reference) -> Result<(), Failure> {
        if self
            .arrays
            .as_ref()
            .is_some_and(|arrays| arrays.size == size)
        {
            return Ok(());
        }
        self.arrays = None;
        let hint = |_| "use fewer elements, or free memory that other programs hold".to_owned();
        let cache = self.experiment.measuring.cache;
        memory::require(&*self.device, required(size), cache, hint)?;
        let at_memory = |error| Failure::at(Stage::Memory)(error);
        let elements = size.count();
        let input = Buffer::new(&self.device, elements as usize).map_err(at_memory)?;
        let output = Buffer::new(&self.device, (elements + GUARD) as usize).map_err(at_memory)?;
        verify::write_stream(&*self.device, input.address(), elements, reference.input)
            .map_err(at_memory)?;
        self.arrays = Some(Arrays {
            size,
            input,
            output,
        });
        Ok(())
    }

    /// Compares the whole output with the reference, and the guard with the poison.
    fn verify(&self, size: Dim3, reference: &Reference, row: &mut Row) -> Result<(), Failure> {
        let at_verification = |error| Failure::at(Stage::Verification)(error);
        let address = self
            .arrays
            .as_ref()
            .map_or(0, |arrays| arrays.output.address());
        let elements = size.count();
        let mismatch =
            verify::first_mismatch(&*self.device, address, elements, |i| reference.expected(i))
                .map_err(at_verification)?;
        if let Some(mismatch) = mismatch {
            let reason = format!("kernel {}: {mismatch}", row.kernel);
            return Err(Failure::new(Stage::Verification, reason));
        }
        let touched =
            verify::overwritten_guard(&*self.device, address, elements).map_err(at_verification)?;
        if let Some((index, value)) = touched {
            let reason = format!(
                "kernel {}: element {index} was overwritten with {value:e}, but only {elements} \
                 elements may be written",
                row.kernel
            );
            return Err(Failure::new(Stage::Verification, reason));
        }
        row.verified = true;
        Ok(())
    }

    fn measure(&self, launch: &PreparedLaunch, stage: Stage) -> Result<Outcome, Failure> {
        let measuring = &self.experiment.measuring;
        let sampling = measuring.sampling(&*self.device, HOT_LAUNCHES);
        measuring.measure(&*self.device, slice::from_ref(launch), sampling, stage)
    }
}

/// The launch with its arguments.
fn bind(size: Dim3, shape: Shape, alpha: f32, arrays: &mut Arrays) -> PreparedLaunch {
    let (config, input, out) = (shape.config(size), &arrays.input, &mut arrays.output);
    let Dim3 { x, y, z } = size;
    // Beyond 2^32 rows the grid is refused, so that nothing is launched with a clipped number.
    let rows = u32::try_from(u64::from(y) * u64::from(z)).unwrap_or(u32::MAX);
    match shape.dimensions {
        1 => prepare(
            kernels::CHECKERBOARD_1D,
            config,
            (x, rows, alpha, input, out),
        ),
        2 => prepare(
            kernels::CHECKERBOARD_2D,
            config,
            (x, rows, alpha, input, out),
        ),
        _ => prepare(
            kernels::CHECKERBOARD_3D,
            config,
            (x, y, z, alpha, input, out),
        ),
    }
}

impl Worker for GeometryWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        let (size, shape) = self.experiment.configurations[index];
        row.status = match self.attempt(size, shape, &mut row) {
            Ok(status) => status,
            Err(failure) => failure.into(),
        };
        row
    }
}
