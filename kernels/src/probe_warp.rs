//! Do shuffles, votes and match mean what CUDA says, for every type and width? Not an experiment:
//! see `probe_thread`. Every kernel here runs in whole warps, and all 32 lanes take part.

#[cfg(target_os = "cuda")]
use crate::gpu::{thread, warp};

#[cfg(target_os = "cuda")]
const ALL: u32 = u32::MAX;

macro_rules! shuffles {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Shuffles `", stringify!($ty), "`s four ways.")]
            ///
            /// Thread i writes 4 values and 4 flags at `4 * i`: what it got of `input` by idx, up,
            /// down and xor with `lane` and `width`, and 1 where the source lane was in the
            /// segment. Where it was not, the value is the thread's own.
            pub $handle = unsafe fn $name(
                lane: u32, width: u32, input: *const $ty, values: *mut $ty, in_range: *mut u32,
            ) {
                let i = thread::index() as usize;
                // SAFETY: whole warps; one input, four values and four flags per thread.
                unsafe {
                    let value = *input.add(i);
                    let got = [
                        warp::warp_shuffle_idx(ALL, value, lane, width),
                        warp::warp_shuffle_up(ALL, value, lane, width),
                        warp::warp_shuffle_down(ALL, value, lane, width),
                        warp::warp_shuffle_xor(ALL, value, lane, width),
                    ];
                    for k in 0..got.len() {
                        *values.add(4 * i + k) = got[k].0;
                        *in_range.add(4 * i + k) = u32::from(got[k].1);
                    }
                }
            }
        }
    )*};
}

shuffles! {
    PROBE_SHUFFLES_U32 probe_shuffles_u32 u32;
    PROBE_SHUFFLES_I32 probe_shuffles_i32 i32;
    PROBE_SHUFFLES_F32 probe_shuffles_f32 f32;
    PROBE_SHUFFLES_U64 probe_shuffles_u64 u64;
    PROBE_SHUFFLES_I64 probe_shuffles_i64 i64;
    PROBE_SHUFFLES_F64 probe_shuffles_f64 f64;
}

macro_rules! matches {
    ($($handle:ident $name:ident $ty:ty;)*) => {$(
        kernel! {
            #[doc = concat!("Matches lanes by a `", stringify!($ty), "`.")]
            ///
            /// Thread i writes `any[i]`, the lanes of its warp whose `input` has the same bits, and
            /// `all[i]`, every lane if all have, else 0.
            pub $handle = unsafe fn $name(input: *const $ty, any: *mut u32, all: *mut u32) {
                let i = thread::index() as usize;
                // SAFETY: whole warps; one input and two outputs per thread.
                unsafe {
                    let value = *input.add(i);
                    *any.add(i) = warp::warp_match_any(ALL, value);
                    *all.add(i) = warp::warp_match_all(ALL, value).unwrap_or(0);
                }
            }
        }
    )*};
}

matches! {
    PROBE_MATCH_U32 probe_match_u32 u32;
    PROBE_MATCH_I32 probe_match_i32 i32;
    PROBE_MATCH_F32 probe_match_f32 f32;
    PROBE_MATCH_U64 probe_match_u64 u64;
    PROBE_MATCH_I64 probe_match_i64 i64;
    PROBE_MATCH_F64 probe_match_f64 f64;
}

kernel! {
    /// Thread i writes 8 values at `8 * i`, from votes over whether `input[i]` is not zero: all,
    /// any, uniform (1 or 0), ballot; the same ballot among the even lanes only (0 from an odd
    /// lane); the caller's bit of the active mask (1); and the lane; and, read from `out` after a `sync_warp`,
    /// the ballot that the lane before wrote there (lane 0 reads lane 31's).
    pub PROBE_VOTES = unsafe fn probe_votes(input: *const u32, out: *mut u32) {
        let i = thread::index() as usize;
        let lane = warp::lane_id();
        // SAFETY: whole warps; one input and eight outputs per thread. The even lanes' vote names
        // just the lanes that make it.
        unsafe {
            let predicate = *input.add(i) != 0;
            let ballot = warp::warp_vote_ballot(ALL, predicate);
            let own = out.add(8 * i);
            *own = u32::from(warp::warp_vote_all(ALL, predicate));
            *own.add(1) = u32::from(warp::warp_vote_any(ALL, predicate));
            *own.add(2) = u32::from(warp::warp_vote_uniform(ALL, predicate));
            *own.add(3) = ballot;
            *own.add(4) = if lane % 2 == 0 {
                warp::warp_vote_ballot(0x5555_5555, predicate)
            } else {
                0
            };
            *own.add(5) = (warp::activemask() >> lane) & 1;
            *own.add(6) = lane;
            warp::sync_warp(ALL);
            let before = i - lane as usize + (lane as usize + 31) % 32;
            *own.add(7) = *out.add(8 * before + 3);
        }
    }
}
