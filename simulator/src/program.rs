//! A decoded entry: what `exec` runs. Names are gone; registers, constants and targets are indices.

use arrayvec::ArrayVec;

use crate::isa::Opcode;
pub use crate::ptx::ast::Space;

/// Lanes of a warp.
pub const WARP_SIZE: usize = 32;

/// One value per lane. Narrower values are zero-extended; a predicate is 0 or 1.
pub type Lanes = [u64; WARP_SIZE];

/// Generic addresses of shared memory are this plus the byte offset in the block's window.
pub const SHARED_WINDOW: u64 = 0x0000_1000_0000_0000;
/// Generic addresses of local memory are this plus the byte offset in the thread's frame.
pub const LOCAL_WINDOW: u64 = 0x0000_2000_0000_0000;
/// Size of each of the two windows in bytes.
pub const WINDOW_BYTES: u64 = 1 << 32;
/// Where device allocations begin; addresses are never reused.
pub const GLOBAL_BASE: u64 = 0x0000_7f00_0000_0000;

/// A whole-warp function of values alone. It gets one `Lanes` per source and fills one per
/// destination, for all 32 lanes: inactive lanes hold anything and must not panic. Results are
/// canonical: zero-extended from the destination's width.
pub type Compute = fn(sources: &[&Lanes], destinations: &mut [Lanes]);

/// A value an instruction reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Index into the warp's registers.
    Register(u32),
    /// Index into [`Program::constants`].
    Constant(u32),
    /// A special register.
    Special(Special),
    /// `_` as a destination.
    Discard,
}

/// Special registers (PTX ISA 10). Axes are 0, 1, 2 for x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    IsExplicitCluster,
    ClusterId(u8),
    NClusterId(u8),
    ClusterCtaId(u8),
    ClusterNCtaId(u8),
    ClusterCtaRank,
    ClusterNCtaRank,
}

/// `@%p` or `@!%p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate's register.
    pub register: u32,
    /// Whether lanes run where it is 0.
    pub negated: bool,
}

/// One decoded instruction.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Its row in the table.
    pub opcode: &'static Opcode,
    /// What it does.
    pub action: Action,
    /// Which lanes run it.
    pub guard: Option<Guard>,
    /// What it writes: vector elements and `d|p` flattened in order.
    pub destinations: ArrayVec<Operand, 8>,
    /// What it reads, flattened in order; for memory actions the address base comes first.
    pub sources: ArrayVec<Operand, 10>,
    /// Added to the address of a memory action, in bytes.
    pub offset: i64,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Line of the PTX text as written, index into [`Program::texts`].
    pub text: u32,
}

/// What an instruction does.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Action {
    /// A function of values alone: arithmetic, logic, comparison, conversion, move.
    Compute(Compute),
    /// `ld`, `ldu`: sources `[address]`, one destination per element.
    Load(Access),
    /// `st`: sources `[address, element…]`.
    Store(Access),
    /// `atom`, `red`: sources `[address, b (, c)]`, destination the old value, if any.
    Atomic(Access, AtomicOperation),
    /// `cvta.SPACE`: window offset to generic address.
    ToGeneric(Space),
    /// `cvta.to.SPACE`: generic address to window offset.
    FromGeneric(Space),
    /// `isspacep`
    IsSpace(Space),
    /// `bra`: index of the target instruction.
    Branch(u32),
    /// `brx.idx`: index into [`Program::branch_tables`]; source the index.
    BranchIndexed(u32),
    /// `call`: the callee's first instruction, and the register that takes the return address
    /// (each function has its own, so recursion is refused at load).
    Call { target: u32, return_register: u32 },
    /// `ret` of a function: jumps to the address in the register.
    Return { return_register: u32 },
    /// `ret` of an entry, and `exit`.
    Exit,
    /// `trap`
    Trap,
    /// `bar`, `barrier`: sources `[name, count?, predicate?]`.
    Barrier(BarrierOperation),
    /// `barrier.cluster`
    ClusterBarrier(ClusterBarrier),
    /// `mapa`: sources `[address, rank]`; the addresses are generic, or in the shared window.
    MapToPeer { generic: bool },
    /// `getctarank`: source the address.
    PeerRank { generic: bool },
    /// `bar.warp.sync`: source the member mask.
    WarpBarrier,
    /// `shfl.sync`: sources `[a, b, c, membermask]`, destinations `[d, p?]`.
    Shuffle(ShuffleMode),
    /// `vote.sync`: sources `[predicate, membermask]`, destination predicate or mask.
    Vote(VoteMode),
    /// `match.sync`: sources `[a, membermask]`, destinations `[d, p?]`. Operand width in bits.
    Match { all: bool, bits: u8 },
    /// `redux.sync`: sources `[a, membermask]`, destination d.
    Reduce(AtomicOperation),
    /// `elect.sync`: sources `[membermask]`, destinations `[leader lane, p]`.
    Elect,
    /// `activemask`
    ActiveMask,
    /// `membar`, `fence`
    Fence,
    /// `nanosleep`: source the duration in ns.
    Nanosleep,
    /// Prefetches, `pragma`-like hints and anything without an effect on values.
    Nothing,
}

/// How a memory instruction accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The state space; call parameters are lowered to `Local`, kernel parameters stay `Parameter`.
    pub space: Space,
    /// Bytes per element: 1, 2, 4, 8 or 16.
    pub bytes: u8,
    /// Elements: 1, 2, 4 or 8.
    pub count: u8,
    /// Loads sign-extend from the element to this many bytes (0: zero-extend).
    pub sign_extend_to: u8,
    /// Whether it is `.volatile`, `.relaxed`, `.acquire`, `.release`, or an atomic: such accesses
    /// are not data races.
    pub strong: bool,
    /// Whether it acquires: `.acquire`, `.acq_rel`.
    pub acquire: bool,
    /// Whether it releases: `.release`, `.acq_rel`.
    pub release: bool,
    /// Cache hint. The timing model has no L1, so nothing follows from it yet.
    pub cache: CacheHint,
}

/// Where a memory access is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheHint {
    /// The default (`.ca` loads, `.wb` stores).
    Default,
    /// `.cg`, `.cv`, `.wt`: not in L1.
    L2Only,
    /// `.cs`, `.lu`, `L1::no_allocate`, `L1::evict_first`: used once.
    Streaming,
}

/// Read-modify-write operations of `atom`, `red` and `redux`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicOperation {
    Add(Number),
    Min(Number),
    Max(Number),
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

/// How an atomic operation interprets its bits; the width is in [`Access::bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Number {
    Unsigned,
    Signed,
    Float,
    /// Two 16-bit floats (`.f16x2`, or one `.f16` when bytes is 2).
    Half,
    BFloat,
}

/// The `bar`/`barrier` operations (PTX ISA 9.7.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierOperation {
    /// Which one.
    pub kind: BarrierKind,
    /// `.aligned` (always so for `bar`): all lanes of the warp must arrive together.
    pub aligned: bool,
    /// Whether sources hold a thread count.
    pub has_count: bool,
    /// `!p` of `bar.red`.
    pub negated: bool,
}

/// The halves of a cluster's barrier (PTX ISA 9.7.13, `barrier.cluster`). `.aligned`: all lanes of
/// the warp reach it together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ClusterBarrier {
    /// `release`: what the thread did before is ordered before what is done after the wait.
    Arrive {
        aligned: bool,
        release: bool,
    },
    Wait {
        aligned: bool,
    },
}

/// Kinds of block barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BarrierKind {
    Sync,
    Arrive,
    ReducePopc,
    ReduceAnd,
    ReduceOr,
}

/// Modes of `shfl.sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Modes of `vote.sync`; the source predicate may be negated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VoteMode {
    All { negated: bool },
    Any { negated: bool },
    Uniform { negated: bool },
    Ballot { negated: bool },
}

/// A module-scope variable that lives in device memory (`.global`, `.const`).
#[derive(Debug, Clone)]
pub struct DeviceVariable {
    /// Its name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its initial bytes; shorter than `bytes` means zeros follow (PTX ISA 5.4.4).
    pub initial: Vec<u8>,
    /// Addresses to be written at load: byte position, variable index, byte offset.
    pub relocations: Vec<(u64, u32, i64)>,
}

/// A formal parameter of the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterLayout {
    /// Its name in the PTX.
    pub name: String,
    /// Byte offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// A named range of a block's shared memory or a thread's local memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The variable's name.
    pub name: String,
    /// Byte offset.
    pub offset: u32,
    /// Size in bytes; for dynamic shared memory 0, it extends to the end.
    pub bytes: u32,
}

/// One entry with all functions it calls, ready to run.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The entry's name.
    pub name: String,
    /// The instructions; execution begins at 0. Every path ends in Exit, Return or Trap.
    pub instructions: Vec<Instruction>,
    /// Registers per lane, hidden ones (carry flag, return addresses) included.
    pub registers: u32,
    /// Register names for messages, by index.
    pub register_names: Vec<String>,
    /// Constant operands. Immediates are splatted.
    pub constants: Vec<Lanes>,
    /// Constants that hold a device variable's address: constant, variable, byte offset.
    pub relocations: Vec<(u32, u32, i64)>,
    /// Targets of `brx.idx`.
    pub branch_tables: Vec<Vec<u32>>,
    /// The entry's parameters.
    pub parameters: Vec<ParameterLayout>,
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    /// Static shared memory in bytes; dynamic shared memory starts at the next multiple of 16.
    pub shared_bytes: u32,
    /// Shared variables, for messages.
    pub shared: Vec<Range>,
    /// Local memory per thread in bytes: `.local` variables and call parameters.
    pub local_bytes: u32,
    /// Local variables, for messages.
    pub local: Vec<Range>,
    /// `.reqntid`, if given.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`, if given: the product bounds the block.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`, if given: blocks per cluster and axis.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: the kernel must be launched in clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`, if given: the most blocks per cluster.
    pub max_cluster_blocks: Option<u32>,
    /// Modelled registers per thread (32-bit): the most that are live at once, at least 16,
    /// rounded up to 8, as ptxas would allocate at best.
    pub registers_per_thread: u32,
    /// The statements' text, by [`Instruction::text`].
    pub texts: Vec<String>,
}
