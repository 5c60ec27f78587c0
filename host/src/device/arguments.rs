//! Arguments that fit a kernel's declaration, checked by the compiler.

use kernels::handle::Kernel;

use super::{Buffer, Device, KernelReference, PreparedLaunch, Result};
use crate::launch::LaunchConfig;

/// An argument that may be passed for a kernel parameter of type `P`.
pub trait Argument<P> {
    /// The argument's bits, in the low end.
    fn bits(&self) -> u64;
}

macro_rules! scalar_arguments {
    ($($ty:ty => $bits:expr),* $(,)?) => {$(
        impl Argument<$ty> for $ty {
            fn bits(&self) -> u64 {
                let convert: fn($ty) -> u64 = $bits;
                convert(*self)
            }
        }
    )*};
}

scalar_arguments! {
    u32 => u64::from,
    i32 => |value| u64::from(value as u32),
    u64 => |value| value,
    i64 => |value| value as u64,
    f32 => |value| u64::from(value.to_bits()),
    f64 => f64::to_bits,
}

impl<T> Argument<*const T> for &Buffer<T> {
    fn bits(&self) -> u64 {
        self.address()
    }
}

impl<T> Argument<*mut T> for &mut Buffer<T> {
    fn bits(&self) -> u64 {
        self.address()
    }
}

/// A tuple of arguments that fits a kernel's signature.
pub trait Arguments<Signature> {
    /// The arguments' bits in order.
    fn bits(&self) -> Vec<u64>;
}

macro_rules! tuples {
    ($($argument:ident $parameter:ident $index:tt),*) => {
        impl<$($argument, $parameter),*> Arguments<($($parameter,)*)> for ($($argument,)*)
        where
            $($argument: Argument<$parameter>),*
        {
            fn bits(&self) -> Vec<u64> {
                vec![$(self.$index.bits()),*]
            }
        }
    };
}

impl Arguments<()> for () {
    fn bits(&self) -> Vec<u64> {
        Vec::new()
    }
}

tuples!(A0 P0 0);
tuples!(A0 P0 0, A1 P1 1);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6);
tuples!(A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7);

/// Binds a kernel, a geometry and arguments, checked against the kernel's declaration by the
/// compiler. Validation against the device happens at the launch.
///
/// ```no_run
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f32>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u64, &a, &a, &mut c))?;
/// # Ok(())
/// # }
/// ```
///
/// A count of another type does not compile:
///
/// ```compile_fail,E0277
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f32>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u32, &a, &a, &mut c))?;
/// # Ok(())
/// # }
/// ```
///
/// Nor does a buffer that the kernel writes but that is only lent for reading:
///
/// ```compile_fail,E0277
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f32>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u64, &a, &a, &c))?;
/// # Ok(())
/// # }
/// ```
///
/// Nor a missing argument:
///
/// ```compile_fail,E0277
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f32>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u64, &a, &mut c))?;
/// # Ok(())
/// # }
/// ```
///
/// Nor one too many:
///
/// ```compile_fail,E0277
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f32>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u64, &a, &a, &a, &mut c))?;
/// # Ok(())
/// # }
/// ```
///
/// Nor a buffer of other elements:
///
/// ```compile_fail,E0277
/// # use std::rc::Rc;
/// # use warplab::{device::{Buffer, Device, Result}, launch::LaunchConfig};
/// # fn example(device: &Rc<dyn Device>) -> Result<()> {
/// let a = Buffer::from_slice(device, &[1.0_f32; 8])?;
/// let mut c = Buffer::<f64>::new(device, 8)?;
/// let config = LaunchConfig::for_elements(8, 256);
/// device.launch(kernels::VECTOR_ADD, config, (8_u64, &a, &a, &mut c))?;
/// # Ok(())
/// # }
/// ```
pub fn prepare<Signature>(
    kernel: Kernel<Signature>,
    config: LaunchConfig,
    arguments: impl Arguments<Signature>,
) -> PreparedLaunch {
    PreparedLaunch {
        kernel: KernelReference::Declared(kernel.declaration()),
        config,
        arguments: arguments.bits(),
    }
}

impl dyn Device {
    /// Launches and waits.
    pub fn launch<Signature>(
        &self,
        kernel: Kernel<Signature>,
        config: LaunchConfig,
        arguments: impl Arguments<Signature>,
    ) -> Result<()> {
        self.launch_prepared(&prepare(kernel, config, arguments))
    }
}
