//! Does it cost anything to launch in two or three dimensions?
//!
//! The same work on images and volumes as 1D, 2D and 3D launches, each verified. Three launches give
//! every warp 32 adjacent elements, in blocks of 256, 32x8 and 32x8x1 threads: what differs between
//! them is dimensionality alone. Two more have the tiles of the textbooks, 16x16 and 8x8x4.
//! Expected: dimensionality costs nothing; a tile's shape may, since a warp's 32 elements lie in two
//! rows of 16 or four of 8, and since whole blocks at the edges do the less the more they stick out.
//!
//! Run: `cargo run --release --bin geometry`

mod compare;
mod worker;

use std::rc::Rc;

use serde_json::{Map, json};

pub use compare::conclusions;

use super::{Experiment, Measuring, Worker};
use crate::{
    device::Device,
    launch::{Dim3, LaunchConfig},
    report::{Cache, Row},
};

/// Name of the axis that tells launches apart.
pub const LAUNCH_AXIS: &str = "launch";
/// Name of the axis that holds the extents of the work.
pub const SIZE_AXIS: &str = "size";

/// How the work is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Dimensions: 1, 2 or 3.
    pub dimensions: u32,
    /// Threads of a block.
    pub block: Dim3,
}

/// Eight warps of adjacent elements, one after the other and one below the other.
const LINE: Dim3 = Dim3::new(256, 1, 1);
const ROWS: Dim3 = Dim3::new(32, 8, 1);
/// An image's tile.
const TILE: Dim3 = Dim3::new(16, 16, 1);
/// A volume's tile.
const BRICK: Dim3 = Dim3::new(8, 8, 4);

impl Shape {
    /// The launches of work of this size: whole warps of adjacent elements in 1D, 2D and 3D, then
    /// tiles in 2D and 3D.
    pub fn of(size: Dim3) -> [Self; 5] {
        let shape = |dimensions, block| Self { dimensions, block };
        let brick = if size.z == 1 { TILE } else { BRICK };
        [
            shape(1, LINE),
            shape(2, ROWS),
            shape(3, ROWS),
            shape(2, TILE),
            shape(3, brick),
        ]
    }

    /// Whether a warp's elements are adjacent.
    pub fn is_adjacent(block: Dim3) -> bool {
        block.x.is_multiple_of(32)
    }

    /// Its name in reports, for example `2D 16x16`.
    pub fn name(&self) -> String {
        let Dim3 { x, y, z } = self.block;
        match self.dimensions {
            1 => format!("1D {x}"),
            2 => format!("2D {x}x{y}"),
            _ => format!("3D {x}x{y}x{z}"),
        }
    }

    /// The grid that covers work of this size. In 2D the slices of a volume stand below each other.
    pub fn config(&self, size: Dim3) -> LaunchConfig {
        let [x, y, z] = size.to_array().map(u64::from);
        let extent = match self.dimensions {
            1 => [x * y * z, 1, 1],
            2 => [x, y * z, 1],
            _ => [x, y, z],
        };
        LaunchConfig::covering(extent, self.block)
    }
}

/// Work sizes, and how the launches are measured.
pub struct Geometry {
    configurations: Vec<(Dim3, Shape)>,
    /// Seed of the inputs.
    pub seed: u64,
    /// How samples are taken.
    pub measuring: Measuring,
}

impl Geometry {
    /// Every launch of every size. Settings are the defaults.
    pub fn new(sizes: &[Dim3]) -> Self {
        let launches = |&size: &Dim3| Shape::of(size).map(|shape| (size, shape));
        Self {
            configurations: sizes.iter().flat_map(launches).collect(),
            seed: 1,
            measuring: Measuring::default(),
        }
    }

    /// Device memory in bytes that the largest size needs.
    pub fn required_memory(&self) -> u64 {
        let required = |(size, _): &(Dim3, Shape)| worker::required(*size);
        self.configurations.iter().map(required).max().unwrap_or(0)
    }
}

impl Experiment for Geometry {
    fn question(&self) -> &str {
        "Does it cost anything to launch in two or three dimensions?"
    }

    fn expectation(&self) -> &str {
        "No: launches whose warps access the same memory take the same time, whatever their \
         dimensions. The shape of a tile may cost something, as threads beyond the edges do."
    }

    fn work(&self) -> String {
        let mut sizes: Vec<String> = Vec::new();
        for (size, _) in &self.configurations {
            let size = size_name(*size);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        format!(
            "checkerboard_1d, _2d and _3d on {} elements of 4 bytes; {} L2; random inputs of seed \
             {}; every result is verified",
            sizes.join(", "),
            match self.measuring.cache {
                Cache::Cold => "cold",
                Cache::Hot => "hot",
            },
            self.seed
        )
    }

    fn len(&self) -> usize {
        self.configurations.len()
    }

    fn outline(&self, index: usize) -> Row {
        let (size, shape) = self.configurations[index];
        let kernel = match shape.dimensions {
            1 => kernels::CHECKERBOARD_1D.declaration(),
            2 => kernels::CHECKERBOARD_2D.declaration(),
            _ => kernels::CHECKERBOARD_3D.declaration(),
        };
        let LaunchConfig { grid, block, .. } = shape.config(size);
        let blocks = grid.count();
        let threads = blocks.saturating_mul(block.count());
        let masked = threads.saturating_sub(size.count());
        Row {
            axes: Map::from_iter([
                (SIZE_AXIS.to_string(), json!(size_name(size))),
                (LAUNCH_AXIS.to_string(), json!(shape.name())),
                ("blocks".to_string(), json!(blocks)),
                ("threads".to_string(), json!(threads)),
                ("masked".to_string(), json!(masked)),
            ]),
            bytes: Some(size.count().saturating_mul(8)),

            ..Row::outline(kernel.name, size.count(), grid, block)
        }
    }

    fn worker(&self, device: Rc<dyn Device>) -> Box<dyn Worker + '_> {
        Box::new(worker::GeometryWorker::new(self, device))
    }
}

/// `1920x1080`, `512x512x64`.
fn size_name(size: Dim3) -> String {
    match size.z {
        1 => format!("{}x{}", size.x, size.y),
        z => format!("{}x{}x{z}", size.x, size.y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grid, blocks and masked threads of a size's launch of that name.
    fn launch(size: Dim3, name: &str) -> (Dim3, u64, u64) {
        let geometry = Geometry::new(&[size]);
        let row = (0..geometry.len())
            .map(|index| geometry.outline(index))
            .find(|row| row.axes[LAUNCH_AXIS] == name)
            .expect("a launch of that name");
        let number = |axis: &str| row.axes[axis].as_u64().expect("a number");
        assert_eq!(
            number("threads"),
            row.grid.count() * row.block.count(),
            "{row:?}"
        );
        (row.grid, number("blocks"), number("masked"))
    }

    #[test]
    fn a_square_image_has_no_masked_threads() {
        let grid = Dim3::new(64, 64, 1);
        assert_eq!(launch((1024, 1024).into(), "2D 16x16"), (grid, 4096, 0));
    }

    #[test]
    fn the_last_row_of_tiles_of_a_full_hd_image_is_half_masked() {
        let (grid, blocks, masked) = launch((1920, 1080).into(), "2D 16x16");
        assert_eq!((grid, blocks), (Dim3::new(120, 68, 1), 8160));
        // 2,088,960 threads for 2,073,600 pixels: 120 tiles of which 8 rows of 16 are idle.
        assert_eq!(masked, 2_088_960 - 2_073_600);
        assert_eq!(masked, 120 * 8 * 16);
    }

    #[test]
    fn a_volume_is_covered_by_bricks() {
        let (grid, blocks, masked) = launch((512, 512, 64).into(), "3D 8x8x4");
        assert_eq!((grid, blocks, masked), (Dim3::new(64, 64, 16), 65_536, 0));
    }

    #[test]
    fn odd_sizes_stick_out_on_both_edges() {
        let (grid, _, masked) = launch((17, 33).into(), "2D 16x16");
        assert_eq!((grid, masked), (Dim3::new(2, 3, 1), 32 * 48 - 17 * 33));
        let (grid, _, masked) = launch((9, 9, 5).into(), "3D 8x8x4");
        assert_eq!((grid, masked), (Dim3::new(2, 2, 2), 2048 - 405));
        let (grid, _, masked) = launch((9, 9, 5).into(), "1D 256");
        assert_eq!((grid, masked), (Dim3::new(2, 1, 1), 512 - 405));
    }
}
