//! What a kernel declaration becomes on the host: a name, its parameters, and their types.

use core::marker::PhantomData;

/// The virtual architecture a kernel's module is built for; one PTX file each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Compute capability 7.0, PTX 7.0: the base module, which every kernel can use.
    Sm70,
    /// Compute capability 8.0: kernels that need Ampere's instructions, such as `redux.sync`.
    Sm80,
    /// Compute capability 9.0: kernels that need clusters or other Hopper instructions.
    Sm90,
}

/// A parameter's type as it stands in the PTX entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// An unsigned 32-bit integer.
    U32,
    /// A signed 32-bit integer.
    I32,
    /// An unsigned 64-bit integer.
    U64,
    /// A signed 64-bit integer.
    I64,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
    /// A 64-bit address in global memory.
    Pointer {
        /// Whether the kernel may write through it (`*mut T`).
        mutable: bool,
    },
}

impl Target {
    /// Every target, in the order of their capability.
    pub const ALL: [Self; 3] = [Self::Sm70, Self::Sm80, Self::Sm90];

    /// The name in PTX's `.target`, which is also the file's: `kernels/ptx/<name>.ptx`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm70 => "sm_70",
            Self::Sm80 => "sm_80",
            Self::Sm90 => "sm_90",
        }
    }
}

impl ParameterType {
    /// Size of the argument in bytes; the alignment is the same.
    pub const fn size(self) -> usize {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Pointer { .. } => 8,
        }
    }
}

/// A type that a kernel's parameter may have.
pub trait KernelParameter {
    /// The type in PTX.
    const TYPE: ParameterType;
}

macro_rules! scalar_parameters {
    ($($ty:ty => $variant:ident),* $(,)?) => {
        $(impl KernelParameter for $ty {
            const TYPE: ParameterType = ParameterType::$variant;
        })*
    };
}

scalar_parameters! { u32 => U32, i32 => I32, u64 => U64, i64 => I64, f32 => F32, f64 => F64 }

impl<T> KernelParameter for *const T {
    const TYPE: ParameterType = ParameterType::Pointer { mutable: false };
}

impl<T> KernelParameter for *mut T {
    const TYPE: ParameterType = ParameterType::Pointer { mutable: true };
}

/// A declared kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The name in the kernel's source.
    pub name: &'static str,
    /// Its type in PTX.
    pub ty: ParameterType,
}

/// A kernel's declaration without its argument types: what a loader needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name of the `.entry` in the PTX module.
    pub name: &'static str,
    /// The module that holds it.
    pub target: Target,
    /// Its parameters in order.
    pub parameters: &'static [Parameter],
}

/// A typed handle to a kernel. `Signature` is the tuple of its parameter types, for example
/// `(u64, *const f32, *mut f32)`; a launch must give arguments that match it.
pub struct Kernel<Signature> {
    declaration: &'static Declaration,
    signature: PhantomData<fn(Signature)>,
}

impl<Signature> Clone for Kernel<Signature> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Signature> Copy for Kernel<Signature> {}

impl<Signature> Kernel<Signature> {
    /// Called by the `kernel!` macro, which derives both from one declaration.
    #[doc(hidden)]
    pub const fn new(declaration: &'static Declaration) -> Self {
        Self {
            declaration,
            signature: PhantomData,
        }
    }

    /// The declaration behind the handle.
    pub const fn declaration(&self) -> &'static Declaration {
        self.declaration
    }
}
