//! Types of data, and where their numbers lie in memory.

use std::rc::Rc;

use crate::tensor::Dtype;

/// Numbers that one element of a buffer may have: structures of structures grow fast.
pub(super) const MOST_NUMBERS: usize = 1024;
/// Structures that may lie within each other.
pub(super) const MOST_DEPTH: usize = 16;

/// The type of a buffer's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number, a vector or a matrix: columns of rows.
    Number {
        /// Its numbers.
        dtype: Dtype,
        /// 1 unless it is a matrix.
        columns: u32,
        /// 1 for a number alone.
        rows: u32,
    },
    /// A structure.
    Struct(Rc<Struct>),
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// From one element to the next, where it is given.
    pub stride: Option<u32>,
    /// In order, at least one.
    pub members: Vec<Member>,
    /// Structures within each other, itself included.
    pub depth: usize,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// The length where it is an array.
    pub len: Option<u32>,
    /// Where it starts, if that is given.
    pub offset: Option<u32>,
    /// From one element of the array to the next, if that is given.
    pub array_stride: Option<u32>,
    /// From one column to the next, if that is given.
    pub matrix_stride: Option<u32>,
}

/// The rules by which a type lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As in uniform buffers.
    Std140,
    /// As in storage buffers.
    #[default]
    Std430,
}

/// Where the numbers of an element lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// From one element to the next, in bytes.
    pub stride: usize,
    /// Its numbers in order.
    pub fields: Vec<Field>,
}

/// A number of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the element's start.
    pub offset: usize,
    /// Its type.
    pub dtype: Dtype,
}

impl Type {
    /// The type of that name, where it isn't a structure's.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (shape, inner) = match name.split_once('<') {
            Some((shape, inner)) => (shape, inner.strip_suffix('>')?),
            None => ("", name),
        };
        let dtype = dtype(inner)?;
        let (columns, rows) = match shape.as_bytes() {
            [] if !name.contains('<') => (1, 1),
            [b'v', b'e', b'c', rows] => (1, side(*rows)?),
            [b'm', b'a', b't', columns, b'x', rows] => (side(*columns)?, side(*rows)?),
            _ => return None,
        };
        Some(Self::Number { dtype, columns, rows })
    }

    /// Numbers in one element, at most a little more than [`MOST_NUMBERS`].
    pub(super) fn number_count(&self) -> usize {
        match self {
            Self::Number { columns, rows, .. } => (columns * rows) as usize,
            Self::Struct(of) => of.number_count(),
        }
    }

    /// Where the numbers lie.
    #[must_use]
    pub fn element(&self, layout: Layout) -> Element {
        let mut fields = Vec::new();
        let end = self.place(layout, None, 0, &mut fields);
        let stride = match self {
            Self::Struct(of) if of.stride.is_some() => end,
            _ => end.next_multiple_of(self.alignment(layout)),
        };
        Element { stride, fields }
    }

    fn alignment(&self, layout: Layout) -> usize {
        match self {
            Self::Number { dtype, columns, rows } => {
                let vector = dtype.block_bytes() * if *rows == 3 { 4 } else { *rows as usize };
                if *columns > 1 { rounded(vector, layout) } else { vector }
            }
            Self::Struct(of) => {
                let members = of.members.iter().map(|member| member.alignment(layout));
                rounded(members.max().unwrap_or(1), layout)
            }
        }
    }

    /// Places the numbers from `at` on; returns where they end.
    fn place(
        &self,
        layout: Layout,
        matrix_stride: Option<u32>,
        at: usize,
        fields: &mut Vec<Field>,
    ) -> usize {
        match self {
            Self::Number { dtype, columns, rows } => {
                let bytes = dtype.block_bytes();
                let stride = matrix_stride.map_or(self.alignment(layout), |stride| stride as usize);
                for column in 0..*columns as usize {
                    let row = |row| at + column * stride + row * bytes;
                    let column = (0..*rows as usize).map(row);
                    fields.extend(column.map(|offset| Field { offset, dtype: *dtype }));
                }
                // A matrix fills its last column, a vector leaves room for what follows.
                let last = if *columns > 1 { stride } else { bytes * *rows as usize };
                at + (*columns as usize - 1) * stride + last
            }
            Self::Struct(of) => of.place(layout, at, fields),
        }
    }
}

impl Struct {
    fn number_count(&self) -> usize {
        let of_member = |member: &Member| {
            member.ty.number_count().saturating_mul(member.len.unwrap_or(1) as usize)
        };
        self.members.iter().map(of_member).fold(0, usize::saturating_add)
    }

    fn place(&self, layout: Layout, at: usize, fields: &mut Vec<Field>) -> usize {
        let mut end = at;
        let mut alignment = 1;
        for member in &self.members {
            let align = member.alignment(layout);
            alignment = alignment.max(align);
            let start = match member.offset {
                Some(offset) => at + offset as usize,
                None => at + (end - at).next_multiple_of(align),
            };
            end = end.max(member.place(layout, start, fields));
        }
        match self.stride {
            Some(stride) => at + stride as usize,
            None => at + (end - at).next_multiple_of(rounded(alignment, layout)),
        }
    }
}

impl Member {
    fn alignment(&self, layout: Layout) -> usize {
        let element = self.ty.alignment(layout);
        if self.len.is_some() { rounded(element, layout) } else { element }
    }

    fn place(&self, layout: Layout, at: usize, fields: &mut Vec<Field>) -> usize {
        let Some(len) = self.len else {
            return self.ty.place(layout, self.matrix_stride, at, fields);
        };
        let alignment = self.alignment(layout);
        let mut end = at;
        let mut start = at;
        for _ in 0..len {
            end = self.ty.place(layout, self.matrix_stride, start, fields);
            let natural = (end - start).next_multiple_of(alignment);
            start += self.array_stride.map_or(natural, |stride| stride as usize);
        }
        end.max(start)
    }
}

fn rounded(alignment: usize, layout: Layout) -> usize {
    match layout {
        Layout::Std140 => alignment.next_multiple_of(16),
        Layout::Std430 => alignment,
    }
}

fn side(digit: u8) -> Option<u32> {
    matches!(digit, b'2'..=b'4').then(|| u32::from(digit - b'0'))
}

/// The element type that a script calls so.
pub(super) fn dtype(name: &str) -> Option<Dtype> {
    let found = SCALARS.iter().find(|(known, _)| *known == name);
    found.map(|(_, dtype)| *dtype)
}

/// What scripts call the element types.
pub(super) const SCALARS: [(&str, Dtype); 11] = [
    ("int8", Dtype::I8),
    ("int16", Dtype::I16),
    ("int32", Dtype::I32),
    ("int64", Dtype::I64),
    ("uint8", Dtype::U8),
    ("uint16", Dtype::U16),
    ("uint32", Dtype::U32),
    ("uint64", Dtype::U64),
    ("float16", Dtype::F16),
    ("float", Dtype::F32),
    ("double", Dtype::F64),
];

#[cfg(test)]
mod tests {
    use super::{Layout, Member, Struct, Type};

    fn offsets(ty: &Type, layout: Layout) -> (Vec<usize>, usize) {
        let element = ty.element(layout);
        (element.fields.iter().map(|field| field.offset).collect(), element.stride)
    }

    fn named(name: &str) -> Type {
        Type::of_name(name).expect("a type")
    }

    #[test]
    fn vectors_and_matrices_lie_as_in_glsl() {
        assert_eq!(offsets(&named("vec3<float>"), Layout::Std430), (vec![0, 4, 8], 16));
        assert_eq!(offsets(&named("mat2x3<float16>"), Layout::Std430).0, [0, 2, 4, 8, 10, 12]);
        assert_eq!(offsets(&named("mat2x2<float>"), Layout::Std430), (vec![0, 4, 8, 12], 16));
        assert_eq!(offsets(&named("mat2x2<float>"), Layout::Std140), (vec![0, 4, 16, 20], 32));
        for wrong in ["vec5<float>", "vec2<>", "<float>", "mat2<float>", "float32", "vec2<float"] {
            assert_eq!(Type::of_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn members_follow_the_rules_or_their_own_offsets() {
        let member = |name: &str, ty: &str, len, offset| Member {
            name: name.to_owned(),
            ty: named(ty),
            len,
            offset,
            array_stride: None,
            matrix_stride: None,
        };
        let members = vec![
            member("a", "vec3<float>", None, None),
            member("b", "float", None, None),
            member("c", "int32", Some(2), None),
            member("d", "uint8", None, Some(60)),
        ];
        let of = Struct { name: "s".to_owned(), stride: None, members, depth: 1 };
        let ty = Type::Struct(of.into());
        assert_eq!(offsets(&ty, Layout::Std430), (vec![0, 4, 8, 12, 16, 20, 60], 64));
        assert_eq!(offsets(&ty, Layout::Std140), (vec![0, 4, 8, 12, 16, 32, 60], 64));
        assert_eq!(ty.number_count(), 7);
    }
}
