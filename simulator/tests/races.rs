//! Data races on shared memory: found whichever access runs first, and never where something orders
//! the two.

mod common;

use common::{Run, kernel};
use simulator::{LaunchError, Options};

const SHARED: &str = ".shared .align 4 .b8 s[4096];";
/// The address of this thread's word in shared memory in %r1, of the next thread's (modulo the
/// block) in %r3; %p8 says whether the thread is in the first half of the block.
const SLOT: &str = "shl.b32 %r1, %tid_, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; \
    add.u32 %r3, %tid_, 1; rem.u32 %r3, %r3, %ntid_; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2; \
    shr.u32 %r4, %ntid_, 1; setp.lt.u32 %p8, %tid_, %r4;";

fn results(body: &str, block: u32) -> [Result<Vec<u32>, LaunchError>; 2] {
    let ptx = kernel(SHARED, &format!("{SLOT} {body}"));
    [true, false].map(|timing| {
        let options = Options {
            timing,
            ..Options::default()
        };
        let run = Run {
            ptx: &ptx,
            block,
            words: 1024,
            options,
            ..Run::default()
        };
        run.timed().map(|(words, _)| words)
    })
}

/// The kernel races, with and without timing; gives the message with timing.
#[track_caller]
fn racy(body: &str, block: u32) -> String {
    let texts = results(body, block).map(|result| match result {
        Err(LaunchError::Fault(fault)) => fault.to_string(),
        other => panic!("no fault: {other:?}"),
    });
    for text in &texts {
        assert!(text.contains("kernel k: data race: the "), "{text}");
    }
    texts.into_iter().next().unwrap()
}

/// The kernel runs to its end, with and without timing; gives the buffer.
#[track_caller]
fn silent(body: &str, block: u32) -> Vec<u32> {
    let [timed, untimed] = results(body, block).map(|result| match result {
        Ok(words) => words,
        Err(error) => panic!("{error}"),
    });
    assert_eq!(timed, untimed);
    timed
}

#[test]
fn a_missing_barrier_names_both_sides_and_what_is_required() {
    let text = racy(
        "\nst.shared.u32 [%r1], %tid_;\nld.shared.u32 %r5, [%r3];\nst.global.u32 [%out], %r5; ret;",
        256,
    );
    for part in [
        "st.shared.u32 [%r1], %tid_",
        "PTX line 14",
        "ld.shared.u32 %r5, [%r3]",
        "PTX line 15",
        "the write",
        "the read",
        "a block barrier (bar.sync, __syncthreads)",
        "of or after s (4096 bytes)",
        "of block (0, 0, 0)",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    let words = silent(
        "st.shared.u32 [%r1], %tid_; bar.sync 0; ld.shared.u32 %r5, [%r3]; st.global.u32 [%out], %r5; ret;",
        256,
    );
    assert_eq!(words[..256], (1..256).chain([0]).collect::<Vec<u32>>());
}

#[test]
fn the_order_in_which_warps_run_does_not_matter() {
    // One warp writes a word, the other reads it: whichever is first, and however late the other.
    let delay =
        "mov.u32 %r9, 0; $wait: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3000; @%p1 bra $wait;";
    let write = "st.shared.u32 [%r2+8], %tid_;";
    let read = "ld.shared.u32 %r5, [%r2+8]; st.global.u32 [%out], %r5;";
    for initialised in [false, true] {
        let before = if initialised {
            "st.shared.u32 [%r1], 7; bar.sync 0;"
        } else {
            ""
        };
        for (first, second) in [(write, read), (read, write)] {
            for (delay_first, delay_second) in [(delay, ""), ("", delay), ("", "")] {
                // One lane of each warp.
                let body = format!(
                    "{before} and.b32 %r6, %tid_, 31; setp.ne.u32 %p2, %r6, 0; @%p2 ret; \
                     @!%p8 bra $second; {delay_first} {first} ret; $second: {delay_second} {second} ret;"
                );
                racy(&body, 64);
            }
        }
    }
}

#[test]
fn writes_race_with_writes_and_with_earlier_reads() {
    racy("st.shared.u32 [%r2], %tid_; ret;", 64);
    // The barrier after the reads is missing: the next round overwrites what others still read.
    let round = "st.shared.u32 [%r1], %tid_; bar.sync 0; ld.shared.u32 %r5, [%r3]; st.global.u32 [%out], %r5;";
    let text = racy(&format!("{round} st.shared.u32 [%r1], 5; ret;"), 96);
    assert!(
        text.contains("the write") && text.contains("the read"),
        "{text}"
    );
    silent(
        &format!("{round} bar.sync 0; st.shared.u32 [%r1], 5; ret;"),
        96,
    );
}

#[test]
fn a_write_after_several_warps_have_read_races_with_each() {
    // All warps read word 0 after a barrier, then thread 100 writes it.
    let body = |between: &str| {
        format!(
            "setp.ne.u32 %p3, %tid_, 0; @%p3 bra $read; st.shared.u32 [%r2], 1; $read: bar.sync 0; \
             ld.shared.u32 %r5, [%r2]; st.global.u32 [%out], %r5; {between} \
             setp.ne.u32 %p1, %tid_, 100; @%p1 ret; st.shared.u32 [%r2], 2; ret;"
        )
    };
    racy(&body(""), 128);
    silent(&body("bar.sync 0;"), 128);
    // Warps 2 and 3 wait for each other alone: warps 0 and 1 may still read.
    let some = "setp.lt.u32 %p4, %tid_, 64; @%p4 ret; bar.sync 1, 64;";
    racy(&body(some), 128);
}

#[test]
fn double_buffering_needs_one_barrier_per_round() {
    let body = "mov.u32 %r5, 0; mov.u32 %r6, %tid_; $loop: and.b32 %r7, %r5, 1; shl.b32 %r7, %r7, 11; \
                add.u32 %r8, %r1, %r7; st.shared.u32 [%r8], %r6; bar.sync 0; add.u32 %r8, %r3, %r7; \
                ld.shared.u32 %r6, [%r8]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 9; @%p1 bra $loop; \
                st.global.u32 [%out], %r6; ret;";
    let words = silent(body, 96);
    for thread in 0..96 {
        assert_eq!(words[thread as usize], (thread + 9) % 96);
    }
    racy(&body.replace("shl.b32 %r7, %r7, 11", "mov.u32 %r7, 0"), 96);
}

#[test]
fn threads_that_returned_early_have_arrived_for_good() {
    let body = "st.shared.u32 [%r1], %tid_; setp.ge.u32 %p1, %tid_, 40; @%p1 ret; bar.sync 0; \
                ld.shared.u32 %r5, [%r3]; st.global.u32 [%out], %r5; ret;";
    for block in [64, 128] {
        assert_eq!(silent(body, block)[..40], (1..41).collect::<Vec<u32>>());
    }
}

#[test]
fn lanes_of_a_warp_need_a_warp_barrier() {
    let exchange = |between: &str| {
        format!(
            "st.shared.u32 [%r1], %tid_; {between} ld.shared.u32 %r5, [%r3]; st.global.u32 [%out], %r5; ret;"
        )
    };
    let text = racy(&exchange(""), 32);
    assert!(
        text.contains("a warp barrier (bar.warp.sync, __syncwarp)"),
        "{text}"
    );
    // A shuffle exchanges values; it orders no memory (CUDA C++ Programming Guide, warp shuffle).
    racy(&exchange("shfl.sync.idx.b32 %r6, %tid_, 0, 31, -1;"), 32);
    let words = silent(&exchange("bar.warp.sync -1;"), 32);
    assert_eq!(words[..32], (1..32).chain([0]).collect::<Vec<u32>>());
    silent(&exchange("bar.sync 0;"), 32);
    // A partial warp whose lanes are all there.
    silent(&exchange("bar.warp.sync 0xfffff;"), 20);
    // Volatile accesses are strong, as in warp-synchronous code of old.
    let volatile = exchange("").replace("shared.u32", "volatile.shared.u32");
    assert_eq!(silent(&volatile, 32)[0], 1);
    // A warp barrier does not order warps.
    racy(&exchange("bar.warp.sync -1;"), 64);
}

#[test]
fn a_warp_barrier_of_some_lanes_orders_those() {
    // Quarters of 8 lanes: each reads within its quarter, or lane 0 also from the next.
    let body = |index: &str| {
        format!(
            "and.b32 %r5, %tid_, 24; mov.u32 %r6, 255; shl.b32 %r6, %r6, %r5; \
             st.shared.u32 [%r1], %tid_; bar.warp.sync %r6; {index} shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; \
             ld.shared.u32 %r8, [%r7]; st.global.u32 [%out], %r8; ret;"
        )
    };
    let words = silent(&body("xor.b32 %r7, %tid_, 5;"), 32);
    assert!((0..32).all(|lane| words[lane as usize] == lane ^ 5));
    racy(&body("xor.b32 %r7, %tid_, 8;"), 32);
}

#[test]
fn diverged_lanes_of_one_warp_race() {
    let body = |between: &str| {
        format!(
            "setp.eq.u32 %p1, %tid_, 0; @!%p1 bra $join; st.shared.u32 [%r2], 9; \
             $join: {between} setp.ne.u32 %p2, %tid_, 5; @%p2 ret; \
             ld.shared.u32 %r5, [%r2]; st.global.u32 [%out], %r5; ret;"
        )
    };
    racy(&body(""), 32);
    assert_eq!(silent(&body("bar.warp.sync -1;"), 32)[5], 9);
}

#[test]
fn named_barriers_order_producers_and_consumers_alone() {
    let body = |producer: &str, consumer: &str| {
        format!(
            "@%p8 bra $consume; st.shared.u32 [%r1], %tid_; {producer} ret; \
             $consume: {consumer} ld.shared.u32 %r5, [%r1+128]; st.global.u32 [%out], %r5; ret;"
        )
    };
    let words = silent(&body("bar.arrive 3, 64;", "bar.sync 3, 64;"), 64);
    assert_eq!(words[..32], (32..64).collect::<Vec<u32>>());
    // What the producer writes after it has arrived is not ordered.
    racy(
        &body(
            "bar.arrive 3, 64; st.shared.u32 [%r1], 1;",
            "bar.sync 3, 64;",
        ),
        64,
    );
    // Nor does a consumer that only arrives learn anything.
    racy(&body("bar.sync 3, 64;", "bar.arrive 3, 64;"), 64);
}

#[test]
fn a_named_barrier_of_two_warps_does_not_order_a_third() {
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; everyone reads the next word.
    let body = "st.shared.u32 [%r1], %tid_; shr.u32 %r5, %tid_, 6; add.u32 %r5, %r5, 1; \
                bar.sync %r5, 64; xor.b32 %r6, %tid_, 32; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; \
                ld.shared.u32 %r7, [%r6]; st.global.u32 [%out], %r7; ret;";
    assert_eq!(silent(body, 128)[64], 96);
    racy(&body.replace("%tid_, 32;", "%tid_, 64;"), 128);
}

#[test]
fn atomics_do_not_race_with_each_other_but_with_plain_accesses() {
    let histogram = |clear: &str, read: &str| {
        format!(
            "st.shared.u32 [%r1], 0; {clear} and.b32 %r5, %tid_, 3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; \
             atom.shared.add.u32 %r6, [%r5], 1; red.shared.max.u32 [%r5], 1; {read} \
             ld.shared.u32 %r7, [%r1]; st.global.u32 [%out], %r7; ret;"
        )
    };
    assert_eq!(
        silent(&histogram("bar.sync 0;", "bar.sync 0;"), 128)[..5],
        [32, 32, 32, 32, 0]
    );
    racy(&histogram("", "bar.sync 0;"), 128);
    racy(&histogram("bar.sync 0;", ""), 128);
}

#[test]
fn bytes_next_to_each_other_are_different_places() {
    let body = "add.u32 %r5, %r2, %tid_; st.shared.u8 [%r5], %tid_; bar.sync 0; \
                ld.shared.u32 %r6, [%r2+60]; st.global.u32 [%out], %r6; ret;";
    assert_eq!(silent(body, 64)[0], 0x3f3e_3d3c);
    racy(&body.replace("[%r5]", "[%r2+1]"), 64);
}

#[test]
fn release_and_acquire_order_without_a_barrier() {
    // Thread 32 writes and raises a flag; thread 0 waits for it and reads.
    let message = |raise: &str, wait: &str| {
        format!(
            "setp.eq.u32 %p1, %tid_, 0; @%p1 st.shared.u32 [%r2+8], 0; bar.sync 0; \
             setp.eq.u32 %p2, %tid_, 32; @%p2 bra $send; @%p1 bra $receive; ret; \
             $send: st.shared.u32 [%r2], 77; {raise} ret; \
             $receive: {wait} ld.shared.u32 %r6, [%r2]; st.global.u32 [%out], %r6; ret;"
        )
    };
    let wait = |load: &str, after: &str| {
        format!("$spin: {load} %r5, [%r2+8]; setp.eq.u32 %p3, %r5, 0; @%p3 bra $spin; {after}")
    };
    for (raise, wait) in [
        (
            "st.release.cta.shared.u32 [%r2+8], 1;",
            wait("ld.acquire.cta.shared.u32", ""),
        ),
        (
            "membar.cta; st.volatile.shared.u32 [%r2+8], 1;",
            wait("ld.volatile.shared.u32", "membar.cta;"),
        ),
        (
            "fence.acq_rel.cta; atom.shared.exch.b32 %r7, [%r2+8], 1;",
            wait("ld.acquire.cta.shared.u32", ""),
        ),
    ] {
        assert_eq!(silent(&message(raise, &wait), 64)[0], 77);
    }
    for (raise, wait) in [
        (
            "st.relaxed.cta.shared.u32 [%r2+8], 1;",
            wait("ld.acquire.cta.shared.u32", ""),
        ),
        (
            "st.release.cta.shared.u32 [%r2+8], 1;",
            wait("ld.relaxed.cta.shared.u32", ""),
        ),
    ] {
        racy(&message(raise, &wait), 64);
    }
}

#[test]
fn generic_addresses_are_checked_too() {
    let body = "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mul.wide.u32 %rd2, %tid_, 4; \
                add.u64 %rd2, %rd1, %rd2; st.u32 [%rd2], %tid_; ld.u32 %r5, [%rd1]; st.u32 [%out], %r5; ret;";
    racy(body, 64);
    silent(&body.replace("ld.u32", "bar.sync 0; ld.u32"), 64);
}

#[test]
fn a_read_that_nothing_ever_writes_stays_an_uninitialised_read() {
    for after in ["ret;", "bar.sync 0; st.shared.u32 [%r1+2048], 1; ret;"] {
        let body = format!("ld.shared.u32 %r5, [%r1+2048]; st.global.u32 [%out], %r5; {after}");
        for result in results(&body, 64) {
            let text = result.expect_err("a fault").to_string();
            assert!(text.contains("uninitialised shared memory"), "{text}");
        }
    }
}

#[test]
fn the_check_can_be_left_out() {
    let ptx = kernel(SHARED, &format!("{SLOT} st.shared.u32 [%r2], 3; ret;"));
    let options = Options {
        races: false,
        ..Options::default()
    };
    let run = Run {
        ptx: &ptx,
        block: 64,
        options,
        ..Run::default()
    };
    run.words().expect("no check, no fault");
}

#[test]
fn whole_warps_that_release_and_acquire_adjacent_words_are_ordered() {
    let words = silent(
        "@!%p8 bra $second; st.shared.u32 [%r1], %tid_; st.release.gpu.global.u32 [%out], 1; ret; \
         $second: ld.acquire.gpu.global.u32 %r5, [%out+-128]; setp.eq.u32 %p1, %r5, 0; \
         @%p1 bra $second; ld.shared.u32 %r6, [%r1+-128]; st.global.u32 [%out], %r6; ret;",
        64,
    );
    assert_eq!(words[32..64], (0..32).collect::<Vec<u32>>());
}
