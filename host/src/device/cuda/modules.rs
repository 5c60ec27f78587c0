//! Modules on the GPU: PTX compiled by the driver, and the kernels in them.

use std::{
    cell::RefCell,
    collections::HashMap,
    ffi::{CStr, CString, c_int, c_void},
    ptr,
    rc::Rc,
};

use cust::{
    error::CudaError,
    function::{Function, FunctionAttribute},
    module::Module,
};
use driver::{Driver, api};
use kernels::handle::Target;
use simulator::ptx::ast::Variable;

use super::failure::{failed, status};
use crate::device::{
    DeviceError, KernelAttributes, KernelReference, ModuleId, Result,
    checks::{no_such_kernel, no_such_module, validate_parameters},
    modules::embedded,
};

/// A module and what its text says of its kernels.
pub(super) struct LoadedModule {
    module: Module,
    /// Sizes of each entry's parameters in bytes. Empty for text that warplab's own parser does
    /// not read: the driver compiles it all the same.
    parameters: HashMap<String, Vec<usize>>,
}

/// The modules of one context.
#[derive(Default)]
pub(super) struct Modules {
    embedded: RefCell<HashMap<Target, Rc<LoadedModule>>>,
    loaded: RefCell<Vec<Rc<LoadedModule>>>,
}

impl Modules {
    /// Compiles and keeps a module given as text.
    pub(super) fn add(&self, driver: &Driver, ptx: &str) -> Result<ModuleId> {
        let module = load(driver, ptx)?;
        let mut loaded = self.loaded.borrow_mut();
        loaded.push(Rc::new(module));
        Ok(ModuleId(loaded.len() as u32 - 1))
    }

    /// The module that holds a kernel; an embedded one is compiled on first use.
    pub(super) fn of(&self, driver: &Driver, kernel: &KernelReference) -> Result<Rc<LoadedModule>> {
        match kernel {
            KernelReference::Declared(declaration) => {
                if let Some(module) = self.embedded.borrow().get(&declaration.target) {
                    return Ok(Rc::clone(module));
                }
                let module = Rc::new(load(driver, embedded(declaration.target)?)?);
                self.embedded
                    .borrow_mut()
                    .insert(declaration.target, Rc::clone(&module));
                Ok(module)
            }
            KernelReference::Loaded { module, .. } => self
                .loaded
                .borrow()
                .get(module.0 as usize)
                .cloned()
                .ok_or_else(|| no_such_module(kernel)),
        }
    }
}

/// Compiles PTX and notes its kernels' parameters. The driver could tell them too, but only by
/// failing at the first index that is too large, which tools that watch the driver report.
fn load(driver: &Driver, ptx: &str) -> Result<LoadedModule> {
    let module = compile(driver, ptx)?;
    let functions =
        simulator::ptx::parse(ptx).map_or_else(|_| Vec::new(), |module| module.functions);
    let sizes = |variables: &[Variable]| {
        variables
            .iter()
            .map(|variable| variable.bytes.unwrap_or(0) as usize)
            .collect()
    };
    let parameters = functions
        .iter()
        .filter(|function| function.entry)
        .map(|function| (function.name.clone(), sizes(&function.parameters)))
        .collect();
    Ok(LoadedModule { module, parameters })
}

/// Compiles PTX for the current context's device.
pub(super) fn compile(driver: &Driver, ptx: &str) -> Result<Module> {
    let text = CString::new(ptx)
        .map_err(|_| DeviceError::Failed("the PTX text holds a NUL character".to_owned()))?;
    Module::from_ptx_cstr(&text, &[]).map_err(|error| explain(driver, &text, status(error)))
}

/// Compiles once more, for the compiler's log and the exact status, which cust does not keep.
fn explain(driver: &Driver, ptx: &CStr, first: api::Status) -> DeviceError {
    let mut log = vec![0_u8; 64 << 10];
    let mut options = [api::JIT_ERROR_LOG_BUFFER, api::JIT_ERROR_LOG_BUFFER_BYTES];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        // The size goes in the pointer's place, not behind it.
        ptr::without_provenance_mut(log.len()),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: text, options and the log live through the call; two options have two values.
    let result = unsafe {
        api::cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let status = match result {
        Err(status) => status,
        Ok(()) => {
            // SAFETY: it was just loaded, and nothing refers to it. A failure leaks it.
            let _ = unsafe { api::cuModuleUnload(module) };
            first
        }
    };
    let log = CStr::from_bytes_until_nul(&log)
        .map(|text| text.to_string_lossy().trim().to_owned())
        .unwrap_or_default();
    let mut what = "the driver cannot load the module".to_owned();
    if status == api::Status::UNSUPPORTED_PTX_VERSION {
        let version = ptx
            .to_string_lossy()
            .lines()
            .find_map(|line| line.trim().strip_prefix(".version ").map(str::to_owned))
            .unwrap_or_default();
        what += &format!(
            " (its PTX version is {version}; the driver {} supports CUDA {}: update it)",
            driver.library(),
            driver.version()
        );
    }
    match failed(&what, status) {
        DeviceError::Failed(message) if !log.is_empty() => {
            DeviceError::Failed(format!("{message}\n{log}"))
        }
        error => error,
    }
}

/// A kernel of a module, its parameters checked against the declaration.
pub(super) fn function<'m>(
    loaded: &'m LoadedModule,
    kernel: &KernelReference,
) -> Result<Function<'m>> {
    // cust would panic.
    if kernel.name().contains('\0') {
        return Err(no_such_kernel(kernel));
    }
    let function = loaded
        .module
        .get_function(kernel.name())
        .map_err(|error| match error {
            CudaError::NotFound => no_such_kernel(kernel),
            error => failed(&format!("kernel {}", kernel.name()), status(error)),
        })?;
    if let Some(sizes) = loaded.parameters.get(kernel.name()) {
        validate_parameters(kernel, sizes)?;
    }
    Ok(function)
}

/// What the driver tells about a kernel.
pub(super) fn attributes(
    kernel: &KernelReference,
    function: &Function,
) -> Result<KernelAttributes> {
    let attribute = |attribute| {
        let value: c_int = function.get_attribute(attribute).map_err(|error| {
            failed(
                &format!("kernel {}: attribute {attribute:?}", kernel.name()),
                status(error),
            )
        })?;
        Ok(value.unsigned_abs())
    };
    Ok(KernelAttributes {
        registers: attribute(FunctionAttribute::NumRegisters)?,
        static_shared_bytes: attribute(FunctionAttribute::SharedMemorySizeBytes)?,
        local_bytes: attribute(FunctionAttribute::LocalSizeBytes)?,
        max_threads_per_block: attribute(FunctionAttribute::MaxThreadsPerBlock)?,
    })
}
