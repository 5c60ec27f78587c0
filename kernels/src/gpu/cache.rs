//! Loads and stores of global memory with a cache hint.
//!
//! Names follow PTX's cache operators and CUDA's `__ldcg`, `__stcs` and so on. A hint changes time,
//! never a value, except [`load_nc`], whose memory nobody may write while the kernel runs. Plain
//! reads and writes are `.ca` and `.wb`. The safety of every function: the pointer is to global
//! memory and valid for the access, aligned to the value's size, 16 bytes for a four-element
//! vector.

use core::arch::asm;

use super::vector::{Double2, Float2, Float4, Int2, Int4, Longlong2, Uint2, Uint4, Ulonglong2};

macro_rules! declare {
    ($($load:ident)*; $($store:ident)*) => {
        /// A value that can be moved with a cache hint.
        pub trait CacheValue: Copy {
            $(
                #[doc(hidden)]
                unsafe fn $load(pointer: *const Self) -> Self;
            )*
            $(
                #[doc(hidden)]
                unsafe fn $store(pointer: *mut Self, value: Self);
            )*
        }
    };
}

declare! { ca cg cs lu cv nc; to_wb to_cg to_cs to_wt }

// What each operator's assembly may be assumed to do: `.cg` and `.cv` are used to look again at
// memory that other threads write, so they are neither merged nor dropped.
macro_rules! value_methods {
    ($($parts:tt)*) => {
        load_method! { ca "ca" (pure, readonly, nostack) $($parts)* }
        load_method! { cg "cg" (readonly, nostack) $($parts)* }
        load_method! { cs "cs" (pure, readonly, nostack) $($parts)* }
        load_method! { lu "lu" (pure, readonly, nostack) $($parts)* }
        load_method! { cv "cv" (readonly, nostack) $($parts)* }
        load_method! { nc "nc" (pure, readonly, nostack) $($parts)* }
        store_method! { to_wb "wb" $($parts)* }
        store_method! { to_cg "cg" $($parts)* }
        store_method! { to_cs "cs" $($parts)* }
        store_method! { to_wt "wt" $($parts)* }
    };
}

macro_rules! load_method {
    ($name:ident $operator:literal ($($option:ident),*) scalar $bits:ty, $class:ident, $size:literal,
        $to_bits:expr, $from_bits:expr) => {
        #[inline(always)]
        unsafe fn $name(pointer: *const Self) -> Self {
            let value: $bits;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .b64 place;",
                    "cvta.to.global.u64 place, {};",
                    concat!("ld.global.", $operator, ".", $size, " {}, [place]; }}"),
                    in(reg64) pointer as u64, out($class) value, options($($option),*),
                );
            }
            $from_bits(value)
        }
    };
    ($name:ident $operator:literal ($($option:ident),*) vector $bits:ty, $class:ident, $size:literal,
        $registers:literal, $to_bits:expr, $from_bits:expr, $($field:ident)+) => {
        #[inline(always)]
        unsafe fn $name(pointer: *const Self) -> Self {
            $(let $field: $bits;)+
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .b64 place;",
                    "cvta.to.global.u64 place, {};",
                    concat!("ld.global.", $operator, ".", $size, " {{", $registers,
                        "}}, [place]; }}"),
                    in(reg64) pointer as u64, $(out($class) $field,)+ options($($option),*),
                );
            }
            Self::new($($from_bits($field)),+)
        }
    };
}

macro_rules! store_method {
    ($name:ident $operator:literal scalar $bits:ty, $class:ident, $size:literal,
        $to_bits:expr, $from_bits:expr) => {
        #[inline(always)]
        unsafe fn $name(pointer: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .b64 place;",
                    "cvta.to.global.u64 place, {};",
                    concat!("st.global.", $operator, ".", $size, " [place], {}; }}"),
                    in(reg64) pointer as u64, in($class) $to_bits(value), options(nostack),
                );
            }
        }
    };
    ($name:ident $operator:literal vector $bits:ty, $class:ident, $size:literal,
        $registers:literal, $to_bits:expr, $from_bits:expr, $($field:ident)+) => {
        #[inline(always)]
        unsafe fn $name(pointer: *mut Self, value: Self) {
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .b64 place;",
                    "cvta.to.global.u64 place, {};",
                    concat!("st.global.", $operator, ".", $size, " [place], {{", $registers,
                        "}}; }}"),
                    in(reg64) pointer as u64, $(in($class) $to_bits(value.$field),)+
                    options(nostack),
                );
            }
        }
    };
}

macro_rules! cache_values {
    ($($ty:ty { $($parts:tt)* })*) => {$(
        impl CacheValue for $ty {
            value_methods! { $($parts)* }
        }
    )*};
}

cache_values! {
    u32 { scalar u32, reg32, "b32", |value| value, |bits| bits }
    i32 { scalar u32, reg32, "b32", |value| value as u32, |bits| bits as i32 }
    f32 { scalar u32, reg32, "b32", f32::to_bits, f32::from_bits }
    u64 { scalar u64, reg64, "b64", |value| value, |bits| bits }
    i64 { scalar u64, reg64, "b64", |value| value as u64, |bits| bits as i64 }
    f64 { scalar u64, reg64, "b64", f64::to_bits, f64::from_bits }
    Float2 { vector u32, reg32, "v2.b32", "{}, {}", f32::to_bits, f32::from_bits, x y }
    Float4 { vector u32, reg32, "v4.b32", "{}, {}, {}, {}", f32::to_bits, f32::from_bits, x y z w }
    Uint2 { vector u32, reg32, "v2.b32", "{}, {}", |value| value, |bits| bits, x y }
    Uint4 { vector u32, reg32, "v4.b32", "{}, {}, {}, {}", |value| value, |bits| bits, x y z w }
    Int2 {
        vector u32, reg32, "v2.b32", "{}, {}", |value| value as u32, |bits| bits as i32, x y
    }
    Int4 {
        vector u32, reg32, "v4.b32", "{}, {}, {}, {}", |value| value as u32, |bits| bits as i32,
        x y z w
    }
    Double2 { vector u64, reg64, "v2.b64", "{}, {}", f64::to_bits, f64::from_bits, x y }
    Ulonglong2 { vector u64, reg64, "v2.b64", "{}, {}", |value| value, |bits| bits, x y }
    Longlong2 {
        vector u64, reg64, "v2.b64", "{}, {}", |value| value as u64, |bits| bits as i64, x y
    }
}

macro_rules! functions {
    (@load $($(#[$meta:meta])* $name:ident => $method:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// See the module.
        #[inline(always)]
        pub unsafe fn $name<T: CacheValue>(pointer: *const T) -> T {
            // SAFETY: the caller's promise.
            unsafe { T::$method(pointer) }
        }
    )*};
    (@store $($(#[$meta:meta])* $name:ident => $method:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// See the module.
        #[inline(always)]
        pub unsafe fn $name<T: CacheValue>(pointer: *mut T, value: T) {
            // SAFETY: the caller's promise.
            unsafe { T::$method(pointer, value) }
        }
    )*};
}

functions! { @load
    /// Loads with all levels cached (`.ca`, `__ldca`).
    load_ca => ca;
    /// Loads with the L2 cached and the L1 passed by (`.cg`, `__ldcg`).
    load_cg => cg;
    /// Loads as likely to be used once (`.cs`, `__ldcs`).
    load_cs => cs;
    /// Loads as used for the last time (`.lu`, `__ldlu`).
    load_lu => lu;
    /// Loads anew, not from a cache (`.cv`, `__ldcv`).
    load_cv => cv;
    /// Loads through the read-only path (`.nc`, `__ldg`). Nobody writes the memory meanwhile.
    load_nc => nc;
}

functions! { @store
    /// Stores with all coherent levels written back (`.wb`, `__stwb`).
    store_wb => to_wb;
    /// Stores with the L2 cached (`.cg`, `__stcg`).
    store_cg => to_cg;
    /// Stores as likely to be used once (`.cs`, `__stcs`).
    store_cs => to_cs;
    /// Stores through the L2 to memory (`.wt`, `__stwt`).
    store_wt => to_wt;
}
