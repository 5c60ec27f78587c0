//! The stream that people read.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};

use crate::{
    export::Style,
    options::CommonOptions,
    output::{Outputs, write_or_closed},
};

/// Standard output, or standard error while a format has the former, or none if that is not wanted
/// either.
pub(crate) struct Terminal {
    stream: Option<Box<dyn Write>>,
    /// What the stream can show.
    pub(crate) style: Style,
}

impl Terminal {
    /// The stream that the options and the outputs leave.
    pub(crate) fn new(options: &CommonOptions, outputs: &Outputs) -> Self {
        let (stream, terminal): (Option<Box<dyn Write>>, bool) = if !outputs.on_standard_output() {
            (Some(Box::new(io::stdout())), io::stdout().is_terminal())
        } else if !options.quiet {
            (Some(Box::new(io::stderr())), io::stderr().is_terminal())
        } else {
            (None, false)
        };
        Self {
            stream,
            style: Style::of_stdout(options.color.wanted(terminal)),
        }
    }

    /// Writes text, if anybody wants to read it.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        match &mut self.stream {
            Some(stream) => write_or_closed(stream, text).context("cannot write the table"),
            None => Ok(()),
        }
    }
}
