//! Atomic operations with an order and a scope, on global and on shared memory.
//!
//! `atomic::fetch_add(counter, 1, AcqRel, Device)` is CUDA C++'s
//! `cuda::atomic_ref<T, cuda::thread_scope_device>(*counter).fetch_add(1, memory_order_acq_rel)`
//! and PTX's `atom.acq_rel.gpu.add`. A place is a `*mut T` in global memory or a
//! [`SharedPointer`]; in the sm_90 module also a `ClusterPointer`, with a scope `Cluster`. Where the
//! result is not used, ptxas makes a `red` of it.
//!
//! The functions' safety: the place is valid for an aligned access of its type, and while it is
//! shared between threads, every access to it is atomic.

mod parameters;

use core::arch::asm;

pub use parameters::*;

// Each calls `$emit!(semantics-and-space, arguments)` with the one text that the parameters pick.
macro_rules! at_scope {
    ($order:literal, $scope:ident, $space:expr, $emit:ident $arguments:tt) => {
        match $scope::LEVEL {
            Level::Block => in_space!(concat!($order, ".cta"), $space, $emit $arguments),
            #[cfg(feature = "sm_90")]
            Level::Cluster => in_space!(concat!($order, ".cluster"), $space, $emit $arguments),
            Level::Device => in_space!(concat!($order, ".gpu"), $space, $emit $arguments),
            Level::System => in_space!(concat!($order, ".sys"), $space, $emit $arguments),
        }
    };
}

macro_rules! in_space {
    ($semantics:expr, $space:expr, $emit:ident $arguments:tt) => {
        match $space {
            Space::Global => $emit!(concat!($semantics, ".global"), $arguments),
            Space::Shared => $emit!(concat!($semantics, ".shared"), $arguments),
            #[cfg(feature = "sm_90")]
            Space::Cluster => $emit!(concat!($semantics, ".shared::cluster"), $arguments),
        }
    };
}

macro_rules! with_order {
    ($sem:expr, $scope:ident, $space:expr, $emit:ident $arguments:tt) => {
        match $sem {
            Sem::Relaxed => at_scope!("relaxed", $scope, $space, $emit $arguments),
            Sem::Acquire => at_scope!("acquire", $scope, $space, $emit $arguments),
            Sem::Release => at_scope!("release", $scope, $space, $emit $arguments),
            Sem::AcqRel => at_scope!("acq_rel", $scope, $space, $emit $arguments),
        }
    };
}

macro_rules! emit_atom {
    ($sem:expr, ($operation:literal, $class:ident, $old:ident, $address:ident, $value:ident)) => {
        asm!(
            concat!("atom.", $sem, ".", $operation, " {}, [{}], {};"),
            out($class) $old, in(reg64) $address, in($class) $value, options(nostack),
        )
    };
}

macro_rules! emit_cas {
    ($sem:expr, ($size:literal, $class:ident, $old:ident, $address:ident, $expected:ident,
        $new:ident)) => {
        asm!(
            concat!("atom.", $sem, ".cas.", $size, " {}, [{}], {}, {};"),
            out($class) $old, in(reg64) $address, in($class) $expected, in($class) $new,
            options(nostack),
        )
    };
}

macro_rules! emit_load {
    ($sem:expr, ($size:literal, $class:ident, $value:ident, $address:ident)) => {
        asm!(
            concat!("ld.", $sem, ".", $size, " {}, [{}];"),
            out($class) $value, in(reg64) $address, options(nostack),
        )
    };
}

macro_rules! emit_store {
    ($sem:expr, ($size:literal, $class:ident, $address:ident, $value:ident)) => {
        asm!(
            concat!("st.", $sem, ".", $size, " [{}], {};"),
            in(reg64) $address, in($class) $value, options(nostack),
        )
    };
}

macro_rules! fetch {
    ($($name:ident: $operation:literal;)* @ $bits:ty, $class:ident, $to_bits:expr, $from_bits:expr) => {$(
        #[inline(always)]
        unsafe fn $name<P: Place<Self>, O: Order, S: Scope>(place: P, value: Self) -> Self {
            let (address, value): (u64, $bits) = (place.address(), $to_bits(value));
            let old: $bits;
            // SAFETY: the caller's promise.
            unsafe {
                with_order!(O::SEM, S, P::SPACE,
                    emit_atom($operation, $class, old, address, value));
            }
            $from_bits(old)
        }
    )*};
}

macro_rules! declare_fetch {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        unsafe fn $name<P: Place<Self>, O: Order, S: Scope>(place: P, value: Self) -> Self;
    )*};
}

/// A type with atomic operations: 32- and 64-bit integers and floats.
pub trait Atomic: Copy {
    declare_fetch! { add exchange }
    #[doc(hidden)]
    unsafe fn cas<P: Place<Self>, O: Order, S: Scope>(place: P, expected: Self, new: Self) -> Self;
    #[doc(hidden)]
    unsafe fn load<P: Place<Self>, O: LoadOrder, S: Scope>(place: P) -> Self;
    #[doc(hidden)]
    unsafe fn store<P: Place<Self>, O: StoreOrder, S: Scope>(place: P, value: Self);
}

/// An integer with atomic operations.
pub trait AtomicInteger: Atomic {
    declare_fetch! { min max and or xor }
}

macro_rules! atomics {
    ($($ty:ty, $bits:ty, $class:ident, $size:literal, $add:literal, $exchange:literal,
        $to_bits:expr, $from_bits:expr;)*) => {$(
        impl Atomic for $ty {
            fetch! { add: $add; exchange: $exchange; @ $bits, $class, $to_bits, $from_bits }

            #[inline(always)]
            unsafe fn cas<P: Place<Self>, O: Order, S: Scope>(
                place: P,
                expected: Self,
                new: Self,
            ) -> Self {
                let address: u64 = place.address();
                let (expected, new): ($bits, $bits) = ($to_bits(expected), $to_bits(new));
                let old: $bits;
                // SAFETY: the caller's promise.
                unsafe {
                    with_order!(O::SEM, S, P::SPACE,
                        emit_cas($size, $class, old, address, expected, new));
                }
                $from_bits(old)
            }

            #[inline(always)]
            unsafe fn load<P: Place<Self>, O: LoadOrder, S: Scope>(place: P) -> Self {
                let address: u64 = place.address();
                let value: $bits;
                // SAFETY: the caller's promise.
                unsafe {
                    match O::SEM {
                        Sem::Acquire => at_scope!("acquire", S, P::SPACE,
                            emit_load($size, $class, value, address)),
                        _ => at_scope!("relaxed", S, P::SPACE,
                            emit_load($size, $class, value, address)),
                    }
                }
                $from_bits(value)
            }

            #[inline(always)]
            unsafe fn store<P: Place<Self>, O: StoreOrder, S: Scope>(place: P, value: Self) {
                let (address, value): (u64, $bits) = (place.address(), $to_bits(value));
                // SAFETY: the caller's promise.
                unsafe {
                    match O::SEM {
                        Sem::Release => at_scope!("release", S, P::SPACE,
                            emit_store($size, $class, address, value)),
                        _ => at_scope!("relaxed", S, P::SPACE,
                            emit_store($size, $class, address, value)),
                    }
                }
            }
        }
    )*};
}

// PTX has no add.s64: two's complement makes the unsigned one right for both.
atomics! {
    u32, u32, reg32, "b32", "add.u32", "exch.b32", |value| value, |bits| bits;
    i32, u32, reg32, "b32", "add.s32", "exch.b32", |value| value as u32, |bits| bits as i32;
    f32, u32, reg32, "b32", "add.f32", "exch.b32", f32::to_bits, f32::from_bits;
    u64, u64, reg64, "b64", "add.u64", "exch.b64", |value| value, |bits| bits;
    i64, u64, reg64, "b64", "add.u64", "exch.b64", |value| value as u64, |bits| bits as i64;
    f64, u64, reg64, "b64", "add.f64", "exch.b64", f64::to_bits, f64::from_bits;
}

macro_rules! atomic_integers {
    ($($ty:ty, $bits:ty, $class:ident, $min:literal $max:literal $and:literal $or:literal
        $xor:literal, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl AtomicInteger for $ty {
            fetch! { min: $min; max: $max; and: $and; or: $or; xor: $xor;
                @ $bits, $class, $to_bits, $from_bits }
        }
    )*};
}

atomic_integers! {
    u32, u32, reg32, "min.u32" "max.u32" "and.b32" "or.b32" "xor.b32",
        |value| value, |bits| bits;
    i32, u32, reg32, "min.s32" "max.s32" "and.b32" "or.b32" "xor.b32",
        |value| value as u32, |bits| bits as i32;
    u64, u64, reg64, "min.u64" "max.u64" "and.b64" "or.b64" "xor.b64",
        |value| value, |bits| bits;
    i64, u64, reg64, "min.s64" "max.s64" "and.b64" "or.b64" "xor.b64",
        |value| value as u64, |bits| bits as i64;
}

macro_rules! fetch_functions {
    ($($trait:ident { $($(#[$meta:meta])* $name:ident => $method:ident;)* })*) => {$($(
        $(#[$meta])*
        /// Gives the old value.
        ///
        /// # Safety
        ///
        /// See the module.
        #[inline(always)]
        pub unsafe fn $name<T: $trait, P: Place<T>, O: Order, S: Scope>(
            place: P,
            value: T,
            _order: O,
            _scope: S,
        ) -> T {
            // SAFETY: the caller's promise.
            unsafe { T::$method::<P, O, S>(place, value) }
        }
    )*)*};
}

fetch_functions! {
    Atomic {
        /// Adds; integers wrap.
        fetch_add => add;
        /// Replaces.
        exchange => exchange;
    }
    AtomicInteger {
        /// Replaces by the smaller.
        fetch_min => min;
        /// Replaces by the larger.
        fetch_max => max;
        /// Replaces by the bitwise and.
        fetch_and => and;
        /// Replaces by the bitwise or.
        fetch_or => or;
        /// Replaces by the bitwise exclusive or.
        fetch_xor => xor;
    }
}

/// Replaces the value by `new` if its bits are those of `expected`. Gives the old value.
///
/// # Safety
///
/// See the module.
#[inline(always)]
pub unsafe fn compare_exchange<T: Atomic, P: Place<T>, O: Order, S: Scope>(
    place: P,
    expected: T,
    new: T,
    _order: O,
    _scope: S,
) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::cas::<P, O, S>(place, expected, new) }
}

/// Reads.
///
/// # Safety
///
/// See the module.
#[inline(always)]
pub unsafe fn load<T: Atomic, P: Place<T>, O: LoadOrder, S: Scope>(
    place: P,
    _order: O,
    _scope: S,
) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::load::<P, O, S>(place) }
}

/// Writes.
///
/// # Safety
///
/// See the module.
#[inline(always)]
pub unsafe fn store<T: Atomic, P: Place<T>, O: StoreOrder, S: Scope>(
    place: P,
    value: T,
    _order: O,
    _scope: S,
) {
    // SAFETY: the caller's promise.
    unsafe { T::store::<P, O, S>(place, value) }
}

/// An acquire-release fence (`fence.acq_rel`). The fences of [`super::thread`] are sequentially
/// consistent.
#[inline(always)]
pub fn fence<S: Scope>(_scope: S) {
    // SAFETY: orders memory; nothing is accessed.
    unsafe {
        match S::LEVEL {
            Level::Block => asm!("fence.acq_rel.cta;", options(nostack)),
            #[cfg(feature = "sm_90")]
            Level::Cluster => asm!("fence.acq_rel.cluster;", options(nostack)),
            Level::Device => asm!("fence.acq_rel.gpu;", options(nostack)),
            Level::System => asm!("fence.acq_rel.sys;", options(nostack)),
        }
    }
}
