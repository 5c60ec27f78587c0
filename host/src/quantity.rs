//! Numbers as people type them: `64Mi`, `1e6`, `2^32+1`, and lists and doubling ranges of them.

/// Parses a count: digits with `_`, a decimal point or an exponent, an SI (`k M G T`) or binary
/// (`Ki Mi Gi Ti`) suffix, a power `2^28`, or a sum of these. The result must be a whole number.
pub fn count(text: &str) -> Result<u64, String> {
    let wrong = |problem: &str| {
        format!("{problem}: a whole number is required, for example 1000, 1e6, 64Mi or 2^28+1")
    };
    let mut total = 0_u64;
    for term in terms(text) {
        let value = if let Some((base, exponent)) = term.split_once('^') {
            let base: u64 = base.parse().map_err(|_| wrong("not a power"))?;
            let exponent: u32 = exponent.parse().map_err(|_| wrong("not a power"))?;
            base.checked_pow(exponent)
                .ok_or_else(|| wrong("more than 64 bits"))?
        } else {
            decimal(term).map_err(wrong)?
        };
        total = total
            .checked_add(value)
            .ok_or_else(|| wrong("more than 64 bits"))?;
    }
    Ok(total)
}

/// Splits at `+`, but not inside an exponent such as `1e+6`.
fn terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('+') {
        if !text[..at].ends_with(['e', 'E']) {
            terms.push(&text[start..at]);
            start = at + 1;
        }
    }
    terms.push(&text[start..]);
    terms
}

const SUFFIXES: [(&str, u128); 9] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

fn decimal(term: &str) -> Result<u64, &'static str> {
    let term = term.trim();
    let (number, unit) = SUFFIXES
        .iter()
        .find_map(|(suffix, unit)| Some((term.strip_suffix(suffix)?, *unit)))
        .unwrap_or((term, 1));
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            exponent.parse::<i32>().map_err(|_| "not an exponent")?,
        ),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat().replace('_', "");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(if number.trim_start().starts_with('-') {
            "negative"
        } else {
            "not a number"
        });
    }
    let fraction_digits = fraction.bytes().filter(u8::is_ascii_digit).count() as i32;
    let too_large = "more than 64 bits";
    let mut value = digits
        .parse::<u128>()
        .ok()
        .and_then(|value| value.checked_mul(unit))
        .ok_or(too_large)?;
    if value == 0 {
        return Ok(0);
    }
    let shift = exponent.checked_sub(fraction_digits).ok_or(too_large)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs());
    if shift >= 0 {
        value = power
            .and_then(|power| value.checked_mul(power))
            .ok_or(too_large)?;
    } else {
        match power {
            Some(power) if value % power == 0 => value /= power,
            _ => return Err("not a whole number"),
        }
    }
    u64::try_from(value).map_err(|_| too_large)
}

/// Parses a number of blocks or threads: a [`count`] from 1 to 2^32 - 1.
pub fn positive(text: &str) -> Result<u32, String> {
    let value = count(text)?;
    match u32::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(format!("{value} is given: 1 to {} is required", u32::MAX)),
    }
}

/// A [`positive`] number, or a doubling range `FIRST..LAST` with both ends included: 32..1024
/// is 32, 64, …, 1024; an end that doubling does not hit is left out.
pub fn doubling(text: &str) -> Result<Vec<u32>, String> {
    let end = |text: &str| match text {
        "" => Err("an end is missing: a range has two, for example 32..1024".to_string()),
        _ => positive(text).map_err(|problem| format!("'{text}': {problem}")),
    };
    let Some((first, last)) = text.split_once("..") else {
        return Ok(vec![positive(text)?]);
    };
    let (first, last) = (end(first)?, end(last.strip_prefix('=').unwrap_or(last))?);
    if first > last {
        return Err(format!(
            "the range {first}..{last} is empty: give the smaller end first"
        ));
    }
    Ok(
        std::iter::successors(Some(first), |value| value.checked_mul(2))
            .take_while(|value| *value <= last)
            .collect(),
    )
}

/// Numbers of a command line: one, or a range of doublings (see [`doubling`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubling(pub Vec<u32>);

impl std::str::FromStr for Doubling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        doubling(text).map(Self)
    }
}

impl Doubling {
    /// Every number of several ranges once, in their order.
    pub fn distinct(ranges: &[Self]) -> Vec<u32> {
        distinct(ranges.iter().flat_map(|Self(numbers)| numbers).copied())
    }
}

/// The values in order, each once.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut distinct, value| {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
        distinct
    })
}

/// A default size: `wanted`, or the largest multiple of 2^20 that fits, so that it is easy to name.
pub const fn wanted_or_fitting(wanted: u64, fits: u64) -> u64 {
    if fits >= wanted {
        wanted
    } else {
        (fits >> 20) << 20
    }
}

/// What a name on the command line stands for: one of the values, or all of them.
#[derive(Debug, Clone)]
pub struct OneOrAll<T>(pub Vec<T>);

impl<T: Copy + PartialEq> OneOrAll<T> {
    /// Parses a name.
    pub fn parse<Name: ToString>(
        name: &str,
        values: impl IntoIterator<Item = T>,
        name_of: impl Fn(T) -> Name,
    ) -> Result<Self, String> {
        let (mut named, mut names) = (Vec::new(), vec!["all".to_string()]);
        for value in values {
            names.push(name_of(value).to_string());
            if name == "all" || names.last().is_some_and(|last| last == name) {
                named.push(value);
            }
        }
        if named.is_empty() {
            return Err(format!("one of these is required: {}", names.join(", ")));
        }
        Ok(Self(named))
    }

    /// Every value of several names once, in their order.
    pub fn distinct(names: &[Self]) -> Vec<T> {
        distinct(names.iter().flat_map(|Self(values)| values).copied())
    }
}

/// A count for people: `256Mi` where it is a whole power-of-two unit, else the digits in groups.
pub fn display(count: u64) -> String {
    for (suffix, shift) in [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)] {
        if count >= 1 << shift && count.is_multiple_of(1 << shift) {
            return format!("{}{suffix}", count >> shift);
        }
    }
    let digits = count.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Bytes for people, in binary units.
pub fn bytes(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes >= 1 << shift {
            return format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << shift));
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, value) in [
            ("0", 0),
            ("1000", 1000),
            ("1_000", 1000),
            ("1e6", 1_000_000),
            ("1e+6", 1_000_000),
            ("1.5e3", 1500),
            ("0.5Mi", 1 << 19),
            ("64Mi", 64 << 20),
            ("2k", 2000),
            ("2^28", 1 << 28),
            ("2^32+1", (1 << 32) + 1),
            ("4Gi+1", (1 << 32) + 1),
            ("1e0+1e+1", 11),
            ("18446744073709551615", u64::MAX),
            ("0e99", 0),
            ("0.0", 0),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn counts_that_are_none() {
        for (text, problem) in [
            ("", "not a number"),
            ("abc", "not a number"),
            ("-5", "negative"),
            ("1.5", "not a whole number"),
            ("1e-3", "not a whole number"),
            ("18446744073709551616", "more than 64 bits"),
            ("1e99", "more than 64 bits"),
            ("1e2147483647", "more than 64 bits"),
            ("1e-2147483648", "not a whole number"),
            ("20000000Ti", "more than 64 bits"),
            ("2^64", "more than 64 bits"),
            ("2^x", "not a power"),
            ("1+", "not a number"),
            ("1ex", "not an exponent"),
            ("0x10", "not a number"),
            ("5Mib", "not a number"),
            ("∞", "not a number"),
        ] {
            let error = count(text).unwrap_err();
            assert!(
                error.starts_with(problem) && error.contains("64Mi"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn ranges_double() {
        assert_eq!(doubling("32..1024").unwrap(), [32, 64, 128, 256, 512, 1024]);
        assert_eq!(doubling("96..500").unwrap(), [96, 192, 384]);
        assert_eq!(doubling("32..=64").unwrap(), [32, 64]);
        assert_eq!(doubling("7").unwrap(), [7]);
        assert_eq!(doubling("2^31..4294967295").unwrap(), [1 << 31]);
        for text in ["", "0", "1..0", "64..32", "0..32", "x", "2^32", "1..2..4"] {
            assert!(doubling(text).is_err(), "{text}");
        }
        for text in ["32..", "..32", "..", "32..="] {
            let error = doubling(text).unwrap_err();
            assert!(error.contains("an end is missing"), "{text}: {error}");
        }
    }

    #[test]
    fn displays() {
        assert_eq!(display(0), "0");
        assert_eq!(display(1 << 28), "256Mi");
        assert_eq!(display(1 << 50), "1024Ti");
        assert_eq!(display((1 << 32) + 1), "4 294 967 297");
        assert_eq!(bytes(1000), "1000 bytes");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
    }
}
