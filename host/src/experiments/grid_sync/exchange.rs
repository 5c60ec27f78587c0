//! The CPU reference of the exchange between blocks, as `kernels/src/grid_sync.rs` defines it.

use rayon::prelude::*;

use crate::random::Stream;

/// What a thread's own state is multiplied by.
const OWN: u32 = 0x9e37_79b1;
/// What its partner's is.
const PARTNER: u32 = 0x85eb_ca6b;

/// The states before the first round, one per thread.
pub fn initial(seed: u64, threads: usize) -> Vec<u32> {
    let stream = Stream::new(seed, 0);
    (0..threads as u64)
        .map(|index| stream.bits(index) as u32)
        .collect()
}

/// The states after `rounds` rounds of `blocks` blocks of `threads` threads each: `states` holds
/// one per thread, block after block.
///
/// # Panics
/// If it holds another number.
pub fn after(mut states: Vec<u32>, rounds: u32, blocks: usize, threads: usize) -> Vec<u32> {
    assert_eq!(states.len(), blocks * threads, "one state per thread");
    let mut next = vec![0; states.len()];
    for round in 0..rounds {
        let (other, turn) = partner(round, blocks as u64, threads as u64);
        next.par_chunks_mut(threads)
            .enumerate()
            .with_min_len((1_usize << 14).div_ceil(threads))
            .for_each(|(block, next)| {
                let of_block = |block: usize| &states[block * threads..][..threads];
                let theirs = of_block((block + other) % blocks);
                // The partner of thread t is thread t + turn, around the end.
                let (front, back) = theirs.split_at(turn);
                let theirs = back.iter().chain(front);
                for ((next, own), theirs) in next.iter_mut().zip(of_block(block)).zip(theirs) {
                    *next = own
                        .wrapping_mul(OWN)
                        .wrapping_add(theirs.wrapping_mul(PARTNER))
                        .wrapping_add(round);
                }
            });
        std::mem::swap(&mut states, &mut next);
    }
    states
}

/// How many blocks and how many threads further on a thread's partner is in a round: never the
/// thread's own block, if there is another one.
fn partner(round: u32, blocks: u64, threads: u64) -> (usize, usize) {
    let hash = scramble(round);
    let share = |hash: u32, count: u64| (u64::from(hash) * count) >> 32;
    let block = (1 + share(hash, blocks - 1)) % blocks;
    (block as usize, share(scramble(hash), threads) as usize)
}

fn scramble(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_in_another_block_and_change() {
        let mut met = std::collections::BTreeSet::new();
        for round in 0..200 {
            let (block, thread) = partner(round, 132, 33);
            assert!((1..132).contains(&block) && thread < 33);
            met.insert((block, thread));
        }
        assert!(met.len() > 150, "{}", met.len());
        assert_eq!(partner(7, 1, 1), (0, 0));
        assert_eq!(partner(7, 2, 1), (1, 0));
    }

    #[test]
    fn a_round_by_hand() {
        // Two blocks of one thread: each takes the other's state, whatever the hash.
        let expected = |own: u32, other: u32, round: u32| {
            (u64::from(own) * u64::from(OWN)
                + u64::from(other) * u64::from(PARTNER)
                + u64::from(round)) as u32
        };
        let first = [expected(5, 9, 0), expected(9, 5, 0)];
        assert_eq!(after(vec![5, 9], 1, 2, 1), first);
        let second = [
            expected(first[0], first[1], 1),
            expected(first[1], first[0], 1),
        ];
        assert_eq!(after(vec![5, 9], 2, 2, 1), second);
        assert_eq!(after(vec![5, 9], 0, 2, 1), [5, 9]);
    }

    #[test]
    fn one_wrong_state_spreads() {
        let right = initial(1, 8 * 40);
        let mut wrong = right.clone();
        wrong[100] ^= 1;
        let (right, wrong) = (after(right, 60, 8, 40), after(wrong, 60, 8, 40));
        let differ = right.iter().zip(&wrong).filter(|(a, b)| a != b).count();
        assert!(differ > 300, "{differ} of 320");
    }
}
