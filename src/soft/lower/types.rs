//! The module's types: how many registers a value takes and where its parts lie in memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, FPEncoding, Op, StorageClass};

use crate::soft::matrix;
use crate::soft::scalar::Scalar;
use crate::spirv::SpirvError;
use crate::spirv::module::{Module, id, number, result};

/// A value of more components than this is not a shader's.
const LIMIT_COMPONENTS: usize = 1 << 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Void,
    Scalar(Scalar),
    Vector { of: u32, len: u32 },
    Matrix { of: u32, len: u32 },
    Array { of: u32, len: u32, stride: Option<u32> },
    Runtime { of: u32, stride: u32 },
    Struct { members: Vec<Member> },
    Pointer { class: StorageClass, to: u32 },
    Function { result: u32 },
    Cooperative { scalar: Scalar, of: u32, rows: u32, cols: u32, usage: u32, components: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) of: u32,
    pub(super) offset: Option<u32>,
    pub(super) matrix: Option<MatrixLayout>,
    pub(super) coherent: bool,
    pub(super) volatile: bool,
}

/// Distance between the columns of a matrix, or between its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatrixLayout {
    pub(super) stride: u32,
    pub(super) row_major: bool,
}

/// How a type lies in memory: as its decorations say, or packed in order where nobody outside of
/// the kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Layout {
    Explicit,
    Natural,
}

/// A member's place is found by the members before it, so that many take long.
const LIMIT_MEMBERS: usize = 1 << 12;

/// Types that nest deeper are no shader's, and would overflow the stack.
const LIMIT_DEPTH: u32 = 64;

#[derive(Debug, Default)]
pub(super) struct Types {
    known: HashMap<u32, Type>,
    depths: HashMap<u32, u32>,
    /// A module can name parts twice at every level, so each type is looked through once.
    flats: HashMap<u32, Rc<[Scalar]>>,
    sizes: RefCell<HashMap<(u32, Layout), (u64, u64)>>,
}

fn malformed(what: impl Into<String>) -> SpirvError {
    SpirvError::malformed(what)
}

impl Types {
    pub(super) fn get(&self, id: u32) -> Result<&Type, SpirvError> {
        self.known.get(&id).ok_or_else(|| malformed(format!("id {id} is no type")))
    }

    /// Learns a type; `length` evaluates constants. What it doesn't know it describes.
    pub(super) fn define(
        &mut self,
        module: &Module,
        instruction: &Instruction,
        length: impl Fn(u32) -> Result<u32, SpirvError>,
        subgroup_size: u32,
    ) -> Result<Option<String>, SpirvError> {
        let own = result(instruction)?;
        let at = |index| id(instruction, index);
        let known = match instruction.class.opcode {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Scalar(Scalar::Bool),
            Op::TypeInt => match number(instruction, 0)? {
                8 => Type::Scalar(Scalar::I8),
                16 => Type::Scalar(Scalar::I16),
                32 => Type::Scalar(Scalar::I32),
                64 => Type::Scalar(Scalar::I64),
                width => return Ok(Some(format!("{width}-bit integers"))),
            },
            Op::TypeFloat => {
                let encoding = match instruction.operands.get(1) {
                    Some(Operand::FPEncoding(encoding)) => Some(*encoding),
                    _ => None,
                };
                match (number(instruction, 0)?, encoding) {
                    (16, Some(FPEncoding::BFloat16KHR)) => Type::Scalar(Scalar::Bf16),
                    (16, None) => Type::Scalar(Scalar::F16),
                    (32, None) => Type::Scalar(Scalar::F32),
                    (64, None) => Type::Scalar(Scalar::F64),
                    (width, _) => {
                        return Ok(Some(format!("{width}-bit floats of another encoding")));
                    }
                }
            }
            Op::TypeVector => Type::Vector { of: at(0)?, len: number(instruction, 1)? },
            Op::TypeMatrix => Type::Matrix { of: at(0)?, len: number(instruction, 1)? },
            Op::TypeArray => Type::Array {
                of: at(0)?,
                len: length(at(1)?)?,
                stride: module.decoration(own, Decoration::ArrayStride),
            },
            Op::TypeRuntimeArray => {
                let stride = module.decoration(own, Decoration::ArrayStride);
                // One without a stride is in no buffer, whatever it is declared for.
                let stride = match stride.filter(|stride| *stride > 0) {
                    Some(stride) => stride,
                    None => u32::try_from(self.size(at(0)?, Layout::Natural)?.0.max(1))
                        .map_err(|_| SpirvError::unsupported("an element beyond 4 GiB"))?,
                };
                Type::Runtime { of: at(0)?, stride }
            }
            Op::TypeStruct => Type::Struct { members: members(module, instruction, own)? },
            Op::TypePointer => match instruction.operands.first() {
                Some(Operand::StorageClass(class)) => Type::Pointer { class: *class, to: at(1)? },
                _ => return Err(malformed("a pointer without a storage class")),
            },
            Op::TypeForwardPointer => return Ok(None),
            Op::TypeFunction => Type::Function { result: at(0)? },
            Op::TypeCooperativeMatrixKHR => {
                let Type::Scalar(scalar) = *self.get(at(0)?)? else {
                    return Err(malformed("a cooperative matrix of no scalar"));
                };
                let operand = |index| match instruction.operands.get(index) {
                    Some(Operand::IdRef(id) | Operand::IdScope(id)) => length(*id),
                    _ => Err(malformed("a cooperative matrix without its shape")),
                };
                let (rows, cols, usage) = (operand(2)?, operand(3)?, operand(4)?);
                let components = matrix::components(rows, cols, subgroup_size);
                Type::Cooperative { scalar, of: at(0)?, rows, cols, usage, components }
            }
            other => return Ok(Some(format!("{other:?}"))),
        };
        let depth = self.depth(&known)?;
        self.depths.insert(own, depth);
        if let Some(flat) = self.flattened(&known)? {
            self.flats.insert(own, flat.into());
        }
        self.known.insert(own, known);
        Ok(None)
    }

    fn depth(&self, known: &Type) -> Result<u32, SpirvError> {
        let of = |id: &u32| {
            let depth = self.depths.get(id).copied();
            depth.ok_or_else(|| malformed(format!("type {id} isn't defined before its use")))
        };
        let below = match known {
            Type::Vector { of: part, .. }
            | Type::Matrix { of: part, .. }
            | Type::Array { of: part, .. }
            | Type::Runtime { of: part, .. } => of(part)?,
            Type::Struct { members } => {
                let depths = members.iter().map(|member| of(&member.of));
                depths.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0)
            }
            _ => 0,
        };
        if below >= LIMIT_DEPTH {
            return Err(SpirvError::unsupported("types that nest deeper than 64 levels"));
        }
        Ok(below + 1)
    }

    /// The components of a value, in order.
    pub(super) fn flat(&self, id: u32) -> Result<Rc<[Scalar]>, SpirvError> {
        let flat = self.flats.get(&id).cloned();
        flat.ok_or_else(|| malformed(format!("type {id} has no values")))
    }

    /// None for types without values: a struct may end in a runtime array.
    fn flattened(&self, known: &Type) -> Result<Option<Vec<Scalar>>, SpirvError> {
        let repeated = |len: u32, of: u32| {
            let Some(one) = self.flats.get(&of) else { return Ok(None) };
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            if one.len().saturating_mul(len) > LIMIT_COMPONENTS || len > LIMIT_COMPONENTS {
                // It may still lie in a buffer; as a value there is no room for it.
                return Ok(None);
            }
            Ok(Some(one.repeat(len)))
        };
        Ok(match known {
            Type::Scalar(scalar) => Some(vec![*scalar]),
            Type::Vector { of, len } | Type::Matrix { of, len } | Type::Array { of, len, .. } => {
                repeated(*len, *of)?
            }
            Type::Cooperative { of, components, .. } => repeated(*components, *of)?,
            Type::Struct { members } => {
                let mut found = Vec::new();
                for member in members {
                    let Some(part) = self.flats.get(&member.of) else { return Ok(None) };
                    found.extend_from_slice(part);
                    if found.len() > LIMIT_COMPONENTS {
                        return Ok(None);
                    }
                }
                Some(found)
            }
            Type::Pointer { .. } => Some(vec![Scalar::I64]),
            Type::Void | Type::Function { .. } | Type::Runtime { .. } => None,
        })
    }

    /// Registers of a value.
    pub(super) fn words(&self, id: u32) -> Result<u32, SpirvError> {
        Ok(self.flat(id)?.iter().map(|scalar| scalar.words()).sum())
    }

    /// Components before a part of a composite, and the part's type.
    pub(super) fn part(&self, id: u32, index: u32) -> Result<(usize, u32), SpirvError> {
        let (_, of) = self.member(id, index)?;
        let len = self.flat(of)?.len();
        Ok(match self.get(id)? {
            Type::Struct { members } => {
                let before = members[..index as usize].iter().map(|m| Ok(self.flat(m.of)?.len()));
                (before.sum::<Result<usize, SpirvError>>()?, of)
            }
            _ => (len * index as usize, of),
        })
    }

    /// Words before a part of a composite, and the part's type.
    pub(super) fn member(&self, id: u32, index: u32) -> Result<(u32, u32), SpirvError> {
        let beyond = || malformed(format!("type {id} has no part {index}"));
        match self.get(id)? {
            Type::Vector { of, len } | Type::Matrix { of, len } | Type::Array { of, len, .. }
                if index < *len =>
            {
                Ok((self.words(*of)?.checked_mul(index).ok_or_else(beyond)?, *of))
            }
            Type::Cooperative { of, components, .. } if index < *components => {
                Ok((self.words(*of)?.checked_mul(index).ok_or_else(beyond)?, *of))
            }
            Type::Struct { members } => {
                let at = index as usize;
                let member = members.get(at).ok_or_else(beyond)?;
                let before = members[..at].iter().map(|m| self.words(m.of));
                Ok((before.sum::<Result<u32, _>>()?, member.of))
            }
            _ => Err(beyond()),
        }
    }

    /// The scalar of a scalar, vector or matrix.
    pub(super) fn scalar(&self, id: u32) -> Result<Scalar, SpirvError> {
        match self.get(id)? {
            Type::Scalar(scalar) | Type::Cooperative { scalar, .. } => Ok(*scalar),
            Type::Vector { of, .. } | Type::Matrix { of, .. } => self.scalar(*of),
            Type::Pointer { .. } => Ok(Scalar::I64),
            _ => Err(malformed(format!("type {id} is not numeric"))),
        }
    }

    /// Size and alignment in bytes; a runtime array counts as empty.
    pub(super) fn size(&self, id: u32, layout: Layout) -> Result<(u64, u64), SpirvError> {
        if let Some(known) = self.sizes.borrow().get(&(id, layout)) {
            return Ok(*known);
        }
        let size = self.measured(id, layout)?;
        self.sizes.borrow_mut().insert((id, layout), size);
        Ok(size)
    }

    fn measured(&self, id: u32, layout: Layout) -> Result<(u64, u64), SpirvError> {
        Ok(match self.get(id)? {
            Type::Scalar(scalar) => (u64::from(scalar.bytes()), u64::from(scalar.bytes())),
            Type::Pointer { .. } => (8, 8),
            Type::Vector { of, len } => {
                let (size, align) = self.size(*of, layout)?;
                (size.saturating_mul(u64::from(*len)), align)
            }
            Type::Matrix { of, len } | Type::Array { of, len, .. } => {
                let (_, align) = self.size(*of, layout)?;
                let stride = u64::from(self.stride(id, layout)?);
                (stride.saturating_mul(u64::from(*len)), align)
            }
            Type::Runtime { of, .. } => (0, self.size(*of, layout)?.1),
            Type::Struct { .. } => {
                let (end, widest) = self.end(id, layout)?;
                (end.checked_next_multiple_of(widest).unwrap_or(u64::MAX), widest)
            }
            Type::Void | Type::Function { .. } | Type::Cooperative { .. } => {
                return Err(malformed(format!("type {id} lies in no memory")));
            }
        })
    }

    /// Where the last member of a struct ends, and the widest alignment of them.
    pub(super) fn end(&self, id: u32, layout: Layout) -> Result<(u64, u64), SpirvError> {
        let Type::Struct { members } = self.get(id)? else { return self.size(id, layout) };
        let (mut end, mut widest) = (0, 1);
        for (at, member) in members.iter().enumerate() {
            let (mut size, align) = self.size(member.of, layout)?;
            if let (Type::Matrix { of, len }, Some(matrix)) = (self.get(member.of)?, member.matrix)
            {
                let rows = match self.get(*of)? {
                    Type::Vector { len, .. } => *len,
                    _ => 1,
                };
                let count = if matrix.row_major { rows } else { *len };
                size = u64::from(matrix.stride) * u64::from(count);
            }
            let start = self.member_offset(id, at, layout)?;
            end = end.max(u64::from(start).saturating_add(size));
            widest = widest.max(align);
        }
        Ok((end, widest))
    }

    /// A pointer that is declared before what it points to.
    pub(super) fn forward(&mut self, id: u32, class: StorageClass) {
        self.known.insert(id, Type::Pointer { class, to: 0 });
        self.depths.insert(id, 1);
        self.flats.insert(id, Rc::new([Scalar::I64]));
    }

    /// Distance between the elements of an array or the columns of a matrix.
    pub(super) fn stride(&self, id: u32, layout: Layout) -> Result<u32, SpirvError> {
        let natural = |of: u32| {
            let (size, align) = self.size(of, layout)?;
            let stride = size.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX);
            u32::try_from(stride).map_err(|_| SpirvError::unsupported("an array beyond 4 GiB"))
        };
        match (self.get(id)?, layout) {
            (Type::Array { stride: Some(stride), .. }, Layout::Explicit) => Ok(*stride),
            (Type::Runtime { stride, .. }, _) => Ok(*stride),
            (Type::Array { of, .. } | Type::Matrix { of, .. } | Type::Vector { of, .. }, _) => {
                natural(*of)
            }
            _ => Err(malformed(format!("type {id} has no elements"))),
        }
    }

    /// Where a member starts.
    pub(super) fn member_offset(
        &self,
        id: u32,
        at: usize,
        layout: Layout,
    ) -> Result<u32, SpirvError> {
        let Type::Struct { members } = self.get(id)? else {
            return Err(malformed(format!("type {id} has no members")));
        };
        let member = members.get(at).ok_or_else(|| malformed("a member that isn't there"))?;
        if let (Some(offset), Layout::Explicit) = (member.offset, layout) {
            return Ok(offset);
        }
        let mut end = 0_u64;
        for member in &members[..=at] {
            let (size, align) = self.size(member.of, layout)?;
            let start = end.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX);
            end = start.saturating_add(size);
        }
        let (size, _) = self.size(member.of, layout)?;
        u32::try_from(end - size).map_err(|_| SpirvError::unsupported("a struct beyond 4 GiB"))
    }
}

fn members(
    module: &Module,
    instruction: &Instruction,
    own: u32,
) -> Result<Vec<Member>, SpirvError> {
    if instruction.operands.len() > LIMIT_MEMBERS {
        return Err(SpirvError::unsupported("a struct of more than 4,096 members"));
    }
    let mut found = Vec::new();
    for index in 0..instruction.operands.len() {
        let of = id(instruction, index)?;
        let member = u32::try_from(index).unwrap_or(u32::MAX);
        let has = |decoration| module.member_decoration(own, member, decoration);
        let stride = has(Decoration::MatrixStride);
        found.push(Member {
            of,
            offset: has(Decoration::Offset),
            matrix: stride.map(|stride| MatrixLayout {
                stride,
                row_major: has(Decoration::RowMajor).is_some(),
            }),
            coherent: has(Decoration::Coherent).is_some(),
            volatile: has(Decoration::Volatile).is_some(),
        });
    }
    Ok(found)
}
