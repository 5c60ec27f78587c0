//! What is allocated on a device, so that copies outside it are refused alike everywhere.

use std::collections::BTreeMap;

use super::{DeviceError, Result};

/// Live allocations by address, with their sizes in bytes.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    live: BTreeMap<u64, u64>,
}

impl Allocations {
    /// Adds an allocation.
    pub(super) fn insert(&mut self, address: u64, bytes: u64) {
        self.live.insert(address, bytes);
    }

    /// Removes an allocation; whether there was one at this address.
    pub(super) fn remove(&mut self, address: u64) -> bool {
        self.live.remove(&address).is_some()
    }

    /// All addresses.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.live.keys().copied()
    }

    /// Checks that a range lies in one allocation; an empty range does anywhere. `what` names the
    /// operation, for example `copy to the device`.
    pub(super) fn check(&self, what: &str, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let nearest = self.live.range(..=address).next_back();
        let inside = nearest.is_some_and(|(&start, &size)| {
            let offset = address - start;
            offset <= size && bytes <= size - offset
        });
        if inside {
            return Ok(());
        }
        let nearest = nearest.map_or_else(
            || "no allocation begins at or before it".to_owned(),
            |(start, size)| format!("the nearest allocation has {size} bytes at {start:#x}"),
        );
        Err(DeviceError::Failed(format!(
            "{what}: {bytes} bytes at {address:#x} are not inside one live allocation; {nearest}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_must_lie_in_one_live_allocation() {
        let mut allocations = Allocations::default();
        allocations.insert(0x1000, 256);
        allocations.insert(0x1100, 256);
        for (address, bytes, inside) in [
            (0x1000, 256, true),
            (0x10ff, 1, true),
            (0x1000, 257, false),
            (0x1200, 1, false),
            (0x0fff, 1, false),
            (0x1000, u64::MAX, false),
            (0x9999, 0, true),
        ] {
            let result = allocations.check("copy", address, bytes);
            assert_eq!(result.is_ok(), inside, "{bytes} bytes at {address:#x}");
        }
        assert!(allocations.remove(0x1000));
        assert!(!allocations.remove(0x1000));
        assert!(allocations.check("copy", 0x1000, 1).is_err());
    }
}
