//! Inputs onto a device and results back, in chunks: host memory stays small whatever the size.

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{
    device::{Device, Result},
    random::Stream,
};

/// Elements copied at a time: 16 MiB of f32.
const CHUNK: u64 = 1 << 22;
/// Elements that one thread compares at a time.
const PIECE: usize = 1 << 16;

/// Byte that outputs are filled with before a launch: as f32 it is a NaN, which no result equals.
pub const POISON: u8 = 0xff;
/// Elements behind an output's end that no kernel may touch: more than a block of 1024 threads
/// with four elements each can overshoot.
pub const GUARD: u64 = 4096;

/// Writes the first `elements` of a stream to device memory at `address`.
pub fn write_stream(
    device: &dyn Device,
    address: u64,
    elements: u64,
    stream: Stream,
) -> Result<()> {
    write_elements(device, address, elements, |index| stream.f32(index))
}

/// Writes `elements` values to device memory at `address`, each as `value` says of its index.
pub fn write_elements<T: Pod + Send>(
    device: &dyn Device,
    address: u64,
    elements: u64,
    value: impl Fn(u64) -> T + Sync,
) -> Result<()> {
    let bytes = size_of::<T>() as u64;
    let mut chunk = vec![T::zeroed(); CHUNK.min(elements) as usize];
    for (first, len) in chunks(elements) {
        let values = &mut chunk[..len];
        values
            .par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(piece, values)| {
                let first = first + (piece * PIECE) as u64;
                for (index, place) in (first..).zip(values) {
                    *place = value(index);
                }
            });
        device.write_bytes(address + bytes * first, bytemuck::cast_slice(values))?;
    }
    Ok(())
}

/// The first element that is not what the reference says.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("element {index} is {got:e} ({:#010x}), expected {expected:e} ({:#010x})", .got.to_bits(), .expected.to_bits())]
pub struct Mismatch {
    /// Its index.
    pub index: u64,
    /// What the CPU reference says.
    pub expected: f32,
    /// What the device holds.
    pub got: f32,
}

/// Compares device memory with a reference, bit for bit; a NaN never agrees.
pub fn first_mismatch(
    device: &dyn Device,
    address: u64,
    elements: u64,
    expected: impl Fn(u64) -> f32 + Sync,
) -> Result<Option<Mismatch>> {
    let mut chunk = vec![0.0_f32; CHUNK.min(elements) as usize];
    for (first, len) in chunks(elements) {
        let values = &mut chunk[..len];
        device.read_bytes(address + 4 * first, bytemuck::cast_slice_mut(values))?;
        let mismatch = values
            .par_chunks(PIECE)
            .enumerate()
            .find_map_first(|(piece, values)| {
                let first = first + (piece * PIECE) as u64;
                (first..).zip(values).find_map(|(index, &got)| {
                    let expected = expected(index);
                    let agrees = got.to_bits() == expected.to_bits() && !got.is_nan();
                    (!agrees).then_some(Mismatch {
                        index,
                        expected,
                        got,
                    })
                })
            });
        if mismatch.is_some() {
            return Ok(mismatch);
        }
    }
    Ok(None)
}

/// Index and value of the first of the [`GUARD`] elements behind `elements` that is not poison.
pub fn overwritten_guard(
    device: &dyn Device,
    address: u64,
    elements: u64,
) -> Result<Option<(u64, f32)>> {
    let mut guard = [0_u8; 4 * GUARD as usize];
    device.read_bytes(address + 4 * elements, &mut guard)?;
    let touched = guard
        .chunks_exact(4)
        .position(|element| element != [POISON; 4]);
    Ok(touched.map(|offset| {
        let bits: [u8; 4] = guard[4 * offset..4 * offset + 4]
            .try_into()
            .unwrap_or_default();
        (elements + offset as u64, f32::from_le_bytes(bits))
    }))
}

fn chunks(elements: u64) -> impl Iterator<Item = (u64, usize)> {
    (0..elements.div_ceil(CHUNK)).map(move |chunk| {
        let first = chunk * CHUNK;
        (first, CHUNK.min(elements - first) as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::Buffer, experiments::fake::Fake};

    const ELEMENTS: u64 = CHUNK + PIECE as u64 + 3;

    fn filled() -> (std::rc::Rc<dyn Device>, Buffer<f32>, Stream) {
        let device = Fake::idle();
        let mut buffer = Buffer::new(&device, (ELEMENTS + GUARD) as usize).unwrap();
        buffer.fill(POISON).unwrap();
        let stream = Stream::new(3, 0);
        write_stream(&*device, buffer.address(), ELEMENTS, stream).unwrap();
        (device, buffer, stream)
    }

    #[test]
    fn what_was_written_agrees() {
        let (device, buffer, stream) = filled();
        assert_eq!(
            first_mismatch(&*device, buffer.address(), ELEMENTS, |i| stream.f32(i)).unwrap(),
            None
        );
        assert_eq!(
            overwritten_guard(&*device, buffer.address(), ELEMENTS).unwrap(),
            None
        );
    }

    #[test]
    fn the_first_of_several_mismatches_is_named() {
        let (device, buffer, stream) = filled();
        for index in [ELEMENTS - 1, CHUNK + 5, CHUNK - 1] {
            let got = if index == CHUNK - 1 { f32::NAN } else { 0.0 };
            device
                .write_bytes(buffer.address() + 4 * index, &got.to_le_bytes())
                .unwrap();
            let mismatch =
                first_mismatch(&*device, buffer.address(), ELEMENTS, |i| stream.f32(i)).unwrap();
            let mismatch = mismatch.expect("it was overwritten");
            assert_eq!(
                (mismatch.index, mismatch.expected),
                (index, stream.f32(index))
            );
        }
    }

    #[test]
    fn nan_agrees_with_nothing() {
        let (device, buffer, _) = filled();
        buffer_is_nan(&*device, &buffer);
        let mismatch = first_mismatch(&*device, buffer.address(), 1, |_| f32::from_bits(u32::MAX));
        assert_eq!(mismatch.unwrap().map(|mismatch| mismatch.index), Some(0));
    }

    fn buffer_is_nan(device: &dyn Device, buffer: &Buffer<f32>) {
        device.fill_bytes(buffer.address(), 4, POISON).unwrap();
    }

    #[test]
    fn a_touched_guard_is_seen() {
        let (device, buffer, _) = filled();
        let touched = ELEMENTS + GUARD - 1;
        device
            .write_bytes(buffer.address() + 4 * touched, &1.5_f32.to_le_bytes())
            .unwrap();
        assert_eq!(
            overwritten_guard(&*device, buffer.address(), ELEMENTS).unwrap(),
            Some((touched, 1.5))
        );
    }
}
