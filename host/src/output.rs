//! Where reports go: files that are opened before anything is measured and rewritten after each
//! row, and at most one format on standard output.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, Write},
    path::{Path, PathBuf},
};

use crate::{
    comparison::{Comparison, SavedReport},
    export::{self, ExportError, Format, Style},
    options::{CommonOptions, Destination},
    report::Report,
};

/// Why an output could not be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Two formats were asked for on standard output, or in one file.
    #[error("--{0} and --{1} both go to {2}: give one of them another PATH")]
    Twice(&'static str, &'static str, String),
    /// The folder that a file should lie in is missing.
    #[error("--{option} {}: there is no folder {}: create it first", .path.display(), .folder.display())]
    NoFolder {
        /// The option's name.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// A folder was given for a file.
    #[error("--{option} {}: a file is required, and this is a folder: add the file's name", .path.display())]
    Folder {
        /// The option's name.
        option: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// An output would take the place of what it is compared with.
    #[error("--{option} {}: --compare reads this file: give another PATH", .path.display())]
    Compared {
        /// The option's name.
        option: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The file could not be opened.
    #[error("--{option} {}: a file that can be written is required: {error}: give another PATH", .path.display())]
    Open {
        /// The option's name.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file could not be written.
    #[error("--{option} {}: {error}", .path.display())]
    File {
        /// The option's name.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    StandardOutput(io::Error),
    /// The report could not be rendered.
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl OutputError {
    /// Whether the command line asked for something contradictory or impossible.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Twice(..) | Self::NoFolder { .. } | Self::Folder { .. } | Self::Compared { .. }
        )
    }
}

/// The outputs of a run.
pub struct Outputs {
    files: Vec<OpenFile>,
    standard_output: Option<&'static Format>,
    /// What `--compare` names: Markdown sets it beside the report.
    compare: Vec<SavedReport>,
}

/// More than any report: what is larger was named by mistake.
const MOST_HELD: u64 = 256 << 20;

struct OpenFile {
    option: &'static str,
    path: PathBuf,
    format: &'static Format,
    file: File,
    /// A pipe or a device cannot be rewritten: it gets the finished report only.
    rewritable: bool,
    /// Made by this run and still empty.
    unused: bool,
    /// What it holds, to be put back: what this run has written last, or a report of before, if it can be
    /// read and is no larger than [`MOST_HELD`].
    held: Option<Vec<u8>>,
}

impl Outputs {
    /// Opens every file that the options name.
    pub fn open(options: &CommonOptions) -> Result<Self, OutputError> {
        let wanted: Vec<_> = [
            ("json", "json", &options.json),
            ("csv", "csv", &options.csv),
            ("md", "markdown", &options.md),
            ("svg", "svg", &options.svg),
        ]
        .into_iter()
        .filter_map(|(option, format, destination)| {
            Some((option, export::format(format)?, destination.as_ref()?))
        })
        .collect();
        for (position, (second, _, destination)) in wanted.iter().enumerate() {
            if let Some((first, ..)) = wanted[..position]
                .iter()
                .find(|(_, _, before)| before == destination)
            {
                let place = match destination {
                    Destination::StandardOutput => "standard output".to_string(),
                    Destination::File(path) => path.display().to_string(),
                };
                return Err(OutputError::Twice(first, second, place));
            }
        }
        let mut outputs = Self {
            files: Vec::<OpenFile>::new(),
            standard_output: None,
            compare: options.compare.clone(),
        };
        for (option, format, destination) in wanted {
            match destination {
                Destination::StandardOutput => outputs.standard_output = Some(format),
                Destination::File(path) => {
                    let file = OpenFile::open(option, path, format)?;
                    if let Some(first) = outputs.files.iter().find(|first| file.is(&first.path)) {
                        let place = path.display().to_string();
                        return Err(OutputError::Twice(first.option, option, place));
                    }
                    // The report alone may take the place of one that it was compared with.
                    let compared = || {
                        options
                            .compare
                            .iter()
                            .any(|saved| file.is(saved.path.as_ref()))
                    };
                    if option != "json" && compared() {
                        let path = path.clone();
                        return Err(OutputError::Compared { option, path });
                    }
                    outputs.files.push(file);
                }
            }
        }
        Ok(outputs)
    }

    /// Whether standard output carries a format, so that nothing else may be written there.
    pub fn on_standard_output(&self) -> bool {
        self.standard_output.is_some()
    }

    /// Before anything is measured: writes the files that are new, so that one which cannot be written
    /// is found now. What was there before stays until there is something to replace it.
    ///
    /// # Errors
    /// That of the first file which could not be written; the others are.
    pub fn begin(&mut self, report: &Report) -> Result<(), OutputError> {
        self.write(report, |file| file.rewritable && file.unused)
    }

    /// Rewrites the files with what there is so far.
    ///
    /// # Errors
    /// As of [`Self::begin`].
    pub fn update(&mut self, report: &Report) -> Result<(), OutputError> {
        self.write(report, |file| file.rewritable)
    }

    /// Writes the finished report everywhere.
    ///
    /// # Errors
    /// That of the first place which could not be written; the others are.
    pub fn finish(&mut self, report: &Report) -> Result<(), OutputError> {
        let files = self.write(report, |_| true);
        let standard_output = self.standard_output.map_or(Ok(()), |format| {
            let text = text(format, report, &self.compare)?;
            write_or_closed(&mut io::stdout().lock(), &text).map_err(OutputError::StandardOutput)
        });
        files.and(standard_output)
    }

    /// Writes every file of a kind: one that fails costs the others nothing.
    fn write(
        &mut self,
        report: &Report,
        wanted: impl Fn(&OpenFile) -> bool,
    ) -> Result<(), OutputError> {
        let mut outcome = Ok(());
        for file in self.files.iter_mut().filter(|file| wanted(file)) {
            outcome = outcome.and(file.write(report, &self.compare));
        }
        outcome
    }
}

/// A report in a format, and in Markdown what it is compared with.
fn text(format: &Format, report: &Report, compare: &[SavedReport]) -> Result<String, ExportError> {
    let mut text = (format.render)(report, &Style::PLAIN)?;
    if format.name == "markdown"
        && let Some(comparison) = Comparison::asked(compare, report)
    {
        text += &format!("\n{}", export::compare::markdown(&comparison));
    }
    Ok(text)
}

/// Writes text to a stream. A reader that has seen enough and closed the pipe is no error.
pub fn write_or_closed(stream: &mut dyn Write, text: &str) -> io::Result<()> {
    match stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

impl OpenFile {
    fn open(
        option: &'static str,
        path: &Path,
        format: &'static Format,
    ) -> Result<Self, OutputError> {
        let describe = |error| {
            let (folder, path) = (path.parent(), path.to_path_buf());
            match folder.filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
                Some(folder) => OutputError::NoFolder {
                    option,
                    path,
                    folder: folder.to_path_buf(),
                },
                None if path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/') => {
                    OutputError::Folder { option, path }
                }
                None => OutputError::Open {
                    option,
                    path,
                    error,
                },
            }
        };
        let mut options = OpenOptions::new();
        options.write(true);
        let (file, unused) = match options.clone().create_new(true).open(path) {
            Ok(file) => (file, true),
            // It is there already, or a link to one that is not there yet.
            Err(_) => {
                let file = options.create(true).truncate(false).open(path);
                (file.map_err(describe)?, false)
            }
        };
        let metadata = file.metadata().map_err(describe)?;
        let rewritable = metadata.is_file();
        let held = (rewritable && metadata.len() <= MOST_HELD)
            .then(|| fs::read(path).ok())
            .flatten();
        Ok(Self {
            option,
            path: path.to_path_buf(),
            format,
            file,
            rewritable,
            unused,
            held,
        })
    }

    /// Whether a path leads to this file, by links or otherwise. A pipe or a device may take several
    /// reports.
    fn is(&self, path: &Path) -> bool {
        self.rewritable && same_file::is_same_file(&self.path, path).unwrap_or(false)
    }

    /// Writes over what is there and cuts the rest off, in this order: whenever the program is
    /// stopped but in between, the file holds the rows of before or of now. So it does where the place
    /// runs out: the text of before had its place already.
    fn write(&mut self, report: &Report, compare: &[SavedReport]) -> Result<(), OutputError> {
        let text = text(self.format, report, compare)?;
        let written = if self.rewritable {
            let written = self.replace(text.as_bytes());
            if written.is_ok() {
                self.unused = false;
                self.held = Some(text.into_bytes());
            } else if let Some(held) = self.held.take() {
                // The first error is the one to tell.
                let _ = self.replace(&held);
                self.held = Some(held);
            }
            written
        } else {
            write_or_closed(&mut self.file, &text)
        };
        written.map_err(|error| OutputError::File {
            option: self.option,
            path: self.path.clone(),
            error,
        })
    }

    fn replace(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(text)?;
        self.file.set_len(text.len() as u64)
    }
}

impl Drop for OpenFile {
    /// A run that fails before its first report leaves no empty file behind.
    fn drop(&mut self) {
        if self.unused {
            // What cannot be removed is left: the run has failed already, and says why.
            let _ = fs::remove_file(&self.path);
        }
    }
}
