//! How a terminal wants its text.

/// What the caller found out about the terminal (or was told by `--color`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to write ANSI colours. `--color` and `NO_COLOR` are the caller's to read.
    pub color: bool,
    /// Whether block elements, box drawing, `µ` and `✓` may be used; plain ASCII otherwise.
    pub unicode: bool,
    /// Columns of the terminal; `None` where the text goes to a file or a pipe.
    pub width: Option<u16>,
}

impl Style {
    /// Unicode without colours and without a limit on the width.
    pub const PLAIN: Self = Self {
        color: false,
        unicode: true,
        width: None,
    };

    /// The style for standard output: as wide as the terminal, ASCII only where the locale
    /// (`LC_ALL`, `LC_CTYPE`, `LANG`, the first that is set) names another encoding than UTF-8.
    pub fn of_stdout(color: bool) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        Self {
            color,
            unicode: locale.is_none_or(|locale| is_utf8(&locale)),
            width: comfy_table::Table::new().width(),
        }
    }

    /// `text` in a colour, if colours are wanted.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_owned()
        }
    }

    /// `text` on the background of a number's colour, if colours are wanted; colours repeat after
    /// eight.
    pub fn cell(&self, number: u32, text: &str) -> String {
        if self.color {
            let background = CELLS[number as usize % CELLS.len()];
            format!("\x1b[97;48;5;{background}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Backgrounds of numbered cells, as numbers of the 256-colour palette: near to Okabe and Ito's
/// colours, all dark enough for white text.
const CELLS: [u8; 8] = [25, 130, 29, 133, 94, 31, 16, 240];

/// A role that a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Headings.
    Heading,
    /// Verified; the best bar.
    Good,
    /// Skipped.
    Caution,
    /// Failed.
    Bad,
    /// An ordinary bar.
    Bar,
    /// Footnotes and other asides.
    Aside,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Caution => "33",
            Self::Bad => "31",
            Self::Bar => "36",
            Self::Aside => "2",
        }
    }
}

/// Whether a locale's name allows UTF-8. `C`, `POSIX` and names without an encoding do not say, and
/// today's terminals take UTF-8 then; a named other encoding counts.
fn is_utf8(locale: &str) -> bool {
    let encoding = locale.split('@').next().unwrap_or("").split_once('.');
    encoding.is_none_or(|(_, encoding)| {
        encoding.eq_ignore_ascii_case("utf-8") || encoding.eq_ignore_ascii_case("utf8")
    })
}

/// Text from elsewhere (reasons, notes, names of loaded kernels) without control characters, so
/// that it can neither break a layout nor drive the terminal.
pub(in crate::export) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales() {
        for name in ["en_US.UTF-8", "C.utf8", "C", "de_DE", "de_DE.UTF-8@euro"] {
            assert!(is_utf8(name), "{name}");
        }
        for name in ["en_US.ISO-8859-1", "ru_RU.KOI8-R"] {
            assert!(!is_utf8(name), "{name}");
        }
    }

    #[test]
    fn escape_sequences_are_disarmed() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a [31mb c");
    }
}
