//! Plans: what a variant does on a device, as pure data.

use std::borrow::Cow;

use thiserror::Error;

use crate::device::Limits;
use crate::glsl::Source;
use crate::tensor::Dtype;

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
    pub name: &'static str,
    /// Element type.
    pub dtype: Dtype,
    /// Number of elements.
    pub len: usize,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Runs a kernel.
    Dispatch(Dispatch),
    /// Orders everything before it against everything behind it.
    Barrier,
    /// Writes a word over a whole buffer.
    Fill {
        /// Operand or scratch.
        buffer: &'static str,
        /// The 32 bits; 0 is zero in every element type.
        word: u32,
    },
}

/// One dispatch of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// The kernel's source.
    pub source: Source,
    /// Macro definitions.
    pub defines: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// Specialization constants by their GLSL names.
    pub spec: Vec<(&'static str, u32)>,
    /// (GLSL buffer, operand or scratch) where the names differ; all others bind by name.
    pub renamed: Vec<(&'static str, &'static str)>,
    /// Push constants by their GLSL names.
    pub push: Vec<(&'static str, PushValue)>,
    /// Workgroups along x, y, z.
    pub groups: [u32; 3],
}

/// The value of a push constant member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PushValue {
    /// `uint`.
    U32(u32),
    /// `float`.
    F32(f32),
}

impl From<u32> for PushValue {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<f32> for PushValue {
    fn from(value: f32) -> Self {
        Self::F32(value)
    }
}

impl From<f64> for PushValue {
    #[expect(clippy::cast_possible_truncation, reason = "a push constant holds f32")]
    fn from(value: f64) -> Self {
        Self::F32(value as f32)
    }
}

/// An extent as a push constant. A buffer of 2^32 elements is past every limit that a plan meets,
/// so the saturated value never reaches a device.
impl From<usize> for PushValue {
    fn from(value: usize) -> Self {
        Self::U32(u32::try_from(value).unwrap_or(u32::MAX))
    }
}

impl Dispatch {
    /// A dispatch of one workgroup without constants.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            source,
            defines: Vec::new(),
            spec: Vec::new(),
            renamed: Vec::new(),
            push: Vec::new(),
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

    /// Adds a push constant.
    #[must_use]
    pub fn push(mut self, member: &'static str, value: impl Into<PushValue>) -> Self {
        self.push.push((member, value.into()));
        self
    }

    /// Adds a specialization constant.
    #[must_use]
    pub fn spec(mut self, name: &'static str, value: u32) -> Self {
        self.spec.push((name, value));
        self
    }

    /// Adds a macro definition.
    #[must_use]
    pub fn define(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
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
    pub fn bind(mut self, glsl: &'static str, buffer: &'static str) -> Self {
        self.renamed.push((glsl, buffer));
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
        self.steps.push(Step::Dispatch(dispatch));
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
    pub fn zero(mut self, buffer: &'static str) -> Self {
        self.steps.push(Step::Fill { buffer, word: 0 });
        self
    }

    /// Adds a scratch buffer.
    #[must_use]
    pub fn scratch(mut self, name: &'static str, dtype: Dtype, len: usize) -> Self {
        self.scratch.push(Scratch { name, dtype, len });
        self
    }
}

/// The text of a kernel of this repository's glsl folder, with the path that errors show.
#[macro_export]
macro_rules! kernel {
    ($path:literal) => {
        $crate::glsl::Source::new(
            $path,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/", $path)),
        )
    };
}
