//! CUDA's built-in vector types, aligned to their size: 16 bytes for the four-element types.
//!
//! Reading one through a pointer and using its elements is one access of its size. A plain copy
//! from memory to memory may become two accesses of half the size; where one is required, use
//! [`super::cache::load_ca`] and [`super::cache::store_wb`].

macro_rules! vectors {
    ($($name:ident, $element:ty, $align:literal, $($field:ident)+;)*) => {$(
        #[doc = concat!("CUDA's vector of `", stringify!($element), "`, aligned to ", $align, " bytes.")]
        #[derive(Clone, Copy, PartialEq)]
        #[repr(C, align($align))]
        #[allow(missing_docs)]
        pub struct $name {
            $(pub $field: $element,)+
        }

        impl $name {
            /// The vector of these elements.
            #[inline(always)]
            pub const fn new($($field: $element),+) -> Self {
                Self { $($field),+ }
            }
        }
    )*};
}

vectors! {
    Float2, f32, 8, x y;
    Float4, f32, 16, x y z w;
    Int2, i32, 8, x y;
    Int4, i32, 16, x y z w;
    Uint2, u32, 8, x y;
    Uint4, u32, 16, x y z w;
    Double2, f64, 16, x y;
    Longlong2, i64, 16, x y;
    Ulonglong2, u64, 16, x y;
}
