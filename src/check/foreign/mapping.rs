//! `truth.map`: which buffers of an op a kernel file has, and whether they are enough.

use crate::kernel_file::{Buffer, BufferRole, Instance, OpTruth, Truth};
use crate::ops::{Gradient, Op, Operand, Pass, Problem};
use crate::tensor::Dtype;

use super::super::CheckError;
use super::Foreign;

impl Foreign {
    /// The op that its truth names.
    pub(crate) fn op_name(&self) -> Option<&'static str> {
        self.op.map(|op| op.name)
    }

    /// Whether it computes a gradient of the other file's op.
    pub(crate) fn is_vjp_of(&self, forward: &Self) -> bool {
        let truth = self.first().ok().map(|first| first.truth);
        let is_vjp = matches!(truth, Some(Truth::Op(truth)) if truth.pass == Pass::Vjp);
        is_vjp && self.op_name() == forward.op_name()
    }

    /// The gradients of the operands that it maps which none of these files gives.
    pub(crate) fn missing_gradients(&self, vjps: &[&Self]) -> Vec<String> {
        let Some(op) = self.op else { return Vec::new() };
        let mine = self.mapped_names();
        let given: Vec<String> = vjps.iter().flat_map(|file| file.mapped_names()).collect();
        gradients(op)
            .filter(|operand| mine.iter().any(|name| name == operand.name))
            .map(gradient_name)
            .filter(|name| !given.contains(name))
            .collect()
    }

    /// The op's buffers that it has.
    fn mapped_names(&self) -> Vec<String> {
        let (Some(op), Ok(first)) = (self.op, self.first()) else { return Vec::new() };
        let Truth::Op(truth) = &first.truth else { return Vec::new() };
        // One that doesn't fit was refused when the file was taken in.
        let mapped = mapped(self, op, truth, &first).unwrap_or_default();
        mapped.into_iter().map(|(name, _)| name).collect()
    }
}

fn gradient_name(operand: &Operand) -> String {
    format!("g{}", operand.name)
}

/// The operands that a VJP gives a gradient of.
fn gradients(op: &Op) -> impl Iterator<Item = &'static Operand> + use<> {
    op.operands.iter().filter(|o| o.is_read() && o.gradient != Gradient::None)
}

/// Names of the op's buffers with the file's buffers behind them.
pub(super) fn mapped<'i>(
    foreign: &Foreign,
    op: &Op,
    truth: &OpTruth,
    instance: &'i Instance,
) -> Result<Vec<(String, &'i Buffer)>, CheckError> {
    let outputs: Vec<&str> =
        op.operands.iter().filter(|o| o.is_written()).map(|o| o.name).collect();
    let known = buffer_names(op, truth.pass);
    let mut mapped: Vec<(String, &Buffer)> = Vec::new();
    for (operand, buffer) in &truth.map {
        let name = match outputs.as_slice() {
            [only] if operand == "out" && !known.contains(operand) => (*only).to_owned(),
            _ => operand.clone(),
        };
        if !known.contains(&name) {
            let known = known.join(", ");
            return Err(
                foreign.fault(format!("{} has no operand `{name}`; it has {known}", op.name))
            );
        }
        let found = instance.buffers.iter().find(|b| b.name == *buffer);
        let found =
            found.ok_or_else(|| foreign.fault(format!("truth.map: no buffer `{buffer}`")))?;
        if mapped.iter().any(|(_, b)| b.name == *buffer) {
            return Err(foreign.fault(format!("truth.map names `{buffer}` twice")));
        }
        if let Some((_, other)) = mapped.iter().find(|(known, _)| *known == name) {
            return Err(foreign.fault(format!(
                "truth.map gives `{name}` of {} two buffers, `{}` and `{buffer}`",
                op.name, other.name
            )));
        }
        mapped.push((name, found));
    }
    suffices(op, truth.pass, &|name| mapped.iter().any(|(known, _)| known == name))
        .map_err(|what| foreign.fault(format!("truth.map names {what}")))?;
    for (name, buffer) in &mapped {
        contract(op, truth.pass, name, buffer).map_err(|what| foreign.fault(what))?;
    }
    Ok(mapped)
}

/// Whether something is computed from everything that it takes; without a buffer that is written,
/// nothing would be compared.
///
/// # Errors
/// What the map names no buffer for.
fn suffices(op: &Op, pass: Pass, is_mapped: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let name = op.name;
    let written = || op.operands.iter().filter(|o| o.is_written());
    let (results, of): (Vec<String>, &str) = match pass {
        Pass::Forward => {
            let read = op.operands.iter().filter(|o| o.is_read()).map(|o| o.name);
            if let Some(missing) = read.into_iter().find(|operand| !is_mapped(operand)) {
                return Err(format!("no buffer for `{missing}` of {name}"));
            }
            (written().map(|o| o.name.to_owned()).collect(), "output")
        }
        Pass::Vjp => {
            let cotangents = written().filter(|o| o.gradient != Gradient::None);
            let missing = cotangents.map(|o| (gradient_name(o), o.name));
            if let Some((missing, of)) = missing.into_iter().find(|(c, _)| !is_mapped(c)) {
                return Err(format!(
                    "no buffer for `{missing}`, the cotangent of `{of}` of {name}"
                ));
            }
            (gradients(op).map(gradient_name).collect(), "gradient")
        }
    };
    if results.iter().any(|result| is_mapped(result)) {
        return Ok(());
    }
    let known: Vec<String> = results.iter().map(|result| format!("`{result}`")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!("no {of} of {name}; it has {known}"))
}

/// The buffers of an op's pass.
fn buffer_names(op: &Op, pass: Pass) -> Vec<String> {
    let operands = op.operands.iter().map(|o| o.name.to_owned());
    let gradients = op.operands.iter().filter(|o| o.gradient != Gradient::None);
    let gradients = gradients.map(|o| format!("g{}", o.name));
    match pass {
        Pass::Forward => operands.collect(),
        Pass::Vjp => operands.chain(gradients).collect(),
    }
}

/// Whether the file treats a buffer as the op does.
fn contract(op: &Op, pass: Pass, name: &str, buffer: &Buffer) -> Result<(), String> {
    let gradient_of = op.operands.iter().find(|o| o.is_read() && name == format!("g{}", o.name));
    let is_written = match pass {
        Pass::Forward => op.operands.iter().any(|o| o.name == name && o.is_written()),
        Pass::Vjp => gradient_of.is_some(),
    };
    let fits = match buffer.role {
        BufferRole::In => !is_written,
        BufferRole::Out => is_written,
        BufferRole::InOut => true,
        BufferRole::Scratch => false,
    };
    if !fits {
        let does = if is_written { "writes" } else { "reads" };
        return Err(format!(
            "{} {does} `{name}`, and the role of `{}` says otherwise",
            op.name, buffer.name
        ));
    }
    let adds = pass == Pass::Vjp && gradient_of.is_some_and(|o| o.gradient == Gradient::Add);
    if adds == buffer.accumulate {
        return Ok(());
    }
    let (does, says) =
        if adds { ("adds to", "accumulate = true") } else { ("overwrites", "no accumulate") };
    Err(format!(
        "{} {does} `{name}`, so `{}` needs {says}; else compare with truth.kernel",
        op.name, buffer.name
    ))
}

/// Lengths and types of the buffers against the op's operands.
pub(super) fn fits(
    foreign: &Foreign,
    problem: &Problem<'_>,
    mapped: &[(String, &Buffer)],
) -> Result<(), CheckError> {
    for (name, buffer) in mapped {
        let is_gradient = |o: &&Operand| *name == format!("g{}", o.name);
        let operands = problem.op.operands;
        let operand =
            operands.iter().find(|o| o.name == name).or(operands.iter().find(is_gradient));
        let Some(operand) = operand else { continue };
        let shape = (operand.shape)(problem);
        if shape.iter().product::<usize>() != buffer.len {
            let dims = problem.op.dims.iter().zip(problem.dims);
            let dims: Vec<String> = dims.map(|(dim, n)| format!("{} = {n}", dim.name)).collect();
            return Err(foreign.fault(format!(
                "`{}` holds {} elements, `{name}` of {} has the shape {shape:?} with {}; see truth.dims",
                buffer.name,
                buffer.len,
                problem.op.name,
                dims.join(", ")
            )));
        }
        let whole = operand.dtype.is_some_and(Dtype::is_integer);
        if whole != buffer.dtype.is_integer() {
            return Err(foreign.fault(format!(
                "`{}` is {}, and `{name}` of {} isn't",
                buffer.name, buffer.dtype, problem.op.name
            )));
        }
        if buffer.offset_bytes.is_some_and(|offset| offset > 0)
            || buffer.role == BufferRole::Scratch
        {
            return Err(
                foreign.fault(format!("an operand is a whole buffer, and `{}` isn't", buffer.name))
            );
        }
    }
    Ok(())
}
