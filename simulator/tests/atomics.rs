//! Atomic operations whose outcome depends on the memory their address points to.

mod common;

use common::{Run, kernel};

/// The bits of 2^-149 + 2^-149, added by `atom` to each of three words.
#[test]
fn sums_of_subnormals_are_flushed_by_global_memory_alone() {
    let body = ".shared .align 4 .b32 named; .shared .align 4 .b32 pointed; \
                st.shared.b32 [named], 1; atom.shared.add.f32 %f1, [named], 0f00000001; \
                ld.shared.b32 %r1, [named]; st.global.b32 [%data], %r1; \
                mov.u64 %rd1, pointed; cvta.shared.u64 %rd2, %rd1; \
                st.shared.b32 [%rd1], 1; atom.add.f32 %f1, [%rd2], 0f00000001; \
                ld.shared.b32 %r1, [%rd1]; st.global.b32 [%data+4], %r1; \
                st.global.b32 [%data+8], 1; atom.add.f32 %f1, [%data+8], 0f00000001; ret;";
    let ptx = kernel("", body);
    let run = Run {
        ptx: &ptx,
        block: 1,
        ..Run::default()
    };
    assert_eq!(run.words().unwrap()[..3], [2, 2, 0]);
}
