//! Times on the GPU: graph replays (hot), single launches behind an overwritten L2 (cold), and
//! launches queued one by one (stream).

use std::{cell::RefCell, ffi::c_void, ptr, rc::Rc};

use cust::{
    event::{Event, EventFlags},
    function::Function,
};
use driver::api;

use super::{
    CudaDevice,
    clock::ClockProbe,
    failure::{cust_failed, failed, launch_failed},
    modules::{self, LoadedModule},
};
use crate::device::{PreparedLaunch, Result, Sample, Sampler, Sampling};

/// The stream is kept busy for so long before the start event, so that the host has queued
/// everything up to the end event by then. Otherwise the sample holds launch latency.
const LEAD_NANOSECONDS: f64 = 100_000.0;

/// A prepared sequence of launches.
pub(super) struct CudaSampler<'d> {
    device: &'d CudaDevice,
    sequence: Vec<PreparedLaunch>,
    work: Work<'d>,
    start: Event,
    end: Event,
    clock: &'d RefCell<ClockProbe>,
}

enum Work<'d> {
    Cold {
        /// How often the L2-sized buffer is overwritten.
        overwrites: u32,
    },
    Hot {
        graph: Graph<'d>,
        launches: u32,
        /// The last replay's time; unknown before the first.
        replay_nanoseconds: f64,
    },
    Stream {
        /// Looked up once, so that a launch is what the driver takes for it and little else.
        modules: Vec<Rc<LoadedModule>>,
        launches: u32,
    },
}

impl<'d> CudaSampler<'d> {
    /// Prepares sampling; the launches were validated, and there is one.
    pub(super) fn new(
        device: &'d CudaDevice,
        sequence: &[PreparedLaunch],
        sampling: Sampling,
    ) -> Result<Self> {
        let work = match sampling {
            Sampling::Cold => {
                device.l2_overwrite_buffer()?;
                Work::Cold {
                    overwrites: device.overwrites_for(LEAD_NANOSECONDS),
                }
            }
            Sampling::Hot { launches } => Work::Hot {
                graph: Graph::capture(device, sequence, launches)?,
                launches,
                replay_nanoseconds: 0.0,
            },
            Sampling::Stream { launches } => Work::Stream {
                modules: sequence
                    .iter()
                    .map(|launch| device.module(&launch.kernel))
                    .collect::<Result<_>>()?,
                launches,
            },
        };
        let event = || Event::new(EventFlags::DEFAULT).map_err(cust_failed("an event"));
        Ok(Self {
            device,
            sequence: sequence.to_vec(),
            work,
            start: event()?,
            end: event()?,
            clock: device.clock()?,
        })
    }
}

impl Sampler for CudaSampler<'_> {
    fn sample(&mut self) -> Result<Sample> {
        self.device.make_current()?;
        let stream = &self.device.stream;
        let record = |event: &Event| event.record(stream).map_err(cust_failed("an event"));
        // The first reading precedes the lead, so that even short samples span time enough.
        let mut clock = self.clock.borrow_mut();
        clock.begin(stream)?;
        // The driver does not say which launch of a sequence failed: the text names the last.
        let last = &self.sequence[self.sequence.len() - 1];
        let launches = match &self.work {
            Work::Cold { overwrites } => {
                for _ in 0..*overwrites {
                    self.device.overwrite_l2()?;
                }
                record(&self.start)?;
                for launch in &self.sequence {
                    self.device.enqueue(launch)?;
                }
                1
            }
            Work::Hot {
                graph,
                launches,
                replay_nanoseconds,
            } => {
                // A replay keeps the stream busy as well as an overwrite would, and the L2 hot.
                if *replay_nanoseconds < LEAD_NANOSECONDS * 10.0 {
                    graph.replay(last)?;
                }
                record(&self.start)?;
                graph.replay(last)?;
                *launches
            }
            Work::Stream { modules, launches } => {
                let functions = functions(modules, &self.sequence)?;
                // The readings of the clock are done with: the host's own pace shall count.
                stream.synchronize().map_err(cust_failed("a stream"))?;
                record(&self.start)?;
                for _ in 0..*launches {
                    for (function, launch) in functions.iter().zip(&self.sequence) {
                        self.device.enqueue_function(function, launch)?;
                    }
                }
                *launches
            }
        };
        record(&self.end)?;
        clock.end(stream)?;
        let failed = launch_failed(last);
        self.end
            .synchronize()
            .map_err(|error| failed(super::failure::status(error)))?;
        let milliseconds = self
            .end
            .elapsed_time_f32(&self.start)
            .map_err(cust_failed("the time between two events"))?;
        let nanoseconds = f64::from(milliseconds) * 1e6;
        if let Work::Hot {
            replay_nanoseconds, ..
        } = &mut self.work
        {
            *replay_nanoseconds = nanoseconds;
        }
        Ok(Sample {
            nanoseconds: nanoseconds / f64::from(launches),
            clock_khz: clock.finish(stream)?,
        })
    }
}

/// The kernels of a sequence, each from its module.
fn functions<'m>(
    modules: &'m [Rc<LoadedModule>],
    sequence: &[PreparedLaunch],
) -> Result<Vec<Function<'m>>> {
    sequence
        .iter()
        .zip(modules)
        .map(|(launch, module)| modules::function(module, &launch.kernel))
        .collect()
}

/// A graph of back-to-back launches, ready to be replayed.
struct Graph<'d> {
    device: &'d CudaDevice,
    executable: *mut c_void,
}

impl<'d> Graph<'d> {
    /// Records the sequence `times` times from the device's stream.
    fn capture(device: &'d CudaDevice, sequence: &[PreparedLaunch], times: u32) -> Result<Self> {
        device.make_current()?;
        // Outside the recording: looking up a kernel may load code, which a recording forbids.
        let modules = sequence
            .iter()
            .map(|launch| device.module(&launch.kernel))
            .collect::<Result<Vec<_>>>()?;
        let functions = functions(&modules, sequence)?;
        let stream = device.stream.as_inner().cast::<c_void>();
        let in_graph = |status| failed("recording a graph of launches", status);
        // SAFETY: the stream is the device's and is not being recorded.
        unsafe { api::cuStreamBeginCapture_v2(stream, api::CAPTURE_THREAD_LOCAL) }
            .map_err(in_graph)?;
        let queued = (0..times).try_for_each(|_| {
            functions
                .iter()
                .zip(sequence)
                .try_for_each(|(function, launch)| device.enqueue_function(function, launch))
        });
        let mut graph = ptr::null_mut();
        // The recording ends whatever happened in it, so that the stream can be used again.
        // SAFETY: the stream is being recorded.
        let ended = unsafe { api::cuStreamEndCapture(stream, &mut graph) };
        let instantiated = queued.and_then(|()| {
            ended.map_err(in_graph)?;
            let mut executable = ptr::null_mut();
            // SAFETY: the graph was just recorded.
            unsafe { api::cuGraphInstantiateWithFlags(&mut executable, graph, 0) }
                .map_err(in_graph)?;
            Ok(Self { device, executable })
        });
        if !graph.is_null() {
            // SAFETY: an executable graph does not need the graph it was made from. A failure
            // leaks it.
            let _ = unsafe { api::cuGraphDestroy(graph) };
        }
        let graph = instantiated?;
        // SAFETY: the executable graph and the stream belong to the device's context.
        unsafe { api::cuGraphUpload(graph.executable, stream) }.map_err(in_graph)?;
        Ok(graph)
    }

    /// Queues all its launches.
    fn replay(&self, launch: &PreparedLaunch) -> Result<()> {
        let stream = self.device.stream.as_inner().cast();
        // SAFETY: the executable graph and the stream belong to the device's context; the buffers
        // behind the launch's pointers are the caller's to keep, as in every launch.
        unsafe { api::cuGraphLaunch(self.executable, stream) }.map_err(launch_failed(launch))
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if self.device.make_current().is_ok() {
            // SAFETY: nothing refers to it any more. A failure leaks it.
            let _ = unsafe { api::cuGraphExecDestroy(self.executable) };
        }
    }
}
