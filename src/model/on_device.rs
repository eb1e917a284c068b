//! A tape executed by kernels: one recording a step, its buffers in the session's ledger.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Machine, Operands};
use super::swap::Way;
use super::tape::{Life, Node, Tape, TensorId};
use crate::check::{CheckError, Placed, Session, Staged, exact_buffers};
use crate::memory::{Access, Guard, Handle, MemoryFinding};
use crate::ops::{Plan, Role, Target, Variant};
use crate::tensor::Dtype;

/// Executes a tape on the session's device. The buffers live as long as this does.
pub struct OnDevice<'a> {
    session: &'a mut Session,
    tape: &'a Tape,
    ways: Vec<Way>,
    operands: Vec<Operands>,
    handles: Vec<Handle>,
    /// Buffers between the steps of each node's plan.
    scratch: Vec<BTreeMap<String, Placed>>,
    /// Uploads that the next recording begins with.
    pending: BTreeMap<TensorId, Vec<u8>>,
    step: u32,
    findings: Vec<MemoryFinding>,
    messages: Vec<String>,
}

impl<'a> OnDevice<'a> {
    /// Allocates every tensor and every plan's scratch, full of poison.
    ///
    /// # Errors
    /// A variant without a plan for this device, kernels that don't build, out of memory.
    pub fn new(
        session: &'a mut Session,
        tape: &'a Tape,
        ways: Vec<Way>,
    ) -> Result<Self, CheckError> {
        let mut exact = BTreeSet::new();
        let mut plans = Vec::new();
        for (node, way) in tape.nodes().iter().zip(&ways) {
            let plan = match way {
                Way::Kernels(variant) => plan(session, node, variant, 1)?,
                Way::Reference => Plan::empty(),
            };
            for name in exact_buffers(session, &plan)? {
                exact.extend(node.tensor(&name));
            }
            plans.push(plan);
        }
        let operands = tape.nodes().iter().map(Operands::of).collect();
        let mut machine = Self {
            session,
            tape,
            ways,
            operands,
            handles: Vec::new(),
            scratch: Vec::new(),
            pending: BTreeMap::new(),
            step: 0,
            findings: Vec::new(),
            messages: Vec::new(),
        };
        for (at, tensor) in tape.tensors().iter().enumerate() {
            let is_exact = exact.contains(&TensorId(at));
            let handle = machine.allocate(&tensor.name, tensor.dtype, tensor.len(), is_exact)?;
            machine.handles.push(handle);
        }
        for plan in &plans {
            let exact = exact_buffers(machine.session, plan)?;
            machine.scratch.push(BTreeMap::new());
            for scratch in &plan.scratch {
                let is_exact = exact.iter().any(|name| scratch.name == *name);
                let handle =
                    machine.allocate(&scratch.name, scratch.dtype, scratch.len, is_exact)?;
                let placed = Placed { handle, access: Access::ReadWrite, dtype: scratch.dtype };
                if let Some(last) = machine.scratch.last_mut() {
                    last.insert(scratch.name.to_string(), placed);
                }
            }
        }
        Ok(machine)
    }

    /// Frees the buffers; returns what the ledger saw and the messages of the validation layer.
    #[must_use]
    pub fn close(mut self) -> (Vec<MemoryFinding>, Vec<String>) {
        (std::mem::take(&mut self.findings), std::mem::take(&mut self.messages))
    }

    fn allocate(
        &mut self,
        name: &str,
        dtype: Dtype,
        len: usize,
        is_exact: bool,
    ) -> Result<Handle, CheckError> {
        let ledger = self.session.ledger_mut();
        let mut request = ledger.request(name, dtype, len);
        if is_exact {
            request.guard = Guard::Exact;
        }
        Ok(ledger.allocate(&request)?)
    }

    /// The kernels of every node in this step; nothing for one that the reference computes.
    fn stage(&mut self) -> Result<Vec<Option<Staged>>, CheckError> {
        let mut staged = Vec::with_capacity(self.ways.len());
        for (at, node) in self.tape.nodes().iter().enumerate() {
            let Way::Kernels(variant) = self.ways[at] else {
                staged.push(None);
                continue;
            };
            let plan = plan(self.session, node, variant, self.step)?;
            let mut buffers = self.scratch[at].clone();
            buffers.extend(node.bound.iter().map(|(name, id)| {
                let access = match node.role(name) {
                    Role::In => Access::Read,
                    Role::Out => Access::Write,
                    Role::InOut => Access::ReadWrite,
                };
                let dtype = self.tape.declared(*id).dtype;
                (name.clone(), Placed { handle: self.handles[id.0], access, dtype })
            }));
            staged.push(Some(Staged::new(self.session, &plan, &buffers)?));
        }
        Ok(staged)
    }

    /// What every step begins with: nothing left over from the one before.
    fn temporaries(&self) -> Vec<Handle> {
        let declared = self.tape.tensors().iter().zip(&self.handles);
        declared.filter(|(t, _)| t.life == Life::Temporary).map(|(_, handle)| *handle).collect()
    }

    /// Submits the nodes in one go, brings back `wanted`. The first recording of a step undefines
    /// the temporaries, the last asks that all of them were written.
    fn submit(
        &mut self,
        staged: &[Option<Staged>],
        wanted: &[TensorId],
        part: Part,
    ) -> Result<Vec<Vec<u8>>, CheckError> {
        let temporaries = self.temporaries();
        let pending = std::mem::take(&mut self.pending);
        let ledger = self.session.ledger_mut();
        let mut recorder = ledger.recorder();
        if part.is_first {
            let scratch = self.scratch.iter().flat_map(BTreeMap::values).map(|s| s.handle);
            for handle in temporaries.iter().copied().chain(scratch) {
                recorder.undefine(handle)?;
            }
        }
        for (id, bytes) in &pending {
            recorder.upload(self.handles[id.0], bytes)?;
        }
        recorder.barrier();
        for staged in staged.iter().flatten() {
            staged.record(&mut recorder)?;
            recorder.barrier();
        }
        for id in wanted {
            recorder.download(self.handles[id.0])?;
        }
        if part.is_last {
            for handle in temporaries {
                recorder.expect_written(handle)?;
            }
        }
        let recorded = recorder.finish();
        let in_flight = ledger.submit(&recorded)?;
        let finished = ledger.wait(in_flight)?;
        self.findings.extend(finished.findings);
        self.messages.extend(finished.messages);
        Ok(finished.downloads)
    }

    fn download(&self, wanted: &[TensorId], bytes: &[Vec<u8>]) -> Vec<Vec<f64>> {
        let dtype = |id: &TensorId| self.tape.declared(*id).dtype;
        wanted.iter().zip(bytes).map(|(id, bytes)| dtype(id).decode(bytes)).collect()
    }

    /// Computes a node from what came back and leaves its results to be uploaded.
    fn on_host(&mut self, at: usize, read: &[TensorId], bytes: &[Vec<u8>]) {
        let values: BTreeMap<TensorId, Vec<f64>> =
            read.iter().copied().zip(self.download(read, bytes)).collect();
        let operands = &self.operands[at];
        let contents = |id| values.get(&id).cloned().unwrap_or_default();
        let results = operands.evaluate::<f64>(&self.tape.nodes()[at], self.step, contents);
        for (id, result) in operands.results.clone().into_iter().zip(results) {
            self.set(id, &result);
        }
    }
}

/// Where a recording stands in its step.
#[derive(Clone, Copy)]
struct Part {
    is_first: bool,
    is_last: bool,
}

impl Machine for OnDevice<'_> {
    type Error = CheckError;

    fn set(&mut self, tensor: TensorId, values: &[f64]) {
        let bytes = self.tape.declared(tensor).dtype.encode(values);
        self.pending.insert(tensor, bytes);
    }

    fn step(
        &mut self,
        inputs: &[(TensorId, &[f64])],
        wanted: &[TensorId],
    ) -> Result<Vec<Vec<f64>>, CheckError> {
        self.step += 1;
        for (tensor, values) in inputs {
            self.set(*tensor, values);
        }
        let staged = self.stage()?;
        let mut from = 0;
        while let Some(host) = (from..staged.len()).find(|at| staged[*at].is_none()) {
            let read = self.operands[host].read();
            let part = Part { is_first: from == 0, is_last: false };
            let bytes = self.submit(&staged[from..host], &read, part)?;
            self.on_host(host, &read, &bytes);
            from = host + 1;
        }
        let part = Part { is_first: from == 0, is_last: true };
        let bytes = self.submit(&staged[from..], wanted, part)?;
        Ok(self.download(wanted, &bytes))
    }
}

impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        let scratch = self.scratch.iter().flat_map(BTreeMap::values).map(|placed| placed.handle);
        for handle in self.handles.iter().copied().chain(scratch) {
            // Only a lost device refuses, and whoever used it was told so.
            let _ = self.session.ledger_mut().free(handle);
        }
    }
}

fn plan(session: &Session, node: &Node, variant: &Variant, step: u32) -> Result<Plan, CheckError> {
    let limits = session.info().limits;
    let target = Target { limits: &limits, workgroup: variant.workgroups[0] };
    let attributes = node.attributes_at(step);
    debug_assert_eq!(variant.pass, node.pass, "{}", variant.name);
    Ok((variant.plan)(&node.problem(&attributes), &target)?)
}
