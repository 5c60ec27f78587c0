//! How do shuffles give every lane the sum of the lanes up to it?
//!
//! Expected: an inclusive scan after log2(width) steps of up, each adding only where the source was in
//! range: the first lanes of a segment must not add their own value again (Hillis and Steele, "Data
//! Parallel Algorithms", CACM 1986).
//!
//! Run: `cargo run --release --bin shuffle -- --show scan`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    operation::{Operation, Sum},
    thread, warp,
};

/// Places per thread in the outputs: the steps of a whole warp.
pub const STEPS: usize = 5;

macro_rules! scans {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Scans segments of `", stringify!($ty), "`.")]
            ///
            /// Thread i begins with `input[i]`. In each step, from 1 doubling up to half of `width`
            /// (2, 4, 8, 16 or 32), it adds what it receives from that many lanes below, if that lane
            /// is in its segment. Step k writes what was received to `received[STEPS * i + k]` and
            /// the sum to `held[STEPS * i + k]`.
            ///
            /// One-dimensional launches of whole warps, all lanes take part.
            pub $handle = unsafe fn $name(
                width: u32, input: *const $ty, received: *mut $ty, held: *mut $ty,
            ) {
                let i = thread::index_1d() as usize;
                // SAFETY: whole warps; one input and STEPS places in each output per thread, and a
                // width of at most 32 has at most STEPS steps.
                unsafe {
                    let mut value = *input.add(i);
                    let (mut delta, mut place) = (1, STEPS * i);
                    while delta < width {
                        let (other, in_range) =
                            warp::warp_shuffle_up(u32::MAX, value, delta, width);
                        if in_range {
                            value = <Sum as Operation<$ty>>::combine(value, other);
                        }
                        *received.add(place) = other;
                        *held.add(place) = value;
                        place += 1;
                        delta *= 2;
                    }
                }
            }
        }
    )*};
}

scans! {
    SHUFFLE_SCAN_I32 shuffle_scan_i32 i32;
    SHUFFLE_SCAN_U32 shuffle_scan_u32 u32;
    SHUFFLE_SCAN_I64 shuffle_scan_i64 i64;
    SHUFFLE_SCAN_U64 shuffle_scan_u64 u64;
    SHUFFLE_SCAN_F32 shuffle_scan_f32 f32;
    SHUFFLE_SCAN_F64 shuffle_scan_f64 f64;
}
