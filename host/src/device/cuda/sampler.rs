//! Times on the GPU: graph replays (hot), single launches behind an overwritten L2 (cold), and
//! launches queued one by one (stream).

use std::{cell::RefCell, ffi::c_void, ptr, rc::Rc};

use cust::event::{Event, EventFlags};
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

/// A prepared series of launches.
pub(super) struct CudaSampler<'d> {
    device: &'d CudaDevice,
    launch: PreparedLaunch,
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
        module: Rc<LoadedModule>,
        launches: u32,
    },
}

impl<'d> CudaSampler<'d> {
    /// Prepares sampling; the launch was validated.
    pub(super) fn new(
        device: &'d CudaDevice,
        launch: &PreparedLaunch,
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
                graph: Graph::capture(device, launch, launches)?,
                launches,
                replay_nanoseconds: 0.0,
            },
            Sampling::Stream { launches } => Work::Stream {
                module: device.module(&launch.kernel)?,
                launches,
            },
        };
        let event = || Event::new(EventFlags::DEFAULT).map_err(cust_failed("an event"));
        Ok(Self {
            device,
            launch: launch.clone(),
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
        let launches = match &self.work {
            Work::Cold { overwrites } => {
                for _ in 0..*overwrites {
                    self.device.overwrite_l2()?;
                }
                record(&self.start)?;
                self.device.enqueue(&self.launch)?;
                1
            }
            Work::Hot {
                graph,
                launches,
                replay_nanoseconds,
            } => {
                // A replay keeps the stream busy as well as an overwrite would, and the L2 hot.
                if *replay_nanoseconds < LEAD_NANOSECONDS * 10.0 {
                    graph.replay(&self.launch)?;
                }
                record(&self.start)?;
                graph.replay(&self.launch)?;
                *launches
            }
            Work::Stream { module, launches } => {
                let function = modules::function(module, &self.launch.kernel)?;
                // The readings of the clock are done with: the host's own pace shall count.
                stream.synchronize().map_err(cust_failed("a stream"))?;
                record(&self.start)?;
                for _ in 0..*launches {
                    self.device.enqueue_function(&function, &self.launch)?;
                }
                *launches
            }
        };
        record(&self.end)?;
        clock.end(stream)?;
        let failed = launch_failed(&self.launch);
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

/// A graph of back-to-back launches, ready to be replayed.
struct Graph<'d> {
    device: &'d CudaDevice,
    executable: *mut c_void,
}

impl<'d> Graph<'d> {
    /// Records `launches` launches from the device's stream.
    fn capture(device: &'d CudaDevice, launch: &PreparedLaunch, launches: u32) -> Result<Self> {
        device.make_current()?;
        // Outside the recording: looking up a kernel may load code, which a recording forbids.
        let module = device.module(&launch.kernel)?;
        let function = modules::function(&module, &launch.kernel)?;
        let stream = device.stream.as_inner().cast::<c_void>();
        let in_graph = |status| failed("recording a graph of launches", status);
        // SAFETY: the stream is the device's and is not being recorded.
        unsafe { api::cuStreamBeginCapture_v2(stream, api::CAPTURE_THREAD_LOCAL) }
            .map_err(in_graph)?;
        let queued = (0..launches).try_for_each(|_| device.enqueue_function(&function, launch));
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
