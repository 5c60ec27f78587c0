//! The 32 threads of a warp: lanes, shuffles, votes and match.
//!
//! `mask` names the lanes that take part, bit i for lane i; every lane in it must make the same
//! call, the caller must be in it, and none of them may have exited. [`u32::MAX`] is the whole
//! warp. These are the conditions of safety of every function here that takes a mask.

use super::{backend, intrinsics};

/// Lanes in a warp.
pub const WARP_SIZE: u32 = 32;

/// The thread's lane in its warp, 0 to 31.
#[inline(always)]
pub fn lane_id() -> u32 {
    intrinsics::laneid()
}

/// The lanes that run together with the caller now. It may be any convergent part of the warp: use
/// it to see what happens, never to build a mask on.
#[inline(always)]
pub fn activemask() -> u32 {
    backend::activemask()
}

/// Waits for the lanes in `mask`, and orders memory among them (`__syncwarp`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { intrinsics::bar_warp_sync(mask) }
}

/// A value that can be shuffled: 32 bits, or 64 bits in two shuffles.
pub trait WarpShuffleValue: Copy {
    /// Applies a shuffle of 32-bit words to every word of the value.
    #[doc(hidden)]
    fn by_words(self, shuffle: impl Fn(u32) -> (u32, bool)) -> (Self, bool);
}

macro_rules! shuffle_values {
    ($($words:ident { $($ty:ty, $to_bits:expr, $from_bits:expr;)* })*) => {$($(
        impl WarpShuffleValue for $ty {
            #[inline(always)]
            fn by_words(self, shuffle: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
                let (bits, in_range) = $words($to_bits(self), shuffle);
                ($from_bits(bits), in_range)
            }
        }
    )*)*};
}

shuffle_values! {
    one_word {
        u32, |value| value, |bits| bits;
        i32, |value| value as u32, |bits| bits as i32;
        f32, f32::to_bits, f32::from_bits;
    }
    two_words {
        u64, |value| value, |bits| bits;
        i64, |value| value as u64, |bits| bits as i64;
        f64, f64::to_bits, f64::from_bits;
    }
}

#[inline(always)]
fn one_word(bits: u32, shuffle: impl Fn(u32) -> (u32, bool)) -> (u32, bool) {
    shuffle(bits)
}

#[inline(always)]
fn two_words(bits: u64, shuffle: impl Fn(u32) -> (u32, bool)) -> (u64, bool) {
    let (low, in_range) = shuffle(bits as u32);
    let (high, _) = shuffle((bits >> 32) as u32);
    (u64::from(high) << 32 | u64::from(low), in_range)
}

/// The segment mask of PTX's shuffle for segments of `width` lanes.
#[inline(always)]
const fn segment(width: u32) -> u32 {
    (WARP_SIZE - width) << 8
}

macro_rules! shuffles {
    ($($(#[$meta:meta])* $name:ident($lane:ident) => $shuffle:ident, $clamp:literal;)*) => {$(
        $(#[$meta])*
        ///
        /// `width` is 2, 4, 8, 16 or 32: lanes exchange values within segments of that many lanes.
        /// Gives the value and whether the source lane was in the segment; where it was not, the
        /// value is the caller's own. Reading from a lane outside `mask` is undefined.
        ///
        /// # Safety
        ///
        /// See the module's conditions on `mask`.
        #[inline(always)]
        pub unsafe fn $name<T: WarpShuffleValue>(
            mask: u32,
            value: T,
            $lane: u32,
            width: u32,
        ) -> (T, bool) {
            let clamp = segment(width) | $clamp;
            // SAFETY: the caller's promise.
            value.by_words(|word| unsafe { backend::$shuffle(mask, word, $lane, clamp) })
        }
    )*};
}

shuffles! {
    /// The value of lane `source_lane` (modulo `width`) of the segment (`__shfl_sync`).
    warp_shuffle_idx(source_lane) => shuffle_idx, 31;
    /// The value of the lane `delta` below (`__shfl_up_sync`).
    warp_shuffle_up(delta) => shuffle_up, 0;
    /// The value of the lane `delta` above (`__shfl_down_sync`).
    warp_shuffle_down(delta) => shuffle_down, 31;
    /// The value of the lane whose number is the caller's xor `lane_mask` (`__shfl_xor_sync`).
    warp_shuffle_xor(lane_mask) => shuffle_bfly, 31;
}

/// Whether the predicate holds in every lane of `mask` (`__all_sync`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { intrinsics::vote_all(mask, predicate) }
}

/// Whether the predicate holds in some lane of `mask` (`__any_sync`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { intrinsics::vote_any(mask, predicate) }
}

/// Whether the predicate is the same in every lane of `mask` (`vote.sync.uni`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_vote_uniform(mask: u32, predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { intrinsics::vote_uni(mask, predicate) }
}

/// The lanes of `mask` in which the predicate holds (`__ballot_sync`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { intrinsics::vote_ballot(mask, predicate) }
}

/// A value that lanes can be matched by; floats are compared by their bits.
pub trait WarpMatchValue: Copy {
    #[doc(hidden)]
    unsafe fn match_any(mask: u32, value: Self) -> u32;
    #[doc(hidden)]
    unsafe fn match_all(mask: u32, value: Self) -> (u32, bool);
}

macro_rules! match_values {
    ($($any:ident, $all:ident { $($ty:ty, $to_bits:expr;)* })*) => {$($(
        impl WarpMatchValue for $ty {
            #[inline(always)]
            unsafe fn match_any(mask: u32, value: Self) -> u32 {
                // SAFETY: the caller's promise.
                unsafe { intrinsics::$any(mask, $to_bits(value)) }
            }

            #[inline(always)]
            unsafe fn match_all(mask: u32, value: Self) -> (u32, bool) {
                // SAFETY: the caller's promise.
                unsafe { backend::$all(mask, $to_bits(value)) }
            }
        }
    )*)*};
}

match_values! {
    match_any_32, match_all_32 {
        u32, |value| value;
        i32, |value| value as u32;
        f32, f32::to_bits;
    }
    match_any_64, match_all_64 {
        u64, |value| value;
        i64, |value| value as u64;
        f64, f64::to_bits;
    }
}

/// The lanes of `mask` that hold the same value as the caller (`__match_any_sync`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { T::match_any(mask, value) }
}

/// `mask` if all its lanes hold the same value, else nothing (`__match_all_sync`).
///
/// # Safety
///
/// See the module's conditions on `mask`.
#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's promise.
    let (lanes, all) = unsafe { T::match_all(mask, value) };
    all.then_some(lanes)
}
