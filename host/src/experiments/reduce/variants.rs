//! The ladder: what each variant is, what it teaches, and how it is launched.

use kernels::handle::Declaration;

use super::element::{ElementType, Operation};
use crate::{
    device::{KernelReference, PreparedLaunch},
    launch::LaunchConfig,
};

/// One way to reduce.
#[derive(Debug, PartialEq)]
pub struct Variant {
    /// Its name, as on the command line and in its kernels' names.
    pub name: &'static str,
    /// Launches, and what they pass to each other.
    pub scheme: Scheme,
    /// Whether threads load 16-byte vectors, several at a time, rather than single elements.
    pub vectorized: bool,
    /// Whether a block keeps one element per thread in dynamic shared memory.
    pub shared: bool,
    /// How its launches differ from plain ones.
    pub launch: LaunchKind,
    /// What it adds to the ones before, and what is to be seen.
    pub teaches: &'static str,
}

/// How many launches, and what they pass to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// One launch that reads all there is and leaves a result per thread: the measure of the rest.
    Read,
    /// One result per block, and the same kernel again over those with one block.
    TwoPasses,
    /// A launch that clears the result, and one that adds to it with atomics.
    Accumulate,
    /// One launch with scratch memory, which the next launch finds as this one did.
    OnePass,
    /// [`Self::OnePass`] in which the first of several blocks takes no data: it waits for the others'
    /// results, so that a second one must be resident beside it.
    Gather,
}

/// How launches differ from plain ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchKind {
    /// Not at all.
    Plain,
    /// All blocks are resident at once.
    Cooperative,
    /// Blocks run in clusters.
    Clustered,
    /// One may begin before the one before it has ended.
    Overlapping,
}

/// Every variant, from the simplest on.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "read",
        scheme: Scheme::Read,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "a plain read of the data, no reduction beyond the thread: the bandwidth that the others are measured by",
    },
    Variant {
        name: "interleaved",
        scheme: Scheme::TwoPasses,
        vectorized: false,
        shared: true,
        launch: LaunchKind::Plain,
        teaches: "a tree in shared memory whose active threads lie scattered: all warps execute all steps",
    },
    Variant {
        name: "sequential",
        scheme: Scheme::TwoPasses,
        vectorized: false,
        shared: true,
        launch: LaunchKind::Plain,
        teaches: "the same tree with neighbours active: whole warps fall idle, lanes use different banks",
    },
    Variant {
        name: "unrolled",
        scheme: Scheme::TwoPasses,
        vectorized: false,
        shared: true,
        launch: LaunchKind::Plain,
        teaches: "the last warp goes on alone with warp barriers: fewer block barriers",
    },
    Variant {
        name: "shuffle",
        scheme: Scheme::TwoPasses,
        vectorized: false,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "warps reduce from register to register: one block barrier in all",
    },
    Variant {
        name: "vectorized",
        scheme: Scheme::TwoPasses,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "four 16-byte loads in flight per thread: a large sum becomes as fast as memory",
    },
    Variant {
        name: "atomic",
        scheme: Scheme::Accumulate,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "blocks add to one result in whatever order they finish: float sums differ in their last bits",
    },
    Variant {
        name: "last_block",
        scheme: Scheme::OnePass,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "the block that draws the last ticket finishes the work: the second launch is saved",
    },
    Variant {
        name: "grid_barrier",
        scheme: Scheme::OnePass,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Cooperative,
        teaches: "all blocks wait at a grid barrier before the first finishes: the grid must be resident as a whole",
    },
    Variant {
        name: "gather",
        scheme: Scheme::Gather,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "the first block waits at slots that hold value and mark in one word: no fence, no counter",
    },
    Variant {
        name: "redux",
        scheme: Scheme::Gather,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Plain,
        teaches: "the warp's own instruction instead of five shuffles (32-bit integers, compute capability 8.0)",
    },
    Variant {
        name: "cluster",
        scheme: Scheme::OnePass,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Clustered,
        teaches: "blocks of a cluster hand their results over in shared memory (compute capability 9.0)",
    },
    Variant {
        name: "overlapped",
        scheme: Scheme::Gather,
        vectorized: true,
        shared: false,
        launch: LaunchKind::Overlapping,
        teaches: "gather, launched so that it takes its places before the launch before it ends (compute capability 9.0)",
    },
];

/// 16-byte vectors that a thread of the vectorised kernels loads before it uses the first.
const VECTORS_IN_FLIGHT: u64 = 4;

/// The variant of that name.
pub fn variant(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| variant.name == name)
}

impl Variant {
    /// The kernel for an operation and a type; `None` where the variant has none.
    pub fn kernel(
        &self,
        operation: Operation,
        element: ElementType,
    ) -> Option<&'static Declaration> {
        let family = match self.scheme {
            Scheme::Read => self.name.to_owned(),
            _ => format!("reduce_{}", self.name),
        };
        declaration(&format!("{family}_{}_{}", operation.name(), element.name()))
    }

    /// Whether every run gives the same bits: integers do in any order.
    pub fn deterministic(&self, operation: Operation, element: ElementType) -> bool {
        self.scheme != Scheme::Accumulate || !element.is_float() || operation != Operation::Sum
    }

    /// Blocks for `n` elements, at least one: no more than have work, nor than `resident`.
    pub fn blocks(&self, n: u64, element: ElementType, block: u32, resident: u64) -> u64 {
        let per_thread = if self.vectorized {
            VECTORS_IN_FLIGHT * element.lanes()
        } else {
            1
        };
        let working = n.div_ceil(u64::from(block).max(1) * per_thread).max(1);
        let gatherer = u64::from(self.scheme == Scheme::Gather && working > 1);
        (working + gatherer).min(resident.max(1))
    }

    /// Values that its first launch leaves besides the result: one per block or thread.
    pub(super) fn partials(&self, config: &LaunchConfig) -> u64 {
        match self.scheme {
            Scheme::Read => config.grid.count() * config.block.count(),
            Scheme::TwoPasses => config.grid.count(),
            Scheme::Accumulate | Scheme::OnePass | Scheme::Gather => 0,
        }
    }

    /// Words of scratch memory, zero before the first launch: two per block and one more.
    pub(super) fn scratch_words(&self, config: &LaunchConfig) -> u64 {
        match self.scheme {
            Scheme::OnePass | Scheme::Gather => 2 * config.grid.count() + 1,
            _ => 0,
        }
    }

    /// The most additions that a value passes through, by which rounding errors grow: those of its
    /// thread, of the trees of block and warp, and of the blocks' results.
    pub(super) fn depth(&self, n: u64, config: &LaunchConfig) -> u64 {
        let (grid, block) = (config.grid.count(), config.block.count().max(1));
        let tree = 2 * u64::from(block.next_power_of_two().ilog2()) + 4;
        let blocks = match self.scheme {
            // Any order.
            Scheme::Accumulate | Scheme::Read => grid,
            Scheme::TwoPasses | Scheme::OnePass | Scheme::Gather => {
                grid.div_ceil(block.min(32)) + tree
            }
        };
        n.div_ceil(grid.max(1) * block) + tree + blocks
    }
}

fn declaration(name: &str) -> Option<&'static Declaration> {
    kernels::ALL
        .iter()
        .copied()
        .find(|kernel| kernel.name == name)
}

/// What a variant's launches work on: addresses on the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) x: u64,
    pub(super) partials: u64,
    pub(super) scratch: u64,
    pub(super) result: u64,
}

/// The launches of a variant, in order.
pub(super) fn sequence(
    variant: &Variant,
    kernel: &'static Declaration,
    element: ElementType,
    config: LaunchConfig,
    n: u64,
    places: Places,
) -> Vec<PreparedLaunch> {
    let launch = |kernel, config, arguments: &[u64]| PreparedLaunch {
        kernel: KernelReference::Declared(kernel),
        config,
        arguments: arguments.to_vec(),
    };
    let Places {
        x,
        partials,
        scratch,
        result,
    } = places;
    match variant.scheme {
        Scheme::Read => vec![launch(kernel, config, &[n, x, partials])],
        Scheme::TwoPasses if config.grid.count() == 1 => {
            vec![launch(kernel, config, &[n, x, result])]
        }
        Scheme::TwoPasses => {
            let blocks = config.grid.count();
            let second = LaunchConfig {
                grid: 1.into(),
                ..config
            };
            vec![
                launch(kernel, config, &[n, x, partials]),
                launch(kernel, second, &[blocks, partials, result]),
            ]
        }
        Scheme::Accumulate => {
            let clear = declaration(&format!("reduce_atomic_clear_{}", element.name()))
                .expect("every type that is added to has a kernel that clears");
            vec![
                launch(clear, LaunchConfig::new(1, 1), &[result]),
                launch(kernel, config, &[n, x, result]),
            ]
        }
        Scheme::OnePass | Scheme::Gather => vec![launch(kernel, config, &[n, x, scratch, result])],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names are the link between the table and the kernels: none may be left over.
    #[test]
    fn every_reduction_kernel_belongs_to_a_variant() {
        let mut reached = BTreeSet::new();
        for variant in VARIANTS {
            let before = reached.len();
            for element in ElementType::ALL {
                for operation in Operation::ALL {
                    reached.extend(variant.kernel(operation, element).map(|kernel| kernel.name));
                }
            }
            assert!(reached.len() > before, "{} has no kernel", variant.name);
        }
        let declared: BTreeSet<&str> = kernels::ALL
            .iter()
            .map(|kernel| kernel.name)
            .filter(|name| name.starts_with("reduce_") || name.starts_with("read_"))
            .filter(|name| !name.starts_with("reduce_atomic_clear_"))
            .collect();
        assert_eq!(reached, declared);
    }

    #[test]
    fn blocks_have_work_and_fit() {
        let (shuffle, gather) = (variant("shuffle").unwrap(), variant("gather").unwrap());
        assert_eq!(shuffle.blocks(0, ElementType::F32, 256, 100), 1);
        assert_eq!(shuffle.blocks(257, ElementType::F32, 256, 100), 2);
        assert_eq!(shuffle.blocks(1 << 20, ElementType::F32, 256, 100), 100);
        // 256 threads with four vectors of four floats each.
        assert_eq!(gather.blocks(4096, ElementType::F32, 256, 100), 1);
        assert_eq!(gather.blocks(4097, ElementType::F32, 256, 100), 3);
        assert_eq!(gather.blocks(4096, ElementType::F64, 256, 100), 3);
        assert_eq!(gather.blocks(1 << 40, ElementType::F32, 256, 100), 100);
        // A gatherer would wait for ever for a block that has no place beside it.
        assert_eq!(gather.blocks(1 << 40, ElementType::F32, 256, 1), 1);
        assert_eq!(gather.blocks(1 << 40, ElementType::F32, 256, 2), 2);
    }

    #[test]
    fn only_float_sums_in_any_order_differ() {
        let atomic = variant("atomic").unwrap();
        assert!(!atomic.deterministic(Operation::Sum, ElementType::F32));
        assert!(atomic.deterministic(Operation::Sum, ElementType::I64));
        assert!(
            variant("gather")
                .unwrap()
                .deterministic(Operation::Sum, ElementType::F64)
        );
    }
}
