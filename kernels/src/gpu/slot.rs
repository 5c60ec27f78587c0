//! Slots: words of global memory through which one block hands a value to another without a fence.
//!
//! A word holds 32 bits of the value and a mark that says they are there. One 64-bit access moves
//! both at once, so that who sees the mark has the value, and no other memory is ordered by it
//! (PTX ISA, memory consistency model: a scalar access of a relaxed operation is single-copy
//! atomic). A 64-bit value takes two words. An empty slot is zero.

use super::atomic::{self, Device, Relaxed};

/// The mark of a full word.
const FULL: u64 = 1 << 32;

/// A value that fits a slot.
pub trait SlotValue: Copy {
    /// Words of a slot.
    const WORDS: usize;
    #[doc(hidden)]
    fn halves(self) -> [u32; 2];
    #[doc(hidden)]
    fn from_halves(halves: [u32; 2]) -> Self;
}

macro_rules! slot_values {
    ($($ty:ty, $words:literal, $to_bits:expr, $from_bits:expr;)*) => {$(
        impl SlotValue for $ty {
            const WORDS: usize = $words;

            #[inline(always)]
            fn halves(self) -> [u32; 2] {
                let bits = $to_bits(self) as u64;
                [bits as u32, (bits >> 32) as u32]
            }

            #[inline(always)]
            fn from_halves([low, high]: [u32; 2]) -> Self {
                $from_bits((u64::from(high) << 32 | u64::from(low)) as _)
            }
        }
    )*};
}

slot_values! {
    u32, 1, |value| value, |bits: u32| bits;
    i32, 1, |value| value as u32, |bits: u32| bits as i32;
    f32, 1, f32::to_bits, f32::from_bits;
    i64, 2, |value| value, |bits: u64| bits as i64;
    f64, 2, f64::to_bits, f64::from_bits;
}

/// The slots of an array of words.
#[derive(Clone, Copy)]
pub struct Slots(*mut u64);

impl Slots {
    /// The slots that begin at `words`.
    ///
    /// # Safety
    ///
    /// There are [`SlotValue::WORDS`] words of global memory for each slot that is used, zero to
    /// begin with, which nothing else accesses meanwhile.
    #[inline(always)]
    pub const unsafe fn new(words: *mut u64) -> Self {
        Self(words)
    }

    #[inline(always)]
    fn word<T: SlotValue>(self, slot: u32, part: usize) -> *mut u64 {
        self.0.wrapping_add(slot as usize * T::WORDS + part)
    }

    /// Fills an empty slot.
    ///
    /// # Safety
    ///
    /// The slot is there, and one thread of the device fills it.
    #[inline(always)]
    pub unsafe fn send<T: SlotValue>(self, slot: u32, value: T) {
        let halves = value.halves();
        for part in 0..T::WORDS {
            let word = FULL | u64::from(halves[part]);
            // SAFETY: the word is there, and all accesses to it are atomic.
            unsafe { atomic::store(self.word::<T>(slot, part), word, Relaxed, Device) };
        }
    }

    /// The slot's value, and whether it is there.
    ///
    /// # Safety
    ///
    /// The slot is there.
    #[inline(always)]
    pub unsafe fn look<T: SlotValue>(self, slot: u32) -> (T, bool) {
        let (mut halves, mut full) = ([0; 2], true);
        for part in 0..T::WORDS {
            // SAFETY: the word is there, and all accesses to it are atomic.
            let word: u64 = unsafe { atomic::load(self.word::<T>(slot, part), Relaxed, Device) };
            halves[part] = word as u32;
            full &= word & FULL != 0;
        }
        (T::from_halves(halves), full)
    }

    /// Empties a slot, for the next launch.
    ///
    /// # Safety
    ///
    /// The slot is there, and its value was received.
    #[inline(always)]
    pub unsafe fn empty<T: SlotValue>(self, slot: u32) {
        for part in 0..T::WORDS {
            // SAFETY: the word is there, and all accesses to it are atomic.
            unsafe { atomic::store(self.word::<T>(slot, part), 0_u64, Relaxed, Device) };
        }
    }
}
