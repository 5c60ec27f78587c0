//! Text to tokens. Never fails: what is no token becomes [`Kind::Unknown`], and the parser
//! reports it with its line.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier with all its dotted parts: `ld.global.L1::no_allocate.v4.b32`, `%tid.x`, `_`.
    Word,
    /// `.reg`, `.shared::cta`, with its dot.
    Directive,
    /// A numeric literal without its sign.
    Number,
    /// A quoted string, quotes included.
    String,
    /// One of `{ } ( ) [ ] < > , ; : + - | ! @ = ~ * / % ?`
    Punctuation(u8),
    /// Anything else: one character.
    Unknown,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// From 1.
    pub(super) line: u32,
}

fn follows(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Splits a module into tokens; comments and white space vanish.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let (mut i, mut line) = (0, 1u32);
    while i < bytes.len() {
        let start = i;
        let start_line = line;
        let kind = match bytes[i] {
            b'\n' => {
                line += 1;
                i += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() || byte == 0x0b => {
                i += 1;
                continue;
            }
            b'/' if at(i + 1) == b'/' => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
                continue;
            }
            b'/' if at(i + 1) == b'*' => {
                i += 2;
                while i < bytes.len() && !(bytes[i] == b'*' && at(i + 1) == b'/') {
                    line += u32::from(bytes[i] == b'\n');
                    i += 1;
                }
                i = (i + 2).min(bytes.len());
                continue;
            }
            b'"' => {
                i += 1;
                while i < bytes.len() && bytes[i] != b'"' && bytes[i] != b'\n' {
                    i += if bytes[i] == b'\\' && at(i + 1) != b'\n' {
                        2
                    } else {
                        1
                    };
                }
                i = (i + usize::from(at(i) == b'"')).min(bytes.len());
                while !text.is_char_boundary(i) {
                    i += 1;
                }
                Kind::String
            }
            byte if byte.is_ascii_digit() || (byte == b'.' && at(i + 1).is_ascii_digit()) => {
                i = number_end(bytes, i);
                Kind::Number
            }
            b'.' if follows(at(i + 1)) => {
                i = word_end(bytes, i + 1);
                Kind::Directive
            }
            b'%' if !follows(at(i + 1)) => {
                i += 1;
                Kind::Punctuation(b'%')
            }
            byte if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%') => {
                i = word_end(bytes, i + 1);
                Kind::Word
            }
            byte if b"{}()[]<>,;:+-|!@=~*/?&^".contains(&byte) => {
                i += 1;
                Kind::Punctuation(byte)
            }
            _ => {
                i += text[i..].chars().next().map_or(1, char::len_utf8);
                Kind::Unknown
            }
        };
        tokens.push(Token {
            kind,
            start,
            end: i,
            line: start_line,
        });
    }
    tokens
}

/// `0x…`, `0b…`, `0f…`, `0d…`, octal and decimal with suffix, `1.5e-3`.
fn number_end(bytes: &[u8], mut i: usize) -> usize {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    if at(i) == b'0'
        && matches!(
            at(i + 1),
            b'x' | b'X' | b'b' | b'B' | b'f' | b'F' | b'd' | b'D'
        )
    {
        i += 2;
        while follows(at(i)) {
            i += 1;
        }
        return i;
    }
    loop {
        let byte = at(i);
        let sign = matches!(byte, b'+' | b'-')
            && matches!(at(i.wrapping_sub(1)), b'e' | b'E')
            && at(i + 1).is_ascii_digit();
        if follows(byte) || sign || (byte == b'.' && !at(i + 1).is_ascii_alphabetic()) {
            i += 1;
        } else {
            return i;
        }
    }
}

/// Identifier characters, and dots and `::` that join further ones.
fn word_end(bytes: &[u8], mut i: usize) -> usize {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    loop {
        if follows(at(i)) || (at(i) == b'.' && follows(at(i + 1))) {
            i += 1;
        } else if at(i) == b':' && at(i + 1) == b':' && follows(at(i + 2)) {
            i += 2;
        } else {
            return i;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(Kind, &str)> {
        tokens(text)
            .iter()
            .map(|t| (t.kind, &text[t.start..t.end]))
            .collect()
    }

    #[test]
    fn dotted_words_stay_whole_and_comments_vanish() {
        assert_eq!(
            split("@%p1 ld.global.L2::128B.v4.b32 /* a\nb */ x, [y+-8]; // c"),
            [
                (Kind::Punctuation(b'@'), "@"),
                (Kind::Word, "%p1"),
                (Kind::Word, "ld.global.L2::128B.v4.b32"),
                (Kind::Word, "x"),
                (Kind::Punctuation(b','), ","),
                (Kind::Punctuation(b'['), "["),
                (Kind::Word, "y"),
                (Kind::Punctuation(b'+'), "+"),
                (Kind::Punctuation(b'-'), "-"),
                (Kind::Number, "8"),
                (Kind::Punctuation(b']'), "]"),
                (Kind::Punctuation(b';'), ";"),
            ]
        );
    }

    #[test]
    fn literals_of_every_form() {
        for literal in [
            "0",
            "017",
            "0x1FU",
            "0b101",
            "0f3F800000",
            "0d3FF0000000000000",
            "1.5e-3",
            "2.",
            ".5",
            "1e+5",
        ] {
            assert_eq!(split(literal), [(Kind::Number, literal)]);
        }
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let text = "a\n/* \n */ \"x\" b";
        assert_eq!(
            tokens(text).iter().map(|t| t.line).collect::<Vec<_>>(),
            [1, 3, 3]
        );
    }
}
