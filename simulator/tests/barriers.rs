//! Block barriers: what releases them, and what is reported instead of hanging.

mod common;

use common::{Run, kernel};

const SHARED: &str = ".shared .align 4 .b8 s[4096];";
/// The address of this thread's word in shared memory, in %r1.
const SLOT: &str = "shl.b32 %r1, %tid_, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;";

fn run<'a>(ptx: &'a str, block: u32) -> Run<'a> {
    Run {
        ptx,
        block,
        words: 1024,
        ..Run::default()
    }
}

#[test]
fn a_barrier_orders_shared_memory_over_warps() {
    // Each thread reads what the thread 32 further on wrote, modulo the block.
    let body = format!(
        "{SLOT} st.shared.u32 [%r1], %tid_; bar.sync 0; \
         add.u32 %r3, %tid_, 32; rem.u32 %r3, %r3, %ntid_; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2; \
         ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4; ret;"
    );
    for block in [33, 64, 100, 1024] {
        let words = run(&kernel(SHARED, &body), block).words().unwrap();
        for thread in 0..block {
            assert_eq!(words[thread as usize], (thread + 32) % block);
        }
    }
}

#[test]
fn threads_that_returned_early_are_not_waited_for() {
    let body = "setp.ge.u32 %p1, %tid_, 40; @%p1 bra $done; bar.sync 0; \
                st.global.u32 [%out], 7; $done: ret;";
    let words = run(&kernel("", body), 128).words().unwrap();
    assert_eq!(words.iter().filter(|&&word| word == 7).count(), 40);
}

#[test]
fn a_barrier_on_one_side_of_a_branch_is_reported() {
    // Whole warps on either side: without the report it would seem to work.
    for limit in [32, 64, 96] {
        let body = format!(
            "setp.ge.u32 %p1, %tid_, {limit}; @%p1 bra $join; bar.sync 0; \
             $join: st.global.u32 [%out], 7; ret;"
        );
        let text = run(&kernel("", &body), 128).fault();
        assert!(
            text.contains("barrier not reached by the whole block"),
            "{text}"
        );
        assert!(text.contains("went around it to PTX line 13"), "{text}");
    }
}

#[test]
fn a_barrier_reached_by_part_of_a_warp_is_reported() {
    let body = "setp.ge.u32 %p1, %tid_, 5; @%p1 bra $else; bar.sync 0; bra $join; \
                $else: bar.sync 1; $join: st.global.u32 [%out], 7; ret;";
    let text = run(&kernel("", body), 32).fault();
    assert!(
        text.contains("lanes 0x0000001f of warp 0 are at it"),
        "{text}"
    );
}

#[test]
fn loops_may_leave_at_different_trips_only_without_a_barrier_inside() {
    // Every thread loops as often: fine, whatever the count.
    let body = "mov.u32 %r1, 0; $loop: bar.sync 0; add.u32 %r1, %r1, 1; \
                setp.lt.u32 %p1, %r1, 5; @%p1 bra $loop; st.global.u32 [%out], %r1; ret;";
    assert!(
        run(&kernel("", body), 96).words().unwrap()[..96]
            .iter()
            .all(|&word| word == 5)
    );
    // Warp w loops w + 1 times.
    let body = "shr.u32 %r2, %tid_, 5; mov.u32 %r1, 0; $loop: bar.sync 0; add.u32 %r1, %r1, 1; \
                setp.le.u32 %p1, %r1, %r2; @%p1 bra $loop; st.global.u32 [%out], %r1; ret;";
    let text = run(&kernel("", body), 96).fault();
    assert!(text.contains("went around it"), "{text}");
}

#[test]
fn named_barriers_pair_producers_with_consumers() {
    // Warp 1 produces and arrives; warp 0 waits for 64 threads and reads.
    let body = format!(
        "{SLOT} setp.lt.u32 %p1, %tid_, 32; @%p1 bra $consume; \
         st.shared.u32 [%r1], %tid_; bar.arrive 3, 64; ret; \
         $consume: bar.sync 3, 64; ld.shared.u32 %r4, [%r1+128]; st.global.u32 [%out], %r4; ret;"
    );
    let words = run(&kernel(SHARED, &body), 64).words().unwrap();
    assert_eq!(words[..32], (32..64).collect::<Vec<u32>>());
}

#[test]
fn a_count_that_is_never_met_is_a_deadlock_with_names() {
    let text = run(&kernel("", "bar.sync 2, 96; ret;"), 64).fault();
    for part in [
        "every warp of the block waits",
        "at barrier 2, PTX line 13",
        "warp 0",
        "warp 1",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let text = run(&kernel("", "bar.sync 2, 33; ret;"), 64).fault();
    assert!(
        text.contains("given 33 threads: a positive multiple of 32"),
        "{text}"
    );
    let text = run(&kernel("", "mov.u32 %r1, 16; bar.sync %r1; ret;"), 64).fault();
    assert!(text.contains("barrier 16 does not exist"), "{text}");
}

#[test]
fn reductions_count_threads_not_warps() {
    let body = "setp.lt.u32 %p1, %tid_, 37; bar.red.popc.u32 %r1, 0, %p1; \
                bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1; \
                selp.u32 %r2, 100, 0, %p2; selp.u32 %r3, 1000, 0, %p3; \
                add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%out], %r1; ret;";
    assert_eq!(
        run(&kernel("", body), 50).words().unwrap()[..50],
        [1037; 50]
    );
    assert_eq!(run(&kernel("", body), 37).words().unwrap()[..37], [137; 37]);
    let mixed = "setp.lt.u32 %p1, %tid_, 32; @%p1 bra $red; bar.sync 0; ret; \
                 $red: bar.red.popc.u32 %r1, 0, %p1; ret;";
    assert!(
        run(&kernel("", mixed), 64)
            .fault()
            .contains("bar.red and by another kind")
    );
}

#[test]
fn dynamic_shared_memory_starts_behind_the_static() {
    let outside = ".shared .align 4 .b8 a[20]; .extern .shared .align 16 .b8 d[];";
    let body = "mov.u32 %r1, d; st.global.u32 [%out], %r1; mov.u32 %r2, %dynamic_smem_size; \
                st.global.u32 [%out+128], %r2; st.shared.u32 [%r1+60], %tid_; st.shared.u32 [a+16], %tid_; ret;";
    let ptx = kernel(outside, body);
    let run = Run {
        dynamic_shared_bytes: 64,
        ..run(&ptx, 32)
    };
    let words = run.words().unwrap();
    assert_eq!((words[0], words[32]), (32, 64));
    let text = Run {
        dynamic_shared_bytes: 60,
        ..run
    }
    .fault();
    assert!(text.contains("shared write of 4 bytes"), "{text}");
}
