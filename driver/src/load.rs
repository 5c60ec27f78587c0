//! Opens the driver, checks it and fills the slots.

use std::{
    ffi::{c_int, c_void},
    fmt,
    sync::OnceLock,
};

use libloading::Library;

use crate::trampolines::{STUB_LIBRARY, Symbol};

/// A CUDA version: of a driver, the highest one whose programs it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// From `cuDriverGetVersion`'s form: 1000 * major + 10 * minor.
    fn from_raw(raw: c_int) -> Self {
        let raw = raw.unsigned_abs();
        Self {
            major: raw / 1000,
            minor: raw % 1000 / 10,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The oldest driver that runs warplab: its PTX version 7.0 came with CUDA 11.0 (PTX ISA, release
/// history), and `cuGraphInstantiateWithFlags`, which sampling uses, with CUDA 11.4.
pub const REQUIRED_VERSION: Version = Version {
    major: 11,
    minor: 4,
};

/// The driver package's version that goes with [`REQUIRED_VERSION`] (CUDA 11.4 release notes).
const REQUIRED_PACKAGE: &str = "470";

/// What warplab calls, itself or through `cust`, whatever the program: without one of these
/// nothing works. Everything else is asked for when it is needed ([`Driver::require`]).
const REQUIRED: &[Symbol] = &[
    Symbol::cuGetErrorString,
    Symbol::cuGetErrorName,
    Symbol::cuInit,
    Symbol::cuDriverGetVersion,
    Symbol::cuDeviceGet,
    Symbol::cuDeviceGetCount,
    Symbol::cuDeviceGetName,
    Symbol::cuDeviceTotalMem_v2,
    Symbol::cuDeviceGetAttribute,
    Symbol::cuDevicePrimaryCtxRetain,
    Symbol::cuDevicePrimaryCtxRelease_v2,
    Symbol::cuCtxSetCurrent,
    Symbol::cuModuleLoadDataEx,
    Symbol::cuModuleUnload,
    Symbol::cuModuleGetFunction,
    Symbol::cuMemGetInfo_v2,
    Symbol::cuMemAlloc_v2,
    Symbol::cuMemFree_v2,
    Symbol::cuMemcpyHtoD_v2,
    Symbol::cuMemcpyDtoH_v2,
    Symbol::cuMemsetD8_v2,
    Symbol::cuMemsetD8Async,
    Symbol::cuStreamCreateWithPriority,
    Symbol::cuStreamDestroy_v2,
    Symbol::cuStreamSynchronize,
    Symbol::cuStreamBeginCapture_v2,
    Symbol::cuStreamEndCapture,
    Symbol::cuEventCreate,
    Symbol::cuEventDestroy_v2,
    Symbol::cuEventRecord,
    Symbol::cuEventSynchronize,
    Symbol::cuEventElapsedTime,
    Symbol::cuFuncGetAttribute,
    Symbol::cuFuncSetAttribute,
    Symbol::cuLaunchKernel,
    Symbol::cuLaunchCooperativeKernel,
    Symbol::cuOccupancyMaxActiveBlocksPerMultiprocessor,
    Symbol::cuGraphInstantiateWithFlags,
    Symbol::cuGraphUpload,
    Symbol::cuGraphLaunch,
    Symbol::cuGraphDestroy,
    Symbol::cuGraphExecDestroy,
];

/// Why there is no driver to work with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The library was not found, or the system could not open it.
    #[error(
        "no CUDA driver: {}; install NVIDIA's driver, version {REQUIRED_PACKAGE} or later \
         (in a container, start it with access to the GPU; under WSL, install the driver on \
         Windows)",
        tried(.attempts)
    )]
    LibraryMissing {
        /// Each name that was tried, and what the system said.
        attempts: Vec<(String, String)>,
    },
    /// This operating system or processor has no CUDA driver.
    #[error("no CUDA driver: NVIDIA has none for this platform ({platform})")]
    PlatformUnsupported {
        /// Operating system and architecture.
        platform: String,
    },
    /// The driver cannot run what warplab brings.
    #[error(
        "the CUDA driver {library} is too old: CUDA {required} or later is required (driver \
         {REQUIRED_PACKAGE}), this one supports up to CUDA {found}; update NVIDIA's driver"
    )]
    DriverTooOld {
        /// The library that was opened.
        library: String,
        /// The version it supports.
        found: Version,
        /// The version that is needed.
        required: Version,
    },
    /// The library lacks a function.
    #[error(
        "the CUDA driver {library} has no function {symbol}; update NVIDIA's driver, or remove \
         a library of the same name that is found before it"
    )]
    SymbolMissing {
        /// The library that was opened.
        library: String,
        /// The function.
        symbol: &'static str,
    },
    /// The library is not a driver that works: a toolkit's link-time stub, most likely.
    #[error(
        "{library} is no working CUDA driver: cuDriverGetVersion returned error {status}{}",
        if *.status == STUB_LIBRARY {
            ", for it is the toolkit's stub for linking; take its folder off the library path"
        } else {
            ""
        }
    )]
    NotADriver {
        /// The library that was opened.
        library: String,
        /// The driver's error code.
        status: i32,
    },
}

/// Libraries that are not there are only listed; one that is there and cannot be opened says why.
fn tried(attempts: &[(String, String)]) -> String {
    let (absent, broken): (Vec<_>, Vec<_>) = attempts
        .iter()
        .partition(|(_, reason)| reason.contains("No such file"));
    let mut parts: Vec<String> = broken
        .iter()
        .map(|(name, reason)| format!("{name} could not be opened ({reason})"))
        .collect();
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|(name, _)| name.as_str()).collect();
        parts.push(format!("{} not found", names.join(", ")));
    }
    parts.join("; ")
}

/// A driver that was loaded; it stays so until the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    library: String,
    version: Version,
}

impl Driver {
    /// The name under which the library was opened.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// The highest CUDA version it supports.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Checks that a function which not every driver has is there.
    ///
    /// # Errors
    /// [`LoadError::SymbolMissing`] names it.
    pub fn require(&self, symbol: Symbol) -> Result<(), LoadError> {
        if symbol.is_resolved() {
            return Ok(());
        }
        Err(LoadError::SymbolMissing {
            library: self.library.clone(),
            symbol: symbol.name(),
        })
    }
}

/// Names to try in order. The loader searches its usual places: `LD_LIBRARY_PATH` and the
/// system's folders, on Windows the system directory and `PATH`.
fn candidates() -> &'static [&'static str] {
    if cfg!(windows) {
        &["nvcuda.dll"]
    } else if cfg!(target_os = "linux") {
        // WSL's folder is usually on the loader's path, but not in every container.
        &[
            "libcuda.so.1",
            "libcuda.so",
            "/usr/lib/wsl/lib/libcuda.so.1",
        ]
    } else {
        &[]
    }
}

/// Opens the driver and lets all calls go to it. Only the first call does the work; any later
/// one, from any thread, gets the same answer.
///
/// # Errors
/// No library, too old a driver, and a missing function are told apart; see [`LoadError`].
pub fn load() -> Result<&'static Driver, LoadError> {
    static LOADED: OnceLock<Result<Driver, LoadError>> = OnceLock::new();
    LOADED
        .get_or_init(|| {
            let (library, driver) = open(candidates())?;
            for &symbol in Symbol::ALL {
                if let Some(address) = look_up(&library, symbol) {
                    symbol.resolve(address);
                }
            }
            // The slots point into it from now on.
            std::mem::forget(library);
            Ok(driver)
        })
        .as_ref()
        .map_err(LoadError::clone)
}

/// Opens the first library of `names` that can be, and checks it. Calls nothing but
/// `cuDriverGetVersion`.
fn open(names: &[&str]) -> Result<(Library, Driver), LoadError> {
    if names.is_empty() {
        return Err(LoadError::PlatformUnsupported {
            platform: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
        });
    }
    let mut attempts = Vec::new();
    for &name in names {
        // SAFETY: the names are the CUDA driver's, whose initialisers are made to be run so.
        match unsafe { Library::new(name) } {
            Ok(library) => {
                let driver = check(&library, name.to_owned())?;
                return Ok((library, driver));
            }
            Err(error) => attempts.push((name.to_owned(), reason(&error))),
        }
    }
    Err(LoadError::LibraryMissing { attempts })
}

/// What the system's loader said, which libloading keeps as the error's source.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn check(library: &Library, name: String) -> Result<Driver, LoadError> {
    let missing = |symbol: Symbol| LoadError::SymbolMissing {
        library: name.clone(),
        symbol: symbol.name(),
    };
    let address = look_up(library, Symbol::cuDriverGetVersion)
        .ok_or_else(|| missing(Symbol::cuDriverGetVersion))?;
    // SAFETY: this is the type of cuDriverGetVersion in every CUDA version.
    let get_version: unsafe extern "C" fn(*mut c_int) -> c_int =
        unsafe { std::mem::transmute(address) };
    let mut raw = 0;
    // SAFETY: it writes one int, and may be called before cuInit.
    let status = unsafe { get_version(&mut raw) };
    if status != 0 {
        return Err(LoadError::NotADriver {
            library: name,
            status,
        });
    }
    let found = Version::from_raw(raw);
    // Before the symbols: an old driver lacks some, and its age is the better explanation.
    if found < REQUIRED_VERSION {
        return Err(LoadError::DriverTooOld {
            library: name,
            found,
            required: REQUIRED_VERSION,
        });
    }
    if let Some(&symbol) = REQUIRED
        .iter()
        .find(|&&symbol| look_up(library, symbol).is_none())
    {
        return Err(missing(symbol));
    }
    Ok(Driver {
        library: name,
        version: found,
    })
}

fn look_up(library: &Library, symbol: Symbol) -> Option<*mut c_void> {
    // SAFETY: only the address is taken, whatever the symbol's type.
    let address = unsafe {
        library
            .get::<*mut c_void>(symbol.c_name().as_bytes_with_nul())
            .ok()?
            .try_as_raw_ptr()?
    };
    (!address.is_null()).then_some(address)
}
