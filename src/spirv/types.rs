//! Types and their sizes.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};

use super::constants::{LIMIT_DEPTH, Values};
use super::module::{id, malformed, number};
use super::{ElementType, SpirvError};

pub(super) enum Type {
    Scalar { element: ElementType, bytes: u32 },
    Vector { component: u32, count: u32 },
    Matrix { column: u32, count: u32 },
    Array { element: u32, len: u32 },
    RuntimeArray { element: u32 },
    Struct { members: Vec<u32> },
    Pointer { class: StorageClass, pointee: u32 },
    Opaque,
}

/// How a type is laid out in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// By the offsets and strides in the module: buffers and push constants.
    Explicit,
    /// Packed, each scalar on a multiple of its size: shared memory, whose layout is the driver's.
    Packed,
}

/// Scalars of one type: what vectors and matrices come down to.
pub(super) struct Scalars {
    pub(super) element: ElementType,
    pub(super) components: u32,
}

impl Values<'_> {
    pub(super) fn ty(&self, type_id: u32) -> Result<Type, SpirvError> {
        let instruction = self.module.definition(type_id)?;
        Ok(match instruction.class.opcode {
            Op::TypeBool => Type::Scalar { element: ElementType::Bool, bytes: 4 },
            Op::TypeInt => {
                let element = integer(number(instruction, 0)?, number(instruction, 1)? != 0);
                scalar(element.ok_or_else(|| malformed(instruction, 0))?, number(instruction, 0)?)
            }
            Op::TypeFloat => {
                let plain = instruction.operands.get(1).is_none();
                let element = match (number(instruction, 0)?, plain) {
                    (16, true) => ElementType::F16,
                    (32, true) => ElementType::F32,
                    (64, true) => ElementType::F64,
                    // The only encoding of 16 bits that has a name in SPIR-V.
                    (16, false) => ElementType::BF16,
                    _ => ElementType::Opaque,
                };
                scalar(element, number(instruction, 0)?)
            }
            Op::TypeVector => {
                Type::Vector { component: id(instruction, 0)?, count: number(instruction, 1)? }
            }
            Op::TypeMatrix => {
                Type::Matrix { column: id(instruction, 0)?, count: number(instruction, 1)? }
            }
            Op::TypeArray => {
                Type::Array { element: id(instruction, 0)?, len: self.bits(id(instruction, 1)?)? }
            }
            Op::TypeRuntimeArray => Type::RuntimeArray { element: id(instruction, 0)? },
            Op::TypeStruct => {
                let members = 0..instruction.operands.len();
                Type::Struct {
                    members: members.map(|m| id(instruction, m)).collect::<Result<_, _>>()?,
                }
            }
            Op::TypePointer => match instruction.operands.first() {
                Some(Operand::StorageClass(class)) => {
                    Type::Pointer { class: *class, pointee: id(instruction, 1)? }
                }
                _ => return Err(malformed(instruction, 0)),
            },
            opcode if opcode.is_type() => Type::Opaque,
            _ => return Err(SpirvError::malformed(format!("id {type_id} is not a type"))),
        })
    }

    /// What a type is made of; arrays by their elements.
    pub(super) fn scalars(&self, type_id: u32) -> Result<Scalars, SpirvError> {
        self.scalars_nested(type_id, LIMIT_DEPTH)
    }

    fn scalars_nested(&self, type_id: u32, depth: u32) -> Result<Scalars, SpirvError> {
        let depth = self.deeper(depth)?;
        Ok(match self.ty(type_id)? {
            Type::Scalar { element, .. } => one(element),
            Type::Vector { component: of, count } | Type::Matrix { column: of, count } => {
                let inner = self.scalars_nested(of, depth)?;
                Scalars { element: inner.element, components: times(inner.components, count)? }
            }
            Type::Array { element, .. } | Type::RuntimeArray { element } => {
                self.scalars_nested(element, depth)?
            }
            Type::Struct { .. } => one(ElementType::Struct),
            Type::Pointer { .. } | Type::Opaque => one(ElementType::Opaque),
        })
    }

    /// Size and alignment in bytes; a runtime array counts nothing.
    pub(super) fn size(&self, type_id: u32, layout: Layout) -> Result<u32, SpirvError> {
        Ok(self.extent(type_id, layout, None, LIMIT_DEPTH)?.0)
    }

    /// The size of a structure's member, whose matrix stride stands at the member.
    pub(super) fn member_size(&self, of: u32, member: u32, ty: u32) -> Result<u32, SpirvError> {
        Ok(self.extent(ty, Layout::Explicit, Some((of, member)), LIMIT_DEPTH)?.0)
    }

    fn extent(
        &self,
        type_id: u32,
        layout: Layout,
        member: Option<(u32, u32)>,
        depth: u32,
    ) -> Result<(u32, u32), SpirvError> {
        let depth = self.deeper(depth)?;
        match self.ty(type_id)? {
            Type::Scalar { bytes, .. } => Ok((bytes, bytes)),
            Type::Vector { component, count } => {
                let (size, align) = self.extent(component, layout, None, depth)?;
                Ok((times(size, count)?, align))
            }
            Type::Matrix { column, count } => {
                let (size, align) = self.extent(column, layout, None, depth)?;
                let (stride, count) = match (layout, member) {
                    (Layout::Explicit, Some((of, member))) => {
                        self.matrix_lines(of, member, column, size, count)?
                    }
                    _ => (size, count),
                };
                Ok((times(stride, count)?, align))
            }
            Type::Array { element, len } => {
                let (size, align) = self.extent(element, layout, member, depth)?;
                let stride = match layout {
                    Layout::Explicit => self.module.decoration(type_id, Decoration::ArrayStride),
                    Layout::Packed => None,
                };
                Ok((times(stride.unwrap_or(round_up(size, align)?), len)?, align))
            }
            Type::RuntimeArray { element } => {
                let (_, align) = self.extent(element, layout, member, depth)?;
                Ok((0, align))
            }
            Type::Struct { members } => self.struct_extent(type_id, &members, layout, depth),
            // Only buffer addresses can be stored, and those are 64 bits.
            Type::Pointer { .. } => Ok((8, 8)),
            Type::Opaque => Ok((0, 1)),
        }
    }

    /// Stride and number of a matrix's columns, of its rows where those are contiguous.
    fn matrix_lines(
        &self,
        of: u32,
        member: u32,
        column: u32,
        column_bytes: u32,
        columns: u32,
    ) -> Result<(u32, u32), SpirvError> {
        let decoration = |decoration| self.module.member_decoration(of, member, decoration);
        let stride = decoration(Decoration::MatrixStride).unwrap_or(column_bytes);
        match (decoration(Decoration::RowMajor), self.ty(column)?) {
            (Some(_), Type::Vector { count: rows, .. }) => Ok((stride, rows)),
            _ => Ok((stride, columns)),
        }
    }

    fn struct_extent(
        &self,
        type_id: u32,
        members: &[u32],
        layout: Layout,
        depth: u32,
    ) -> Result<(u32, u32), SpirvError> {
        let (mut end, mut widest) = (0_u32, 1_u32);
        for (member, ty) in (0_u32..).zip(members) {
            let (size, align) = self.extent(*ty, layout, Some((type_id, member)), depth)?;
            let declared = match layout {
                Layout::Explicit => {
                    self.module.member_decoration(type_id, member, Decoration::Offset)
                }
                Layout::Packed => None,
            };
            let start = declared.unwrap_or(round_up(end, align)?);
            end = end.max(start.checked_add(size).ok_or_else(too_large)?);
            widest = widest.max(align);
        }
        Ok((round_up(end, widest)?, widest))
    }
}

fn scalar(element: ElementType, bits: u32) -> Type {
    Type::Scalar { element, bytes: bits.div_ceil(8).max(1) }
}

fn one(element: ElementType) -> Scalars {
    Scalars { element, components: 1 }
}

fn integer(bits: u32, signed: bool) -> Option<ElementType> {
    Some(match (bits, signed) {
        (8, true) => ElementType::I8,
        (16, true) => ElementType::I16,
        (32, true) => ElementType::I32,
        (64, true) => ElementType::I64,
        (8, false) => ElementType::U8,
        (16, false) => ElementType::U16,
        (32, false) => ElementType::U32,
        (64, false) => ElementType::U64,
        _ => return None,
    })
}

fn times(a: u32, b: u32) -> Result<u32, SpirvError> {
    a.checked_mul(b).ok_or_else(too_large)
}

fn round_up(value: u32, align: u32) -> Result<u32, SpirvError> {
    value.checked_next_multiple_of(align).ok_or_else(too_large)
}

pub(super) fn too_large() -> SpirvError {
    SpirvError::unsupported("a type of more than 4 GiB")
}
