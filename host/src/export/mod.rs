//! Renderers from a [`Report`] to text. They measure nothing, print nothing and read no clock, so
//! the same report always gives the same text.
//!
//! A format is one file with a `FORMAT` and one name in the list below.

use crate::report::Report;

pub mod blocks;
pub mod compare;
pub mod lanes;
mod layout;
pub mod threads;

pub use layout::{
    finite::NotFinite,
    style::{Paint, Style},
};

/// An output format.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name, for example `csv`: also the file's name in this folder.
    pub name: &'static str,
    /// The extension of its files; `None` for formats that only make sense in a terminal.
    pub extension: Option<&'static str>,
    /// One line for help texts.
    pub about: &'static str,
    /// Renders a report. Only the terminal's formats look at the style.
    pub render: fn(&Report, &Style) -> Result<String, ExportError>,
}

/// Why a report could not be rendered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// A figure is NaN or infinite, which no format may carry as if it were a number.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// The format's encoder gave up.
    #[error("cannot write {format}: {message}")]
    Encoder {
        /// The format's name.
        format: &'static str,
        /// What the encoder said.
        message: String,
    },
}

macro_rules! formats {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*

        /// Every format.
        pub const FORMATS: &[Format] = &[$($name::FORMAT),*];
    };
}

formats! {
    chart,
    csv,
    json,
    markdown,
    svg,
    table,
}

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
