//! Bytes that know whether they have been written: an allocation, a block's shared memory, the
//! local frames of a warp.

/// A range of memory with one bit per byte that says whether it was written. Without tracking,
/// every byte counts as written.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    data: Vec<u8>,
    written: Vec<u64>,
    tracked: bool,
}

impl Bytes {
    pub(crate) fn new(bytes: usize, tracked: bool) -> Self {
        let words = if tracked { bytes.div_ceil(64) } else { 0 };
        Self {
            data: vec![0; bytes],
            written: vec![0; words],
            tracked,
        }
    }

    /// Makes the range as new, keeping its memory.
    pub(crate) fn reset(&mut self, bytes: usize) {
        self.data.clear();
        self.data.resize(bytes, 0);
        if self.tracked {
            self.written.clear();
            self.written.resize(bytes.div_ceil(64), 0);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        &self.data[offset..offset + bytes]
    }

    /// A range to be overwritten whole: it is marked as written.
    pub(crate) fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        self.mark(offset, bytes);
        &mut self.data[offset..offset + bytes]
    }

    /// The first byte of a range that has not been written, if any.
    pub(crate) fn first_unwritten(&self, offset: usize, bytes: usize) -> Option<usize> {
        if !self.tracked || bytes == 0 {
            return None;
        }
        let (first, last) = (offset / 64, (offset + bytes - 1) / 64);
        (first..=last).find_map(|word| {
            let missing = !self.written[word] & range_bits(word, offset, bytes);
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }

    /// Reads a little-endian value of 1 to 8 bytes.
    pub(crate) fn get(&self, offset: usize, bytes: usize) -> u64 {
        let data = &self.data[offset..offset + bytes];
        match bytes {
            4 => u64::from(u32::from_le_bytes([data[0], data[1], data[2], data[3]])),
            8 => u64::from_le_bytes(data.try_into().expect("eight bytes")),
            _ => data
                .iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u64::from(byte)),
        }
    }

    /// Writes the low 1 to 8 bytes of a value.
    pub(crate) fn set(&mut self, offset: usize, bytes: usize, value: u64) {
        self.mark(offset, bytes);
        self.data[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }

    fn mark(&mut self, offset: usize, bytes: usize) {
        if !self.tracked || bytes == 0 {
            return;
        }
        let (first, last) = (offset / 64, (offset + bytes - 1) / 64);
        self.written[first] |= range_bits(first, offset, bytes);
        if last > first {
            self.written[first + 1..last].fill(u64::MAX);
            self.written[last] |= range_bits(last, offset, bytes);
        }
    }
}

/// The bits of a 64-byte word that a byte range covers.
fn range_bits(word: usize, offset: usize, bytes: usize) -> u64 {
    let start = offset.max(word * 64) - word * 64;
    let end = (offset + bytes).min(word * 64 + 64) - word * 64;
    (u64::MAX << start) & (u64::MAX >> (64 - end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_every_byte() {
        let mut bytes = Bytes::new(200, true);
        assert_eq!(bytes.first_unwritten(0, 1), Some(0));
        bytes.slice_mut(60, 80);
        assert_eq!(bytes.first_unwritten(60, 80), None);
        assert_eq!(bytes.first_unwritten(59, 4), Some(59));
        assert_eq!(bytes.first_unwritten(100, 41), Some(140));
        bytes.set(140, 3, 0x0302_0155);
        assert_eq!(bytes.get(140, 3), 0x02_0155);
        assert_eq!(bytes.first_unwritten(60, 83), None);
        bytes.reset(200);
        assert_eq!(bytes.first_unwritten(64, 1), Some(64));
    }

    #[test]
    fn untracked_bytes_count_as_written() {
        assert_eq!(Bytes::new(8, false).first_unwritten(0, 8), None);
    }
}
