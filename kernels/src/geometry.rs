//! Does it cost anything to launch in two or three dimensions?
//!
//! The same work three times: element (x, row) of an image or volume becomes `alpha` times itself,
//! negated where x + row is odd, so that every launch has to know its coordinates. Expected: no
//! cost. The hardware hands out coordinates whatever their number; the one-dimensional launch even
//! has to divide to get them back. What does cost is a tile whose rows are narrower than a warp's
//! memory transactions.
//!
//! Run: `cargo run --release --bin geometry`

#[cfg(target_os = "cuda")]
use crate::gpu::thread;

#[cfg(target_os = "cuda")]
#[inline(always)]
unsafe fn checkerboard(x: u64, row: u64, width: u32, alpha: f32, input: *const f32, out: *mut f32) {
    let i = (row * u64::from(width) + x) as usize;
    let factor = if (x + row) & 1 == 1 { -alpha } else { alpha };
    // SAFETY: the caller has checked that (x, row) is an element.
    unsafe { *out.add(i) = *input.add(i) * factor };
}

kernel! {
    /// The work on `width` x `rows` elements, one thread each along x: coordinates by division.
    pub CHECKERBOARD_1D = unsafe fn checkerboard_1d(
        width: u32, rows: u32, alpha: f32, input: *const f32, out: *mut f32,
    ) {
        let i = thread::index_1d();
        if i < u64::from(width) * u64::from(rows) {
            let (x, row) = (i % u64::from(width), i / u64::from(width));
            // SAFETY: i is an element's number.
            unsafe { checkerboard(x, row, width, alpha, input, out) };
        }
    }
}

kernel! {
    /// The work on an image of `width` x `height` pixels, one thread each along x and y.
    pub CHECKERBOARD_2D = unsafe fn checkerboard_2d(
        width: u32, height: u32, alpha: f32, input: *const f32, out: *mut f32,
    ) {
        let [x, y] = thread::index_2d();
        if x < u64::from(width) && y < u64::from(height) {
            // SAFETY: (x, y) is a pixel.
            unsafe { checkerboard(x, y, width, alpha, input, out) };
        }
    }
}

kernel! {
    /// The work on a volume of `width` x `height` x `depth` elements, one thread each along x, y and
    /// z; its rows are numbered slice by slice.
    pub CHECKERBOARD_3D = unsafe fn checkerboard_3d(
        width: u32, height: u32, depth: u32, alpha: f32, input: *const f32, out: *mut f32,
    ) {
        let [x, y, z] = thread::index_3d();
        if x < u64::from(width) && y < u64::from(height) && z < u64::from(depth) {
            // SAFETY: (x, y, z) is an element.
            unsafe { checkerboard(x, z * u64::from(height) + y, width, alpha, input, out) };
        }
    }
}
