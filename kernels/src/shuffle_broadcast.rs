//! How does one lane give its value to all, when only a vote can tell which lane it is?
//!
//! Expected: a ballot makes the same choice in every lane, the lowest whose predicate holds, and one
//! shuffle brings that lane's value to all that take part.
//!
//! Run: `cargo run --release --bin shuffle -- --show broadcast`

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

macro_rules! broadcasts {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Broadcasts one lane's `", stringify!($ty), "`.")]
            ///
            /// The lanes of `masks[i]` elect the lowest among them whose `predicates[i]` is not zero,
            /// or the lowest of all if there is none. Thread i writes that lane to `leaders[i]` and
            /// its `input` to `values[i]`. A thread whose own lane `masks[i]` does not name makes no
            /// call and writes nothing.
            ///
            /// One-dimensional launches of whole warps; lanes that one mask names have the same mask.
            pub $handle = unsafe fn $name(
                masks: *const u32, predicates: *const u32, input: *const $ty, leaders: *mut u32,
                values: *mut $ty,
            ) {
                let i = thread::index_1d() as usize;
                // SAFETY: one element of each array per thread. Exactly the lanes that a mask names
                // reach the calls with it, and the leader is one of them.
                unsafe {
                    let (mask, value) = (*masks.add(i), *input.add(i));
                    if mask >> warp::lane_id() & 1 != 0 {
                        let candidates = warp::warp_vote_ballot(mask, *predicates.add(i) != 0);
                        let candidates = if candidates != 0 { candidates } else { mask };
                        let leader = candidates.trailing_zeros();
                        *leaders.add(i) = leader;
                        *values.add(i) = warp::warp_shuffle_idx(mask, value, leader, 32).0;
                    }
                }
            }
        }
    )*};
}

broadcasts! {
    SHUFFLE_BROADCAST_I32 shuffle_broadcast_i32 i32;
    SHUFFLE_BROADCAST_U32 shuffle_broadcast_u32 u32;
    SHUFFLE_BROADCAST_I64 shuffle_broadcast_i64 i64;
    SHUFFLE_BROADCAST_U64 shuffle_broadcast_u64 u64;
    SHUFFLE_BROADCAST_F32 shuffle_broadcast_f32 f32;
    SHUFFLE_BROADCAST_F64 shuffle_broadcast_f64 f64;
}
