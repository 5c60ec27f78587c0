//! The two macros behind the kernels: `kernel!` declares one, `modules!` lists them.
//!
//! One declaration has three readings, chosen by the target it is compiled for: a PTX entry of
//! rustc's own NVPTX backend, a `#[cuda_std::kernel]` under rustc_codegen_nvvm, and a typed handle
//! on the host. The body is compiled for the device only.

/// Declares a kernel and the handle that the host launches it by.
///
/// ```ignore
/// kernel! {
///     /// Doubles every element.
///     pub DOUBLE = unsafe fn double(n: u64, x: *mut f32) {
///         // the body: device code, compiled for the device only
///     }
/// }
/// ```
///
/// `in sm_80` or `in sm_90` before the `=` puts the kernel into that module instead of the base
/// module.
/// Parameters are the types that implement `handle::KernelParameter`: 32- and 64-bit integers and
/// floats, and pointers to global memory. The macro takes types and bodies from an enclosing
/// `macro_rules!`, so that one body can be declared for several types.
macro_rules! kernel {
    (
        $(#[$meta:meta])*
        pub $handle:ident = unsafe fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) $body:block
    ) => {
        kernel! { @declare Sm70 (not(any(feature = "sm_80", feature = "sm_90"))) $(#[$meta])*
            $handle $name ($($parameter: $ty),*) $body }
    };
    (
        $(#[$meta:meta])*
        pub $handle:ident in sm_80 = unsafe fn $name:ident($($parameter:ident: $ty:ty),* $(,)?)
            $body:block
    ) => {
        kernel! { @declare Sm80 (feature = "sm_80") $(#[$meta])*
            $handle $name ($($parameter: $ty),*) $body }
    };
    (
        $(#[$meta:meta])*
        pub $handle:ident in sm_90 = unsafe fn $name:ident($($parameter:ident: $ty:ty),* $(,)?)
            $body:block
    ) => {
        kernel! { @declare Sm90 (feature = "sm_90") $(#[$meta])*
            $handle $name ($($parameter: $ty),*) $body }
    };
    (
        @declare $target:ident ($($module:tt)*) $(#[$meta:meta])*
        $handle:ident $name:ident ($($parameter:ident: $ty:ty),*) $body:block
    ) => {
        $(#[$meta])*
        #[cfg(all(target_os = "cuda", not(feature = "rust-cuda"), $($module)*))]
        #[allow(clippy::missing_safety_doc)]
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name($($parameter: $ty),*) $body

        $(#[$meta])*
        #[cfg(all(target_os = "cuda", feature = "rust-cuda", $($module)*))]
        #[allow(clippy::missing_safety_doc)]
        #[cuda_std::kernel]
        pub unsafe fn $name($($parameter: $ty),*) $body

        $(#[$meta])*
        #[cfg(not(target_os = "cuda"))]
        pub const $handle: $crate::handle::Kernel<($($ty,)*)> = {
            static DECLARATION: $crate::handle::Declaration = $crate::handle::Declaration {
                name: stringify!($name),
                target: $crate::handle::Target::$target,
                parameters: &[$($crate::handle::Parameter {
                    name: stringify!($parameter),
                    ty: <$ty as $crate::handle::KernelParameter>::TYPE,
                }),*],
            };
            $crate::handle::Kernel::new(&DECLARATION)
        };
    };
}

/// Lists the files of kernels and the handles each declares: makes the modules, brings the handles
/// to the crate's root, and gathers the declarations in `ALL`.
///
/// `in sm_90` behind a file's name says that its kernels are in the sm_90 module: on the device the
/// file is compiled for that module only, and any other for the base module only. So does `in
/// sm_80`.
macro_rules! modules {
    (@file [] $(#[$meta:meta])* $module:ident) => {
        $(#[$meta])*
        #[cfg(any(not(target_os = "cuda"), not(any(feature = "sm_80", feature = "sm_90"))))]
        pub mod $module;
    };
    (@file [sm_80] $(#[$meta:meta])* $module:ident) => {
        $(#[$meta])*
        #[cfg(any(not(target_os = "cuda"), feature = "sm_80"))]
        pub mod $module;
    };
    (@file [sm_90] $(#[$meta:meta])* $module:ident) => {
        $(#[$meta])*
        #[cfg(any(not(target_os = "cuda"), feature = "sm_90"))]
        pub mod $module;
    };
    ($($(#[$meta:meta])* $module:ident $(in $target:ident)?: $($handle:ident),+;)+) => {
        $(modules! { @file [$($target)?] $(#[$meta])* $module })+

        $(
            #[cfg(not(target_os = "cuda"))]
            pub use $module::{$($handle),+};
        )+

        /// Every kernel's declaration, in the order of the list.
        #[cfg(not(target_os = "cuda"))]
        pub static ALL: &[&handle::Declaration] =
            &[$($($module::$handle.declaration()),+),+];

        /// Every file of kernels with the names of its handles, in the order of the list.
        #[cfg(not(target_os = "cuda"))]
        pub static FILES: &[(&str, &[&str])] =
            &[$((stringify!($module), &[$(stringify!($handle)),+])),+];
    };
}
