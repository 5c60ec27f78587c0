//! Fixtures: small PTX kernels, one or more per opcode, that carry their inputs and the bits they
//! must produce. The same files run on the simulator and on a GPU; `fixtures/README.md` has the
//! format.

use std::path::{Path, PathBuf};

/// What every output word holds before the launch, so that a word that is not written is noticed.
pub const POISON: u64 = 0xdead_beef_dead_beef;

/// The `.entry` of every fixture; it takes one `.u64`, the buffer's address.
pub const ENTRY: &str = "fixture";

/// A kernel with what it reads and what it must write.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// File name without `.ptx`: the opcode, optionally followed by `.topic`.
    pub name: String,
    /// The PTX text.
    pub ptx: String,
    /// Lowest compute capability it runs on, major times ten plus minor.
    pub minimum_sm: u32,
    /// Blocks, along x.
    pub grid: u32,
    /// Threads per block, along x.
    pub block: u32,
    /// Blocks per cluster, along x, for a launch in clusters.
    pub cluster: Option<u32>,
    /// Names of the output words, for messages.
    pub outputs: Vec<String>,
    /// How far an output word may be off; `None`: not a bit.
    pub tolerances: Vec<Option<Tolerance>>,
    /// One per thread of the launch.
    pub rows: Vec<Row>,
}

/// One thread's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What the thread reads.
    pub inputs: Vec<u64>,
    /// What it must write.
    pub expected: Vec<Expected>,
}

/// What an output word must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// These bits, or a value within the column's tolerance of them.
    Bits(u64),
    /// Any NaN of the format.
    Nan(Format),
    /// Anything.
    Any,
}

/// A floating-point format, in the low bits of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.f16`
    F16,
    /// `.bf16`
    Bf16,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
}

/// How far a float may be off: by the larger of the two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The word's format.
    pub format: Format,
    /// Bound on the difference divided by the expected magnitude.
    pub relative: f64,
    /// Bound on the difference.
    pub absolute: f64,
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// The value of these bits; `None` if higher bits of the word are set.
    fn value(self, bits: u64) -> Option<f64> {
        match self {
            Self::F64 => Some(f64::from_bits(bits)),
            Self::F32 => u32::try_from(bits)
                .ok()
                .map(|bits| f32::from_bits(bits).into()),
            Self::Bf16 => {
                let bits = u16::try_from(bits).ok()?;
                Some(f32::from_bits(u32::from(bits) << 16).into())
            }
            Self::F16 => {
                let bits = u16::try_from(bits).ok()?;
                let fraction = f64::from(bits & 0x3ff);
                let magnitude = match i32::from(bits >> 10 & 31) {
                    0 => fraction * (-24f64).exp2(),
                    31 if fraction == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    exponent => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
                };
                Some(if bits >> 15 == 1 {
                    -magnitude
                } else {
                    magnitude
                })
            }
        }
    }
}

impl Expected {
    fn parse(token: &str) -> Result<Self, String> {
        match token {
            "*" => Ok(Self::Any),
            "nan" => Err("`nan` needs its format: nan:f16, nan:bf16, nan:f32 or nan:f64".into()),
            _ => match token.strip_prefix("nan:") {
                Some(format) => Format::named(format)
                    .map(Self::Nan)
                    .ok_or_else(|| format!("`{token}`: unknown format")),
                None => word(token).map(Self::Bits),
            },
        }
    }

    /// Whether a word is as expected.
    pub fn accepts(self, actual: u64, tolerance: Option<Tolerance>) -> bool {
        match (self, tolerance) {
            (Self::Any, _) => true,
            (Self::Nan(format), _) => format.value(actual).is_some_and(f64::is_nan),
            (Self::Bits(bits), None) => bits == actual,
            (Self::Bits(bits), Some(tolerance)) => {
                let values = (tolerance.format.value(bits), tolerance.format.value(actual));
                let (Some(expected), Some(actual_value)) = values else {
                    return false;
                };
                let bound = tolerance.absolute.max(tolerance.relative * expected.abs());
                // Infinities, NaNs and zeros of a sign are exact.
                bits == actual
                    || expected != 0.0
                        && expected.is_finite()
                        && (actual_value - expected).abs() <= bound
            }
        }
    }
}

fn word(token: &str) -> Result<u64, String> {
    let digits = token
        .strip_prefix("0x")
        .ok_or_else(|| format!("`{token}` is not a word 0x…"))?;
    u64::from_str_radix(digits, 16).map_err(|error| format!("`{token}`: {error}"))
}

impl Fixture {
    /// Reads a fixture; `name` is its file name without `.ptx`.
    ///
    /// # Errors
    /// The line and what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut fixture = Self {
            name: name.to_owned(),
            ptx: text.to_owned(),
            minimum_sm: 0,
            grid: 0,
            block: 0,
            cluster: None,
            outputs: Vec::new(),
            tolerances: Vec::new(),
            rows: Vec::new(),
        };
        let mut input_words = None;
        for (index, line) in text.lines().enumerate() {
            let Some(line) = line.strip_prefix("//!").map(str::trim) else {
                continue;
            };
            fixture
                .header_line(line, &mut input_words)
                .map_err(|error| format!("{name}.ptx:{}: {error}", index + 1))?;
        }
        if fixture.grid == 0 {
            (fixture.grid, fixture.block) = (1, fixture.rows.len() as u32);
        }
        let threads = fixture.grid * fixture.block;
        if fixture.rows.is_empty() || fixture.rows.len() != threads as usize {
            let rows = fixture.rows.len();
            return Err(format!("{name}.ptx: {rows} rows for {threads} threads"));
        }
        if fixture.minimum_sm == 0 {
            return Err(format!("{name}.ptx: no `//! sm: NUMBER`"));
        }
        Ok(fixture)
    }

    fn header_line(&mut self, line: &str, input_words: &mut Option<usize>) -> Result<(), String> {
        let number = |text: &str| {
            text.trim()
                .parse()
                .map_err(|_| format!("`{text}`: not a number"))
        };
        if let Some(sm) = line.strip_prefix("sm:") {
            self.minimum_sm = number(sm)?;
        } else if let Some(launch) = line.strip_prefix("launch:") {
            let mut words = launch.split_whitespace();
            let (Some(grid), Some(block)) = (words.next(), words.next()) else {
                return Err("`launch:` needs GRID BLOCK".into());
            };
            (self.grid, self.block) = (number(grid)?, number(block)?);
            self.cluster = match (words.next(), words.next()) {
                (None, _) => None,
                (Some("clusters"), Some(blocks)) => Some(number(blocks)?),
                _ => return Err("after GRID BLOCK only `clusters BLOCKS` can stand".into()),
            };
        } else if let Some(columns) = line.strip_prefix("columns:") {
            let (inputs, outputs) = columns.split_once("->").ok_or("no `->` in the columns")?;
            *input_words = Some(inputs.split_whitespace().count());
            self.outputs = outputs.split_whitespace().map(str::to_owned).collect();
            self.tolerances = vec![None; self.outputs.len()];
        } else if let Some(tolerance) = line.strip_prefix("tolerance:") {
            self.tolerance(tolerance)?;
        } else {
            let (inputs, expected) = line.split_once("->").ok_or("neither a key nor a row")?;
            let row = Row {
                inputs: inputs
                    .split_whitespace()
                    .map(word)
                    .collect::<Result<_, _>>()?,
                expected: expected
                    .split_whitespace()
                    .map(Expected::parse)
                    .collect::<Result<_, _>>()?,
            };
            if Some(row.inputs.len()) != *input_words || row.expected.len() != self.outputs.len() {
                return Err("the row does not have the columns' words".into());
            }
            self.rows.push(row);
        }
        Ok(())
    }

    /// `COLUMN FORMAT relative X absolute Y`, either bound or both.
    fn tolerance(&mut self, text: &str) -> Result<(), String> {
        let mut words = text.split_whitespace();
        let column = words.next().ok_or("no column")?;
        let index = self.outputs.iter().position(|name| name == column);
        let index = index.ok_or_else(|| format!("no output column `{column}`"))?;
        let format = words.next().and_then(Format::named).ok_or("no format")?;
        let (mut relative, mut absolute) = (0.0, 0.0);
        while let Some(kind) = words.next() {
            let bound: f64 = words
                .next()
                .and_then(|bound| bound.parse().ok())
                .ok_or_else(|| format!("no bound after `{kind}`"))?;
            match kind {
                "relative" => relative = bound,
                "absolute" => absolute = bound,
                _ => return Err(format!("`{kind}`: relative or absolute is required")),
            }
        }
        self.tolerances[index] = Some(Tolerance {
            format,
            relative,
            absolute,
        });
        Ok(())
    }

    /// The opcode it is for.
    pub fn opcode(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }

    /// The buffer before the launch: each thread's inputs, then its poisoned outputs.
    pub fn buffer(&self) -> Vec<u64> {
        let words = |row: &Row| {
            let outputs = row.expected.len();
            row.inputs
                .iter()
                .copied()
                .chain(std::iter::repeat_n(POISON, outputs))
                .collect()
        };
        self.rows
            .iter()
            .flat_map(|row| -> Vec<u64> { words(row) })
            .collect()
    }

    /// Compares the buffer after the launch.
    ///
    /// # Errors
    /// One line per output word that is not as expected, and per input that was overwritten.
    pub fn check(&self, buffer: &[u64]) -> Result<(), String> {
        use std::fmt::Write;
        let mut message = String::new();
        let mut words = buffer.iter().copied();
        for (thread, row) in self.rows.iter().enumerate() {
            for &input in &row.inputs {
                let actual = words.next().unwrap_or(POISON);
                if actual != input {
                    let _ = writeln!(
                        message,
                        "thread {thread}: input {input:#x} became {actual:#x}"
                    );
                }
            }
            for ((expected, name), &tolerance) in
                row.expected.iter().zip(&self.outputs).zip(&self.tolerances)
            {
                let actual = words.next().unwrap_or(POISON);
                if !expected.accepts(actual, tolerance) {
                    let _ = writeln!(
                        message,
                        "thread {thread}, {name} of {:x?}: expected {expected:x?}, got {actual:#x}",
                        row.inputs
                    );
                }
            }
        }
        if message.is_empty() {
            Ok(())
        } else {
            Err(format!("{}:\n{message}", self.name))
        }
    }
}

/// Where the fixtures of this crate's source tree are.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// All of them, by name.
///
/// # Errors
/// A file that cannot be read, or is not a fixture.
pub fn all() -> Result<Vec<Fixture>, String> {
    let directory = directory();
    let failed = |error| format!("{}: {error}", directory.display());
    let mut fixtures = Vec::new();
    for entry in std::fs::read_dir(&directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            fixtures.push(Fixture::parse(&name, &text)?);
        }
    }
    fixtures.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(fixtures)
}
