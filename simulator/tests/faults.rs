//! Errors in kernels stop the launch and say what, where and what lies nearest.

mod common;

use common::{Run, kernel};

fn fault(outside: &str, body: &str) -> String {
    Run {
        ptx: &kernel(outside, body),
        ..Run::default()
    }
    .fault()
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn out_of_bounds_global_access_names_the_nearest_allocation() {
    let text = fault("", "st.global.u32 [%out+192], %tid_; ret;");
    contains(
        &text,
        &[
            "kernel k: global write of 4 bytes at 0x7f",
            "is out of bounds; 0 bytes after the end of data (256 bytes at",
            "PTX line 13: st.global.u32 [%out+192], %tid_",
            "thread (16, 0, 0) of block (0, 0, 0)",
        ],
    );
    let text = fault(
        "",
        "mov.u64 %rd1, 16; ld.u32 %r1, [%rd1]; st.global.u32 [%out], %r1; ret;",
    );
    contains(
        &text,
        &[
            "global read of 4 bytes at 0x10 is out of bounds",
            "before data",
        ],
    );
}

#[test]
fn misaligned_vectors_are_found() {
    let text = fault(
        "",
        "ld.global.v2.u32 {%r1, %r2}, [%data+4]; st.global.u32 [%out], %r1; ret;",
    );
    contains(
        &text,
        &[
            "global read at",
            "misaligned: a multiple of 8 bytes is required",
            "at byte 4 of data",
        ],
    );
    let text = fault(
        ".shared .align 16 .b8 s[64];",
        "st.shared.u32 [s+2], %tid_; ret;",
    );
    contains(
        &text,
        &[
            "shared write at 0x2 is misaligned: a multiple of 4 bytes",
            "byte 2 of or after s (64 bytes)",
        ],
    );
}

#[test]
fn out_of_bounds_shared_and_local_accesses_are_found() {
    let text = fault(
        ".shared .align 4 .b8 s[64];",
        "mov.u32 %r1, s; st.shared.u32 [%r1+64], %tid_; ret;",
    );
    contains(
        &text,
        &[
            "shared write of 4 bytes at 0x40 is out of bounds",
            "the block has 64 bytes of shared memory",
        ],
    );
    let text = fault(
        "",
        ".local .align 4 .b8 l[8]; mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1; st.u32 [%rd1+8], %tid_; ret;",
    );
    contains(
        &text,
        &[
            "local write of 4 bytes",
            "out of bounds",
            "8 bytes of local memory",
        ],
    );
}

#[test]
fn uninitialised_reads_are_found_in_every_memory() {
    contains(
        &fault("", "add.u32 %r1, %r2, 1; ret;"),
        &[
            "read of register %r2, which this thread has not written",
            "thread (0, 0, 0)",
        ],
    );
    // Written by half the warp, read by all.
    let text = fault(
        "",
        "setp.lt.u32 %p1, %tid_, 16; @%p1 mov.u32 %r1, 5; st.global.u32 [%out], %r1; ret;",
    );
    contains(&text, &["read of register %r1", "thread (16, 0, 0)"]);
    let text = fault(
        ".shared .align 4 .b8 s[64];",
        "ld.shared.u32 %r1, [s+4]; st.global.u32 [%out], %r1; ret;",
    );
    contains(
        &text,
        &["uninitialised shared memory at 0x4", "s (64 bytes)"],
    );
    let text = fault(
        "",
        ".local .align 4 .b8 l[8]; ld.local.u32 %r1, [l]; st.global.u32 [%out], %r1; ret;",
    );
    contains(&text, &["uninitialised local memory"]);
}

#[test]
fn partly_uninitialised_global_memory_is_found_by_byte() {
    let mut simulator = simulator::Simulator::new(
        simulator::chip::Chip::named("h200").unwrap().clone(),
        simulator::Options::default(),
    );
    let module = simulator
        .load(&kernel(
            "",
            "ld.global.u32 %r1, [%out]; st.global.u32 [%out], %r1; ret;",
        ))
        .unwrap();
    let data = simulator.memory().allocate(128, "input").unwrap();
    simulator.memory().write(data, &[1; 126]).unwrap();
    let launch = simulator::Launch {
        kernel: "k",
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared_bytes: 0,
        cooperative: false,
        cluster: None,
        parameters: &data.to_le_bytes(),
    };
    let text = simulator.launch(module, &launch).unwrap_err().to_string();
    contains(
        &text,
        &[
            "read of 4 bytes of uninitialised global memory",
            "byte 124 of input",
            "thread (31, 0, 0)",
        ],
    );
    simulator.memory().write(data + 126, &[1; 2]).unwrap();
    simulator.launch(module, &launch).unwrap();
    simulator.memory().free(data).unwrap();
    let text = simulator.launch(module, &launch).unwrap_err().to_string();
    contains(&text, &["after free: input (128 bytes at", "freed"]);
}

#[test]
fn checks_can_be_left_out() {
    let options = simulator::Options {
        checks: false,
        races: false,
        timing: true,
    };
    let ptx = kernel("", "add.u32 %r1, %r2, 1; st.global.u32 [%out], %r1; ret;");
    assert_eq!(
        Run {
            ptx: &ptx,
            options,
            ..Run::default()
        }
        .words()
        .unwrap()[5],
        1
    );
}

#[test]
fn a_warp_operation_outside_its_mask_is_found() {
    let text = fault(
        "",
        "activemask.b32 %r9; shfl.sync.idx.b32 %r1, %tid_, 0, 31, 0xff; st.global.u32 [%out], %r1; ret;",
    );
    contains(
        &text,
        &["undefined warp operation: lane 8 executes it", "0x000000ff"],
    );
    let body = "setp.ge.u32 %p1, %tid_, 8; @%p1 ret; \
                shfl.sync.down.b32 %r1, %tid_, 1, 31, 0xff; st.global.u32 [%out], %r1; ret;";
    contains(
        &fault("", body),
        &["lane 7 reads lane 8, which does not take part"],
    );
}

#[test]
fn trap_stops_the_launch() {
    contains(&fault("", "trap;"), &["trap executed", "PTX line 13: trap"]);
}

#[test]
fn writing_to_a_parameter_is_refused() {
    let ptx = kernel("", "st.param.u32 [k_data], %tid_; ret;");
    let mut simulator = simulator::Simulator::new(
        simulator::chip::Chip::named("t4").unwrap().clone(),
        simulator::Options::default(),
    );
    // At load or at the launch, but never silently.
    if simulator.load(&ptx).is_ok() {
        contains(
            &Run {
                ptx: &ptx,
                ..Run::default()
            }
            .fault(),
            &["read-only"],
        );
    }
}

#[test]
fn launches_that_break_a_limit_run_nothing() {
    let ptx = kernel("", "st.global.u32 [%out], %tid_; ret;");
    let message = |run: Run| run.timed().unwrap_err().to_string();
    let base = || Run {
        ptx: &ptx,
        ..Run::default()
    };
    contains(
        &message(Run {
            block: 1025,
            ..base()
        }),
        &["kernel k: block x is 1025: 1 to 1024 is required"],
    );
    contains(
        &message(Run { grid: 0, ..base() }),
        &["grid x is 0: 1 to 2147483647"],
    );
    contains(
        &message(Run {
            dynamic_shared_bytes: 300_000,
            ..base()
        }),
        &["300000 bytes of shared memory per block: at most 232448"],
    );
    contains(
        &message(Run {
            grid: 5000,
            block: 1024,
            cooperative: true,
            ..base()
        }),
        &["room for 264", "use at most"],
    );
}

#[test]
fn a_fault_names_the_source_line_that_the_ptx_carries() {
    let body = ".loc 1 12 5\nadd.u32 %r1, %tid_, 1;\n.loc 2 34 9, function_name $x, inlined_at 1 12 5\n\
                st.global.u32 [%out+4096], %r1;\n.loc 1 13 1\nret;";
    let ptx = format!(
        "{}.file 1 \"src/kernel.rs\"\n.file 2 \"src/gpu/store.rs\"\n",
        kernel("", body)
    );
    let text = Run {
        ptx: &ptx,
        ..Run::default()
    }
    .fault();
    contains(&text, &["\n  from src/gpu/store.rs:34\n"]);
    assert!(!fault("", "trap;").contains("from "));
}
