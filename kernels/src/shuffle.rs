//! Who reads from whom in a shuffle?
//!
//! Expected: what PTX's `shfl.sync` says (PTX ISA 9.7.9.6): lanes exchange within segments of `width`
//! lanes, a lane whose source lies outside keeps its own value, and only the lower five bits of the
//! argument count. Lanes that the mask does not name take no part.
//!
//! Run: `cargo run --release --bin shuffle`

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

/// `mode` of the kernels: the argument is the source lane in the segment.
pub const IDX: u32 = 0;
/// The argument is subtracted from the lane.
pub const UP: u32 = 1;
/// The argument is added to the lane.
pub const DOWN: u32 = 2;
/// The argument is combined with the lane by exclusive or.
pub const XOR: u32 = 3;

macro_rules! shuffles {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("One shuffle of `", stringify!($ty), "`.")]
            ///
            /// Thread i shuffles `input[i]` by `mode` ([`IDX`], [`UP`], [`DOWN`] or [`XOR`]) with
            /// `arguments[i]` within segments of `width` (2, 4, 8, 16 or 32) lanes, among the lanes
            /// of `masks[i]`, and writes what it received to `values[i]` and whether its source was
            /// in range (1 or 0) to `in_range[i]`. A thread whose own lane `masks[i]` does not name
            /// makes no call and writes nothing.
            ///
            /// One-dimensional launches of whole warps; lanes that one mask names have the same mask.
            pub $handle = unsafe fn $name(
                mode: u32, width: u32, masks: *const u32, arguments: *const u32,
                input: *const $ty, values: *mut $ty, in_range: *mut u32,
            ) {
                let i = thread::index_1d() as usize;
                // SAFETY: one element of each array per thread. Exactly the lanes that a mask names
                // reach the call with it, since the mode is the same for all threads.
                unsafe {
                    let (mask, argument, value) =
                        (*masks.add(i), *arguments.add(i), *input.add(i));
                    if mask >> warp::lane_id() & 1 != 0 {
                        let (received, valid) = match mode {
                            IDX => warp::warp_shuffle_idx(mask, value, argument, width),
                            UP => warp::warp_shuffle_up(mask, value, argument, width),
                            DOWN => warp::warp_shuffle_down(mask, value, argument, width),
                            _ => warp::warp_shuffle_xor(mask, value, argument, width),
                        };
                        *values.add(i) = received;
                        *in_range.add(i) = u32::from(valid);
                    }
                }
            }
        }
    )*};
}

shuffles! {
    SHUFFLE_I32 shuffle_i32 i32;
    SHUFFLE_U32 shuffle_u32 u32;
    SHUFFLE_I64 shuffle_i64 i64;
    SHUFFLE_U64 shuffle_u64 u64;
    SHUFFLE_F32 shuffle_f32 f32;
    SHUFFLE_F64 shuffle_f64 f64;
}
