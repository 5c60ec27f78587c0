//! A reduction in which the first block gathers what the others send through slots.

use super::{
    reduction::{self, Element, Operation, WarpReduce},
    slot::{SlotValue, Slots},
    thread,
    warp::{self, WARP_SIZE},
};

/// Words that a lane looks at in one go: their loads are in flight together.
const LOOKS: usize = 8;

/// Waits until `senders` slots are full and combines their values with those that the lanes of
/// `mask` hold already; the result is valid in lane 0. Empties the slots.
///
/// # Safety
///
/// The lanes of `mask` call, which are the lanes 0 to k. Each slot is filled once by a block that
/// runs or will run.
#[inline(always)]
pub unsafe fn gather<T: Element + SlotValue, O: Operation<T>>(
    slots: Slots,
    senders: u32,
    mask: u32,
    value: T,
) -> T {
    let lanes = mask.count_ones();
    let mut result = value;
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
    unsafe { reduction::warp_reduce::<T, O>(mask, result) }
}

/// The reduction of `x` into `result`; `W` is how a warp of a sending block combines its values.
///
/// # Safety
///
/// All threads of a grid and blocks of one dimension call. `x` is aligned to 16 bytes and holds `n`
/// elements. `scratch` holds two words per block, which are zero before and after.
#[inline(always)]
pub unsafe fn gather_reduce<T: Element + SlotValue, O: Operation<T>, W: WarpReduce<T>>(
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
                let value = gather::<T, O>(slots, blocks - 1, reduction::warp_mask(), O::IDENTITY);
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
