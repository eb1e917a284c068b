//! Plans: what a variant does on a device, as pure data.

use std::borrow::Cow;

use thiserror::Error;

use super::block::PushBlock;
use super::code::Code;
use super::push::{Push, PushValue};
use crate::device::Limits;
use crate::glsl::Source;
use crate::tensor::Dtype;

/// A name in a kernel, a plan or a record.
pub type Name = Cow<'static, str>;

/// What a plan may depend on besides the problem.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The device's limits.
    pub limits: &'a Limits,
    /// Invocations per workgroup, one of the variant's list.
    pub workgroup: u32,
}

/// Why a variant has no plan for a problem on a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Kernels, dispatches, fills, scratch buffers and barriers. An empty plan is the right one for an
/// empty shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Buffers that live for the plan only.
    pub scratch: Vec<Scratch>,
    /// In order; nothing is ordered without a barrier.
    pub steps: Vec<Step>,
}

/// A buffer between the steps of one plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Its name, which is also the GLSL buffer's.
    pub name: Name,
    /// Element type.
    pub dtype: Dtype,
    /// Number of elements.
    pub len: usize,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Runs a kernel.
    Dispatch(Box<Dispatch>),
    /// Orders everything before it against everything behind it.
    Barrier,
    /// Writes a word over a whole buffer.
    Fill {
        /// Operand or scratch.
        buffer: Name,
        /// The 32 bits; 0 is zero in every element type.
        word: u32,
    },
}

/// One dispatch of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The kernel.
    pub code: Code,
    /// Macro definitions.
    pub defines: Vec<(Name, Name)>,
    /// Specialization constants with their values.
    pub spec: Vec<(Constant, PushValue)>,
    /// (GLSL buffer, operand or scratch) where the names differ.
    pub renamed: Vec<(Socket, Name)>,
    /// What the other bindings of the kernel are bound to.
    pub others: Others,
    /// Push constants.
    pub push: Push,
    /// Workgroups along x, y, z.
    pub groups: [u32; 3],
}

/// A specialization constant of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// By its GLSL name.
    Named(Name),
    /// By its `constant_id`.
    Id(u32),
}

/// What a binding gets that a dispatch doesn't name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// The operand or scratch buffer of the GLSL buffer's name.
    #[default]
    ByName,
    /// Nothing: a binding that is left out is an error.
    Unbound,
}

/// A place in a kernel that a buffer is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    /// The GLSL name of the buffer.
    Named(Name),
    /// Descriptor set and binding; every block that is declared there.
    At {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
}

impl Dispatch {
    /// A dispatch of one workgroup without constants.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self::of(Code::glsl(source))
    }

    /// A dispatch of one workgroup of any kernel, without constants.
    #[must_use]
    pub fn of(code: Code) -> Self {
        Self {
            code,
            defines: Vec::new(),
            spec: Vec::new(),
            renamed: Vec::new(),
            others: Others::default(),
            push: Push::default(),
            groups: [1, 1, 1],
        }
    }

    /// Sets the specialization constant `WORKGROUP` and enough workgroups for `count`
    /// invocations, spilling into y where x is too short. Kernels find their number with
    /// `flat_invocation()` of glsl/include/flat.glsl and compare it with the count.
    #[must_use]
    pub fn invocations(self, count: usize, target: &Target<'_>) -> Self {
        let groups = count.div_ceil(target.workgroup.max(1) as usize);
        self.workgroups(groups, target)
    }

    /// Sets `WORKGROUP` and `count` workgroups, spilling into y where x is too short. Kernels find
    /// their number with `flat_workgroup()` of glsl/include/flat.glsl.
    #[must_use]
    pub fn workgroups(mut self, count: usize, target: &Target<'_>) -> Self {
        let widest = target.limits.workgroup_count[0].max(1) as usize;
        let rows = count.div_ceil(widest).max(1);
        let columns = count.div_ceil(rows);
        self.groups = [columns, rows, 1].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        self.spec("WORKGROUP", target.workgroup)
    }

    /// Sets the number of workgroups along each axis.
    #[must_use]
    pub fn groups(mut self, groups: [usize; 3]) -> Self {
        self.groups = groups.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        self
    }

    /// Adds a push constant by the name of its member. It takes the place of a whole block.
    #[must_use]
    pub fn push(mut self, member: impl Into<Name>, value: impl Into<PushValue>) -> Self {
        self.push = self.push.with(member.into(), value.into());
        self
    }

    /// Pushes a structure as its bytes lie. It takes the place of members that were pushed by name.
    #[must_use]
    pub fn push_block(mut self, block: &impl PushBlock) -> Self {
        self.push = Push::Block(block.members());
        self
    }

    /// Adds a specialization constant.
    #[must_use]
    pub fn spec(mut self, name: impl Into<Name>, value: impl Into<PushValue>) -> Self {
        self.spec.push((Constant::Named(name.into()), value.into()));
        self
    }

    /// Adds a macro definition.
    #[must_use]
    pub fn define(mut self, name: impl Into<Name>, value: impl Into<Name>) -> Self {
        self.defines.push((name.into(), value.into()));
        self
    }

    /// Defines `ELEMENT` as the GLSL type that stores `dtype`; see glsl/include/element.glsl. The
    /// blocks of a quantised type are structures of the kernel's own: nothing is defined for them.
    #[must_use]
    pub fn element(self, dtype: Dtype) -> Self {
        match dtype.glsl() {
            Some(name) => self.define("ELEMENT", name),
            None => self,
        }
    }

    /// Binds the GLSL buffer `glsl` to an operand or scratch of another name.
    #[must_use]
    pub fn bind(mut self, glsl: impl Into<Name>, buffer: impl Into<Name>) -> Self {
        self.renamed.push((Socket::Named(glsl.into()), buffer.into()));
        self
    }
}

impl Plan {
    /// Nothing to do.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// One dispatch.
    #[must_use]
    pub fn one(dispatch: Dispatch) -> Self {
        Self::empty().then(dispatch)
    }

    /// One dispatch where `count` is positive, nothing otherwise.
    #[must_use]
    pub fn unless_empty(count: usize, dispatch: Dispatch) -> Self {
        if count == 0 { Self::empty() } else { Self::one(dispatch) }
    }

    /// Adds a dispatch.
    #[must_use]
    pub fn then(mut self, dispatch: Dispatch) -> Self {
        self.steps.push(Step::Dispatch(Box::new(dispatch)));
        self
    }

    /// Adds a barrier.
    #[must_use]
    pub fn barrier(mut self) -> Self {
        self.steps.push(Step::Barrier);
        self
    }

    /// Adds a fill with zeros.
    #[must_use]
    pub fn zero(mut self, buffer: impl Into<Name>) -> Self {
        self.steps.push(Step::Fill { buffer: buffer.into(), word: 0 });
        self
    }

    /// Adds a scratch buffer.
    #[must_use]
    pub fn scratch(mut self, name: impl Into<Name>, dtype: Dtype, len: usize) -> Self {
        self.scratch.push(Scratch { name: name.into(), dtype, len });
        self
    }
}

/// The text of a kernel of the calling crate's glsl folder, with the path that errors show.
#[macro_export]
macro_rules! kernel {
    ($path:literal) => {
        $crate::glsl::Source::embedded(
            $path,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/", $path)),
        )
    };
}
