//! A script as data.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::error::Unsupported;
use super::number::Number;
use super::types::{Element, Layout, Type};
use crate::device::SpecValue;

/// A script that was read.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The file as it was asked for.
    pub path: PathBuf,
    /// In order.
    pub shaders: Vec<Shader>,
    /// In order.
    pub buffers: Vec<Buffer>,
    /// In order.
    pub pipelines: Vec<Pipeline>,
    /// What is done, in order.
    pub commands: Vec<Command>,
    /// Features, properties and extensions that it asks for.
    pub needs: Vec<Need>,
    /// Files within the script.
    pub files: Vec<(String, Text)>,
    /// What it asks for that the lab doesn't do; nothing behind it was read.
    pub unsupported: Option<Unsupported>,
}

impl Script {
    /// The folder of the files that it names.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// A piece of the script's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The line it begins at, counted from 1.
    pub line: u32,
    /// The text, which several shaders may share.
    pub text: Rc<str>,
}

/// A shader.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its name.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// What language it is in.
    pub format: Format,
    /// Where it is.
    pub source: Source,
    /// The environment as written, for example `spv1.3`; where none is, `spv1.0`.
    pub target: Target,
}

/// The language of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GLSL.
    Glsl,
    /// SPIR-V as text.
    Assembly,
    /// SPIR-V.
    Binary,
}

/// Where a shader's code is.
#[derive(Clone, Debug)]
pub enum Source {
    /// In the script.
    Inline(Text),
    /// In a file beside it.
    File(String),
}

/// The environment that a shader is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// SPIR-V 1.0.
    #[default]
    Spirv10,
    /// SPIR-V 1.1 to 1.3, Vulkan 1.1.
    Spirv13,
    /// SPIR-V 1.4.
    Spirv14,
    /// SPIR-V 1.5, Vulkan 1.2.
    Spirv15,
    /// SPIR-V 1.6, Vulkan 1.3.
    Spirv16,
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// The type of its elements.
    pub ty: Type,
    /// How they lie in memory.
    pub layout: Layout,
    /// Where the numbers of one lie.
    pub element: Element,
    /// Elements.
    pub len: usize,
    /// What it holds at first.
    pub init: Init,
}

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// These numbers, and zeros behind them.
    Data(Vec<Number>),
    /// One number everywhere.
    Fill(Number),
    /// Numbers that grow.
    Series {
        /// The first.
        from: Number,
        /// From one to the next.
        step: Number,
    },
    /// Numbers in the text of a file.
    TextFile(String),
    /// The bytes of a file.
    BinaryFile(String),
}

/// A compute pipeline.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// Its shader, by index.
    pub shader: Option<usize>,
    /// The entry point.
    pub entry: String,
    /// Values of specialization constants.
    pub spec: Vec<SpecValue>,
    /// Its buffers.
    pub binds: Vec<Bind>,
    /// The buffer of the push constants, by index.
    pub push: Option<usize>,
    /// The subgroup size that it must run at.
    pub subgroup_size: Option<SubgroupSize>,
    /// Whether every subgroup must be full.
    pub full_subgroups: bool,
}

/// A required subgroup size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupSize {
    /// The device's least.
    Least,
    /// The device's most.
    Most,
    /// This.
    Exactly(u32),
}

/// What a pipeline finds at a binding.
#[derive(Clone, Debug)]
pub struct Bind {
    /// Descriptor set.
    pub set: u32,
    /// Binding within the set.
    pub binding: u32,
    /// As which kind of buffer.
    pub kind: BindKind,
    /// One for each descriptor of the binding.
    pub parts: Vec<Part>,
    /// The line that says so.
    pub line: u32,
}

/// As what a buffer is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindKind {
    /// A storage buffer.
    Storage,
    /// A uniform buffer.
    Uniform,
}

/// Which part of a buffer a descriptor shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The buffer, by index.
    pub buffer: usize,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes; up to the end if there is none.
    pub range_bytes: Option<u64>,
}

/// Something that a script does.
#[derive(Clone, Debug)]
pub struct Command {
    /// The line that says so.
    pub line: u32,
    /// What.
    pub action: Action,
}

/// What a command does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Runs a pipeline.
    Run {
        /// Which, by index.
        pipeline: usize,
        /// Workgroups along x, y, z.
        groups: [u32; 3],
    },
    /// Copies a buffer over another.
    Copy {
        /// Source, by index.
        from: usize,
        /// Destination, by index.
        to: usize,
    },
    /// Compares numbers of a buffer with given ones.
    Expect(Expect),
    /// Compares two buffers.
    Compare {
        /// What the script calls the result, by index.
        got: usize,
        /// What it should be, by index.
        want: usize,
        /// Root mean square of the differences that is allowed; the same bits if there is none.
        tolerance: Option<f64>,
    },
    /// Does commands several times.
    Repeat {
        /// How often.
        count: u32,
        /// What.
        commands: Vec<Command>,
    },
}

/// Numbers of a buffer and what they should be.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The buffer, by index.
    pub buffer: usize,
    /// The first byte.
    pub offset_bytes: u64,
    /// How they are compared.
    pub comparator: Comparator,
    /// What they are compared with.
    pub values: Vec<Number>,
    /// How far each number of an element may be off.
    pub tolerances: Vec<Tolerance>,
}

/// A comparison: what is in the buffer stands on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// How far a number may be from what is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// So much.
    Absolute(f64),
    /// So many hundredths of what is expected.
    Percent(f64),
}

/// Something that a device must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The line that says so.
    pub line: u32,
    /// Which kind of thing.
    pub kind: NeedKind,
    /// Its name.
    pub name: String,
}

/// Kinds of what a device must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedKind {
    /// `DEVICE_FEATURE`.
    Feature,
    /// `DEVICE_PROPERTY`.
    Property,
    /// `DEVICE_EXTENSION` and `INSTANCE_EXTENSION`.
    Extension,
}
