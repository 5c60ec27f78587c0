//! Reductions by a thread, a warp and a block.
//!
//! Every order of combination depends on the launch's geometry alone, so that one geometry gives
//! the same bits every time.

#[cfg(feature = "sm_80")]
use super::{
    intrinsics,
    operation::{Max, Min, Sum},
};
use super::{
    operation::{Element, Operation},
    shared::SharedPointer,
    thread,
    warp::{self, WARP_SIZE},
};

/// Combines elements `i`, `i + stride`, ... of the whole grid, one at a time.
///
/// # Safety
///
/// `x` holds `n` elements.
#[inline(always)]
pub unsafe fn thread_reduce_scalar<T: Element, O: Operation<T>>(n: u64, x: *const T) -> T {
    let stride = thread::grid_stride();
    let mut i = thread::index_1d();
    let mut result = O::IDENTITY;
    while i < n {
        // SAFETY: i < n.
        result = O::combine(result, unsafe { *x.add(i as usize) });
        i += stride;
    }
    result
}

/// 16-byte loads that a thread has in flight. With all threads resident that is 128 KiB per SM, four
/// times what latency times bandwidth asks for, and registers still allow a block of 1024.
const VECTORS_IN_FLIGHT: u64 = 4;

/// Combines the share of block `block` of `blocks`: tiles of four 16-byte vectors per thread,
/// dealt out in turn. The last tile is the one that need not be whole; the elements behind the
/// last whole vector go to block 0.
///
/// # Safety
///
/// `x` is aligned to 16 bytes and holds `n` elements. Blocks have one dimension.
#[inline(always)]
pub unsafe fn thread_reduce<T: Element, O: Operation<T>>(
    n: u64,
    x: *const T,
    block: u32,
    blocks: u32,
) -> T {
    let vectors = n / T::LANES;
    let source = x.cast::<T::Vector>();
    let (thread, threads) = (
        u64::from(thread::thread_idx_x()),
        u64::from(thread::block_dim_x()),
    );
    let tile = threads * VECTORS_IN_FLIGHT;
    let mut base = u64::from(block) * tile;
    // Locals one by one: an array that is indexed before loops are unrolled stays in memory.
    const { assert!(VECTORS_IN_FLIGHT == 4, "r0 to r3 are written out") };
    let (mut r0, mut r1, mut r2, mut r3) = (O::IDENTITY, O::IDENTITY, O::IDENTITY, O::IDENTITY);
    while base + tile <= vectors {
        let first = base + thread;
        // SAFETY: k < VECTORS_IN_FLIGHT, so that the index is below base + tile <= vectors.
        let load = |k: u64| unsafe { *source.add((first + k * threads) as usize) };
        // All loads come before the first use of one.
        let (v0, v1, v2, v3) = (load(0), load(1), load(2), load(3));
        r0 = O::combine(r0, T::fold::<O>(v0));
        r1 = O::combine(r1, T::fold::<O>(v1));
        r2 = O::combine(r2, T::fold::<O>(v2));
        r3 = O::combine(r3, T::fold::<O>(v3));
        base += u64::from(blocks) * tile;
    }
    let add = |k: u64, result: T| {
        let i = base + thread + k * threads;
        if i < vectors {
            // SAFETY: as the condition says.
            O::combine(result, T::fold::<O>(unsafe { *source.add(i as usize) }))
        } else {
            result
        }
    };
    (r0, r1, r2, r3) = (add(0, r0), add(1, r1), add(2, r2), add(3, r3));
    if block == 0 {
        let mut i = vectors * T::LANES + thread;
        while i < n {
            // SAFETY: i < n.
            r0 = O::combine(r0, unsafe { *x.add(i as usize) });
            i += threads;
        }
    }
    O::combine(O::combine(r0, r1), O::combine(r2, r3))
}

/// Combines `values[thread]`, `values[thread + threads]`, ... of `count` values.
///
/// # Safety
///
/// There are `count` values. Blocks have one dimension.
#[inline(always)]
pub unsafe fn thread_reduce_block<T: Element, O: Operation<T>>(count: u32, values: *const T) -> T {
    let (mut i, mut result) = (thread::thread_idx_x(), O::IDENTITY);
    while i < count {
        // SAFETY: i < count.
        result = O::combine(result, unsafe { *values.add(i as usize) });
        i += thread::block_dim_x();
    }
    result
}

/// How a whole warp combines its values.
pub trait WarpReduce<T>: Copy {
    /// The values of all lanes combined, valid in lane 0.
    ///
    /// # Safety
    ///
    /// All lanes of a whole warp call.
    unsafe fn reduce_warp(value: T) -> T;
}

/// By shuffles: in five steps each lane combines its value with that of the lane 16, 8, 4, 2 and 1
/// above.
#[derive(Clone, Copy)]
pub struct ByShuffle<O>(O);

impl<T: Element, O: Operation<T>> WarpReduce<T> for ByShuffle<O> {
    #[inline(always)]
    unsafe fn reduce_warp(value: T) -> T {
        // SAFETY: the caller's promise.
        unsafe { warp_reduce::<T, O, WARP_SIZE>(value) }
    }
}

/// By `redux.sync`, in one instruction: 32-bit integers from compute capability 8.0 on.
#[cfg(feature = "sm_80")]
#[derive(Clone, Copy)]
pub struct ByRedux<O>(O);

#[cfg(feature = "sm_80")]
macro_rules! by_redux {
    ($($operation:ident $ty:ty => |$value:ident| $redux:expr;)*) => {$(
        impl WarpReduce<$ty> for ByRedux<$operation> {
            #[inline(always)]
            unsafe fn reduce_warp($value: $ty) -> $ty {
                // SAFETY: the caller's promise.
                unsafe { $redux }
            }
        }
    )*};
}

#[cfg(feature = "sm_80")]
by_redux! {
    Sum u32 => |value| intrinsics::redux_add(value, u32::MAX);
    Sum i32 => |value| intrinsics::redux_add(value as u32, u32::MAX) as i32;
    Min u32 => |value| intrinsics::redux_min_u32(value, u32::MAX);
    Min i32 => |value| intrinsics::redux_min_i32(value, u32::MAX);
    Max u32 => |value| intrinsics::redux_max_u32(value, u32::MAX);
    Max i32 => |value| intrinsics::redux_max_i32(value, u32::MAX);
}

/// The values of the first `LANES` lanes of a whole warp combined, valid in lane 0. Lanes whose
/// partner is beyond them only spoil what lane 0 does not read.
///
/// # Safety
///
/// All lanes of a whole warp call.
#[inline(always)]
pub unsafe fn warp_reduce<T: Element, O: Operation<T>, const LANES: u32>(mut value: T) -> T {
    let mut step = LANES / 2;
    while step > 0 {
        // A mask that the compiler does not know costs more than the shuffle.
        // SAFETY: the caller's promise.
        let (other, _) = unsafe { warp::warp_shuffle_down(u32::MAX, value, step, WARP_SIZE) };
        value = O::combine(value, other);
        step /= 2;
    }
    value
}

/// The values of a warp combined that may have fewer than 32 lanes, valid in lane 0. A lane whose
/// partner does not exist reads itself instead, and drops it: any other read is undefined.
///
/// # Safety
///
/// All lanes of the warp call, in a block of one dimension.
#[inline(always)]
unsafe fn ragged_warp_reduce<T: Element, O: Operation<T>>(mut value: T) -> T {
    let first = thread::thread_idx_x() & !(WARP_SIZE - 1);
    let lanes = match thread::block_dim_x() - first {
        lanes if lanes < WARP_SIZE => lanes,
        _ => WARP_SIZE,
    };
    let mask = u32::MAX >> (WARP_SIZE - lanes);
    let lane = warp::lane_id();
    let mut step = WARP_SIZE / 2;
    while step > 0 {
        let exists = lane + step < lanes;
        let source = if exists { lane + step } else { lane };
        // SAFETY: the caller's promise; the source is in the mask.
        let (other, _) = unsafe { warp::warp_shuffle_idx(mask, value, source, WARP_SIZE) };
        if exists {
            value = O::combine(value, other);
        }
        step /= 2;
    }
    value
}

shared_array! {
    /// One value per warp.
    fn reduction_parts() -> [u64; 32]
}

/// The block's values combined, valid in thread 0: each warp its own, then the first warp the
/// warps' results. Another call needs a barrier in between.
///
/// # Safety
///
/// All threads of a block of one dimension call.
#[inline(always)]
pub unsafe fn block_reduce<T: Element, O: Operation<T>, W: WarpReduce<T>>(value: T) -> T {
    let (thread, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    if !threads.is_multiple_of(WARP_SIZE) {
        // SAFETY: the caller's promise.
        return unsafe { ragged_block_reduce::<T, O>(value) };
    }
    // SAFETY: all warps are whole.
    let value = unsafe { W::reduce_warp(value) };
    let warps = threads / WARP_SIZE;
    if warps == 1 {
        return value;
    }
    // SAFETY: one value per warp, of which there are at most 32; the barrier parts writes and reads.
    unsafe {
        publish(value);
        thread::sync_threads();
        if thread >= WARP_SIZE {
            return value;
        }
        let part = part_of::<T, O>(warps);
        // Fewer steps where fewer will do: this is on the way of every small reduction.
        if warps <= 8 {
            warp_reduce::<T, O, 8>(part)
        } else {
            warp_reduce::<T, O, 32>(part)
        }
    }
}

/// [`block_reduce`] of a block whose last warp is not whole.
///
/// # Safety
///
/// See there.
#[cold]
#[inline(never)]
unsafe fn ragged_block_reduce<T: Element, O: Operation<T>>(value: T) -> T {
    let warps = thread::block_dim_x().div_ceil(WARP_SIZE);
    // SAFETY: one value per warp; the barrier parts writes and reads. The first warp is whole where
    // there are others.
    unsafe {
        let value = ragged_warp_reduce::<T, O>(value);
        if warps == 1 {
            return value;
        }
        publish(value);
        thread::sync_threads();
        if thread::thread_idx_x() >= WARP_SIZE {
            return value;
        }
        warp_reduce::<T, O, 32>(part_of::<T, O>(warps))
    }
}

/// Writes a warp's result for the first warp.
///
/// # Safety
///
/// Nobody reads the results meanwhile.
#[inline(always)]
unsafe fn publish<T: Element>(value: T) {
    if warp::lane_id() == 0 {
        let parts: SharedPointer<T> = reduction_parts().cast();
        // SAFETY: one warp writes each part, of which there are as many as the most warps.
        unsafe { parts.add(thread::thread_idx_x() / WARP_SIZE).write(value) };
    }
}

/// The result of the warp of the lane's number, of so many.
///
/// # Safety
///
/// They are written.
#[inline(always)]
unsafe fn part_of<T: Element, O: Operation<T>>(warps: u32) -> T {
    let lane = warp::lane_id();
    if lane >= warps {
        return O::IDENTITY;
    }
    let parts: SharedPointer<T> = reduction_parts().cast();
    // SAFETY: as the condition says.
    unsafe { parts.add(lane).read() }
}
