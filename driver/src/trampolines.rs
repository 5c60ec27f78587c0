//! The driver's functions as trampolines through slots.

use std::{
    ffi::{CString, c_void},
    sync::atomic::{AtomicPtr, Ordering},
};

use crate::symbols::for_each_symbol;

/// `CUDA_ERROR_STUB_LIBRARY`: what every function returns while its slot is not filled.
pub(crate) const STUB_LIBRARY: i32 = 34;

/// The caller's arguments are the caller's to clean up in the C calling convention, so one
/// function without parameters can stand in for all.
extern "C" fn not_loaded() -> i32 {
    STUB_LIBRARY
}

/// One slot per symbol, in the order of [`Symbol`].
static SLOTS: [AtomicPtr<c_void>; Symbol::ALL.len()] =
    [const { AtomicPtr::new(not_loaded as *const () as *mut c_void) }; Symbol::ALL.len()];

impl Symbol {
    /// The address a call of this function goes to at present.
    pub(crate) fn address(self) -> *mut c_void {
        SLOTS[self as usize].load(Ordering::Acquire)
    }

    /// Fills the slot.
    pub(crate) fn resolve(self, address: *mut c_void) {
        SLOTS[self as usize].store(address, Ordering::Release);
    }

    /// Whether the driver that was loaded has this function.
    pub fn is_resolved(self) -> bool {
        self.address() != not_loaded as *const () as *mut c_void
    }

    /// The name as a C string, for a look-up.
    pub(crate) fn c_name(self) -> CString {
        CString::new(self.name()).expect("a symbol's name holds no NUL")
    }
}

macro_rules! define {
    (cust_raw: [$($old:ident),* $(,)?] later: [$($new:ident),* $(,)?]) => {
        /// A function of the driver, under its exported name.
        #[allow(non_camel_case_types, missing_docs, clippy::enum_variant_names)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(usize)]
        pub enum Symbol { $($old,)* $($new,)* }

        impl Symbol {
            /// All functions that this crate defines.
            pub const ALL: &[Symbol] = &[$(Symbol::$old,)* $(Symbol::$new,)*];

            /// Those that `cust_raw` declares.
            pub const CUST_RAW: &[Symbol] = &[$(Symbol::$old,)*];

            /// The exported name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Symbol::$old => stringify!($old),)*
                    $(Symbol::$new => stringify!($new),)*
                }
            }
        }

        // Only what cust_raw refers to must exist for the linker.
        mod exported {
            #[allow(unused_imports)]
            use super::{SLOTS, Symbol};
            $(trampoline!($old);)*
        }
    };
}

#[cfg(all(any(target_os = "linux", windows), target_arch = "x86_64"))]
macro_rules! trampoline {
    ($name:ident) => {
        // SAFETY: the name is the driver's own, and no other library is linked that defines it.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[allow(non_snake_case, unreachable_pub)]
        pub unsafe extern "C" fn $name() {
            // A jump leaves arguments, stack and return address as the caller made them.
            std::arch::naked_asm!(
                "jmp qword ptr [rip + {slots} + {offset}]",
                slots = sym SLOTS,
                offset = const Symbol::$name as usize * size_of::<usize>(),
            )
        }
    };
}

#[cfg(all(any(target_os = "linux", windows), target_arch = "aarch64"))]
macro_rules! trampoline {
    ($name:ident) => {
        // SAFETY: the name is the driver's own, and no other library is linked that defines it.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[allow(non_snake_case, unreachable_pub)]
        pub unsafe extern "C" fn $name() {
            // x16 is the procedure call standard's scratch register for such veneers, and a
            // branch through it may enter a function that starts with `bti c`.
            std::arch::naked_asm!(
                "adrp x16, {slots} + {offset}",
                "ldr x16, [x16, :lo12:{slots} + {offset}]",
                "br x16",
                slots = sym SLOTS,
                offset = const Symbol::$name as usize * size_of::<usize>(),
            )
        }
    };
}

// There is no CUDA driver for other platforms; programs still link, and `load` says so.
#[cfg(not(all(
    any(target_os = "linux", windows),
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
macro_rules! trampoline {
    ($name:ident) => {
        // SAFETY: the name is the driver's own, and no other library is linked that defines it.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, unreachable_pub)]
        pub extern "C" fn $name() -> i32 {
            super::STUB_LIBRARY
        }
    };
}

for_each_symbol!(define);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_index_their_slots() {
        for (index, symbol) in Symbol::ALL.iter().enumerate() {
            assert_eq!(*symbol as usize, index, "{}", symbol.name());
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Symbol::ALL.iter().map(|symbol| symbol.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
