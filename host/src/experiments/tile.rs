//! What does the barrier between writing and reading a shared tile do?
//!
//! Each thread of a block writes one element of a tile of 256 and adds its neighbour's. Expected:
//! with the barrier every sum is right. Without it, sums at warp borders may be wrong, since the
//! neighbour's warp may not have written yet; within a warp the lanes usually run together. The
//! simulator finds the race itself, whatever the sums; a GPU runs on, and the mismatches are
//! counted. That race is deliberate: finding it is what is expected.
//!
//! Run: `cargo run --release --bin tile`

use std::rc::Rc;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    Experiment, Failure, Worker, memory, residency,
    verify::{self, GUARD, POISON},
};
use crate::{
    device::{Buffer, Device, DeviceError, KernelReference, PreparedLaunch, prepare},
    launch::{Dim3, LaunchConfig},
    quantity,
    random::Stream,
    report::{Cache, Row, Stage, Status},
};

/// Elements of a tile and threads of a block.
const TILE: u64 = kernels::tile::TILE as u64;
const WARP: u64 = 32;

/// With and without the barrier.
const BARRIERS: [bool; 2] = [true, false];

/// The tile, with and without its barrier.
pub struct Tile {
    /// Elements, at least 1.
    pub elements: u64,
    /// Launches of each kernel, at least 1.
    pub launches: u32,
    /// Seed of the inputs.
    pub seed: u64,
}

impl Tile {
    /// Device memory in bytes.
    pub fn required_memory(&self) -> u64 {
        self.elements
            .saturating_mul(8)
            .saturating_add(4 * GUARD + (4 << 20))
    }

    fn input(&self) -> Stream {
        Stream::new(self.seed, 0)
    }

    /// What element `i` must become: one addition, so that the order of the operands does not
    /// matter and the result is exact to the bit.
    fn expected(&self, i: u64) -> f32 {
        let input = self.input();
        input.f32(i) + input.f32(neighbour(i, self.elements))
    }
}

/// The neighbour within the tile; the last one's is the first.
fn neighbour(i: u64, elements: u64) -> u64 {
    let first = i / TILE * TILE;
    if i + 1 == elements.min(first + TILE) {
        first
    } else {
        i + 1
    }
}

impl Experiment for Tile {
    fn question(&self) -> &str {
        "What does the barrier between writing and reading a shared tile do?"
    }

    fn expectation(&self) -> &str {
        "With it every sum is right. Without it the sums at warp borders are wrong some of the \
         time: a data race, which the simulator finds whatever the sums."
    }

    fn work(&self) -> String {
        format!(
            "tile_neighbour, tile_neighbour_racy; {} elements of 4 bytes in tiles of {TILE}; {} \
             of each; random inputs of seed {}",
            quantity::display(self.elements),
            match self.launches {
                1 => "a launch".to_owned(),
                launches => format!("{launches} launches"),
            },
            self.seed
        )
    }

    fn len(&self) -> usize {
        BARRIERS.len()
    }

    fn outline(&self, index: usize) -> Row {
        let barrier = BARRIERS[index];
        let kernel = if barrier {
            kernels::TILE_NEIGHBOUR
        } else {
            kernels::TILE_NEIGHBOUR_RACY
        };
        let blocks = self.elements.div_ceil(TILE);
        Row {
            axes: Map::from_iter([
                ("barrier".to_string(), json!(barrier)),
                ("launches".to_string(), json!(0)),
                ("wrong sums".to_string(), Value::Null),
                ("at warp borders".to_string(), Value::Null),
                ("race".to_string(), Value::Null),
            ]),
            ..Row::outline(
                kernel.declaration().name,
                self.elements,
                Dim3::from(u32::try_from(blocks).unwrap_or(u32::MAX)),
                Dim3::from(TILE as u32),
            )
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(TileWorker {
            experiment: self,
            device,
        })
    }
}

struct TileWorker<'a> {
    experiment: &'a Tile,
    device: Rc<dyn Device>,
}

/// Wrong sums over all launches, and how many of them at the last lane of a warp.
#[derive(Default)]
struct Wrong {
    sums: u64,
    at_borders: u64,
}

impl TileWorker<'_> {
    fn attempt(&self, barrier: bool, row: &mut Row) -> Result<(), Failure> {
        let Tile { elements, .. } = *self.experiment;
        let kernel = if barrier {
            kernels::TILE_NEIGHBOUR
        } else {
            kernels::TILE_NEIGHBOUR_RACY
        };
        let reference = KernelReference::Declared(kernel.declaration());
        residency::fill(&*self.device, &reference, 0, row)?;
        let at_memory = |error| Failure::at(Stage::Memory)(error);
        self.check_memory()?;
        let input = Buffer::<f32>::new(&self.device, elements as usize).map_err(at_memory)?;
        let mut out =
            Buffer::<f32>::new(&self.device, (elements + GUARD) as usize).map_err(at_memory)?;
        let stream = self.experiment.input();
        verify::write_stream(&*self.device, input.address(), elements, stream)
            .map_err(at_memory)?;
        let config = LaunchConfig::for_elements(elements, TILE as u32);
        let launch = prepare(kernel, config, (elements, &input, &mut out));
        let mut wrong = Wrong::default();
        for number in 1..=self.experiment.launches {
            out.fill(POISON).map_err(at_memory)?;
            let raced = self.launch(&launch, barrier)?;
            row.axes.insert("launches".to_string(), json!(number));
            if let Some(race) = raced {
                row.axes.insert("race".to_string(), json!("found"));
                row.notes.push(format!(
                    "the race is deliberate, and this is what the simulator says: {race}"
                ));
                return Ok(());
            }
            self.count(&out, &mut wrong)?;
            row.axes.insert("wrong sums".to_string(), json!(wrong.sums));
            let borders = json!(wrong.at_borders);
            row.axes.insert("at warp borders".to_string(), borders);
            if barrier && wrong.sums > 0 {
                let mismatch =
                    verify::first_mismatch(&*self.device, out.address(), elements, |i| {
                        self.experiment.expected(i)
                    });
                let mismatch = mismatch.map_err(Failure::at(Stage::Verification))?;
                let first = mismatch.map_or_else(String::new, |first| format!(": {first}"));
                return Err(Failure::new(
                    Stage::Verification,
                    format!("kernel {}: {} wrong sums{first}", row.kernel, wrong.sums),
                ));
            }
        }
        if barrier {
            row.verified = true;
            row.axes.insert("race".to_string(), json!("none"));
            return Ok(());
        }
        if self.device.properties().modelled {
            return Err(Failure::new(
                Stage::Verification,
                "the barrier is missing, and the simulator has not found the race",
            ));
        }
        row.axes
            .insert("race".to_string(), json!("not looked for by a GPU"));
        row.notes.push(match wrong.sums {
            0 => "the race is deliberate; that every sum was right this time proves nothing: run \
                  it on the simulator, or under compute-sanitizer --tool racecheck"
                .to_string(),
            _ => "the race is deliberate: wrong sums are what is expected here".to_string(),
        });
        Ok(())
    }

    fn check_memory(&self) -> Result<(), Failure> {
        let required = self.experiment.required_memory();
        memory::require(&*self.device, required, Cache::Hot, |_| {
            "use fewer elements".to_owned()
        })
    }

    /// Launches; the text of the race that was found where one is to be expected.
    fn launch(&self, launch: &PreparedLaunch, barrier: bool) -> Result<Option<String>, Failure> {
        match self.device.launch_prepared(launch) {
            Ok(()) => Ok(None),
            Err(DeviceError::DataRace(text)) if !barrier => Ok(Some(text)),
            Err(error) => Err(Failure::at(Stage::Launch)(error)),
        }
    }

    fn count(&self, out: &Buffer<f32>, wrong: &mut Wrong) -> Result<(), Failure> {
        let elements = self.experiment.elements;
        let touched = verify::overwritten_guard(&*self.device, out.address(), elements)
            .map_err(Failure::at(Stage::Verification))?;
        if let Some((index, value)) = touched {
            return Err(Failure::new(
                Stage::Verification,
                format!(
                    "element {index} was overwritten with {value:e}, but only {elements} elements \
                     may be written"
                ),
            ));
        }
        let sums = out.to_vec().map_err(Failure::at(Stage::Verification))?;
        let (count, borders) = sums[..elements as usize]
            .par_iter()
            .enumerate()
            .filter(|&(i, sum)| sum.to_bits() != self.experiment.expected(i as u64).to_bits())
            .map(|(i, _)| (1, u64::from(i as u64 % WARP == WARP - 1)))
            .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        wrong.sums += count;
        wrong.at_borders += borders;
        Ok(())
    }
}

impl Worker for TileWorker<'_> {
    fn run(&mut self, index: usize) -> Row {
        let mut row = self.experiment.outline(index);
        row.status = match self.attempt(BARRIERS[index], &mut row) {
            Ok(()) => Status::Ok,
            Err(failure) => failure.into(),
        };
        row
    }
}

/// What the rows say about the barrier.
pub fn conclusions(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter(|row| row.status == Status::Ok)
        .map(|row| {
            let number = |name: &str| row.axes.get(name).and_then(Value::as_u64);
            let sums = row.elements.saturating_mul(number("launches").unwrap_or(0));
            match (
                row.axes.get("race").and_then(Value::as_str),
                number("wrong sums"),
            ) {
                (Some("found"), _) => {
                    "Without the barrier: the simulator stops at the race and names both sides \
                     (see the note); what the sums would have been is undefined."
                        .to_string()
                }
                (Some("none"), _) => format!("With the barrier: all {sums} sums are right."),
                (_, Some(wrong)) => format!(
                    "Without the barrier: {wrong} of {sums} sums are wrong, {} of them where the \
                     neighbour is in another warp.",
                    number("at warp borders").unwrap_or(0)
                ),
                _ => format!("{}: nothing was counted.", row.kernel),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stay_in_their_tile() {
        assert_eq!(neighbour(0, 1000), 1);
        assert_eq!(neighbour(255, 1000), 0);
        assert_eq!(neighbour(256, 1000), 257);
        // The last tile holds 232 elements.
        assert_eq!(neighbour(999, 1000), 768);
        assert_eq!(neighbour(512, 513), 512);
    }
}
