//! Numeric literals (PTX ISA 4.5).

use super::super::ast::Operand;

/// Reads a literal; `None` if it is malformed or does not fit.
pub(super) fn literal(text: &str, negative: bool) -> Option<Operand> {
    let digits = |from: usize| text.get(from..).filter(|rest| rest.is_ascii());
    let lower = text.get(..2).map(str::to_ascii_lowercase);
    match lower.as_deref() {
        Some("0f") if !decimal_float(text) => {
            let digits = digits(2).filter(|d| d.len() == 8)?;
            let bits = u32::from_str_radix(digits, 16).ok()?;
            return Some(Operand::Float32(bits ^ (u32::from(negative) << 31)));
        }
        Some("0d") => {
            let digits = digits(2).filter(|d| d.len() == 16)?;
            let bits = u64::from_str_radix(digits, 16).ok()?;
            return Some(Operand::Float64(bits ^ (u64::from(negative) << 63)));
        }
        _ => {}
    }
    if decimal_float(text) {
        let value: f64 = text.parse().ok()?;
        return Some(Operand::Float64(
            (if negative { -value } else { value }).to_bits(),
        ));
    }
    let value = integer(text)?;
    Some(Operand::Integer(if negative {
        value.wrapping_neg()
    } else {
        value
    }))
}

fn decimal_float(text: &str) -> bool {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let other = ["0f", "0F", "0d", "0D"]
        .iter()
        .any(|prefix| text.starts_with(prefix));
    !hexadecimal && !other && text.contains(['.', 'e', 'E'])
}

/// An integer literal without sign, with or without the `U` suffix.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        u64::from_str_radix(digits, 2).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(&text[1..], 8).ok()
    } else {
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_value() {
        let cases = [
            ("10", Operand::Integer(10)),
            ("010", Operand::Integer(8)),
            ("0b11U", Operand::Integer(3)),
            ("0xffffffffffffffff", Operand::Integer(u64::MAX)),
            ("0f3F800000", Operand::Float32(0x3f80_0000)),
            ("0d3FF0000000000000", Operand::Float64(1f64.to_bits())),
            ("1.5e-3", Operand::Float64(1.5e-3f64.to_bits())),
            ("2.", Operand::Float64(2f64.to_bits())),
        ];
        for (text, value) in cases {
            assert_eq!(literal(text, false), Some(value), "{text}");
        }
        assert_eq!(literal("1", true), Some(Operand::Integer(u64::MAX)));
        assert_eq!(
            literal("0f3F800000", true),
            Some(Operand::Float32(0xbf80_0000))
        );
    }

    #[test]
    fn malformed_literals_are_refused() {
        for text in [
            "0f3F8",
            "0x",
            "09",
            "18446744073709551616",
            "0b2",
            "1.2.3",
            "5x",
        ] {
            assert_eq!(literal(text, false), None, "{text}");
        }
    }
}
