//! Which lanes hold the same value?
//!
//! Expected: match any gives each lane the lanes of the mask with the same bits as its own; match all
//! gives the mask if all of them agree, and nothing otherwise (PTX ISA 9.7.13, `match.sync`). Floats
//! are compared by their bits: 0.0 is not -0.0, and a NaN matches its like.
//!
//! Run: `cargo run --release --bin shuffle -- --show match`

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

macro_rules! matches {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Matches lanes by their `", stringify!($ty), "`.")]
            ///
            /// Among the lanes of `masks[i]`: thread i writes those with the same `input` to `any[i]`,
            /// and the mask, or 0 where they do not all agree, to `all[i]`. A thread whose own lane
            /// `masks[i]` does not name makes no call and writes nothing.
            ///
            /// One-dimensional launches of whole warps; lanes that one mask names have the same mask.
            pub $handle = unsafe fn $name(
                masks: *const u32, input: *const $ty, any: *mut u32, all: *mut u32,
            ) {
                let i = thread::index_1d() as usize;
                // SAFETY: one element of each array per thread. Exactly the lanes that a mask names
                // reach the calls with it.
                unsafe {
                    let (mask, value) = (*masks.add(i), *input.add(i));
                    if mask >> warp::lane_id() & 1 != 0 {
                        *any.add(i) = warp::warp_match_any(mask, value);
                        *all.add(i) = warp::warp_match_all(mask, value).unwrap_or(0);
                    }
                }
            }
        }
    )*};
}

matches! {
    WARP_MATCH_I32 warp_match_i32 i32;
    WARP_MATCH_U32 warp_match_u32 u32;
    WARP_MATCH_I64 warp_match_i64 i64;
    WARP_MATCH_U64 warp_match_u64 u64;
    WARP_MATCH_F32 warp_match_f32 f32;
    WARP_MATCH_F64 warp_match_f64 f64;
}
