//! Divergence, reconvergence and independent progress of lanes.

mod common;

use common::{Run, kernel};

fn words(body: &str, grid: u32, block: u32) -> Vec<u32> {
    let ptx = kernel("", body);
    Run {
        ptx: &ptx,
        grid,
        block,
        words: 8192,
        ..Run::default()
    }
    .words()
    .unwrap()
}

#[test]
fn both_sides_of_a_branch_run_and_meet_again() {
    let body = "and.b32 %r1, %tid_, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra $even; \
                add.u32 %r2, %tid_, 100; bra $join; $even: add.u32 %r2, %tid_, 200; \
                $join: vote.sync.ballot.b32 %r3, %p1, 0xffffffff; \
                shl.b32 %r3, %r3, 16; add.u32 %r2, %r2, %r3; st.global.u32 [%out], %r2; ret;";
    for (thread, &word) in words(body, 1, 32)[..32].iter().enumerate() {
        let side = if thread % 2 == 0 { 200 } else { 100 };
        assert_eq!(word, (0x5555_u32 << 16) + side + thread as u32);
    }
}

#[test]
fn lanes_loop_as_often_as_each_needs() {
    let body = "mov.u32 %r1, 0; mov.u32 %r2, %tid_; $loop: setp.eq.u32 %p1, %r2, 0; @%p1 bra $done; \
                add.u32 %r1, %r1, %r2; sub.u32 %r2, %r2, 1; bra $loop; \
                $done: st.global.u32 [%out], %r1; ret;";
    for (thread, &word) in words(body, 1, 45)[..45].iter().enumerate() {
        assert_eq!(word as usize, thread * (thread + 1) / 2);
    }
}

#[test]
fn a_lane_may_wait_for_another_of_its_warp() {
    // Lane 0 spins until lane 31 has set the flag: the loop comes first in the text, so only fair
    // scheduling of the lanes lets lane 31 run.
    let body = "setp.ne.u32 %p1, %tid_, 0; @%p1 bra $others; \
                $spin: ld.volatile.global.u32 %r1, [%data+4096]; setp.eq.u32 %p2, %r1, 0; @%p2 bra $spin; \
                st.global.u32 [%data], %r1; ret; \
                $others: setp.ne.u32 %p1, %tid_, 31; @%p1 ret; st.volatile.global.u32 [%data+4096], 9; ret;";
    assert_eq!(words(body, 1, 32)[0], 9);
}

#[test]
fn a_lock_taken_lane_by_lane_is_passed_on() {
    let body = "$try: atom.global.cas.b32 %r1, [%data+4096], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $try; \
                ld.volatile.global.u32 %r2, [%data]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%data], %r2; \
                membar.gl; atom.global.exch.b32 %r1, [%data+4096], 0; ret;";
    assert_eq!(words(body, 3, 64)[0], 192);
}

#[test]
fn blocks_can_wait_for_each_other_while_resident() {
    // A ticket barrier over the grid.
    let body = "setp.ne.u32 %p1, %tid_, 0; @%p1 bra $wait; atom.global.add.u32 %r1, [%data+4096], 1; \
                mov.u32 %r3, %nctaid.x; \
                $spin: ld.volatile.global.u32 %r2, [%data+4096]; setp.lt.u32 %p2, %r2, %r3; @%p2 bra $spin; \
                $wait: bar.sync 0; ld.volatile.global.u32 %r2, [%data+4096]; st.global.u32 [%out], %r2; ret;";
    assert_eq!(words(body, 20, 48)[..960], [20; 960]);
}

#[test]
fn a_grid_that_cannot_be_resident_is_reported_as_deadlock() {
    let body = "mov.u32 %r3, %nctaid.x; setp.ne.u32 %p1, %tid_, 0; @%p1 bra $wait; \
                atom.global.add.u32 %r1, [%data+4096], 1; \
                $spin: ld.volatile.global.u32 %r2, [%data+4096]; setp.lt.u32 %p2, %r2, %r3; @%p2 bra $spin; \
                $wait: bar.sync 0; ret;";
    let ptx = kernel("", body);
    let options = simulator::Options {
        checks: false,
        races: false,
        timing: false,
    };
    let run = Run {
        ptx: &ptx,
        grid: 300,
        block: 1024,
        words: 2048,
        options,
        ..Run::default()
    };
    let text = run.timed().unwrap_err().to_string();
    for part in [
        "deadlock: nothing changed in memory",
        "264 resident blocks spin",
        "(36) never started",
        // The first thread of each block spins; 31 lanes of its warp and 31 other warps wait.
        "264 warps spinning, PTX line",
        ": ld.volatile.global.u32 %r2, [%data+4096]",
        "264 warps waiting for the rest of their warp to reach a barrier, PTX line",
        "8184 warps waiting at barrier 0, PTX line",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn members_that_arrive_at_different_places_exchange_all_the_same() {
    // The same shuffle in both sides of a branch, with the full mask: each side waits for the other.
    let body = "setp.lt.u32 %p1, %tid_, 7; @%p1 bra $low; \
                shfl.sync.idx.b32 %r1, %tid_, 3, 31, 0xffffffff; bra $join; \
                $low: shfl.sync.idx.b32 %r1, %tid_, 30, 31, 0xffffffff; \
                $join: st.global.u32 [%out], %r1; ret;";
    let words = words(body, 1, 32);
    assert!(
        words[..7].iter().all(|&word| word == 30) && words[7..32].iter().all(|&word| word == 3)
    );
}

#[test]
fn exited_members_are_not_waited_for() {
    let body = "setp.ge.u32 %p1, %tid_, 20; @%p1 ret; bar.warp.sync 0xffffffff; \
                activemask.b32 %r1; match.any.sync.b32 %r2, 1, 0xffffffff; st.global.u32 [%out], %r2; ret;";
    assert_eq!(
        words(body, 1, 32)[..21],
        [vec![0xf_ffff; 20], vec![0]].concat()
    );
}

#[test]
fn calls_return_to_each_lanes_caller() {
    let outside = ".func (.param .b32 result) twice(.param .b32 value)\n{ .reg .b32 %a<3>; \
                   ld.param.u32 %a1, [value]; add.u32 %a2, %a1, %a1; st.param.u32 [result], %a2; ret; }";
    let body = "setp.lt.u32 %p1, %tid_, 9; @%p1 bra $low; \
                { .param .b32 in; .param .b32 back; st.param.u32 [in], %tid_; \
                call.uni (back), twice, (in); ld.param.u32 %r1, [back]; } bra $join; \
                $low: add.u32 %r2, %tid_, 1000; { .param .b32 in; .param .b32 back; st.param.u32 [in], %r2; \
                call (back), twice, (in); ld.param.u32 %r1, [back]; } \
                $join: st.global.u32 [%out], %r1; ret;";
    let ptx = kernel(outside, body);
    let words = Run {
        ptx: &ptx,
        ..Run::default()
    }
    .words()
    .unwrap();
    for thread in 0..32 {
        let value = if thread < 9 { thread + 1000 } else { thread };
        assert_eq!(words[thread as usize], 2 * value);
    }
}

#[test]
fn time_is_the_same_every_time_and_clocks_agree_with_it() {
    let body = "mov.u64 %rd1, %clock64; mov.u32 %r3, %smid; ld.global.u32 %r1, [%out]; \
                add.u32 %r1, %r1, 1; mov.u64 %rd2, %clock64; sub.u64 %rd3, %rd2, %rd1; \
                cvt.u32.u64 %r2, %rd3; st.global.u32 [%out], %r2; st.global.u32 [%out+16384], %r3; ret;";
    let ptx = kernel("", body);
    let run = Run {
        ptx: &ptx,
        grid: 40,
        block: 64,
        words: 8192,
        ..Run::default()
    };
    let (words, time) = run.timed().unwrap();
    assert_eq!(run.timed().unwrap(), (words.clone(), time));
    // A load from memory lies between the two clock reads.
    assert!(
        words[..2560]
            .iter()
            .all(|&cycles| (200..5000).contains(&cycles)),
        "{:?}",
        &words[..8]
    );
    // The first blocks go one to each SM.
    let sms: std::collections::BTreeSet<u32> =
        (0..40).map(|block| words[4096 + 64 * block]).collect();
    assert_eq!(sms.len(), 40);
}
