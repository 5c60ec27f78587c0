//! What stops a launch: the fault, where it happened, and what was required.

use std::fmt;

/// A fault with its place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The instruction's text.
    pub instruction: String,
    /// Its line in the PTX text, from 1.
    pub line: u32,
    /// File and line of the kernel's source, where the PTX carries them (`.loc`).
    pub origin: Option<String>,
    /// Block index, x y z.
    pub block: [u32; 3],
    /// Thread index in the block, x y z, of the first lane concerned.
    pub thread: [u32; 3],
}

/// What happened. Addresses are as the instruction gave them: generic, or an offset in the window of
/// the instruction's state space; sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FaultKind {
    /// An access outside every live allocation. `nearest` describes the nearest one.
    OutOfBounds {
        space: &'static str,
        write: bool,
        address: u64,
        bytes: u64,
        nearest: String,
    },
    /// An address that is not a multiple of what the access needs.
    Misaligned {
        space: &'static str,
        write: bool,
        address: u64,
        required: u64,
        nearest: String,
    },
    /// An access to freed memory.
    UseAfterFree {
        write: bool,
        address: u64,
        bytes: u64,
        allocation: String,
    },
    /// A read of memory that nothing has written.
    UninitialisedMemory {
        space: &'static str,
        address: u64,
        bytes: u64,
        nearest: String,
    },
    /// A read of a register that this thread has not written.
    UninitialisedRegister { register: String },
    /// Two accesses to shared memory by different threads, one of them a write, that nothing orders.
    /// This is the later one; they race in either order.
    DataRace {
        write: bool,
        /// Atomic, volatile or relaxed.
        strong: bool,
        address: u64,
        bytes: u64,
        nearest: String,
        other: Box<RacingAccess>,
        /// Whether both threads are of one warp.
        same_warp: bool,
    },
    /// A use of another block's shared memory that the cluster's rules forbid.
    PeerMemory { detail: String },
    /// A barrier that only some of the threads reached, or reached divergently.
    DivergentBarrier { detail: String },
    /// No warp can go on. `detail` lists who waits for what; `stall` counts them where the launch was
    /// stopped because it changed nothing any more.
    Deadlock {
        detail: String,
        stall: Option<Box<Stall>>,
    },
    /// A warp operation whose mask or source lane is not allowed.
    WarpOperation { detail: String },
    /// `trap`
    Trap,
    /// Something else the PTX ISA leaves undefined, or a limit of this simulator.
    Other { detail: String },
}

impl FaultKind {
    /// An access to the shared memory of a block that has ended, or may end before it.
    pub(crate) fn ended_block(block: [u32; 3]) -> Self {
        Self::PeerMemory {
            detail: format!(
                "nothing keeps block {block:?} from ending before the access: a cluster barrier \
                 (barrier.cluster.arrive and .wait) after the last access to its shared memory is \
                 required"
            ),
        }
    }
}

/// Who waits in a launch that cannot end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// Blocks that are resident and have not ended.
    pub waiting_blocks: u64,
    /// Blocks that no SM has had room for.
    pub never_started: u64,
    /// Where the warps of the waiting blocks are, in the order of the PTX text.
    pub waits: Vec<Wait>,
}

/// A place where warps wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// What they do there: `spinning`, `waiting at barrier 0`.
    pub how: String,
    /// Warps with lanes here. A warp whose lanes have parted may be counted at several places.
    pub warps: u64,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// The instruction's text.
    pub instruction: String,
    /// File and line of the kernel's source, where the PTX carries them.
    pub origin: Option<String>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warps = if self.warps == 1 { "warp" } else { "warps" };
        write!(
            f,
            "{} {warps} {}, PTX line {}: {}",
            self.warps, self.how, self.line, self.instruction
        )?;
        match &self.origin {
            Some(origin) => write!(f, " (from {origin})"),
            None => Ok(()),
        }
    }
}

/// The other side of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RacingAccess {
    /// Whether it wrote.
    pub write: bool,
    /// Whether it was atomic, volatile or relaxed.
    pub strong: bool,
    /// Thread index in its block, x y z.
    pub thread: [u32; 3],
    /// Index of its block, if it is another one of the cluster.
    pub block: Option<[u32; 3]>,
    /// Line of its instruction in the PTX text.
    pub line: u32,
    /// Its instruction's text.
    pub instruction: String,
}

fn access_name(write: bool, strong: bool) -> &'static str {
    match (write, strong) {
        (false, false) => "read",
        (true, false) => "write",
        (false, true) => "strong read",
        (true, true) => "strong write",
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |write: &bool| if *write { "write" } else { "read" };
        match self {
            Self::OutOfBounds {
                space,
                write,
                address,
                bytes,
                nearest,
            } => write!(
                f,
                "{space} {} of {bytes} bytes at {address:#x} is out of bounds; {nearest}",
                verb(write)
            ),
            Self::Misaligned {
                space,
                write,
                address,
                required,
                nearest,
            } => write!(
                f,
                "{space} {} at {address:#x} is misaligned: a multiple of {required} bytes is required; {nearest}",
                verb(write)
            ),
            Self::UseAfterFree {
                write,
                address,
                bytes,
                allocation,
            } => write!(
                f,
                "{} of {bytes} bytes at {address:#x} after free: {allocation}",
                verb(write)
            ),
            Self::UninitialisedMemory {
                space,
                address,
                bytes,
                nearest,
            } => write!(
                f,
                "read of {bytes} bytes of uninitialised {space} memory at {address:#x}; {nearest}"
            ),
            Self::UninitialisedRegister { register } => write!(
                f,
                "read of register {register}, which this thread has not written"
            ),
            Self::DataRace {
                write,
                strong,
                address,
                bytes,
                nearest,
                other,
                same_warp,
            } => {
                let [x, y, z] = other.thread;
                let block = other
                    .block
                    .map(|[x, y, z]| format!(" of block ({x}, {y}, {z})"))
                    .unwrap_or_default();
                let required = if other.block.is_some() {
                    "a cluster barrier (barrier.cluster.arrive and .wait) that both threads pass \
                     between the two is required"
                } else if *same_warp {
                    "a warp barrier (bar.warp.sync, __syncwarp) or a block barrier (bar.sync, \
                     __syncthreads) between the two is required"
                } else {
                    "a block barrier (bar.sync, __syncthreads) that both threads reach between \
                     the two is required"
                };
                write!(
                    f,
                    "data race: the {} of {bytes} bytes of shared memory at {address:#x} and the {} \
                     by thread ({x}, {y}, {z}){block} at PTX line {}: {}\n  are in no order: {required}; \
                     {nearest}",
                    access_name(*write, *strong),
                    access_name(other.write, other.strong),
                    other.line,
                    other.instruction,
                )
            }
            Self::DivergentBarrier { detail } => {
                write!(f, "barrier not reached by the whole block: {detail}")
            }
            Self::Deadlock { detail, stall } => {
                write!(f, "deadlock: {detail}")?;
                let waits = stall.iter().flat_map(|stall| &stall.waits);
                waits
                    .into_iter()
                    .try_for_each(|wait| write!(f, "\n    {wait}"))
            }
            Self::WarpOperation { detail } => write!(f, "undefined warp operation: {detail}"),
            Self::PeerMemory { detail } => {
                write!(f, "shared memory of another block: {detail}")
            }
            Self::Trap => f.write_str("trap executed"),
            Self::Other { detail } => f.write_str(detail),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            "kernel {}: {}\n  at PTX line {}: {}\n",
            self.kernel, self.kind, self.line, self.instruction
        )?;
        if let Some(origin) = &self.origin {
            writeln!(f, "  from {origin}")?;
        }
        write!(f, "  thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz})")
    }
}

/// File and line of the source that a line of PTX was compiled from: what the last `.loc` before it
/// names (PTX ISA 11.4), without the folders above the `.file`'s own.
pub(crate) fn origin(ptx: &str, line: u32) -> Option<String> {
    let before: Vec<&str> = ptx.lines().take(line as usize).collect();
    let location = before.iter().rev().find_map(|text| {
        let mut words = text.trim().strip_prefix(".loc")?.split_whitespace();
        Some((words.next()?, words.next()?))
    });
    let (file, line) = location?;
    let path = ptx.lines().find_map(|text| {
        let (number, path) = text
            .trim()
            .strip_prefix(".file")?
            .trim()
            .split_once(char::is_whitespace)?;
        (number == file).then(|| path.trim().split('"').nth(1).unwrap_or_default())
    })?;
    Some(format!("{path}:{line}"))
}
