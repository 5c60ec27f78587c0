//! Shared memory: arrays of a fixed size, and the block's dynamic shared memory.
//!
//! `shared_array! { fn tile() -> [f32; 256] }` declares an array and a function that gives its
//! first element; the name is the array's in PTX and must be the only one of its kind. The memory
//! begins uninitialised, and belongs to the block.

use core::{arch::asm, marker::PhantomData};

/// A pointer into the block's shared memory. Reads and writes through it are `ld.shared` and
/// `st.shared`, which are faster than the same through a generic pointer.
pub struct SharedPointer<T> {
    /// The address in the shared window.
    address: u32,
    element: PhantomData<*mut T>,
}

impl<T> Clone for SharedPointer<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPointer<T> {}

impl<T> SharedPointer<T> {
    /// A pointer to an address of the shared window.
    #[inline(always)]
    pub const fn from_address(address: u32) -> Self {
        Self {
            address,
            element: PhantomData,
        }
    }

    /// The address in the shared window.
    #[inline(always)]
    pub const fn address(self) -> u32 {
        self.address
    }

    /// The element `count` further on.
    ///
    /// # Safety
    ///
    /// It is in the same array, or one past its end.
    #[inline(always)]
    pub const unsafe fn add(self, count: u32) -> Self {
        Self::from_address(self.address + count * size_of::<T>() as u32)
    }

    /// The same place as another type.
    #[inline(always)]
    pub const fn cast<U>(self) -> SharedPointer<U> {
        SharedPointer::from_address(self.address)
    }

    /// The generic address of the same place, for whatever takes a plain pointer.
    #[inline(always)]
    pub fn generic(self) -> *mut T {
        let generic: u64;
        // SAFETY: converts an address; nothing is accessed.
        unsafe {
            asm!(
                "cvta.shared.u64 {}, {};",
                out(reg64) generic,
                in(reg64) u64::from(self.address),
                options(pure, nomem, nostack),
            );
        }
        generic as *mut T
    }
}

/// Declares the trait of the values that a state space with 32-bit addresses is read and written by,
/// for the types that shared memory and that of a cluster's other blocks have in common.
macro_rules! values_of_space {
    ($(#[$meta:meta])* $trait:ident, $space:literal) => {
        $(#[$meta])*
        pub trait $trait: Copy {
            #[doc(hidden)]
            unsafe fn read(address: u32) -> Self;
            #[doc(hidden)]
            unsafe fn write(address: u32, value: Self);
        }

        values_of_space! { @types $trait $space
            u32, u32, reg32, "b32", |value| value, |bits| bits;
            i32, u32, reg32, "b32", |value| value as u32, |bits| bits as i32;
            f32, u32, reg32, "b32", f32::to_bits, f32::from_bits;
            u64, u64, reg64, "b64", |value| value, |bits| bits;
            i64, u64, reg64, "b64", |value| value as u64, |bits| bits as i64;
            f64, u64, reg64, "b64", f64::to_bits, f64::from_bits;
        }
    };
    (@types $trait:ident $space:literal
        $($ty:ty, $bits:ty, $class:ident, $size:literal, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl $trait for $ty {
            #[inline(always)]
            unsafe fn read(address: u32) -> Self {
                let bits: $bits;
                // SAFETY: the caller gives an element's address.
                unsafe {
                    asm!(
                        concat!("ld.", $space, ".", $size, " {}, [{}];"),
                        out($class) bits,
                        in(reg32) address,
                        options(pure, readonly, nostack),
                    );
                }
                $from_bits(bits)
            }

            #[inline(always)]
            unsafe fn write(address: u32, value: Self) {
                // SAFETY: the caller gives an element's address.
                unsafe {
                    asm!(
                        concat!("st.", $space, ".", $size, " [{}], {};"),
                        in(reg32) address,
                        in($class) $to_bits(value),
                        options(nostack),
                    );
                }
            }
        }
    )*};
}
#[cfg(feature = "sm_90")]
pub(super) use values_of_space;

values_of_space! {
    /// A value that shared memory is read and written by.
    SharedValue, "shared"
}

impl<T: SharedValue> SharedPointer<T> {
    /// Reads the element.
    ///
    /// # Safety
    ///
    /// The pointer is to an element that was written, and no other thread writes it meanwhile.
    #[inline(always)]
    pub unsafe fn read(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::read(self.address) }
    }

    /// Writes the element.
    ///
    /// # Safety
    ///
    /// The pointer is to an element, and no other thread accesses it meanwhile.
    #[inline(always)]
    pub unsafe fn write(self, value: T) {
        // SAFETY: the caller's promise.
        unsafe { T::write(self.address, value) }
    }
}

/// The block's dynamic shared memory, aligned to 16 bytes; its size is the launch's.
#[inline(always)]
pub fn dynamic<T>() -> SharedPointer<T> {
    super::backend::dynamic_shared()
}

/// Bytes of dynamic shared memory that the launch gave the block.
#[inline(always)]
pub fn dynamic_bytes() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register.
    unsafe {
        asm!(
            "mov.u32 {}, %dynamic_smem_size;",
            out(reg32) bytes,
            options(pure, nomem, nostack),
        );
    }
    bytes
}
