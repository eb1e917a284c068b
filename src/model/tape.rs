//! A tape: ops on named tensors, in order. Pure data; devices and references execute it alike.

use crate::ops::{Gradient, Op, Operand, Pass, Problem, Role};
use crate::tensor::Dtype;

/// A tensor of one tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(super) usize);

/// How long a tensor's contents live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Given anew in every step.
    Input,
    /// Set once, then kept from step to step: parameters, optimizer state, constants.
    State,
    /// Computed within a step and gone after it.
    Temporary,
}

/// A tensor as the tape declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Unique within the tape.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Shape.
    pub shape: Vec<usize>,
    /// How long its contents live.
    pub life: Life,
}

impl Declared {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether an axis has extent 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The value of an op's attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The same in every step.
    Fixed(f64),
    /// The number of the step, counted from 1.
    StepNumber,
}

/// One op of the tape, forward or VJP.
#[derive(Clone)]
pub struct Node {
    /// The op.
    pub op: &'static Op,
    /// What of it.
    pub pass: Pass,
    /// Extent of each of its dimensions.
    pub dims: Vec<usize>,
    /// Value of each of its attributes.
    pub attributes: Vec<Value>,
    /// Tensors by the names that plans bind: operands, and for a VJP `g` + operand.
    pub bound: Vec<(String, TensorId)>,
}

impl Node {
    /// The attributes in a step.
    #[must_use]
    pub fn attributes_at(&self, step: u32) -> Vec<f64> {
        let value = |value: &Value| match value {
            Value::Fixed(number) => *number,
            Value::StepNumber => f64::from(step),
        };
        self.attributes.iter().map(value).collect()
    }

    /// The tensor that a name binds.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<TensorId> {
        self.bound.iter().find(|(bound, _)| bound == name).map(|(_, id)| *id)
    }

    /// The op with what the node fills in; tapes compute in f32.
    #[must_use]
    pub fn problem<'a>(&'a self, attributes: &'a [f64]) -> Problem<'a> {
        Problem { op: self.op, dims: &self.dims, attributes, dtype: Dtype::F32, storage: &[] }
    }

    /// What the node does with each tensor that it binds.
    #[must_use]
    pub fn role(&self, name: &str) -> Role {
        let operand = |name: &str| self.op.operands.iter().find(|o| o.name == name);
        match (self.pass, operand(name)) {
            (Pass::Forward, Some(operand)) => operand.role,
            (Pass::Vjp, None) => match name.strip_prefix('g').and_then(operand) {
                Some(of) if of.role == Role::Out => Role::In,
                Some(of) if of.gradient == Gradient::Add => Role::InOut,
                _ => Role::Out,
            },
            _ => Role::In,
        }
    }
}

/// Tensors and the ops on them, in the order of execution.
#[derive(Clone, Default)]
pub struct Tape {
    tensors: Vec<Declared>,
    nodes: Vec<Node>,
    /// (tensor, its gradient).
    gradients: Vec<(TensorId, TensorId)>,
}

impl Tape {
    /// Every tensor; [`TensorId`]s count them.
    #[must_use]
    pub fn tensors(&self) -> &[Declared] {
        &self.tensors
    }

    /// Every op, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A tensor's declaration.
    #[must_use]
    pub fn declared(&self, id: TensorId) -> &Declared {
        &self.tensors[id.0]
    }

    /// The gradient of a tensor, after [`Tape::backward`].
    #[must_use]
    pub fn gradient(&self, of: TensorId) -> Option<TensorId> {
        self.gradients.iter().find(|(tensor, _)| *tensor == of).map(|(_, gradient)| *gradient)
    }

    /// Declares a tensor.
    pub fn declare(&mut self, name: &str, dtype: Dtype, shape: &[usize], life: Life) -> TensorId {
        self.tensors.push(Declared { name: name.to_owned(), dtype, shape: shape.to_vec(), life });
        TensorId(self.tensors.len() - 1)
    }

    /// Adds an op on `read`, one tensor for each operand that it reads in record order. What it
    /// writes gets temporaries called `result` and is returned; in-place operands are updated.
    /// Attributes that are not named have the record's default.
    ///
    /// # Panics
    /// When a tensor's shape is not that of its operand or an attribute is none of the op's: a
    /// fault of the model's file.
    pub fn push(
        &mut self,
        op: &'static Op,
        dims: &[usize],
        attributes: &[(&str, Value)],
        read: &[TensorId],
        result: &str,
    ) -> Vec<TensorId> {
        let known = |name: &str| op.attributes.iter().any(|a| a.name == name);
        assert!(attributes.iter().all(|(name, _)| known(name)), "{} lacks an attribute", op.name);
        let given = |name| attributes.iter().find(|(given, _)| *given == name).map(|(_, v)| *v);
        let mut node = Node {
            op,
            pass: Pass::Forward,
            dims: dims.to_vec(),
            attributes: op
                .attributes
                .iter()
                .map(|a| given(a.name).unwrap_or(Value::Fixed(a.values[0])))
                .collect(),
            bound: Vec::new(),
        };
        let first = node.attributes_at(1);
        let mut read = read.iter();
        let mut written = Vec::new();
        for operand in op.operands {
            let (dtype, shape) = {
                let problem = node.problem(&first);
                (problem.dtype_of(operand), (operand.shape)(&problem))
            };
            let id = if operand.is_read() {
                let id = *read.next().unwrap_or_else(|| panic!("{}: no {}", op.name, operand.name));
                let len: usize = shape.iter().product();
                assert_eq!(self.declared(id).len(), len, "{} of {}", operand.name, op.name);
                id
            } else {
                let id = self.declare(result, dtype, &shape, Life::Temporary);
                written.push(id);
                id
            };
            node.bound.push((operand.name.to_owned(), id));
        }
        self.nodes.push(node);
        written
    }

    /// Adds the VJPs of all ops so far, last first, from the cotangent of one result. Gradients are
    /// temporaries called `g` + tensor.
    ///
    /// # Panics
    /// When a tensor is read by two differentiable operands, whose gradients nothing here adds up.
    pub fn backward(&mut self, result: TensorId, cotangent: TensorId) {
        self.gradients.push((result, cotangent));
        for at in (0..self.nodes.len()).rev() {
            let forward = self.nodes[at].clone();
            let outputs = forward.op.operands.iter().filter(|o| o.role == Role::Out);
            let cotangents: Vec<(String, TensorId)> = outputs
                .filter_map(|o| Some((gradient_name(o), self.gradient(forward.tensor(o.name)?)?)))
                .collect();
            if cotangents.is_empty() {
                continue;
            }
            let mut bound = forward.bound.clone();
            bound.extend(cotangents);
            for operand in forward.op.operands {
                if operand.role == Role::Out || operand.gradient == Gradient::None {
                    continue;
                }
                let Some(of) = forward.tensor(operand.name) else { continue };
                let tensor = self.declared(of).clone();
                assert!(self.gradient(of).is_none(), "{} is read twice", tensor.name);
                let name = format!("g{}", tensor.name);
                let id = self.declare(&name, tensor.dtype, &tensor.shape, Life::Temporary);
                self.gradients.push((of, id));
                bound.push((gradient_name(operand), id));
            }
            self.nodes.push(Node { pass: Pass::Vjp, bound, ..forward });
        }
    }
}

fn gradient_name(operand: &Operand) -> String {
    format!("g{}", operand.name)
}
