//! Rows against an independent implementation of IEEE 754 (rustc_apfloat, a port of LLVM's), on
//! operands that are drawn to collide: ties, cancellation, subnormals, overflow.

use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::half::{self, narrow};
use super::opcodes;
use crate::program::{Action, Lanes, WARP_SIZE};

/// Runs the row that takes the modifiers on one lane's values; the others hold arbitrary ones.
fn compute(mnemonic: &str, sources: &[u64]) -> u64 {
    let mut parts = mnemonic.split('.');
    let name = parts.next().unwrap();
    let modifiers: Vec<&str> = parts.collect();
    let decoded = opcodes()
        .filter(|opcode| opcode.name == name)
        .find_map(|opcode| (opcode.decode)(&modifiers).ok())
        .unwrap_or_else(|| panic!("no row takes {mnemonic}"));
    let Action::Compute(compute) = decoded.action else {
        panic!("{mnemonic} does not compute")
    };
    let lanes: Vec<Lanes> = sources
        .iter()
        .map(|&source| std::array::from_fn(|lane| source.rotate_left(lane as u32)))
        .collect();
    let mut results = [[0; WARP_SIZE]; 2];
    compute(&lanes.iter().collect::<Vec<_>>(), &mut results[..1]);
    results[0][0]
}

const MODES: [(&str, Round); 4] = [
    ("rn", Round::NearestTiesToEven),
    ("rz", Round::TowardZero),
    ("rm", Round::TowardNegative),
    ("rp", Round::TowardPositive),
];

/// Bits of a format with so many stored mantissa bits and in all: any, or few bits set and an
/// exponent near `near`, so that results are close to ties.
fn operand(mantissa: u32, bits: u32) -> impl Strategy<Value = u64> {
    let all = u64::MAX >> (64 - bits);
    let exponents = 1u64 << (bits - 1 - mantissa);
    let bias = exponents / 2 - 1;
    let sparse = (
        any::<bool>(),
        0..exponents,
        0..=mantissa,
        0..=mantissa,
        any::<bool>(),
    )
        .prop_map(move |(sign, exponent, i, j, near)| {
            let exponent = if near {
                bias - 2 + exponent % 5
            } else {
                exponent
            };
            let fraction = ((1u64 << i) | (1 << j)) & ((1 << mantissa) - 1);
            u64::from(sign) << (bits - 1) | exponent << mantissa | fraction
        });
    let dense =
        (any::<bool>(), 0..5u64, any::<u64>()).prop_map(move |(sign, exponent, fraction)| {
            let fraction = fraction & ((1 << mantissa) - 1);
            u64::from(sign) << (bits - 1) | (bias - 2 + exponent) << mantissa | fraction
        });
    let extreme = prop::sample::select(vec![0u64, 1, 2, 3]).prop_map(move |small| {
        let infinity = (exponents - 1) << mantissa;
        [
            small,
            infinity - small,
            (1 << mantissa) + small,
            (1 << mantissa) - 1 - small,
        ][small as usize]
    });
    prop_oneof![
        any::<u64>().prop_map(move |x| x & all),
        sparse,
        dense,
        extreme
    ]
}

fn same<F: Float>(mnemonic: &str, operands: &[u64], expected: F) -> Result<(), TestCaseError> {
    let actual = compute(mnemonic, operands);
    if expected.is_nan() {
        prop_assert!(
            F::from_bits(actual.into()).is_nan(),
            "{} of {:x?} gave {:x}, not NaN",
            mnemonic,
            operands,
            actual
        );
    } else {
        prop_assert_eq!(
            u128::from(actual),
            expected.to_bits(),
            "{} of {:x?}: expected {:x}, got {:x}",
            mnemonic,
            operands,
            expected.to_bits(),
            actual
        );
    }
    Ok(())
}

/// All operations of a format in the given modes.
fn arithmetic<F: Float>(ty: &str, modes: usize, operands: [u64; 3]) -> Result<(), TestCaseError> {
    let [a, b, c] = operands;
    let [x, y, z] = operands.map(|bits| F::from_bits(bits.into()));
    for (name, mode) in MODES.into_iter().take(modes) {
        same(&format!("add.{name}.{ty}"), &[a, b], x.add_r(y, mode).value)?;
        same(&format!("sub.{name}.{ty}"), &[a, b], x.sub_r(y, mode).value)?;
        same(&format!("mul.{name}.{ty}"), &[a, b], x.mul_r(y, mode).value)?;
        same(
            &format!("fma.{name}.{ty}"),
            &[a, b, c],
            x.mul_add_r(y, z, mode).value,
        )?;
        if modes == 4 {
            same(&format!("div.{name}.{ty}"), &[a, b], x.div_r(y, mode).value)?;
            let one = F::from_u128(1).value;
            same(&format!("rcp.{name}.{ty}"), &[a], one.div_r(x, mode).value)?;
        }
    }
    Ok(())
}

/// `cvt` between two formats: all modes if it narrows.
fn conversion<S, D>(source: &str, destination: &str, bits: u64) -> Result<(), TestCaseError>
where
    S: Float + FloatConvert<D>,
    D: Float,
{
    let x = S::from_bits(bits.into());
    for (name, mode) in MODES {
        let expected = x.convert_r(mode, &mut false).value;
        same(
            &format!("cvt.{name}.{destination}.{source}"),
            &[bits],
            expected,
        )?;
    }
    Ok(())
}

/// `cvt` to 32- and 64-bit integers in all modes, and of NaN.
fn to_integers<F: Float>(ty: &str, bits: u64) -> Result<(), TestCaseError> {
    let x = F::from_bits(bits.into());
    for (name, mode) in MODES {
        for width in [32usize, 64] {
            let nan = if width == 64 || ty == "f64" {
                1u128 << (width - 1)
            } else {
                0
            };
            let signed = if x.is_nan() {
                nan
            } else {
                x.to_i128_r(width, mode, &mut false).value as u128
            };
            let unsigned = if x.is_nan() {
                nan
            } else {
                x.to_u128_r(width, mode, &mut false).value
            };
            let mask = u128::MAX >> (128 - width);
            let mnemonic = format!("cvt.{name}i.s{width}.{ty}");
            prop_assert_eq!(
                u128::from(compute(&mnemonic, &[bits])),
                signed & mask,
                "{} of {:x}",
                mnemonic,
                bits
            );
            let mnemonic = format!("cvt.{name}i.u{width}.{ty}");
            prop_assert_eq!(
                u128::from(compute(&mnemonic, &[bits])),
                unsigned & mask,
                "{} of {:x}",
                mnemonic,
                bits
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn single_precision(a in operand(23, 32), b in operand(23, 32), c in operand(23, 32)) {
        arithmetic::<Single>("f32", 4, [a, b, c])?;
        conversion::<Single, Half>("f32", "f16", a)?;
        to_integers::<Single>("f32", a)?;
    }

    #[test]
    fn double_precision(a in operand(52, 64), b in operand(52, 64), c in operand(52, 64)) {
        arithmetic::<Double>("f64", 4, [a, b, c])?;
        conversion::<Double, Single>("f64", "f32", a)?;
        conversion::<Double, Half>("f64", "f16", a)?;
        to_integers::<Double>("f64", a)?;
    }

    #[test]
    fn half_precision(a in operand(10, 16), b in operand(10, 16), c in operand(10, 16)) {
        arithmetic::<Half>("f16", 1, [a, b, c])?;
        to_integers::<Half>("f16", a)?;
    }

    #[test]
    fn bfloat16(a in operand(7, 16), b in operand(7, 16), c in operand(7, 16)) {
        arithmetic::<BFloat>("bf16", 1, [a, b, c])?;
    }

    /// A root is the largest number whose square is not above, or the smallest not below: squares
    /// of 24 bits are exact in f64.
    #[test]
    fn directed_roots(a in operand(23, 32)) {
        // Positive and finite: the sign is dropped, and zero and what lies above the range replaced.
        let a = match a & 0x7fff_ffff {
            a @ 1..0x7f80_0000 => a,
            _ => 1,
        };
        let x = f32::from_bits(a as u32);
        let root = |mode: &str| f32::from_bits(compute(&format!("sqrt.{mode}.f32"), &[a]) as u32);
        let square = |x: f32| f64::from(x) * f64::from(x);
        let (down, up) = (root("rm"), root("rp"));
        prop_assert!(square(down) <= x.into() && square(down.next_up()) > x.into());
        prop_assert!(square(up) >= x.into() && square(up.next_down()) < x.into());
        prop_assert_eq!(root("rz"), down);
        prop_assert_eq!(root("rn"), x.sqrt());
    }
}

/// Every bfloat16 and half, every midpoint between neighbours, and the single-precision numbers
/// next to both.
#[test]
fn narrowing_is_right_at_every_number_and_every_midpoint() {
    for bits in 0..=u16::MAX {
        let half: Single = Half::from_bits(bits.into()).convert(&mut false).value;
        let brain = u32::from(bits) << 16;
        let half = half.to_bits() as u32;
        for near in [half, half + 0x1000, brain, brain + 0x8000] {
            for single in [near.wrapping_sub(1), near, near.wrapping_add(1)] {
                let wide = f64::from(f32::from_bits(single));
                let x = Single::from_bits(single.into());
                let half: Half = x.convert(&mut false).value;
                assert!(
                    half.is_nan() || u128::from(narrow::<half::Half>(wide)) == half.to_bits(),
                    "{single:x}"
                );
                let brain: BFloat = x.convert(&mut false).value;
                assert!(
                    brain.is_nan() || u128::from(narrow::<half::Brain>(wide)) == brain.to_bits(),
                    "{single:x}"
                );
            }
        }
    }
}

/// What a decoder does not know it refuses.
#[test]
fn decoders_refuse_what_they_do_not_know() {
    for opcode in opcodes() {
        for modifiers in [
            &["bogus"][..],
            &["rn", "bogus", "f32"],
            &["lo", "bogus", "u32"],
            &["sync", "bogus"],
        ] {
            let ignores = matches!(
                opcode.name,
                "prefetch" | "prefetchu" | "discard" | "applypriority"
            );
            assert!(
                ignores || (opcode.decode)(modifiers).is_err(),
                "{} takes {modifiers:?}",
                opcode.name
            );
        }
    }
}
