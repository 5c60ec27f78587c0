//! Exact binary arithmetic with one rounding at the end, in any format and any rounding mode.
//!
//! A finite value is `mantissa * 2^exponent`; an operation that cannot be exact sets the lowest
//! bit of a mantissa that is far longer than any format, so that the one rounding still decides
//! as on the exact value. Native arithmetic does `.rn` in single and double precision; this does
//! the directed modes, the 16-bit formats and conversions.

use super::modifiers::{DOWN, NEAREST, UP};

/// Ties away from zero: the rounding of `cvt.rna`.
pub(super) const AWAY: u8 = 4;

/// A binary floating-point format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// Significant bits, the hidden one included.
    pub(super) precision: u32,
    /// Exponent of the largest finite value's leading bit; the smallest normal one's is 1 minus it.
    pub(super) max_exponent: i32,
}

/// `.f16`
pub(super) const F16: Format = Format {
    precision: 11,
    max_exponent: 15,
};
/// `.bf16`
pub(super) const BF16: Format = Format {
    precision: 8,
    max_exponent: 127,
};
/// `.f32`
pub(super) const F32: Format = Format {
    precision: 24,
    max_exponent: 127,
};
/// `.f64`
pub(super) const F64: Format = Format {
    precision: 53,
    max_exponent: 1023,
};

impl Format {
    /// Bits of the exponent and the stored mantissa: the sign bit's position.
    const fn sign_position(self) -> u32 {
        // The exponent field has as many bits as its bias, max_exponent, plus one.
        self.precision - 1 + (self.max_exponent as u32).count_ones() + 1
    }

    /// Bits of infinity.
    pub(super) const fn infinity(self) -> u64 {
        (2 * self.max_exponent as u64 + 1) << (self.precision - 1)
    }

    /// Bits of the canonical NaN: all ones but the sign.
    pub(super) const fn nan(self) -> u64 {
        (1 << self.sign_position()) - 1
    }

    /// The sign bit.
    pub(super) const fn sign(self) -> u64 {
        1 << self.sign_position()
    }

    /// Bits of 1.0.
    pub(super) const fn one(self) -> u64 {
        (self.max_exponent as u64) << (self.precision - 1)
    }

    /// Whether these bits are a NaN.
    #[inline(always)]
    pub(super) const fn is_nan(self, bits: u64) -> bool {
        bits & self.nan() > self.infinity()
    }

    /// Replaces a subnormal by zero of its sign (`.ftz`).
    #[inline(always)]
    pub(super) const fn flush(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// Clamps to [0.0, 1.0], NaN to +0.0 (`.sat`).
    #[inline(always)]
    pub(super) const fn saturate(self, bits: u64) -> u64 {
        if self.is_nan(bits) || bits & self.sign() != 0 {
            0
        } else if bits > self.one() {
            self.one()
        } else {
            bits
        }
    }
}

/// A value of some format, unpacked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// Not a number.
    Nan,
    /// Infinity, negative or not.
    Infinite(bool),
    /// A finite number, signed zeros included.
    Finite(Exact),
}

/// `mantissa * 2^exponent`, negated if `negative`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) mantissa: u128,
    pub(super) exponent: i32,
}

/// Shifts right; bits that fall out are kept as the lowest bit.
fn shift_right_sticky(mantissa: u128, shift: u32) -> u128 {
    if shift >= 128 {
        u128::from(mantissa != 0)
    } else {
        let kept = mantissa >> shift;
        kept | u128::from(kept << shift != mantissa)
    }
}

impl Exact {
    /// The same value with its leading bit at position 125. Zero stays as it is.
    fn normalised(self) -> Self {
        let shift = self.mantissa.leading_zeros() as i32 - 2;
        if self.mantissa == 0 {
            self
        } else {
            // Mantissas are at most 126 bits long, so the shift is to the left.
            Self {
                mantissa: self.mantissa << shift,
                exponent: self.exponent - shift,
                ..self
            }
        }
    }

    fn add(self, other: Self, mode: u8) -> Self {
        if self.mantissa == 0 && other.mantissa == 0 {
            let negative = if self.negative == other.negative {
                self.negative
            } else {
                mode == DOWN
            };
            return Self { negative, ..self };
        }
        if self.mantissa == 0 {
            return other;
        }
        if other.mantissa == 0 {
            return self;
        }
        let (mut large, mut small) = (self.normalised(), other.normalised());
        if small.exponent > large.exponent {
            (large, small) = (small, large);
        }
        let shift = (large.exponent - small.exponent) as u32;
        let aligned = shift_right_sticky(small.mantissa, shift);
        if large.negative == small.negative {
            let sum = large.mantissa + aligned;
            return Self {
                mantissa: shift_right_sticky(sum, 1),
                exponent: large.exponent + 1,
                ..large
            };
        }
        let (negative, mantissa) = if large.mantissa >= aligned {
            (large.negative, large.mantissa - aligned)
        } else {
            (small.negative, aligned - large.mantissa)
        };
        Self {
            negative: if mantissa == 0 {
                mode == DOWN
            } else {
                negative
            },
            mantissa,
            exponent: large.exponent,
        }
    }

    /// Rounds to an integer, clamped to the range of `i128` far beyond any register.
    pub(super) fn to_integer(self, mode: u8) -> i128 {
        let magnitude = if self.exponent >= 0 {
            if self.mantissa != 0 && self.exponent as u32 >= self.mantissa.leading_zeros() - 1 {
                u128::MAX >> 1
            } else {
                self.mantissa.checked_shl(self.exponent as u32).unwrap_or(0)
            }
        } else {
            self.quotient(-self.exponent, mode)
        };
        let magnitude = magnitude as i128;
        if self.negative { -magnitude } else { magnitude }
    }

    /// The mantissa divided by `2^shift`, `shift > 0`, rounded.
    fn quotient(self, shift: i32, mode: u8) -> u128 {
        // Beyond 127 bits only "more than nothing, less than half" matters.
        let (mantissa, shift) = if shift > 127 {
            (u128::from(self.mantissa != 0), 2)
        } else {
            (self.mantissa, shift as u32)
        };
        let kept = mantissa >> shift;
        let rest = mantissa & ((1 << shift) - 1);
        let half = 1 << (shift - 1);
        let up = match mode {
            NEAREST => rest > half || rest == half && kept & 1 == 1,
            DOWN => self.negative && rest != 0,
            UP => !self.negative && rest != 0,
            AWAY => rest >= half,
            _ => false,
        };
        kept + u128::from(up)
    }
}

/// Unpacks the bits of a format.
pub(super) fn unpack(bits: u64, format: Format) -> Value {
    let negative = bits & format.sign() != 0;
    let magnitude = bits & format.nan();
    if magnitude > format.infinity() {
        return Value::Nan;
    }
    if magnitude == format.infinity() {
        return Value::Infinite(negative);
    }
    let stored = format.precision - 1;
    let fraction = magnitude & ((1 << stored) - 1);
    let biased = (magnitude >> stored) as i32;
    let mantissa = if biased == 0 {
        fraction
    } else {
        fraction | 1 << stored
    };
    Value::Finite(Exact {
        negative,
        mantissa: u128::from(mantissa),
        exponent: biased.max(1) - format.max_exponent - stored as i32,
    })
}

/// Rounds to a format: its bits. NaN becomes the canonical NaN.
pub(super) fn round(value: Value, format: Format, mode: u8) -> u64 {
    let (negative, magnitude) = match value {
        Value::Nan => return format.nan(),
        Value::Infinite(negative) => (negative, format.infinity()),
        Value::Finite(exact) => (exact.negative, round_magnitude(exact, format, mode)),
    };
    if negative {
        magnitude | format.sign()
    } else {
        magnitude
    }
}

fn round_magnitude(exact: Exact, format: Format, mode: u8) -> u64 {
    if exact.mantissa == 0 {
        return 0;
    }
    let stored = format.precision as i32 - 1;
    let leading = 127 - exact.mantissa.leading_zeros() as i32 + exact.exponent;
    // Exponent of the last place: of the value's own binade, or of the subnormals.
    let last = leading.max(1 - format.max_exponent) - stored;
    let shift = last - exact.exponent;
    let kept = if shift <= 0 {
        exact.mantissa << -shift
    } else {
        exact.quotient(shift, mode)
    };
    let biased = (last + stored + format.max_exponent) as u64;
    // A subnormal has no hidden bit; a carry out of the mantissa goes to the exponent by itself.
    let bits = ((biased - 1) << stored) + kept as u64;
    if bits < format.infinity() {
        bits
    } else {
        let to_infinity = match mode {
            NEAREST | AWAY => true,
            DOWN => exact.negative,
            UP => !exact.negative,
            _ => false,
        };
        if to_infinity {
            format.infinity()
        } else {
            format.infinity() - 1
        }
    }
}

impl Value {
    /// An integer.
    pub(super) fn integer(value: i128) -> Self {
        Self::Finite(Exact {
            negative: value < 0,
            mantissa: value.unsigned_abs(),
            exponent: 0,
        })
    }

    /// Sum. The mode decides the sign of an exact zero.
    pub(super) fn add(self, other: Self, mode: u8) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(a), Self::Infinite(b)) if a != b => Self::Nan,
            (Self::Infinite(_), _) => self,
            (_, Self::Infinite(_)) => other,
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(a.add(b, mode)),
        }
    }

    /// Product; exact for operands of up to 63 significant bits.
    pub(super) fn multiply(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite(a), Self::Infinite(b)) => Self::Infinite(a != b),
            (Self::Infinite(negative), Self::Finite(x))
            | (Self::Finite(x), Self::Infinite(negative)) => {
                if x.mantissa == 0 {
                    Self::Nan
                } else {
                    Self::Infinite(negative != x.negative)
                }
            }
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(Exact {
                negative: a.negative != b.negative,
                mantissa: a.mantissa * b.mantissa,
                exponent: a.exponent + b.exponent,
            }),
        }
    }

    /// Quotient of operands of up to 63 significant bits.
    pub(super) fn divide(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) | (Self::Infinite(_), Self::Infinite(_)) => Self::Nan,
            (Self::Infinite(negative), Self::Finite(b)) => Self::Infinite(negative != b.negative),
            (Self::Finite(a), Self::Infinite(negative)) => Self::Finite(Exact {
                negative: negative != a.negative,
                mantissa: 0,
                exponent: 0,
            }),
            (Self::Finite(a), Self::Finite(b)) => {
                let negative = a.negative != b.negative;
                if b.mantissa == 0 {
                    return if a.mantissa == 0 {
                        Self::Nan
                    } else {
                        Self::Infinite(negative)
                    };
                }
                let a = a.normalised();
                let inexact = !a.mantissa.is_multiple_of(b.mantissa);
                Self::Finite(Exact {
                    negative,
                    mantissa: (a.mantissa / b.mantissa) | u128::from(inexact),
                    exponent: a.exponent - b.exponent,
                })
            }
        }
    }

    /// Square root: 62 significant bits and a sticky one.
    pub(super) fn square_root(self) -> Self {
        match self {
            Self::Nan | Self::Infinite(true) => Self::Nan,
            Self::Infinite(false) => self,
            Self::Finite(x) if x.mantissa == 0 => self,
            Self::Finite(x) if x.negative => Self::Nan,
            Self::Finite(x) => {
                let mut x = x.normalised();
                if x.exponent % 2 != 0 {
                    x.mantissa <<= 1;
                    x.exponent -= 1;
                }
                let root = x.mantissa.isqrt();
                Self::Finite(Exact {
                    negative: false,
                    mantissa: root | u128::from(root * root != x.mantissa),
                    exponent: x.exponent / 2,
                })
            }
        }
    }
}
