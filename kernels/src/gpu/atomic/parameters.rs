//! What an atomic operation is parametrised by: memory order, scope, and the place.

use core::arch::asm;

use crate::gpu::shared::SharedPointer;

/// Value of an order's or scope's parameter; the match over it is decided at compile time.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Sem {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Level {
    Block,
    #[cfg(feature = "sm_90")]
    Cluster,
    Device,
    System,
}

#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Space {
    Global,
    Shared,
    #[cfg(feature = "sm_90")]
    Cluster,
}

/// A memory order.
pub trait Order: Copy {
    #[doc(hidden)]
    const SEM: Sem;
}
/// An order that a load may have: [`Relaxed`] or [`Acquire`].
pub trait LoadOrder: Order {}
/// An order that a store may have: [`Relaxed`] or [`Release`].
pub trait StoreOrder: Order {}
/// Which threads an operation is atomic and ordered for.
pub trait Scope: Copy {
    #[doc(hidden)]
    const LEVEL: Level;
}

macro_rules! parameters {
    ($trait:ident, $constant:ident, $enum:ident: $($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name;

        impl $trait for $name {
            const $constant: $enum = $enum::$name;
        }
    )*};
}

parameters! { Order, SEM, Sem:
    /// Atomic, and nothing more.
    Relaxed
    /// What comes after sees what was released before.
    Acquire
    /// What came before is seen by those who acquire.
    Release
    /// Both.
    AcqRel
}

parameters! { Scope, LEVEL, Level:
    /// The threads of the block (`.cta`).
    Block
    /// The threads of the device (`.gpu`).
    Device
    /// All threads: of this device, of its peers and of the host (`.sys`).
    System
}

/// The threads of the cluster (`.cluster`).
#[cfg(feature = "sm_90")]
#[derive(Clone, Copy)]
pub struct Cluster;

#[cfg(feature = "sm_90")]
impl Scope for Cluster {
    const LEVEL: Level = Level::Cluster;
}

impl LoadOrder for Relaxed {}
impl LoadOrder for Acquire {}
impl StoreOrder for Relaxed {}
impl StoreOrder for Release {}

/// Where an atomic variable is: a `*mut T` in global memory, or a pointer to shared memory.
pub trait Place<T>: Copy {
    #[doc(hidden)]
    const SPACE: Space;
    /// The address in its state space.
    #[doc(hidden)]
    fn address(self) -> u64;
}

impl<T> Place<T> for *mut T {
    const SPACE: Space = Space::Global;

    #[inline(always)]
    fn address(self) -> u64 {
        let global: u64;
        // SAFETY: converts an address; nothing is accessed.
        unsafe {
            asm!(
                "cvta.to.global.u64 {}, {};",
                out(reg64) global,
                in(reg64) self as u64,
                options(pure, nomem, nostack),
            );
        }
        global
    }
}

impl<T> Place<T> for SharedPointer<T> {
    const SPACE: Space = Space::Shared;

    #[inline(always)]
    fn address(self) -> u64 {
        u64::from(SharedPointer::address(self))
    }
}
