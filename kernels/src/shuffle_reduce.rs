//! How do shuffles sum a warp?
//!
//! Expected: with the butterfly (xor) every lane of a segment ends with the sum; with down only the
//! segment's first lane does, since lanes whose source is out of range add their own value. Both take
//! log2(width) steps.
//!
//! Run: `cargo run --release --bin shuffle -- --show reduce`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Operation, Sum},
    thread, warp,
};

/// Places per thread in the outputs: the steps of a whole warp.
pub const STEPS: usize = 5;

macro_rules! reductions {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Sums segments of `", stringify!($ty), "`.")]
            ///
            /// Thread i begins with `input[i]`. In each step, from half of `width` (2, 4, 8, 16 or 32)
            /// down to 1, it adds what it receives from that many lanes above (`down` is 1) or from
            /// the lane whose number differs in that bit (`down` is 0). Step k writes what was
            /// received to `received[STEPS * i + k]` and the sum to `held[STEPS * i + k]`.
            ///
            /// One-dimensional launches of whole warps, all lanes take part.
            pub $handle = unsafe fn $name(
                down: u32, width: u32, input: *const $ty, received: *mut $ty, held: *mut $ty,
            ) {
                let i = thread::index_1d() as usize;
                // SAFETY: whole warps; one input and STEPS places in each output per thread, and a
                // width of at most 32 has at most STEPS steps.
                unsafe {
                    let mut value = *input.add(i);
                    let (mut delta, mut place) = (width / 2, STEPS * i);
                    while delta > 0 {
                        let (other, _) = if down != 0 {
                            warp::warp_shuffle_down(u32::MAX, value, delta, width)
                        } else {
                            warp::warp_shuffle_xor(u32::MAX, value, delta, width)
                        };
                        value = <Sum as Operation<$ty>>::combine(value, other);
                        *received.add(place) = other;
                        *held.add(place) = value;
                        place += 1;
                        delta /= 2;
                    }
                }
            }
        }
    )*};
}

reductions! {
    SHUFFLE_REDUCE_I32 shuffle_reduce_i32 i32;
    SHUFFLE_REDUCE_U32 shuffle_reduce_u32 u32;
    SHUFFLE_REDUCE_I64 shuffle_reduce_i64 i64;
    SHUFFLE_REDUCE_U64 shuffle_reduce_u64 u64;
    SHUFFLE_REDUCE_F32 shuffle_reduce_f32 f32;
    SHUFFLE_REDUCE_F64 shuffle_reduce_f64 f64;
}
