//! The record: everything the lab knows about an op.

use super::{Need, Plan, Problem, Reference, Target, Unsupported};
use crate::numeric::Domain;
use crate::tensor::Dtype;

/// A mathematical operation. One file of `src/ops` holds one constant of this type.
#[derive(Clone, Copy)]
pub struct Op {
    /// Lower-case name, as in `vklab check NAME`.
    pub name: &'static str,
    /// The formula, one line of plain text.
    pub formula: &'static str,
    /// Named dimensions, the unit of cases and of shrinking.
    pub dims: &'static [Dim],
    /// Named numbers that are not dimensions; the first value of each is the default.
    pub attributes: &'static [Attribute],
    /// Storage types of the float operands that the op is checked with.
    pub dtypes: &'static [Dtype],
    /// Inputs, then outputs. Inputs that are updated in place are `InOut`.
    pub operands: &'static [Operand],
    /// The plain loops.
    pub reference: &'static dyn Reference,
    /// One result worked out by hand, which pins the reference.
    pub example: Example,
    /// Every way to compute it, forward and VJP, the plainest first.
    pub variants: &'static [Variant],
    /// Algebra that the op obeys, checked without the reference.
    pub properties: &'static [Property],
}

impl Op {
    /// The default of each attribute, in record order.
    #[must_use]
    pub fn default_attributes(&self) -> Vec<f64> {
        self.attributes.iter().map(|attribute| attribute.values[0]).collect()
    }
}

/// A named dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Its name.
    pub name: &'static str,
    /// Where kernels change behaviour: a tile or workgroup extent. Boundary shapes lie around it.
    pub tile: usize,
    /// The smallest extent for which the op is defined: 0, or 1 where an empty axis has no result,
    /// such as the axis of a maximum.
    pub least: usize,
}

impl Dim {
    /// A dimension that may be empty.
    #[must_use]
    pub const fn new(name: &'static str, tile: usize) -> Self {
        Self { name, tile, least: 0 }
    }

    /// A dimension that must have at least one element.
    #[must_use]
    pub const fn at_least_one(name: &'static str, tile: usize) -> Self {
        Self { name, tile, least: 1 }
    }
}

/// A named number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What the cases use, the default first.
    pub values: &'static [f64],
}

/// What an op does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read only.
    In,
    /// Written completely.
    Out,
    /// Read and written in place; the reference takes it as an input and returns it as an output.
    InOut,
}

/// What a VJP does with the gradient buffer of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// There is none: indices, optimizer state.
    None,
    /// Every element is written, whatever was there.
    Overwrite,
    /// Added once to what was there.
    Add,
}

/// An operand.
#[derive(Clone, Copy)]
pub struct Operand {
    /// Its name, which is also the name of the GLSL buffer that it binds to.
    pub name: &'static str,
    /// Read, written or both.
    pub role: Role,
    /// How elements are stored; `None` is the case's float type.
    pub dtype: Option<Dtype>,
    /// Shape for given dimensions and attributes.
    pub shape: fn(&Problem<'_>) -> Vec<usize>,
    /// Which numbers it may hold.
    pub domain: fn(&Problem<'_>) -> Domain,
    /// What the VJP does for it; for outputs `Overwrite` means that a cotangent exists.
    pub gradient: Gradient,
    /// Points where the op has a kink in this operand: gradient draws keep a distance of 0.05.
    pub kinks: &'static [f64],
}

impl Operand {
    /// A differentiable float input.
    #[must_use]
    pub const fn input(name: &'static str, shape: fn(&Problem<'_>) -> Vec<usize>) -> Self {
        Self {
            name,
            role: Role::In,
            dtype: None,
            shape,
            domain: |_| Domain::Real,
            gradient: Gradient::Overwrite,
            kinks: &[],
        }
    }

    /// A float output with a cotangent.
    #[must_use]
    pub const fn output(name: &'static str, shape: fn(&Problem<'_>) -> Vec<usize>) -> Self {
        Self { role: Role::Out, ..Self::input(name, shape) }
    }

    /// The same, without a gradient.
    #[must_use]
    pub const fn constant(self) -> Self {
        Self { gradient: Gradient::None, ..self }
    }

    /// The same, stored as `dtype` whatever the case says.
    #[must_use]
    pub const fn stored_as(self, dtype: Dtype) -> Self {
        Self { dtype: Some(dtype), ..self }
    }

    /// The same, with numbers from a domain.
    #[must_use]
    pub const fn drawn_from(self, domain: fn(&Problem<'_>) -> Domain) -> Self {
        Self { domain, ..self }
    }

    /// Whether the op reads it.
    #[must_use]
    pub const fn is_read(&self) -> bool {
        matches!(self.role, Role::In | Role::InOut)
    }

    /// Whether the op writes it.
    #[must_use]
    pub const fn is_written(&self) -> bool {
        matches!(self.role, Role::Out | Role::InOut)
    }
}

/// A pinned result: all values were computed by hand, in a comment beside them.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Extent of each dimension.
    pub dims: &'static [usize],
    /// Value of each attribute.
    pub attributes: &'static [f64],
    /// Each read operand, in record order.
    pub inputs: &'static [&'static [f64]],
    /// Each written operand, in record order, to 1e-6.
    pub outputs: &'static [&'static [f64]],
}

/// Which function of the op a variant computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The op itself.
    Forward,
    /// Gradients of the inputs from cotangents of the outputs. Its plans may bind the inputs, the
    /// outputs (as the forward left them), `g` + output for cotangents and `g` + input for results.
    Vjp,
}

/// Whether a variant's result depends on the order in which invocations happen to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Two runs give the same bits.
    Fixed,
    /// Float atomics add in any order.
    Atomic,
}

/// One way to compute an op.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Named by mechanism, such as `naive` or `shared`; of a VJP, `vjp_naive`.
    pub name: &'static str,
    /// What it computes.
    pub pass: Pass,
    /// Workgroup sizes that the kernels are built for, the default first.
    pub workgroups: &'static [u32],
    /// The dispatches for a problem, or why there are none.
    pub plan: fn(&Problem<'_>, &Target<'_>) -> Result<Plan, Unsupported>,
    /// Order of additions.
    pub order: Order,
    /// Pairs (input, output) that may share memory.
    pub aliases: &'static [(&'static str, &'static str)],
    /// What it needs beyond what every device offers, and knows of.
    pub needs: &'static [Need],
}

impl Variant {
    /// A forward variant with the usual workgroup sizes.
    #[must_use]
    pub const fn forward(
        name: &'static str,
        plan: fn(&Problem<'_>, &Target<'_>) -> Result<Plan, Unsupported>,
    ) -> Self {
        Self {
            name,
            pass: Pass::Forward,
            workgroups: &[64, 32, 128, 256],
            plan,
            order: Order::Fixed,
            aliases: &[],
            needs: &[],
        }
    }

    /// A VJP variant with the usual workgroup sizes.
    #[must_use]
    pub const fn vjp(
        name: &'static str,
        plan: fn(&Problem<'_>, &Target<'_>) -> Result<Plan, Unsupported>,
    ) -> Self {
        Self { pass: Pass::Vjp, ..Self::forward(name, plan) }
    }

    /// The same, with other workgroup sizes.
    #[must_use]
    pub const fn with_workgroups(self, workgroups: &'static [u32]) -> Self {
        Self { workgroups, ..self }
    }

    /// The same, safe to run in place on these pairs.
    #[must_use]
    pub const fn in_place(self, aliases: &'static [(&'static str, &'static str)]) -> Self {
        Self { aliases, ..self }
    }

    /// The same, for devices that offer all this.
    #[must_use]
    pub const fn needing(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    /// The same, adding in any order.
    #[must_use]
    pub const fn unordered(self) -> Self {
        Self { order: Order::Atomic, ..self }
    }
}

/// Algebra that holds for an op's forward. Names are those of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Linear in these operands taken together: `f(a + b) = f(a) + f(b)` exactly on small integers,
    /// `f(2^k x) = 2^k f(x)` bit for bit.
    Linear(&'static [&'static str]),
    /// `f(2^k x) = 2^k f(x)` bit for bit for an op that isn't additive.
    Homogeneous(&'static str),
    /// `f(-x) = -f(x)` bit for bit, all these operands negated together.
    Odd(&'static [&'static str]),
    /// Adding a constant to all of the operand leaves the output within its bounds.
    ShiftInvariant(&'static str),
    /// Permuting the leading axis of these operands permutes that of every output, bit for bit.
    RowsIndependent(&'static [&'static str]),
    /// Exchanging two operands of one shape leaves the output where it was, bit for bit.
    Commutes(&'static str, &'static str),
    /// Every output element is an element of the operand, bit for bit, so that infinities pass.
    Selects(&'static str),
    /// Each innermost row of the first output sums to 1 within its bounds.
    RowsSumToOne,
    /// `f((a+b)/2) <= (f(a)+f(b))/2`: Jensen's inequality for an op that is convex in the operand.
    Convex(&'static str),
    /// `f(f(x)) = f(x)` bit for bit, for an op of one operand.
    Idempotent,
    /// The op undoes itself when two of its dimensions are exchanged, bit for bit.
    Involution(&'static str, &'static str),
    /// The op reduces the operand's innermost axis, whose dimension this is: repeating every row's
    /// data once more multiplies the result by `factor`, 2 for a sum and 1 for a mean.
    Repeated {
        /// The operand.
        operand: &'static str,
        /// The dimension that doubles.
        dim: &'static str,
        /// How the output grows.
        factor: i32,
    },
}
