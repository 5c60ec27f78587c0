//! Launches in clusters: what they compute, what they are refused for, and the faults of uses of
//! another block's shared memory that the cluster's rules forbid.

mod common;

use common::{Run, kernel};
use simulator::{Launch, LaunchError, Options, Simulator, chip::Chip};

const SHARED: &str = ".shared .align 8 .b8 s[1024];";
/// The address of this thread's word in shared memory in %r1, of the same word in the next block of
/// the cluster in %r3; the rank in %r4, the blocks of the cluster in %r5.
const SLOT: &str = "shl.b32 %r1, %tid_, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; \
    mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; \
    add.u32 %r6, %r4, 1; rem.u32 %r6, %r6, %r5; mapa.shared::cluster.u32 %r3, %r1, %r6;";
const SYNC: &str = "barrier.cluster.arrive; barrier.cluster.wait;";

fn ptx(body: &str) -> String {
    kernel(SHARED, &format!("{SLOT}\n{body}"))
        .replace(".version 7.0", ".version 8.0")
        .replace(".target sm_70", ".target sm_90")
}

fn run(ptx: &str, grid: u32, block: u32, cluster: u32) -> Run<'_> {
    Run {
        ptx,
        grid,
        block,
        cluster: Some([cluster, 1, 1]),
        words: (grid * block) as usize,
        ..Run::default()
    }
}

/// The faults with which four blocks of 64 threads in clusters of two stop, with and without timing,
/// which may stop in different blocks. Each has all the parts.
#[track_caller]
fn fault(body: &str, parts: &[&str]) {
    for timing in [true, false] {
        let ptx = ptx(body);
        let run = Run {
            options: Options {
                timing,
                ..Options::default()
            },
            ..run(&ptx, 4, 64, 2)
        };
        let text = match run.timed() {
            Err(LaunchError::Fault(fault)) => fault.to_string(),
            other => panic!("no fault, timing {timing}: {other:?}"),
        };
        for part in parts {
            assert!(
                text.contains(part),
                "`{part}` is not in, timing {timing}:\n{text}"
            );
        }
    }
}

#[track_caller]
fn silent(body: &str) -> Vec<u32> {
    run(&ptx(body), 4, 64, 2)
        .words()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn neighbours_exchange_in_clusters_of_every_size() {
    let body = format!(
        "st.shared.u32 [%r1], %id; {SYNC} ld.shared::cluster.u32 %r7, [%r3]; \
         st.global.u32 [%out], %r7; {SYNC} ret;"
    );
    let ptx = ptx(&body);
    for (cluster, grid, block) in [
        (1, 3, 64),
        (2, 6, 33),
        (3, 9, 64),
        (4, 8, 17),
        (7, 14, 256),
        (8, 264, 32),
        (16, 32, 96),
    ] {
        let words = run(&ptx, grid, block, cluster).words().unwrap();
        for (id, &word) in (0..).zip(&words) {
            let (block_index, thread) = (id / block, id % block);
            let (first, rank) = (block_index / cluster * cluster, block_index % cluster);
            let next = first + (rank + 1) % cluster;
            assert_eq!(
                word,
                next * block + thread,
                "cluster {cluster}, thread {id}"
            );
        }
    }
}

#[test]
fn clusters_of_three_dimensions_number_their_blocks() {
    let text = kernel(
        "",
        "mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; mad.lo.u32 %r1, %r2, 4, %r1; \
         mad.lo.u32 %r1, %r1, 4, %ctaid_; mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %data; \
         mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %clusterid.x; mov.u32 %r5, %clusterid.y; \
         mov.u32 %r6, %clusterid.z; shl.b32 %r4, %r4, 8; shl.b32 %r5, %r5, 16; \
         shl.b32 %r6, %r6, 24; or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, %r6; \
         st.global.u32 [%rd1], %r3; ret;",
    )
    .replace(".version 7.0", ".version 8.0")
    .replace(".target sm_70", ".target sm_90");
    for timing in [true, false] {
        let options = Options {
            timing,
            ..Options::default()
        };
        let mut simulator = Simulator::new(Chip::named("h200").unwrap().clone(), options);
        let module = simulator.load(&text).unwrap();
        let data = simulator.memory().allocate(4 * 32, "data").unwrap();
        let launch = Launch {
            kernel: "k",
            grid: [4, 4, 2],
            block: [1, 1, 1],
            dynamic_shared_bytes: 0,
            cooperative: false,
            cluster: Some([2, 4, 1]),
            parameters: &data.to_le_bytes(),
        };
        simulator.launch(module, &launch).unwrap();
        let mut bytes = vec![0; 128];
        simulator.memory().read(data, &mut bytes).unwrap();
        for (block, word) in bytes.as_chunks().0.iter().enumerate() {
            let (x, y, z) = (block as u32 % 4, block as u32 / 4 % 4, block as u32 / 16);
            let rank = y % 4 * 2 + x % 2;
            let expected = rank | (x / 2) << 8 | (y / 4) << 16 | z << 24;
            assert_eq!(u32::from_le_bytes(*word), expected, "block {x} {y} {z}");
        }
    }
}

/// A cluster's barrier takes as long as a message between SMs, and reads of another block's shared
/// memory take longer than reads of the own.
#[test]
fn times_are_those_of_the_chip() {
    let h200 = Chip::named("h200").unwrap();
    let time = |body: &str, cluster| {
        let ptx = ptx(&format!(
            "st.shared.u32 [%r1], %id; mov.u32 %r8, 0; {SYNC} $again: {body} add.u32 %r8, %r8, 1; \
             setp.lt.u32 %p1, %r8, 100; @%p1 bra $again; {SYNC} ret;"
        ));
        run(&ptx, 16, 32, cluster).timed().unwrap().1.unwrap() * h200.clock_ghz / 100.0
    };
    let empty = time("", 2);
    let barrier = time(SYNC, 2) - empty;
    let expected = f64::from(h200.latency.cluster_barrier);
    assert!(
        (expected..expected + 30.0).contains(&barrier),
        "{barrier} cycles per barrier"
    );
    let load = "ld.shared::cluster.u32 %r9, [%r3]; add.u32 %r9, %r9, 1;";
    let difference = time(load, 2) - time("", 2) - (time(load, 1) - time("", 1));
    let expected = f64::from(h200.latency.peer_shared - h200.latency.shared);
    assert!((difference - expected).abs() < 2.0, "{difference} cycles");
}

#[test]
fn a_peer_must_have_begun() {
    fault(
        "st.shared::cluster.u32 [%r3], %id; ret;",
        &["block [", "0, 0] may not have begun"],
    );
    // A message in global memory can tell it.
    let flag = "st.shared.u32 [%r1], 7; atom.acq_rel.gpu.global.add.u32 %r7, [%data], 1; \
        $wait: ld.acquire.gpu.global.u32 %r7, [%data]; setp.lt.u32 %p1, %r7, 256; @%p1 bra $wait; \
        ld.shared::cluster.u32 %r9, [%r3];";
    let words = silent(&format!("{flag} {SYNC} st.global.u32 [%out], %r9; ret;"));
    assert!(words.iter().all(|&word| word == 7), "{words:?}");
}

#[test]
fn a_peer_must_not_end_before() {
    let read = "st.shared.u32 [%r1], %id; barrier.cluster.arrive; barrier.cluster.wait; \
        ld.shared::cluster.u32 %r7, [%r3]; st.global.u32 [%out], %r7;";
    fault(
        &format!("{read} ret;"),
        &["nothing keeps block [", "from ending"],
    );
    // Whichever block is late.
    let late =
        "mov.u32 %r8, 0; $late: add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 3000; @%p2 bra $late;";
    for rank in [0, 1] {
        let wait = format!("setp.ne.u32 %p1, %r4, {rank}; @%p1 bra $go; {late} $go:");
        fault(
            &format!(
                "st.shared.u32 [%r1], %id; {SYNC} {wait} ld.shared::cluster.u32 %r7, [%r3]; ret;"
            ),
            &["nothing keeps block ["],
        );
        silent(&format!("{read} {wait} {SYNC} ret;"));
    }
    // Only the block that is read has to be kept: its last warp waits for the reader's message.
    silent(
        &format!(
            "st.shared.u32 [%r1], %id; {SYNC} setp.eq.u32 %p1, %r4, 0; @%p1 bra $reader; \
         $wait: ld.acquire.cluster.shared::cta.u32 %r7, [s+512]; setp.lt.u32 %p2, %r7, 64; \
         @%p2 bra $wait; ret; \
         $reader: ld.shared::cluster.u32 %r7, [%r3]; mov.u32 %r9, s; \
         mapa.shared::cluster.u32 %r9, %r9, 1; \
         red.release.cluster.shared::cluster.add.u32 [%r9+512], 1; ret;"
        )
        .replace(
            "st.shared.u32 [%r1], %id;",
            "st.shared.u32 [%r1], %id; setp.eq.u32 %p3, %tid_, 0; @%p3 st.shared.u32 [s+512], 0;",
        ),
    );
}

#[test]
fn ranks_and_addresses_outside_the_cluster_are_reported() {
    fault(
        "mapa.shared::cluster.u32 %r7, %r1, 2; ret;",
        &["rank 2 is outside the cluster, which has 2"],
    );
    fault(
        &format!("{SYNC} st.shared::cluster.u32 [%r3+1024], 1; {SYNC} ret;"),
        &[
            "shared write of 4 bytes",
            "is out of bounds",
            " of or after s (1024 bytes)",
            " in the cluster, has 1024 bytes",
        ],
    );
    fault(
        &format!("{SYNC} st.shared.u32 [%r3], 1; {SYNC} ret;"),
        &[".shared::cluster is required"],
    );
    fault(
        &format!("{SYNC} ld.shared::cluster.u32 %r7, [%r3+1]; {SYNC} ret;"),
        &["misaligned"],
    );
}

#[test]
fn what_no_block_wrote_is_reported_to_its_reader() {
    fault(
        &format!("{SYNC} ld.shared::cluster.u32 %r7, [%r3]; {SYNC} ret;"),
        &["uninitialised shared memory", " in the cluster, has"],
    );
}

#[test]
fn races_across_blocks_name_both() {
    let read = "ld.shared::cluster.u32 %r7, [%r3]; st.global.u32 [%out], %r7;";
    fault(
        &format!("{SYNC} st.shared.u32 [%r1], %id; {read} {SYNC} ret;"),
        &[
            "data race: the ",
            "a cluster barrier (barrier.cluster.arrive and .wait)",
            "of block (",
        ],
    );
    // The block's own barrier orders nothing in another block.
    fault(
        &format!("{SYNC} st.shared.u32 [%r1], %id; bar.sync 0; {read} {SYNC} ret;"),
        &["data race"],
    );
    // What comes after the arrival is not ordered before the wait.
    fault(
        &format!(
            "{SYNC} barrier.cluster.arrive; st.shared.u32 [%r1], %id; barrier.cluster.wait; {read} \
         {SYNC} ret;"
        ),
        &["data race"],
    );
    // Nor does a relaxed arrival order what came before it, unless a fence does.
    for (fence, races) in [("", true), ("fence.acq_rel.cluster;", false)] {
        let body = format!(
            "{SYNC} st.shared.u32 [%r1], %id; {fence} barrier.cluster.arrive.relaxed; \
             barrier.cluster.wait; {read} {SYNC} ret;"
        );
        if races {
            fault(&body, &["data race"]);
        } else {
            silent(&body);
        }
    }
}

#[test]
fn rounds_of_exchange_with_both_kinds_of_barriers_do_not_race() {
    // Half of a block writes, the block's barrier hands over to the other half, which reads another
    // block's values; 20 rounds.
    let words = silent(&format!(
        "mov.u32 %r8, 0; mov.u32 %r9, 0; shr.u32 %r10, %tid_, 5; setp.eq.u32 %p1, %r10, 0; \
         xor.b32 %r11, %r1, 128; {SYNC} \
         $round: @%p1 st.shared.u32 [%r1], %r8; bar.sync 0; @!%p1 ld.shared.u32 %r12, [%r11]; \
         @!%p1 st.shared.u32 [%r1], %r12; {SYNC} \
         ld.shared::cluster.u32 %r7, [%r3]; add.u32 %r9, %r9, %r7; {SYNC} \
         add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 20; @%p2 bra $round; \
         st.global.u32 [%out], %r9; ret;"
    ));
    assert!(words.iter().all(|&word| word == 190), "{words:?}");
}

#[test]
fn releases_and_acquires_order_shared_memory_of_the_cluster() {
    // Rank 0 writes data and raises a flag in rank 1, which waits for it.
    let body = |raise: &str, look: &str| {
        format!(
            "setp.eq.u32 %p1, %tid_, 0; @%p1 st.shared.u32 [s+512], 0; {SYNC} \
             mov.u32 %r9, s; mapa.shared::cluster.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r4, 0; \
             @%p2 bra $second; @!%p1 bra $done; st.shared::cluster.u32 [%r9], 41; \
             {raise}.shared::cluster.u32 [%r9+512], 1; bra $done; \
             $second: @!%p1 bra $done; \
             $wait: {look}.shared.u32 %r7, [s+512]; setp.eq.u32 %p3, %r7, 0; @%p3 bra $wait; \
             ld.shared.u32 %r7, [s]; st.global.u32 [%out], %r7; $done: {SYNC} ret;"
        )
    };
    let words = silent(&body("st.release.cluster", "ld.acquire.cluster"));
    assert_eq!((words[64], words[192]), (41, 41));
    fault(
        &body("st.relaxed.cluster", "ld.relaxed.cluster"),
        &["data race"],
    );
}

#[test]
fn threads_that_exit_are_not_waited_for_at_the_clusters_barrier() {
    silent(&format!(
        "setp.ge.u32 %p1, %tid_, 40; @%p1 ret; {SYNC} {SYNC} st.global.u32 [%out], 1; ret;"
    ));
    silent(&format!(
        "setp.eq.u32 %p1, %r4, 1; @%p1 ret; {SYNC} st.global.u32 [%out], 1; ret;"
    ));
}

#[test]
fn a_deadlock_between_the_two_kinds_of_barriers_is_told() {
    // One warp of a block is at the block's barrier, the other at the cluster's.
    fault(
        &format!(
            "setp.ge.u32 %p1, %tid_, 32; @%p1 bra $cluster; bar.sync 0; ret; $cluster: {SYNC} ret;"
        ),
        &[
            "deadlock: every warp of the cluster waits",
            "at the cluster barrier, which waits for every thread of the cluster",
            "0, 0] warp 1 lanes",
            "at barrier 0",
        ],
    );
}

#[test]
fn arrivals_and_waits_take_turns() {
    fault(
        "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret;",
        &["arrives at the cluster barrier again"],
    );
    fault("barrier.cluster.wait; ret;", &["without having arrived"]);
    fault(
        "setp.lt.u32 %p1, %tid_, 7; @%p1 bra $skip; barrier.cluster.arrive.aligned; \
         barrier.cluster.wait.aligned; $skip: bar.warp.sync 0xffffffff; ret;",
        &["barrier not reached"],
    );
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let ptx = ptx("ret;");
    let refused = |run: &Run| match run.timed() {
        Err(LaunchError::Invalid { message, .. }) => message,
        other => panic!("not refused: {other:?}"),
    };
    let text = refused(&run(&ptx, 6, 32, 4));
    assert!(
        text.contains("grid x is 6: a multiple of the cluster's 4"),
        "{text}"
    );
    let text = refused(&run(&ptx, 34, 32, 17));
    assert!(text.contains("1 to 16 blocks are possible"), "{text}");
    let text = refused(&Run {
        cooperative: true,
        ..run(&ptx, 8192, 1024, 8)
    });
    assert!(text.contains("clusters of 8"), "{text}");

    let directive = |text: &str| {
        ptx.replace(
            ".param .u64 k_data)",
            &format!(".param .u64 k_data) {text}"),
        )
    };
    let fixed = directive(".explicitcluster .reqnctapercluster 2, 1, 1");
    let text = refused(&run(&fixed, 8, 32, 4));
    assert!(text.contains("requires clusters of [2, 1, 1]"), "{text}");
    let alone = Run {
        cluster: None,
        ..run(&fixed, 8, 32, 1)
    };
    assert!(alone.timed().is_ok());
    let explicit = directive(".explicitcluster");
    let text = refused(&Run {
        cluster: None,
        ..run(&explicit, 8, 32, 1)
    });
    assert!(text.contains("must be launched in clusters"), "{text}");
    let bounded = directive(".maxclusterrank 4");
    let text = refused(&run(&bounded, 8, 32, 8));
    assert!(text.contains("1 to 4 blocks are possible"), "{text}");
}

#[test]
fn a_cluster_that_no_gpc_holds_is_refused() {
    let chip = Chip {
        gpcs: 33,
        ..Chip::named("h200").unwrap().clone()
    };
    let mut simulator = Simulator::new(chip, Options::default());
    let module = simulator.load(&ptx("ret;")).unwrap();
    let launch = |blocks, dynamic_shared_bytes| Launch {
        kernel: "k",
        grid: [16, 1, 1],
        block: [32, 1, 1],
        dynamic_shared_bytes,
        cooperative: false,
        cluster: Some([blocks, 1, 1]),
        parameters: &[0; 8],
    };
    // Four SMs per GPC: eight blocks fit two by two, unless each takes an SM's shared memory.
    assert!(simulator.launch(module, &launch(8, 0)).is_ok());
    let error = simulator
        .launch(module, &launch(8, 200 << 10))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no GPC of") && error.contains("8 blocks of a cluster"),
        "{error}"
    );
    assert!(simulator.launch(module, &launch(4, 200 << 10)).is_ok());
}

#[test]
fn chips_without_clusters_say_what_is_required() {
    let mut simulator = Simulator::new(Chip::named("a100").unwrap().clone(), Options::default());
    let module = simulator.load(&ptx("ret;")).unwrap();
    let launch = Launch {
        kernel: "k",
        grid: [4, 1, 1],
        block: [32, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        cluster: Some([2, 1, 1]),
        parameters: &[0; 8],
    };
    let error = simulator.launch(module, &launch).unwrap_err().to_string();
    assert!(error.contains("compute capability 9.0 or later"), "{error}");
}
