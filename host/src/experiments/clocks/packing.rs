//! Thread IDs as the listing prints them: y and x in one number.

use crate::launch::Dim3;

/// Bits of x in a packed thread ID: 4, as the book has it, up to 16 columns; above that as many
/// hexadecimal digits as x needs, because with 4 bits the 17th column would look like the first of
/// the next row.
pub fn shift(block: Dim3) -> u32 {
    let largest = block.x.max(1) - 1;
    (u32::BITS - largest.leading_zeros())
        .next_multiple_of(4)
        .max(4)
}

/// `y << shift | x`. Slices (z) are printed apart from each other, so that they need no bits.
pub fn packed_id([x, y, _]: [u32; 3], shift: u32) -> u32 {
    y << shift | x
}

/// What a reader who knows the book's packing has to be told.
pub(super) fn note(block: Dim3) -> Option<String> {
    let shift = shift(block);
    (shift > 4).then(|| {
        format!(
            "thread IDs are y<<{shift}|x here: in the book's y<<4|x, threads of a block of {} columns \
             would share one ID (it has room for 16)",
            block.x
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_books_packing_up_to_16_columns() {
        for x in [1, 14, 16] {
            assert_eq!(shift(Dim3::new(x, 8, 1)), 4);
            assert_eq!(note(Dim3::new(x, 8, 1)), None);
        }
        assert_eq!(packed_id([13, 7, 0], 4), 0x7d);
    }

    #[test]
    fn no_two_threads_of_a_slice_share_an_id() {
        for (x, y, expected) in [
            (16, 64, 4),
            (17, 60, 8),
            (32, 32, 8),
            (256, 4, 8),
            (257, 3, 12),
            (1024, 1, 12),
            (1, 1024, 4),
        ] {
            let shift = shift(Dim3::new(x, y, 1));
            assert_eq!(shift, expected, "{x}x{y}");
            let ids: HashSet<u32> = (0..y)
                .flat_map(|y| (0..x).map(move |x| packed_id([x, y, 0], shift)))
                .collect();
            assert_eq!(ids.len() as u32, x * y, "{x}x{y}");
        }
        assert!(note(Dim3::new(17, 2, 1)).is_some_and(|note| note.contains("y<<8|x")));
    }
}
