//! The kernels of the sweep: what each computes, how its grid follows from the size, what it moves.

use kernels::handle::{Declaration, Kernel};

use crate::{
    device::{Buffer, PreparedLaunch, prepare},
    launch::LaunchConfig,
    random::Stream,
};

/// `(n, a, b, c)`: c = a + b.
type AddSignature = (u64, *const f32, *const f32, *mut f32);
/// `(n, alpha, x, y)`: y = alpha x + y.
type SaxpySignature = (u64, f32, *const f32, *mut f32);

/// A kernel that streams through arrays of f32.
pub struct StreamKernel {
    /// What it computes, with its handle.
    pub operation: Operation,
    /// Blocks for a size.
    pub grid: GridRule,
    /// One line for `--list`.
    pub about: &'static str,
}

/// What is computed. The reference is the same operation on the CPU: f32 addition and fused
/// multiply-add are correctly rounded on both, so results agree bit for bit.
#[derive(Clone, Copy)]
pub enum Operation {
    /// c = a + b.
    Add(Kernel<AddSignature>),
    /// y = alpha x + y, in place, rounded once.
    Saxpy(Kernel<SaxpySignature>),
}

/// How many blocks cover a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridRule {
    /// One thread for so many elements.
    PerThread(u64),
    /// Any number of blocks: threads stride over the grid, so many elements at a time. By default
    /// as many blocks as the device holds at once, and no more than there is work for.
    Strided(u64),
}

/// Every kernel of the sweep, in the order of its rows.
pub const KERNELS: &[StreamKernel] = &[
    StreamKernel {
        operation: Operation::Add(kernels::VECTOR_ADD),
        grid: GridRule::PerThread(1),
        about: "c = a + b, one element per thread",
    },
    StreamKernel {
        operation: Operation::Add(kernels::VECTOR_ADD_X4),
        grid: GridRule::PerThread(4),
        about: "c = a + b, 16 bytes per thread and operand",
    },
    strided(
        kernels::VECTOR_ADD_STRIDED_1,
        1,
        "c = a + b, grid-stride loop",
    ),
    strided(
        kernels::VECTOR_ADD_STRIDED_2,
        2,
        "the same, 2 elements per iteration",
    ),
    strided(
        kernels::VECTOR_ADD_STRIDED_4,
        4,
        "the same, 4 elements per iteration",
    ),
    strided(
        kernels::VECTOR_ADD_STRIDED_8,
        8,
        "the same, 8 elements per iteration",
    ),
    StreamKernel {
        operation: Operation::Saxpy(kernels::SAXPY),
        grid: GridRule::PerThread(1),
        about: "y = alpha x + y, one element per thread",
    },
    StreamKernel {
        operation: Operation::Saxpy(kernels::SAXPY_UNROLLED),
        grid: GridRule::Strided(4),
        about: "y = alpha x + y, grid-stride loop, 4 elements per iteration",
    },
];

const fn strided(
    kernel: Kernel<AddSignature>,
    per_iteration: u64,
    about: &'static str,
) -> StreamKernel {
    StreamKernel {
        operation: Operation::Add(kernel),
        grid: GridRule::Strided(per_iteration),
        about,
    }
}

/// Kernels are told apart by their names.
impl PartialEq for StreamKernel {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl StreamKernel {
    /// The kernel's name, as in the PTX and on the command line.
    pub fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// Its declaration.
    pub fn declaration(&self) -> &'static Declaration {
        match self.operation {
            Operation::Add(kernel) => kernel.declaration(),
            Operation::Saxpy(kernel) => kernel.declaration(),
        }
    }

    /// Blocks of `block` threads for `elements`, at least one; `resident` is how many the device
    /// holds at once.
    pub fn blocks(&self, elements: u64, block: u32, resident: u64) -> u64 {
        let per_block = |per_thread| u64::from(block) * per_thread;
        match self.grid {
            GridRule::PerThread(per_thread) => elements.div_ceil(per_block(per_thread)),
            GridRule::Strided(per_thread) => resident.min(elements.div_ceil(per_block(per_thread))),
        }
        .max(1)
    }

    /// Bytes of one launch: each input read once, each output written once. Both operations read
    /// two floats and write one per element.
    pub fn bytes(&self, elements: u64) -> u64 {
        match self.operation {
            Operation::Add(_) | Operation::Saxpy(_) => elements.saturating_mul(3 * 4),
        }
    }

    /// Arrays of `elements` that it needs on the device.
    pub fn arrays(&self) -> u64 {
        self.operation.inputs() + 1
    }
}

/// The random inputs of a seed.
#[derive(Debug, Clone, Copy)]
pub struct Inputs {
    /// First array: a or x.
    pub first: Stream,
    /// Second array: b or y.
    pub second: Stream,
    /// alpha.
    pub alpha: f32,
}

impl Inputs {
    /// The inputs of a seed.
    pub fn new(seed: u64) -> Self {
        Self {
            first: Stream::new(seed, 0),
            second: Stream::new(seed, 1),
            alpha: Stream::new(seed, 2).f32(0),
        }
    }
}

impl Operation {
    /// Arrays that are only read.
    pub fn inputs(self) -> u64 {
        match self {
            Self::Add(_) => 2,
            Self::Saxpy(_) => 1,
        }
    }

    /// The stream that the output holds before a launch; `None` where it is only written.
    pub fn output_before(self, inputs: &Inputs) -> Option<Stream> {
        match self {
            Self::Add(_) => None,
            Self::Saxpy(_) => Some(inputs.second),
        }
    }

    /// The CPU reference: element `index` of the result.
    pub fn expected(self, inputs: &Inputs, index: u64) -> f32 {
        let (first, second) = (inputs.first.f32(index), inputs.second.f32(index));
        match self {
            Self::Add(_) => first + second,
            Self::Saxpy(_) => inputs.alpha.mul_add(first, second),
        }
    }

    /// Binds the launch. `inputs` holds as many arrays as [`Self::inputs`] says.
    pub fn prepare(
        self,
        config: LaunchConfig,
        elements: u64,
        alpha: f32,
        inputs: &[Buffer<f32>],
        output: &mut Buffer<f32>,
    ) -> PreparedLaunch {
        match self {
            Self::Add(kernel) => {
                prepare(kernel, config, (elements, &inputs[0], &inputs[1], output))
            }
            Self::Saxpy(kernel) => prepare(kernel, config, (elements, alpha, &inputs[0], output)),
        }
    }
}
