//! Typed memory on a device.

use std::{marker::PhantomData, rc::Rc};

use bytemuck::Pod;

use super::{Device, Result};

/// Memory on a device for `len` values of `T`; freed on drop.
pub struct Buffer<T> {
    device: Rc<dyn Device>,
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.device.free_bytes(self.address);
    }
}

impl<T: Pod> Buffer<T> {
    /// Uninitialised memory for `len` values.
    pub fn new(device: &Rc<dyn Device>, len: usize) -> Result<Self> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let address = device.allocate_bytes(bytes)?;
        Ok(Self {
            device: Rc::clone(device),
            address,
            len,
            element: PhantomData,
        })
    }

    /// Memory with a copy of `values`.
    pub fn from_slice(device: &Rc<dyn Device>, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, values.len())?;
        device.write_bytes(buffer.address, bytemuck::cast_slice(values))?;
        Ok(buffer)
    }

    /// A copy of the contents.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); self.len];
        self.device
            .read_bytes(self.address, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Sets every byte, for example to poison an output.
    pub fn fill(&mut self, byte: u8) -> Result<()> {
        self.device
            .fill_bytes(self.address, (self.len * size_of::<T>()) as u64, byte)
    }
}

impl<T> Buffer<T> {
    /// Address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
