//! A reduction in which the first block gathers what the others send through slots.

use super::{
    operation::{Element, Operation},
    reduction::{self, WarpReduce},
    slot::{SlotValue, Slots},
    thread,
    warp::WARP_SIZE,
};

/// Words that a lane of a lone warp looks at in one go: their loads are in flight together.
const WARP_LOOKS: usize = 8;
/// The same for the threads of a whole block: fewer, so that registers allow full blocks.
pub const BLOCK_LOOKS: usize = 2;

/// Waits until the slots `first`, `first + stride`, ... below `senders` are full and combines their
/// values with `value`, `LOOKS` words at a time. Empties them.
///
/// # Safety
///
/// Each slot is filled once by a block that runs or will run, and gathered by this thread alone.
#[inline(always)]
pub unsafe fn gather<T: Element + SlotValue, O: Operation<T>, const LOOKS: usize>(
    slots: Slots,
    mut first: u32,
    stride: u32,
    senders: u32,
    mut value: T,
) -> T {
    while first < senders {
        let mut seen = [O::IDENTITY; LOOKS];
        loop {
            let mut full = true;
            for k in 0..LOOKS / T::WORDS {
                let slot = first + k as u32 * stride;
                if slot < senders {
                    // SAFETY: the slot is one of the senders'.
                    let (sent, there) = unsafe { slots.look::<T>(slot) };
                    seen[k] = sent;
                    full &= there;
                }
            }
            if full {
                break;
            }
        }
        for k in 0..LOOKS / T::WORDS {
            let slot = first + k as u32 * stride;
            value = O::combine(value, seen[k]);
            if slot < senders {
                // SAFETY: its value was received.
                unsafe { slots.empty::<T>(slot) };
            }
        }
        first += (LOOKS / T::WORDS) as u32 * stride;
    }
    value
}

/// The reduction of `x` into `result`; `W` is how a warp combines its values. `when_read` is called
/// by each thread once it has read its share.
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
    when_read: impl FnOnce(),
) {
    let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    let gatherer = block == 0 && blocks > 1;
    // SAFETY: the launch gives n elements behind x and two words per block, all zero. Every block
    // but the first sends once and waits for nobody, so that the first does not wait for ever.
    unsafe {
        let slots = Slots::new(scratch);
        let value = if gatherer {
            O::IDENTITY
        } else {
            let (share, shares) = if blocks == 1 {
                (0, 1)
            } else {
                (block - 1, blocks - 1)
            };
            reduction::thread_reduce::<T, O>(n, x, share, shares)
        };
        when_read();
        let value = if gatherer {
            let senders = blocks - 1;
            // What one warp sees in one go needs neither the others nor the block's barrier.
            if threads >= WARP_SIZE && senders <= WARP_SIZE * (WARP_LOOKS / T::WORDS) as u32 {
                if thread < WARP_SIZE {
                    let value =
                        gather::<T, O, WARP_LOOKS>(slots, thread, WARP_SIZE, senders, value);
                    let value = reduction::warp_reduce::<T, O, WARP_SIZE>(value);
                    if thread == 0 {
                        *result = value;
                    }
                }
                return;
            }
            gather::<T, O, BLOCK_LOOKS>(slots, thread, threads, senders, value)
        } else {
            value
        };
        let value = reduction::block_reduce::<T, O, W>(value);
        if thread == 0 {
            if gatherer || blocks == 1 {
                *result = value;
            } else {
                slots.send(block - 1, value);
            }
        }
    }
}
