//! A warp's registers.

use crate::program::{Lanes, Operand, WARP_SIZE};

use super::lanes;

/// 32-lane registers that know which of their lanes have been written.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    values: Vec<Lanes>,
    written: Vec<u32>,
}

impl Registers {
    /// Makes all of so many registers unwritten.
    pub(crate) fn reset(&mut self, count: u32) {
        self.values.resize(count as usize, [0; WARP_SIZE]);
        self.written.clear();
        self.written.resize(count as usize, 0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, register: u32) -> &Lanes {
        &self.values[register as usize]
    }

    /// The lanes of a register that have been written.
    #[inline]
    pub(crate) fn written(&self, register: u32) -> u32 {
        self.written[register as usize]
    }

    /// Writes a destination in the lanes of `mask`.
    #[inline]
    pub(crate) fn assign(&mut self, destination: Operand, mask: u32, value: &Lanes) {
        let Operand::Register(register) = destination else {
            return;
        };
        let target = &mut self.values[register as usize];
        if mask == u32::MAX {
            *target = *value;
        } else {
            for lane in lanes(mask) {
                target[lane] = value[lane];
            }
        }
        self.written[register as usize] |= mask;
    }
}
