//! Global memory: allocations that never share or reuse an address.

use std::cell::Cell;

use super::bytes::Bytes;
use crate::{fault::FaultKind, program::GLOBAL_BASE};

/// A failed allocation or copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// More than is free; both in bytes.
    #[error("{required} bytes are required and {available} are free")]
    OutOfMemory {
        /// Bytes asked for.
        required: u64,
        /// Bytes free.
        available: u64,
    },
    /// A range that is not inside one live allocation.
    #[error("{0}")]
    Invalid(String),
}

/// Allocations start at multiples of this, as cudaMalloc's do at the least.
const ALIGNMENT: u64 = 512;

#[derive(Debug)]
struct Allocation {
    base: u64,
    bytes: u64,
    label: String,
    /// `None` once freed: the address range stays known, so that a later access is explained.
    data: Option<Bytes>,
}

impl Allocation {
    fn describe(&self) -> String {
        let state = if self.data.is_some() { "" } else { ", freed" };
        format!(
            "{} ({} bytes at {:#x}{state})",
            self.label, self.bytes, self.base
        )
    }
}

/// The device's global memory.
#[derive(Debug)]
pub struct Memory {
    /// In ascending order of address.
    allocations: Vec<Allocation>,
    next: u64,
    capacity: u64,
    used: u64,
    tracked: bool,
    /// Where the last access was found; most accesses follow one to the same allocation.
    recent: Cell<usize>,
}

/// Where an access lies: index of the allocation and byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located {
    allocation: usize,
    offset: usize,
}

impl Memory {
    pub(crate) fn new(capacity: u64, tracked: bool) -> Self {
        Self {
            allocations: Vec::new(),
            next: GLOBAL_BASE,
            capacity,
            used: 0,
            tracked,
            recent: Cell::new(0),
        }
    }

    /// Allocates uninitialised memory aligned to 512 bytes; `label` names it in faults.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`]; nothing is allocated then.
    pub fn allocate(&mut self, bytes: u64, label: &str) -> Result<u64, MemoryError> {
        let available = self.free_bytes();
        if bytes > available {
            return Err(MemoryError::OutOfMemory {
                required: bytes,
                available,
            });
        }
        let base = self.next;
        // At least one unused unit between neighbours: running off an end is always seen.
        self.next = (base + bytes).next_multiple_of(ALIGNMENT) + ALIGNMENT;
        self.used += bytes;
        let data = Some(Bytes::new(bytes as usize, self.tracked));
        self.allocations.push(Allocation {
            base,
            bytes,
            label: label.to_owned(),
            data,
        });
        Ok(base)
    }

    /// Frees an allocation; later accesses are use-after-free.
    ///
    /// # Errors
    /// The address is not the start of a live allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let found = self
            .allocations
            .binary_search_by_key(&address, |allocation| allocation.base);
        match found.ok().map(|index| &mut self.allocations[index]) {
            Some(allocation) if allocation.data.is_some() => {
                allocation.data = None;
                self.used -= allocation.bytes;
                Ok(())
            }
            Some(allocation) => Err(MemoryError::Invalid(format!(
                "freed twice: {}",
                allocation.describe()
            ))),
            None => Err(MemoryError::Invalid(format!(
                "free of {address:#x}, which is not the start of an allocation"
            ))),
        }
    }

    /// Copies in.
    ///
    /// # Errors
    /// The range is not inside one live allocation.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        if !data.is_empty() {
            let at = self.host_range(address, data.len() as u64, true)?;
            self.slice_mut(at, data.len()).copy_from_slice(data);
        }
        Ok(())
    }

    /// Copies out. Bytes that nothing wrote read as 0.
    ///
    /// # Errors
    /// The range is not inside one live allocation.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        if !data.is_empty() {
            let at = self.host_range(address, data.len() as u64, false)?;
            data.copy_from_slice(self.slice(at, data.len()));
        }
        Ok(())
    }

    /// Sets every byte.
    ///
    /// # Errors
    /// The range is not inside one live allocation.
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        if bytes != 0 {
            let at = self.host_range(address, bytes, true)?;
            self.slice_mut(at, bytes as usize).fill(value);
        }
        Ok(())
    }

    /// Bytes still free.
    pub fn free_bytes(&self) -> u64 {
        self.capacity - self.used
    }

    fn host_range(&self, address: u64, bytes: u64, write: bool) -> Result<Located, MemoryError> {
        self.locate(address, bytes, write)
            .map_err(|kind| MemoryError::Invalid(kind.to_string()))
    }

    /// Finds the live allocation that holds a range.
    pub(crate) fn locate(
        &self,
        address: u64,
        bytes: u64,
        write: bool,
    ) -> Result<Located, FaultKind> {
        let recent = self.recent.get();
        if let Some(located) = self.within(recent, address, bytes) {
            return Ok(located);
        }
        let after = self
            .allocations
            .partition_point(|allocation| allocation.base <= address);
        if after > 0 {
            if let Some(located) = self.within(after - 1, address, bytes) {
                self.recent.set(after - 1);
                return Ok(located);
            }
            let allocation = &self.allocations[after - 1];
            if allocation.data.is_none() && address < allocation.base + allocation.bytes {
                let allocation = allocation.describe();
                return Err(FaultKind::UseAfterFree {
                    write,
                    address,
                    bytes,
                    allocation,
                });
            }
        }
        let nearest = self.nearest(address, bytes);
        Err(FaultKind::OutOfBounds {
            space: "global",
            write,
            address,
            bytes,
            nearest,
        })
    }

    fn within(&self, index: usize, address: u64, bytes: u64) -> Option<Located> {
        let allocation = self.allocations.get(index)?;
        let offset = address.checked_sub(allocation.base)?;
        let inside = offset.checked_add(bytes)? <= allocation.bytes && allocation.data.is_some();
        inside.then_some(Located {
            allocation: index,
            offset: offset as usize,
        })
    }

    /// Says how a range lies to the nearest allocation.
    pub(crate) fn nearest(&self, address: u64, bytes: u64) -> String {
        let distance = |allocation: &&Allocation| {
            let end = allocation.base + allocation.bytes;
            allocation
                .base
                .saturating_sub(address)
                .max(address.saturating_sub(end))
        };
        let Some(allocation) = self.allocations.iter().min_by_key(distance) else {
            return "nothing is allocated".to_owned();
        };
        let end = allocation.base + allocation.bytes;
        let relation = if address < allocation.base {
            format!("{} bytes before", allocation.base - address)
        } else if address >= end {
            format!("{} bytes after the end of", address - end)
        } else if address.saturating_add(bytes) > end {
            format!("from byte {} over the end of", address - allocation.base)
        } else {
            format!("at byte {} of", address - allocation.base)
        };
        format!("{relation} {}", allocation.describe())
    }

    pub(crate) fn bytes(&self, at: Located) -> &Bytes {
        self.allocations[at.allocation]
            .data
            .as_ref()
            .expect("located allocations are live")
    }

    pub(crate) fn bytes_mut(&mut self, at: Located) -> &mut Bytes {
        self.allocations[at.allocation]
            .data
            .as_mut()
            .expect("located allocations are live")
    }

    pub(crate) fn slice(&self, at: Located, bytes: usize) -> &[u8] {
        self.bytes(at).slice(at.offset, bytes)
    }

    pub(crate) fn slice_mut(&mut self, at: Located, bytes: usize) -> &mut [u8] {
        self.bytes_mut(at).slice_mut(at.offset, bytes)
    }

    /// Address of the first byte of a located range that nothing has written.
    pub(crate) fn first_unwritten(&self, at: Located, bytes: usize) -> Option<u64> {
        let position = self.bytes(at).first_unwritten(at.offset, bytes)?;
        Some(self.allocations[at.allocation].base + position as u64)
    }
}

impl Located {
    pub(crate) fn offset(self) -> usize {
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_where_an_access_went() {
        let mut memory = Memory::new(1 << 20, true);
        let a = memory.allocate(100, "a").unwrap();
        let b = memory.allocate(100, "b").unwrap();
        assert!(b >= a + 100 + ALIGNMENT);
        let text = |result: Result<Located, FaultKind>| result.unwrap_err().to_string();
        assert!(text(memory.locate(a + 98, 4, true)).contains("from byte 98 over the end of a"));
        assert!(text(memory.locate(a + 100, 4, false)).contains("0 bytes after the end of a"));
        assert!(text(memory.locate(b - 4, 4, false)).contains("4 bytes before b"));
        assert!(text(memory.locate(u64::MAX - 1, 4, false)).contains("out of bounds"));
        memory.free(a).unwrap();
        assert!(text(memory.locate(a, 4, false)).contains("after free: a (100 bytes"));
        assert!(
            memory
                .free(a)
                .unwrap_err()
                .to_string()
                .contains("freed twice: a")
        );
        assert!(
            memory
                .free(b + 1)
                .unwrap_err()
                .to_string()
                .contains("not the start")
        );
    }

    #[test]
    fn capacity_is_kept_and_given_back() {
        let mut memory = Memory::new(1000, true);
        let a = memory.allocate(600, "a").unwrap();
        assert_eq!(
            memory.allocate(600, "b"),
            Err(MemoryError::OutOfMemory {
                required: 600,
                available: 400
            })
        );
        memory.free(a).unwrap();
        assert_eq!(memory.free_bytes(), 1000);
        assert!(memory.allocate(0, "empty").is_ok());
    }

    #[test]
    fn copies_round_trip_and_mark() {
        let mut memory = Memory::new(1000, true);
        let a = memory.allocate(8, "a").unwrap();
        memory.write(a + 2, &[1, 2, 3]).unwrap();
        let at = memory.locate(a, 8, false).unwrap();
        assert_eq!(memory.first_unwritten(at, 8), Some(a));
        let mut back = [9; 8];
        memory.read(a, &mut back).unwrap();
        assert_eq!(back, [0, 0, 1, 2, 3, 0, 0, 0]);
        memory.fill(a, 8, 7).unwrap();
        assert_eq!(memory.first_unwritten(at, 8), None);
        assert!(memory.write(a, &[0; 9]).is_err());
    }
}
