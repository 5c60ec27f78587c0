//! Random inputs that can be recomputed anywhere: element `i` of a stream is a function of the
//! seed, the stream and `i` alone, so that 2^32 elements need no memory to be checked against.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
//! Generators", OOPSLA 2014), entered at any position: its state is a counter.

use rayon::prelude::*;

/// Elements that one thread fills at a time.
const PIECE: usize = 1 << 16;

/// A stream of random values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// Stream number `number` of a seed. Streams of one seed are unrelated to each other.
    pub fn new(seed: u64, number: u64) -> Self {
        Self {
            key: mix(seed ^ mix(number.wrapping_add(GOLDEN))),
        }
    }

    /// 64 random bits: element `index`.
    pub fn bits(self, index: u64) -> u64 {
        mix(self
            .key
            .wrapping_add(GOLDEN.wrapping_mul(index.wrapping_add(1))))
    }

    /// A float with random sign and mantissa and a skewed magnitude: half of them lie in 1..2, a
    /// quarter in 0.5..1, and so on down to 2^-15. Never zero, never NaN, so that no sum of two
    /// overflows and data lines toggle as they do with real data.
    pub fn f32(self, index: u64) -> f32 {
        let bits = self.bits(index);
        let mantissa = (bits >> 41) as u32;
        let sign = (bits as u32) << 31;
        let below_one = ((bits >> 1) as u32 | 1 << 15).trailing_zeros();
        f32::from_bits(sign | (127 - below_one) << 23 | mantissa)
    }

    /// A float as [`Self::f32`] gives it, with all bits of the wider mantissa in use.
    pub fn f64(self, index: u64) -> f64 {
        let mantissa = mix(self.bits(index)) >> 12;
        let coarse = f64::from(self.f32(index));
        f64::from_bits(coarse.to_bits() & !((1 << 52) - 1) | mantissa)
    }

    /// Fills `values` with elements `first`, `first + 1`, … on all cores.
    pub fn fill_f32(self, first: u64, values: &mut [f32]) {
        values
            .par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(piece, values)| {
                let first = first + (piece * PIECE) as u64;
                for (index, value) in (first..).zip(values) {
                    *value = self.f32(index);
                }
            });
    }
}

/// 2^64 over the golden ratio, SplitMix64's increment.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // First outputs of the reference implementation (prng.di.unimi.it/splitmix64.c) for
        // state 1234567.
        let stream = Stream { key: 1_234_567 };
        let expected = [
            6_457_827_717_110_365_317_u64,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for (index, value) in expected.into_iter().enumerate() {
            assert_eq!(stream.bits(index as u64), value);
        }
    }

    #[test]
    fn pieces_agree_with_single_elements() {
        let stream = Stream::new(7, 1);
        let first = (1 << 32) - 5;
        let mut values = vec![0.0; PIECE * 2 + 17];
        stream.fill_f32(first, &mut values);
        for (offset, value) in values.iter().enumerate() {
            assert_eq!(*value, stream.f32(first + offset as u64));
        }
    }

    #[test]
    fn floats_are_skewed_signed_and_never_zero() {
        let stream = Stream::new(1, 0);
        let values: Vec<f32> = (0..100_000).map(|index| stream.f32(index)).collect();
        assert!(values.iter().all(|value| value.is_normal()));
        assert!(
            values
                .iter()
                .all(|value| (2f32.powi(-15)..2.0).contains(&value.abs()))
        );
        let share = |condition: fn(&f32) -> bool| {
            values.iter().filter(|value| condition(value)).count() as f64 / values.len() as f64
        };
        assert!((share(|value| value.abs() >= 1.0) - 0.5).abs() < 0.01);
        assert!((share(|value| value.abs() < 0.25) - 0.125).abs() < 0.01);
        assert!((share(|value| *value < 0.0) - 0.5).abs() < 0.01);
    }

    #[test]
    fn wide_floats_have_the_sign_and_magnitude_of_narrow_ones() {
        let stream = Stream::new(1, 0);
        for index in 0..1000 {
            let (narrow, wide) = (f64::from(stream.f32(index)), stream.f64(index));
            assert_eq!(narrow.to_bits() >> 52, wide.to_bits() >> 52);
            assert_ne!(wide.to_bits() & 0xf_ffff, 0);
        }
    }

    #[test]
    fn seeds_and_streams_differ() {
        let equal = |a: Stream, b: Stream| (0..1000).filter(|&i| a.bits(i) == b.bits(i)).count();
        assert_eq!(equal(Stream::new(1, 0), Stream::new(1, 1)), 0);
        assert_eq!(equal(Stream::new(1, 0), Stream::new(2, 0)), 0);
        // Swapping the two must not give the same stream either.
        assert_eq!(equal(Stream::new(1, 2), Stream::new(2, 1)), 0);
    }
}
