//! Can one launch do it with one trip through the L2 less, when a block waits for the others?
//!
//! The seventh rung: no fence and no counter. Each block sends its result through a slot that holds
//! value and mark in one word; the first block takes no data but looks at the slots until all are
//! full, and combines them in the order of the blocks. The others wait for nobody, so that the
//! grid need not be resident as a whole. Expected: a middle-sized sum saves what
//! `reduce_last_block` spends on its ticket; a large one is as fast as the memory.
//!
//! Run: `cargo run --release --bin reduce -- --variant gather`

#[cfg(target_os = "cuda")]
use crate::gpu::{
    reduction::{self, ByShuffle, Element, Max, Min, Operation, Sum, WarpReduce},
    slot::{SlotValue, Slots},
    thread,
    warp::{self, WARP_SIZE},
};

/// Words that a lane looks at in one go: their loads are in flight together.
#[cfg(target_os = "cuda")]
const LOOKS: usize = 8;

/// Waits until `senders` slots are full and combines their values, by the lanes of `mask`; the
/// result is valid in lane 0. Empties the slots.
///
/// # Safety
///
/// The lanes of `mask` call, which are the lanes 0 to k. Each slot is filled once by a block that
/// runs or will run.
#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn gather<T: Element + SlotValue, O: Operation<T>>(
    slots: Slots,
    senders: u32,
    mask: u32,
) -> T {
    let lanes = mask.count_ones();
    let mut result = O::IDENTITY;
    // A lane has a column of slots, 32 apart; lanes that do not exist leave theirs to others.
    let mut column = warp::lane_id();
    while column < WARP_SIZE {
        let mut first = column;
        while first < senders {
            let mut values = [O::IDENTITY; LOOKS];
            loop {
                let mut full = true;
                for k in 0..LOOKS / T::WORDS {
                    let slot = first + k as u32 * WARP_SIZE;
                    if slot < senders {
                        // SAFETY: the slot is one of the senders'.
                        let (value, there) = unsafe { slots.look::<T>(slot) };
                        values[k] = value;
                        full &= there;
                    }
                }
                if full {
                    break;
                }
            }
            for k in 0..LOOKS / T::WORDS {
                let slot = first + k as u32 * WARP_SIZE;
                result = O::combine(result, values[k]);
                if slot < senders {
                    // SAFETY: its value was received.
                    unsafe { slots.empty::<T>(slot) };
                }
            }
            first += (LOOKS / T::WORDS) as u32 * WARP_SIZE;
        }
        column += lanes;
    }
    // SAFETY: the lanes of the mask come here.
    unsafe { ByShuffle::<O>::reduce_warp(mask, result) }
}

/// The whole reduction; `W` is how a warp of a sending block combines its values.
///
/// # Safety
///
/// As the kernels' declaration says.
#[cfg(target_os = "cuda")]
#[inline(always)]
pub(crate) unsafe fn gather_reduce<T: Element + SlotValue, O: Operation<T>, W: WarpReduce<T>>(
    n: u64,
    x: *const T,
    scratch: *mut u64,
    result: *mut T,
) {
    let (thread, block, blocks) = (
        thread::thread_idx_x(),
        thread::block_idx_x(),
        thread::grid_dim_x(),
    );
    // SAFETY: the launch gives n elements behind x and two words per block, all zero. Every block
    // but the first sends once and waits for nobody, so that the first does not wait for ever.
    unsafe {
        let slots = Slots::new(scratch);
        if blocks > 1 && block == 0 {
            if thread < WARP_SIZE {
                let value = gather::<T, O>(slots, blocks - 1, reduction::warp_mask());
                if thread == 0 {
                    *result = value;
                }
            }
            return;
        }
        let (share, shares) = if blocks == 1 {
            (0, 1)
        } else {
            (block - 1, blocks - 1)
        };
        let value = reduction::thread_reduce::<T, O>(n, x, share, shares);
        let value = reduction::block_reduce::<T, O, W>(value);
        if thread == 0 {
            if blocks == 1 {
                *result = value;
            } else {
                slots.send(share, value);
            }
        }
    }
}

macro_rules! instances {
    ($($handle:ident $name:ident $operation:ident $ty:ty;)*) => {$(
        kernel! {
            /// The reduction of `x` into `result`.
            ///
            /// Any grid and block of one dimension; with more than one block the first only
            /// gathers. `x` is aligned to 16 bytes and holds `n` elements. `scratch` holds two
            /// words per block; it is zero before the first launch, and every launch leaves it so.
            pub $handle = unsafe fn $name(
                n: u64,
                x: *const $ty,
                scratch: *mut u64,
                result: *mut $ty,
            ) {
                // SAFETY: the launch gives what the declaration asks for.
                unsafe {
                    gather_reduce::<$ty, $operation, ByShuffle<$operation>>(n, x, scratch, result);
                }
            }
        }
    )*};
}

instances! {
    REDUCE_GATHER_SUM_I32 reduce_gather_sum_i32 Sum i32;
    REDUCE_GATHER_SUM_U32 reduce_gather_sum_u32 Sum u32;
    REDUCE_GATHER_SUM_I64 reduce_gather_sum_i64 Sum i64;
    REDUCE_GATHER_SUM_F32 reduce_gather_sum_f32 Sum f32;
    REDUCE_GATHER_SUM_F64 reduce_gather_sum_f64 Sum f64;
    REDUCE_GATHER_MIN_I32 reduce_gather_min_i32 Min i32;
    REDUCE_GATHER_MIN_U32 reduce_gather_min_u32 Min u32;
    REDUCE_GATHER_MIN_I64 reduce_gather_min_i64 Min i64;
    REDUCE_GATHER_MIN_F32 reduce_gather_min_f32 Min f32;
    REDUCE_GATHER_MIN_F64 reduce_gather_min_f64 Min f64;
    REDUCE_GATHER_MAX_I32 reduce_gather_max_i32 Max i32;
    REDUCE_GATHER_MAX_U32 reduce_gather_max_u32 Max u32;
    REDUCE_GATHER_MAX_I64 reduce_gather_max_i64 Max i64;
    REDUCE_GATHER_MAX_F32 reduce_gather_max_f32 Max f32;
    REDUCE_GATHER_MAX_F64 reduce_gather_max_f64 Max f64;
}
