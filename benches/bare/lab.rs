//! The lab's side.

use std::error::Error;
use std::time::Instant;

use vklab::device::{Kernel, KernelId};
use vklab::memory::{Access, Bound, Dispatch, Handle, Ledger, LedgerOptions};
use vklab::tensor::Dtype;
use vklab::vulkan::{self, Found, OpenOptions};

use super::{BUFFERS, Barriers, DISPATCHES, LEN, Round, Work};

pub(crate) struct Lab {
    ledger: Ledger,
    kernel: KernelId,
    buffers: Vec<Handle>,
    bindings: Vec<[Bound; 2]>,
}

impl Lab {
    pub(crate) fn open(found: &Found, work: &Work) -> Result<Self, Box<dyn Error>> {
        let device = vulkan::open(found, &OpenOptions::default())?;
        let mut ledger = Ledger::new(Box::new(device), LedgerOptions::default());
        let kernel = ledger.load(&Kernel {
            name: "step.comp".to_owned(),
            optimized: work.spirv.clone(),
            debug: Vec::new(),
            entry: "main".to_owned(),
            bindings: vec![(0, 0), (0, 1)],
            push_bytes: u32::try_from(work.push.len())?,
            spec: Vec::new(),
            subgroup_size: None,
            capabilities: Vec::new(),
        })?;
        let buffers = (0..BUFFERS)
            .map(|number| ledger.allocate(&ledger.request(&format!("x{number}"), Dtype::F32, LEN)))
            .collect::<Result<Vec<_>, _>>()?;
        let bindings = (0..BUFFERS)
            .map(|at| {
                let [x, y] = [buffers[at], buffers[(at + 1) % BUFFERS]];
                let bound = |binding, handle, access| Bound { set: 0, binding, handle, access };
                [bound(0, x, Access::Read), bound(1, y, Access::Write)]
            })
            .collect();
        let mut recorder = ledger.recorder();
        for buffer in &buffers {
            recorder.fill(*buffer, 0)?;
        }
        let recorded = recorder.finish();
        let in_flight = ledger.submit(&recorded)?;
        ledger.wait(in_flight)?;
        Ok(Self { ledger, kernel, buffers, bindings })
    }

    pub(crate) fn round(
        &mut self,
        work: &Work,
        barriers: Barriers,
    ) -> Result<Round, Box<dyn Error>> {
        let begin = Instant::now();
        let mut recorder = self.ledger.recorder();
        for bindings in self.bindings.iter().cycle().take(DISPATCHES) {
            recorder.dispatch(&Dispatch {
                kernel: self.kernel,
                bindings,
                push: &work.push,
                groups: work.groups,
            })?;
            if barriers == Barriers::Each {
                recorder.barrier();
            }
        }
        let recorded = recorder.finish();
        let in_flight = self.ledger.submit(&recorded)?;
        let host = begin.elapsed();
        let finished = self.ledger.wait(in_flight)?;
        let all = begin.elapsed();
        match finished.findings.first() {
            None => Ok(Round { host, all }),
            Some(finding) => Err(finding.to_string().into()),
        }
    }

    pub(crate) fn first_buffer(&mut self) -> Result<Vec<f32>, Box<dyn Error>> {
        let mut recorder = self.ledger.recorder();
        recorder.download(self.buffers[0])?;
        let recorded = recorder.finish();
        let in_flight = self.ledger.submit(&recorded)?;
        let finished = self.ledger.wait(in_flight)?;
        Ok(finished.downloads[0]
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect())
    }
}
