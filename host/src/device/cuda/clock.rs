//! The SM clock over a sample, from the SMs' own counters.

use std::ffi::c_void;

use cust::{
    memory::{CopyDestination, DeviceBuffer},
    module::Module,
    stream::Stream,
};
use driver::Driver;

use super::{failure::cust_failed, modules::compile};
use crate::device::Result;

/// Each block notes `%clock64` and `%globaltimer` in its SM's slot.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry warplab_read_clocks(.param .u64 out, .param .u32 slots)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [slots];
    mov.u32 %r2, %smid;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r2, 16;
    add.s64 %rd1, %rd1, %rd2;
    mov.u64 %rd3, %clock64;
    mov.u64 %rd4, %globaltimer;
    st.global.v2.u64 [%rd1], {%rd3, %rd4};
    ret;
}
";

/// The shortest time between the readings that tells a clock: `%globaltimer` advances in steps of
/// up to 1 us, so that the error stays within 2 %.
const SHORTEST_NANOSECONDS: u64 = 50_000;

/// Reads every SM's counters before and after a sample.
pub(super) struct ClockProbe {
    module: Module,
    /// Two readings of (cycles, nanoseconds) per SM; zero where no block ran.
    readings: DeviceBuffer<u64>,
    sms: u32,
}

impl ClockProbe {
    /// A probe for a device with so many SMs.
    pub(super) fn new(driver: &Driver, sms: u32) -> Result<Self> {
        let readings = DeviceBuffer::zeroed(4 * sms as usize)
            .map_err(cust_failed("memory for the SM clock's readings"))?;
        Ok(Self {
            module: compile(driver, PTX)?,
            readings,
            sms,
        })
    }

    /// Queues the reading before the sample.
    pub(super) fn begin(&mut self, stream: &Stream) -> Result<()> {
        // SAFETY: zero bytes are a u64, and the buffer outlives the stream's work: `finish` waits.
        unsafe { self.readings.set_8_async(0, stream) }
            .map_err(cust_failed("resetting the SM clock's readings"))?;
        self.read(0, stream)
    }

    /// Queues the reading after the sample.
    pub(super) fn end(&self, stream: &Stream) -> Result<()> {
        self.read(1, stream)
    }

    fn read(&self, which: u64, stream: &Stream) -> Result<()> {
        let function = self
            .module
            .get_function("warplab_read_clocks")
            .map_err(cust_failed("the kernel that reads the SM clock"))?;
        let half = u64::from(self.sms) * 16;
        let mut out = self.readings.as_device_ptr().as_raw() + which * half;
        let mut slots = self.sms;
        let arguments = [
            (&raw mut out).cast::<c_void>(),
            (&raw mut slots).cast::<c_void>(),
        ];
        // An idle GPU spreads one-thread blocks over all SMs, one on each.
        // SAFETY: the arguments are the kernel's; it writes 16 bytes in each of `slots` slots.
        unsafe { stream.launch(&function, self.sms, 1, 0, &arguments) }
            .map_err(cust_failed("reading the SM clock"))
    }

    /// Waits, and gives the mean clock in kHz over the SMs that both readings reached; `None` if
    /// too little time passed between them to tell.
    pub(super) fn finish(&self, stream: &Stream) -> Result<Option<u32>> {
        stream
            .synchronize()
            .map_err(cust_failed("reading the SM clock"))?;
        let mut readings = vec![0; self.readings.len()];
        self.readings
            .copy_to(&mut readings[..])
            .map_err(cust_failed("reading the SM clock"))?;
        Ok(clock_khz(&readings))
    }
}

/// The mean clock in kHz from the readings before, then after, of (cycles, nanoseconds) per SM.
fn clock_khz(readings: &[u64]) -> Option<u32> {
    let (before, after) = readings.split_at(readings.len() / 2);
    let clocks: Vec<f64> = before
        .chunks_exact(2)
        .zip(after.chunks_exact(2))
        .filter(|(before, after)| before[1] != 0 && after[1] != 0)
        .filter_map(|(before, after)| {
            let nanoseconds = after[1].checked_sub(before[1])?;
            let cycles = after[0].checked_sub(before[0])?;
            (nanoseconds >= SHORTEST_NANOSECONDS).then(|| cycles as f64 / nanoseconds as f64 * 1e6)
        })
        .collect();
    let mean = clocks.iter().sum::<f64>() / clocks.len() as f64;
    (!clocks.is_empty()).then_some(mean.round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_mean_over_sms_read_twice() {
        // Before: SM 0, 1 and 2; after: SM 0 and 1, and SM 2 was not reached.
        let readings = [
            1_000, 5_000, 7_000, 5_000, 9_000, 5_000, //
            201_000, 105_000, 187_000, 105_000, 0, 0,
        ];
        assert_eq!(clock_khz(&readings), Some(1_900_000));
    }

    #[test]
    fn short_samples_and_unread_sms_tell_no_clock() {
        assert_eq!(clock_khz(&[1_000, 5_000, 50_000, 54_999]), None);
        assert_eq!(clock_khz(&[1_000, 5_000, 51_000, 55_000]), Some(1_000_000));
        assert_eq!(clock_khz(&[0, 0, 200_000, 105_000]), None);
        assert_eq!(clock_khz(&[]), None);
    }
}
