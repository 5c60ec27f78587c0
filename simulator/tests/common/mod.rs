//! Runs small kernels given as a body of PTX.

#![allow(dead_code, reason = "every test file uses its own part")]

use simulator::{LaunchError, Options, Simulator, chip::Chip};

/// A kernel `k(.param .u64 data)` around a body. `%data` holds the buffer's address, `%tid` and
/// `%ctaid` the indices, `%out` the address of this thread's 32-bit word: declare other registers
/// in the body. `outside` stands before the entry.
pub(crate) fn kernel(outside: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n{outside}\n\
         .visible .entry k(.param .u64 k_data)\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<19>; .reg .f32 %f<9>; .reg .b64 %rd<9>;\n\
         .reg .b64 %data, %out; .reg .b32 %tid_, %ctaid_, %ntid_, %id;\n\
         ld.param.u64 %data, [k_data];\n\
         mov.u32 %tid_, %tid.x; mov.u32 %ctaid_, %ctaid.x; mov.u32 %ntid_, %ntid.x;\n\
         mad.lo.u32 %id, %ctaid_, %ntid_, %tid_;\n\
         mul.wide.u32 %out, %id, 4; add.u64 %out, %out, %data;\n\
         {body}\n}}\n"
    )
}

/// A launch of such a kernel over `grid` x `block` threads with a zeroed buffer of `words` words.
pub(crate) struct Run<'a> {
    pub(crate) ptx: &'a str,
    pub(crate) grid: u32,
    pub(crate) block: u32,
    pub(crate) words: usize,
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) cooperative: bool,
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) options: Options,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            ptx: "",
            grid: 1,
            block: 32,
            words: 64,
            dynamic_shared_bytes: 0,
            cooperative: false,
            cluster: None,
            options: Options::default(),
        }
    }
}

impl Run<'_> {
    /// The buffer after the launch, and the modelled time.
    pub(crate) fn timed(&self) -> Result<(Vec<u32>, Option<f64>), LaunchError> {
        let mut simulator = Simulator::new(Chip::named("h200").unwrap().clone(), self.options);
        let module = simulator
            .load(self.ptx)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.ptx));
        let bytes = 4 * self.words as u64;
        let data = simulator.memory().allocate(bytes, "data").unwrap();
        simulator.memory().fill(data, bytes, 0).unwrap();
        let report = simulator.launch(
            module,
            &simulator::Launch {
                kernel: "k",
                grid: [self.grid, 1, 1],
                block: [self.block, 1, 1],
                dynamic_shared_bytes: self.dynamic_shared_bytes,
                cooperative: self.cooperative,
                cluster: self.cluster,
                parameters: &data.to_le_bytes(),
            },
        )?;
        let mut bytes = vec![0; bytes as usize];
        simulator.memory().read(data, &mut bytes).unwrap();
        let words = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        Ok((words.collect(), report.nanoseconds))
    }

    /// The buffer after the launch; the same with and without timing.
    pub(crate) fn words(&self) -> Result<Vec<u32>, LaunchError> {
        let (words, _) = self.timed()?;
        let untimed = Run {
            options: Options {
                timing: false,
                ..self.options
            },
            ..*self
        };
        assert_eq!(untimed.timed()?.0, words, "timing changes the result");
        Ok(words)
    }

    /// The message of the fault that must stop the launch, with and without timing.
    pub(crate) fn fault(&self) -> String {
        let untimed = Run {
            options: Options {
                timing: false,
                ..self.options
            },
            ..*self
        };
        let texts = [self.timed(), untimed.timed()].map(|result| match result {
            Err(LaunchError::Fault(fault)) => fault.to_string(),
            Err(other) => panic!("not a fault: {other}"),
            Ok((words, _)) => panic!("no fault: {words:?}"),
        });
        assert_eq!(texts[0].lines().next(), texts[1].lines().next());
        texts.into_iter().next().unwrap()
    }
}
