//! Lowering: calls, layouts, addresses and messages, on compiled and on hand-written PTX.

mod common;

use common::{Run, kernel};
use simulator::{
    Launch, Options, Simulator,
    chip::Chip,
    ptx::{LoadedText, load},
};

const CALLS: &str = include_str!("ptx/calls.ptx");
const FORMS: &str = include_str!("ptx/forms.ptx");

/// Launches one block of 32 threads over a buffer whose address replaces the first 8 bytes at
/// `pointer` of the parameters; gives the buffer's bytes.
fn launch(ptx: &str, name: &str, mut parameters: Vec<u8>, pointer: usize, data: &[u8]) -> Vec<u8> {
    let mut simulator = Simulator::new(Chip::named("h200").unwrap().clone(), Options::default());
    let module = simulator
        .load(ptx)
        .unwrap_or_else(|error| panic!("{error}"));
    let buffer = simulator
        .memory()
        .allocate(data.len() as u64, "data")
        .unwrap();
    simulator.memory().write(buffer, data).unwrap();
    parameters[pointer..pointer + 8].copy_from_slice(&buffer.to_le_bytes());
    if name == "calls" {
        let factor = simulator.memory().allocate(4, "factor").unwrap();
        simulator
            .memory()
            .write(factor, &2.0f32.to_le_bytes())
            .unwrap();
        parameters[56..64].copy_from_slice(&factor.to_le_bytes());
    }
    let launch = Launch {
        kernel: name,
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared_bytes: 128,
        cooperative: false,
        cluster: None,
        parameters: &parameters,
    };
    simulator
        .launch(module, &launch)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let mut bytes = vec![0; data.len()];
    simulator.memory().read(buffer, &mut bytes).unwrap();
    bytes
}

#[test]
fn structs_pass_through_nested_calls_of_compiled_code() {
    // Mixed { a: 0.5, b: 10.0, .. } by value, then the pointers.
    let mut parameters = vec![0; 64];
    parameters[0..4].copy_from_slice(&0.5f32.to_le_bytes());
    parameters[8..16].copy_from_slice(&10.0f64.to_le_bytes());
    let bytes = launch(CALLS, "calls", parameters, 48, &[0; 256]);
    let table = [1.0, 2.5, 3.0, -4.0];
    let nested = |x: f64| x * 2.0 + f64::from(x as f32 + (x as i32) as f32);
    for (t, bytes) in bytes.chunks_exact(8).enumerate() {
        let other = 31 - t;
        let tail = f64::from(b"ello"[t & 3]);
        let expected = nested(10.0 + other as f64) + table[other & 3] + 0.5 + 7.0 + tail;
        assert_eq!(
            f64::from_le_bytes(bytes.try_into().unwrap()),
            expected,
            "thread {t}"
        );
    }
}

#[test]
fn branches_and_local_arrays_of_compiled_code() {
    let mut words = [0i32; 65];
    for (t, word) in words[..32].iter_mut().enumerate() {
        *word = t as i32 % 7;
    }
    words[64] = 5;
    let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let bytes = launch(CALLS, "choose", vec![0; 8], 0, &data);
    let word = |at: usize| i32::from_le_bytes(bytes[4 * at..][..4].try_into().unwrap());
    let local: Vec<i32> = (0..8).map(|i| words[i as usize] * i).collect();
    for (t, &given) in words[..32].iter().enumerate() {
        let expected = match given {
            0 => local[t & 7],
            1 => local[1].leading_zeros() as i32,
            2 => local[2].count_ones() as i32,
            3 => local[(3 + t) & 7] * 7,
            4 => 44,
            5 => 5 ^ 55,
            _ => -1,
        };
        assert_eq!(word(32 + t), expected, "thread {t}");
    }
    assert_eq!(
        word(64),
        5 + words[..32].iter().filter(|word| **word == 4).count() as i32
    );
}

#[test]
fn every_form_runs_and_means_what_it_says() {
    // Pointer, struct with k = 4 at byte 8, one byte.
    let mut parameters = vec![0; 21];
    parameters[16..20].copy_from_slice(&4u32.to_le_bytes());
    parameters[20] = 200;
    let bytes = launch(FORMS, "forms", parameters, 0, &[0; 64 * 32]);
    for (t, out) in bytes.chunks_exact(64).enumerate() {
        let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().unwrap());
        let t = t as u32;
        // The window of `used + 4`, as every thread wrote 0x11 to it.
        assert_eq!(word(0), 0x11, "%r5");
        assert_eq!(word(4), 0x11, "low half of {{%r5, %r1}}");
        // swap({3, 4}, t) = {4, 3 + t}, and add_registers(4, 100).
        assert_eq!((word(8), word(12), word(16)), (4, 3 + t, 104));
        assert_eq!(word(20), [10, 11, 10, 13][t as usize & 3], "brx.idx");
        assert_eq!(word(24), u32::MAX, "bytes[5] sign-extended");
        assert_eq!(word(28), 4, "the struct's third word through local memory");
        assert_eq!(word(32), if t == 31 { 31 } else { t + 1 }, "shfl.down");
        assert_eq!(word(36), 0, "no lane has !%p0");
        assert_eq!(word(40), 2.5f32.to_bits(), "second element of quad");
        assert_eq!(
            word(48) as u64 | u64::from(word(52)) << 32,
            2f64.to_bits(),
            "doubles[1][0]"
        );
        assert_eq!(word(56), 0x65, "bytes[1] through pointers[1]");
        assert_eq!(word(60), 200, "the byte parameter");
    }
}

fn loaded(text: &str) -> LoadedText {
    load(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn parameters_and_shared_variables_are_laid_out_by_alignment() {
    let module = loaded(FORMS);
    let program = &module.programs[0];
    let offsets: Vec<(u32, u32)> = program
        .parameters
        .iter()
        .map(|p| (p.offset, p.bytes))
        .collect();
    assert_eq!(offsets, [(0, 8), (8, 12), (20, 1)]);
    assert_eq!(program.parameter_bytes, 21);
    // `unused` takes no room; dynamic memory follows the static part.
    let shared: Vec<(&str, u32)> = program
        .shared
        .iter()
        .map(|s| (s.name.as_str(), s.offset))
        .collect();
    assert_eq!(shared, [("used", 0), ("dynamic", 128)]);
    assert_eq!(program.max_block, Some([1024, 1, 1]));
    let packed = module
        .variables
        .iter()
        .find(|v| v.name == "packed")
        .unwrap();
    assert_eq!(packed.initial, [1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3]);
    assert_eq!(packed.relocations, [(1, 0, 0)]);
}

fn problems(outside: &str, body: &str) -> Vec<String> {
    load(&kernel(outside, body)).unwrap_err().problems
}

#[test]
fn every_unsupported_or_wrong_statement_is_reported_with_line_and_text() {
    let body = "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];\n\
                mov.u32 %nothing, 1;\n\
                bra nowhere;\n\
                add.u32 %r1, %r2;\n\
                shfl.down.b32 %r1, %r2, 1, 31;\n\
                ld.global.v2.u32 {%r1}, [%out];\n\
                ld.shared.u32 %r1, [missing];\n\
                @%r1 mov.u32 %r1, 1;\n\
                add.f32 %f1, %f1, 1;\n\
                call missing, (%r1);\n\
                ld.global.u64 %r1, [%out];\n\
                st.param.u32 [k_data], %r1;\n\
                same: same: ret;";
    let found = problems("", body);
    let first = kernel("", "BODY")
        .lines()
        .position(|line| line == "BODY")
        .unwrap()
        + 1;
    let expected = [
        (0, "`tex.2d.v4.f32.s32`"),
        (1, "`%nothing` is not a declared register"),
        (2, "label `nowhere`"),
        (3, "3 operands are required, 2 are given"),
        (4, "write `shfl.sync`"),
        (5, "2 destinations are required, 1 are given"),
        (6, "`missing` is not declared"),
        (7, "`%r1` is not a predicate register"),
        (8, "floating-point literal is required"),
        (9, "function `missing` has no body"),
        (10, "32 bits cannot take 8 bytes"),
        (11, "read-only"),
    ];
    for (line, message) in expected {
        let start = format!("line {}: ", first + line);
        let matching = found
            .iter()
            .filter(|p| p.starts_with(&start) && p.contains(message));
        assert_eq!(matching.count(), 1, "{start}{message}: {found:#?}");
    }
    assert!(
        found
            .iter()
            .any(|p| p.contains("label `same` stands twice")),
        "{found:#?}"
    );
    assert_eq!(found.len(), expected.len() + 1, "{found:#?}");
}

#[test]
fn recursion_and_indirect_calls_are_reported() {
    let outside = ".func a (); .func b () { call a; ret; } .func a () { call b; ret; }";
    let found = problems(outside, "call a; call %rd1, (%r1), proto; ret;");
    assert!(
        found
            .iter()
            .any(|p| p.contains("recursion") && p.contains("`a`")),
        "{found:#?}"
    );
    assert!(
        found.iter().any(|p| p.contains("indirect calls")),
        "{found:#?}"
    );
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn arguments_that_two_calls_share_are_copied() {
    // `same` is an argument of both calls and must keep its value over the first.
    let outside = ".func (.param .u32 r) twice (.param .u32 a) {\n\
                   .reg .u32 %x; ld.param.u32 %x, [a]; shl.b32 %x, %x, 1; st.param.u32 [a], %x;\n\
                   st.param.u32 [r], %x; ret; }";
    let body = ".param .u32 same; .param .u32 one; .param .u32 two;\n\
                st.param.u32 [same], %tid_;\n\
                call (one), twice, (same); call (two), twice, (same);\n\
                ld.param.u32 %r1, [one]; ld.param.u32 %r2, [two];\n\
                mad.lo.u32 %r1, %r1, 1000, %r2; st.global.u32 [%out], %r1; ret;";
    let ptx = kernel(outside, body);
    let words = Run {
        ptx: &ptx,
        ..Run::default()
    }
    .words()
    .unwrap();
    for (t, &word) in words[..32].iter().enumerate() {
        assert_eq!(word as usize, 2 * t * 1000 + 2 * t);
    }
}

#[test]
fn an_argument_written_before_another_call_keeps_its_value() {
    let outside = ".func (.param .u32 r) half (.param .u32 a) {\n\
                   .reg .u32 %x; ld.param.u32 %x, [a]; shr.u32 %x, %x, 1;\n\
                   st.param.u32 [r], %x; ret; }";
    let body = ".param .u32 late; .param .u32 soon; .param .u32 one; .param .u32 two;\n\
                st.param.u32 [late], %tid_; st.param.u32 [soon], 77;\n\
                call (one), half, (soon); call (two), half, (late);\n\
                ld.param.u32 %r1, [one]; ld.param.u32 %r2, [two];\n\
                mad.lo.u32 %r1, %r1, 1000, %r2; st.global.u32 [%out], %r1; ret;";
    let ptx = kernel(outside, body);
    let words = Run {
        ptx: &ptx,
        ..Run::default()
    }
    .words()
    .unwrap();
    for (t, &word) in words[..32].iter().enumerate() {
        assert_eq!(word as usize, 38 * 1000 + t / 2);
    }
}

#[test]
fn the_register_estimate_counts_what_is_live_at_once() {
    // Forty loads before forty uses keep forty values live; alternating ones two.
    let load_use = |apart: bool| {
        let loads = |i: usize| format!("ld.global.u32 %v{i}, [%out+{}];\n", 4 * i);
        let uses = |i: usize| format!("add.u32 %r1, %r1, %v{i};\n");
        let mut body = ".reg .u32 %v<40>; mov.u32 %r1, 0;\n".to_owned();
        if apart {
            body.extend((0..40).map(loads));
            body.extend((0..40).map(uses));
        } else {
            body.extend((0..40).map(|i| loads(i) + &uses(i)));
        }
        body += "st.global.u32 [%out], %r1; ret;";
        loaded(&kernel("", &body)).programs[0].registers_per_thread
    };
    assert_eq!(load_use(false), 16);
    // 40 values, the sum, and the 64-bit address: 43.
    assert_eq!(load_use(true), 48);
}
