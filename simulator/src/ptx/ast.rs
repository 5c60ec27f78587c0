//! The syntax tree of a PTX module, as written: names unresolved, modifiers uninterpreted.

/// A whole module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u32, u32),
    /// `.target`'s first name, for example `sm_70`.
    pub target: String,
    /// Module-scope variables, in order.
    pub variables: Vec<Variable>,
    /// `.entry` and `.func` definitions, in order; prototypes without a body are not kept.
    pub functions: Vec<Function>,
}

/// A state space as written in a declaration or on a memory instruction (PTX ISA 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.reg`
    Register,
    /// `.const`
    Constant,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param` of the kernel, or of a call; lowering tells them apart
    Parameter,
    /// `.shared`
    Shared,
    /// `.shared::cluster`: the shared memory of all blocks of the cluster; on instructions only.
    SharedCluster,
    /// No state space on the instruction: the address is generic.
    Generic,
}

/// A fundamental type (PTX ISA 5.2), `.pred` included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Predicate,
}

impl Type {
    /// All types, in the order of PTX ISA 5.2.
    pub const ALL: [Self; 20] = [
        Self::B8,
        Self::B16,
        Self::B32,
        Self::B64,
        Self::B128,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::S8,
        Self::S16,
        Self::S32,
        Self::S64,
        Self::F16,
        Self::F16x2,
        Self::Bf16,
        Self::Bf16x2,
        Self::F32,
        Self::F64,
        Self::Predicate,
    ];

    /// As written in PTX, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            Self::B8 => "b8",
            Self::B16 => "b16",
            Self::B32 => "b32",
            Self::B64 => "b64",
            Self::B128 => "b128",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::S8 => "s8",
            Self::S16 => "s16",
            Self::S32 => "s32",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F16x2 => "f16x2",
            Self::Bf16 => "bf16",
            Self::Bf16x2 => "bf16x2",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Predicate => "pred",
        }
    }

    /// Width in bits; 0 for a predicate, which has none.
    pub fn bits(self) -> u64 {
        match self {
            Self::Predicate => 0,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 64,
            Self::B128 => 128,
        }
    }
}

/// A declared variable outside the register space.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its state space.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// `.align` in bytes; the type's own where the source gives none.
    pub align: u64,
    /// Size in bytes: elements times element size; `None` for `[]`.
    pub bytes: Option<u64>,
    /// `.extern` or `.visible`/`.weak`/none.
    pub external: bool,
    /// Initial bytes with the addresses to be patched in; empty when none is given.
    pub initial: Vec<Initial>,
    /// Source line, from 1.
    pub line: u32,
}

/// One element of an initialiser.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Initial {
    /// The element's value, already in the variable's element width (low bits).
    Bits(u64),
    /// The address of another variable plus a byte offset; `generic(x)` sets `generic`.
    Address {
        name: String,
        offset: i64,
        generic: bool,
    },
}

/// An `.entry` or a `.func` with a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is an `.entry`.
    pub entry: bool,
    /// Return parameters (`.func (.param .b32 r)`), or `.reg` ones in old code.
    pub returns: Vec<Variable>,
    /// Formal parameters.
    pub parameters: Vec<Variable>,
    /// Performance directives such as `.maxntid 1024, 1, 1`, name and values.
    pub directives: Vec<(String, Vec<u32>)>,
    /// The body in order; nested scopes are flattened by renaming where names collide.
    pub body: Vec<Item>,
    /// Source line, from 1.
    pub line: u32,
}

/// What stands in a body.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Item {
    /// `.reg .b32 %r<10>;` gives ten names.
    Registers { ty: Type, names: Vec<String> },
    /// `.local`, `.shared`, `.param` and `.global` variables declared in a body.
    Variable(Variable),
    /// `$L__BB0_2:`
    Label(String),
    /// `$L_table: .branchtargets a, b;`
    BranchTargets { label: String, targets: Vec<String> },
    /// An instruction.
    Statement(Statement),
}

/// One instruction as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// `@%p1` or `@!%p1`: register name and whether negated.
    pub guard: Option<(String, bool)>,
    /// First part of the mnemonic: `ld` of `ld.global.v4.b32`.
    pub opcode: String,
    /// The other parts in order, without dots: `["global", "v4", "b32"]`. `::` parts stay joined
    /// (`cta::shared` as `shared::cta` is one modifier).
    pub modifiers: Vec<String>,
    /// Operands in order. `d|p` is two operands joined by [`Operand::Pair`].
    pub operands: Vec<Operand>,
    /// Source line in the PTX text, from 1.
    pub line: u32,
    /// Source text, on one line, without the semicolon.
    pub text: String,
}

/// An operand as written.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Operand {
    /// A register, special register, variable, label or function name.
    Name(String),
    /// `!%p` as a source operand.
    Negated(String),
    /// An integer literal, sign included, as its 64-bit two's complement.
    Integer(u64),
    /// `0f3F800000`: the bits of an f32.
    Float32(u32),
    /// `0d…` or a decimal literal: the bits of an f64.
    Float64(u64),
    /// `[base+offset]`, `[variable]`, `[immediate]`.
    Address { base: Box<Operand>, offset: i64 },
    /// `{a, b, c, d}`
    Vector(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `_`
    Sink,
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `variable+offset` used as a value.
    Sum(String, i64),
}
