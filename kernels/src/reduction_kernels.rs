//! The macro behind the files of reductions: `reduction_kernels!` declares one kernel for several
//! operations and types.

/// Declares a kernel for every line of the list that follows it.
///
/// ```ignore
/// reduction_kernels! {
///     /// Combines all of `x`, one result per block.
///     pub HANDLE = unsafe fn name<O, T>(n: u64, x: *const T, results: *mut T) {
///         // the body, in which O is the operation and T the type of the elements
///     }
///
///     REDUCE_SUM_I32 reduce_sum_i32 Sum i32;
///     REDUCE_MIN_F64 reduce_min_f64 Min f64;
/// }
/// ```
///
/// A line gives what stands for `HANDLE`, `name`, `O` and `T`; `HANDLE in sm_80` or `in sm_90` puts
/// all of them into that module. The parameters are those three, or four with `scratch: *mut u64`
/// before the last.
macro_rules! reduction_kernels {
    (
        $(#[$meta:meta])*
        pub HANDLE $(in $target:ident)? = unsafe fn name<O, T> $parameters:tt $body:tt
        $($handle:ident $name:ident $operation:ident $ty:ty;)+
    ) => {
        reduction_kernels! { @each [$(#[$meta])*] [$(in $target)?] $parameters $body
            $($handle $name $operation $ty;)+ }
    };
    // What repeats goes in as one token, since it does not repeat as the lines do.
    (
        @each $documentation:tt $target:tt $parameters:tt $body:tt
        $($handle:ident $name:ident $operation:ident $ty:ty;)+
    ) => {$(
        reduction_kernels! { @one $documentation $target $parameters $body
            $handle $name $operation $ty }
    )+};
    (
        @one [$(#[$meta:meta])*] [$($target:tt)*]
        ($n:ident: u64, $x:ident: *const T, $results:ident: *mut T $(,)?) { $($body:tt)* }
        $handle:ident $name:ident $operation:ident $ty:ty
    ) => {
        kernel! {
            $(#[$meta])*
            pub $handle $($target)* = unsafe fn $name($n: u64, $x: *const $ty, $results: *mut $ty) {
                type O = $operation;
                type T = $ty;
                $($body)*
            }
        }
    };
    (
        @one [$(#[$meta:meta])*] [$($target:tt)*]
        (
            $n:ident: u64, $x:ident: *const T, $scratch:ident: *mut u64, $result:ident: *mut T $(,)?
        ) { $($body:tt)* }
        $handle:ident $name:ident $operation:ident $ty:ty
    ) => {
        kernel! {
            $(#[$meta])*
            pub $handle $($target)* = unsafe fn $name(
                $n: u64, $x: *const $ty, $scratch: *mut u64, $result: *mut $ty,
            ) {
                type O = $operation;
                type T = $ty;
                $($body)*
            }
        }
    };
}
