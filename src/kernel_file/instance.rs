//! One case of a file: buffers with their contents, the plan, the truth.

use std::collections::BTreeMap;

use super::KernelFile;
use super::buffers::{BufferDecl, BufferRole, Data, Init, InitDecl, plain};
use super::error::KernelFileError;
use super::files;
use super::points::Point;
use super::read::Read;
use super::scope::Values;
use super::truth::{OpDecl, TruthDecl};
use super::types::{dtype_of, glsl_dtype_of, type_names};
use crate::ops::{self, Pass, Plan, nearest, suggested};
use crate::tensor::Dtype;

/// 64 TiB: past every device, and far from the end of any integer.
const MAX_BYTES: u64 = 1 << 46;
/// Up to here every integer is a double: 2^53.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A case of a kernel file.
#[derive(Clone, Debug)]
pub struct Instance {
    /// In the order of the file, scratch ones among them.
    pub buffers: Vec<Buffer>,
    /// What is run.
    pub plan: Plan,
    /// What the result is held against.
    pub truth: Truth,
    /// Every name that is a number here.
    pub names: BTreeMap<String, f64>,
}

/// A buffer of a case.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name in the file and the plan.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Number of elements.
    pub len: usize,
    /// What it is for.
    pub role: BufferRole,
    /// What it holds before the first step.
    pub init: Init,
    /// What it must hold afterwards.
    pub expect: Option<Expect>,
    /// The buffer whose memory it shares.
    pub alias: Option<String>,
    /// Where the binding starts.
    pub offset_bytes: Option<u64>,
    /// Whether the kernel adds to what was there.
    pub accumulate: bool,
    /// Whether parts of it are left unwritten on purpose.
    pub unwritten: bool,
    /// Where the file declares it, counted from 1.
    pub line: u32,
}

/// What a buffer must hold after the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// None where the truth is another kernel.
    pub want: Option<Want>,
    /// Allowed error relative to what is wanted.
    pub rtol: f64,
    /// Allowed error beside that.
    pub atol: f64,
}

/// What is wanted, given by the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// The buffer's bytes.
    Bytes(Vec<u8>),
    /// Numbers, repeated until the buffer is full.
    Values(Vec<f64>),
}

/// What the result is held against.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Nothing but what buffers expect.
    None,
    /// An op's reference.
    Op(OpTruth),
    /// A plan over buffers of the same names.
    Kernel(Plan),
}

/// How buffers stand for an op's operands.
#[derive(Clone, Debug, PartialEq)]
pub struct OpTruth {
    /// The op's name, which the file's reader hasn't looked up.
    pub op: String,
    /// Which function of it.
    pub pass: Pass,
    /// Operand, or `g` and an operand, to buffer.
    pub map: Vec<(String, String)>,
    /// Extents that the file gives, or a shape of the same name does.
    pub dims: Vec<(String, usize)>,
    /// Attributes that the file gives.
    pub attributes: Vec<(String, f64)>,
}

/// What a buffer takes up in one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) dtype: Dtype,
    pub(super) len: usize,
    pub(super) bytes: u64,
}

impl KernelFile {
    /// A case with everything that it needs.
    ///
    /// # Errors
    /// An expression that comes to nothing that fits its place; a file of another size.
    pub fn instance(&self, point: &Point) -> Result<Instance, KernelFileError> {
        let values = self.scope.values(&self.text, &point.0, &BTreeMap::new())?;
        let layouts = self.layouts(&values)?;
        let mut buffers = Vec::new();
        for (decl, layout) in self.buffers.iter().zip(&layouts) {
            buffers.push(self.buffer(decl, layout)?);
        }
        Ok(Instance {
            buffers,
            plan: self.plan(&values, &self.steps)?,
            truth: self.truth(&values, &layouts)?,
            names: values.all().into_iter().map(|(name, n)| (name, n.to_f64())).collect(),
        })
    }

    /// What each buffer takes up.
    pub(super) fn layouts(&self, values: &Values<'_>) -> Read<Vec<Layout>> {
        let layouts: Read<Vec<Layout>> =
            self.buffers.iter().map(|decl| self.layout(decl, values)).collect();
        let layouts = layouts?;
        for (decl, layout) in self.buffers.iter().zip(&layouts) {
            if let Some((alias, at)) = &decl.alias
                && let Some(other) = self.buffers.iter().position(|other| other.name == *alias)
                && layout.bytes > layouts[other].bytes
            {
                let (needs, has) = (layout.bytes, layouts[other].bytes);
                let name = &decl.name;
                let what = format!("`{name}` is {needs} bytes, `{alias}` only {has}");
                return Err(self.text.wrong(*at, what));
            }
            self.check_offset(decl, layout)?;
            self.check_numbers(decl, layout.dtype)?;
            for (path, at) in [init_file(decl), expect_file(decl)].into_iter().flatten() {
                let has = files::file_bytes(path).map_err(|what| self.text.wrong(at, what))?;
                if has != layout.bytes {
                    let (path, needs) = (path.display(), layout.bytes);
                    let (len, dtype) = (layout.len, layout.dtype);
                    let what =
                        format!("{path} holds {has} bytes; {len} of {dtype} are {needs} bytes");
                    return Err(self.text.wrong(at, what));
                }
            }
        }
        Ok(layouts)
    }

    fn check_offset(&self, decl: &BufferDecl, layout: &Layout) -> Read<()> {
        let Some((offset, at)) = decl.offset else { return Ok(()) };
        let (name, dtype) = (&decl.name, layout.dtype);
        if offset >= layout.bytes.max(1) {
            return Err(self.text.wrong(at, format!("`{name}` ends at {} bytes", layout.bytes)));
        }
        let unit = dtype.block_bytes();
        if offset % unit as u64 != 0 {
            let of = if dtype.is_quantised() { "a block" } else { "an element" };
            let what = format!("{offset} is no multiple of {unit}, the bytes of {of} of {dtype}");
            return Err(self.text.wrong(at, what));
        }
        Ok(())
    }

    /// Storage would clamp and round what an integer can't be.
    fn check_numbers(&self, decl: &BufferDecl, dtype: Dtype) -> Read<()> {
        for number in decl.numbers().filter(|_| dtype.is_integer()) {
            let value = number.value;
            if value.fract() == 0.0 && value.abs() > MAX_WHOLE {
                return Err(self.text.wrong(number.at, "an integer beyond 2^53; use a file"));
            }
            if dtype.round(value) != value {
                return Err(self.text.wrong(number.at, format!("{value} is none of {dtype}")));
            }
        }
        Ok(())
    }

    fn layout(&self, decl: &BufferDecl, values: &Values<'_>) -> Read<Layout> {
        let (name, at) = &decl.dtype;
        let dtype = match (dtype_of(name), values.define(name)) {
            (Some(dtype), _) => dtype,
            (None, Ok(glsl)) => glsl_dtype_of(glsl).ok_or_else(|| {
                self.text.wrong(*at, format!("`{name}` is `{glsl}`, which is no type here"))
            })?,
            (None, Err(what)) => {
                let near = suggested(&nearest(name, type_names()));
                return Err(self.text.wrong(*at, format!("no type `{name}`{near}; and {what}")));
            }
        };
        let (block, bytes) = (dtype.block_len() as u64, dtype.block_bytes() as u64);
        let len = decl.len.whole(&self.text, values, MAX_BYTES / bytes * block)?;
        if len % block != 0 {
            let what = format!("{len} elements are no multiple of {block}, the block of {dtype}");
            return Err(self.text.wrong(decl.len.at(), what));
        }
        let elements = usize::try_from(len)
            .map_err(|_| self.text.wrong(decl.len.at(), "more than this machine can address"))?;
        Ok(Layout { dtype, len: elements, bytes: len / block * bytes })
    }

    fn buffer(&self, decl: &BufferDecl, layout: &Layout) -> Read<Buffer> {
        let read =
            |path, at| files::read(path, layout.bytes).map_err(|what| self.text.wrong(at, what));
        let init = match &decl.init {
            InitDecl::Made(init, _) => init.clone(),
            InitDecl::File { path, at } => Init::Bytes(read(path, *at)?),
        };
        let expect = match &decl.expect {
            None => None,
            Some(expect) => {
                let want = match &expect.want {
                    None => None,
                    Some(Data::Values(values)) => Some(Want::Values(plain(values))),
                    Some(Data::File { path, at }) => Some(Want::Bytes(read(path, *at)?)),
                };
                Some(Expect { want, rtol: expect.rtol, atol: expect.atol })
            }
        };
        Ok(Buffer {
            name: decl.name.clone(),
            dtype: layout.dtype,
            len: layout.len,
            role: decl.role,
            init,
            expect,
            alias: decl.alias.as_ref().map(|(alias, _)| alias.clone()),
            offset_bytes: decl.offset.map(|(offset, _)| offset),
            accumulate: decl.accumulate,
            unwritten: decl.unwritten,
            line: self.text.place(decl.at).line,
        })
    }

    pub(super) fn truth(&self, values: &Values<'_>, layouts: &[Layout]) -> Read<Truth> {
        Ok(match &self.truth {
            TruthDecl::None => Truth::None,
            TruthDecl::Op(decl) => Truth::Op(self.op_truth(decl, values)?),
            TruthDecl::Kernel(dispatch) => {
                Truth::Kernel(self.plan(values, &self.steps_with(dispatch))?)
            }
            TruthDecl::File { at, .. } => match &self.twin {
                Some(twin) => Truth::Kernel(self.twin_plan(twin, *at, values, layouts)?),
                None => Truth::None,
            },
        })
    }

    fn op_truth(&self, decl: &OpDecl, values: &Values<'_>) -> Read<OpTruth> {
        let mut dims = Vec::new();
        for (name, formula) in &decl.dims {
            let extent = formula.whole(&self.text, values, 1 << 46)?;
            dims.push((name.clone(), usize::try_from(extent).unwrap_or(usize::MAX)));
        }
        // An op from elsewhere has dimensions that only its caller can look up.
        for dim in ops::find_op(&decl.op).map_or(&[][..], |op| op.dims) {
            let shape = values.shape(dim.name).and_then(|extent| usize::try_from(extent).ok());
            if let Some(extent) = shape.filter(|_| dims.iter().all(|(name, _)| name != dim.name)) {
                dims.push((dim.name.to_owned(), extent));
            }
        }
        let mut attributes = Vec::new();
        for (name, formula) in &decl.attributes {
            attributes.push((name.clone(), formula.value(&self.text, values)?.to_f64()));
        }
        Ok(OpTruth {
            op: decl.op.clone(),
            pass: decl.pass,
            map: decl.map.clone(),
            dims,
            attributes,
        })
    }
}

fn init_file(decl: &BufferDecl) -> Option<(&std::path::Path, usize)> {
    match &decl.init {
        InitDecl::File { path, at } => Some((path, *at)),
        InitDecl::Made(..) => None,
    }
}

fn expect_file(decl: &BufferDecl) -> Option<(&std::path::Path, usize)> {
    match decl.expect.as_ref()?.want.as_ref()? {
        Data::File { path, at } => Some((path, *at)),
        Data::Values(_) => None,
    }
}
