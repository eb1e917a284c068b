//! `STRUCT`, and the names of types.

use std::rc::Rc;

use super::super::error::Read;
use super::super::token::{Kind, Token};
use super::super::types::{MOST_DEPTH, MOST_NUMBERS, Member, SCALARS, Struct, Type};
use super::Parser;

const OPTIONS: [&str; 3] = ["ARRAY_STRIDE", "MATRIX_STRIDE", "OFFSET"];

/// The last words of the names of image formats.
const FORMAT_ENDS: [&str; 9] =
    ["SFLOAT", "SINT", "SNORM", "SRGB", "SSCALED", "UFLOAT", "UINT", "UNORM", "USCALED"];

impl<'t> Parser<'t> {
    pub(super) fn structure(&mut self) -> Read<()> {
        let token = self.lexer.peek();
        let name = self.fresh("type", |this, name| {
            this.structs.contains_key(name) || Type::of_name(name).is_some()
        })?;
        let stride =
            if self.takes("STRIDE") { Some(self.integer("a number of bytes")?) } else { None };
        self.end("STRUCT")?;
        let mut members: Vec<Member> = Vec::new();
        while let Some(first) = self.line_of(token)? {
            let member = self.member(first)?;
            if members.iter().any(|known| known.name == member.name) {
                let what = format!("`{name}` has a member `{}` already", member.name);
                return Err(self.wrong(first, what));
            }
            members.push(member);
            if members.len() > MOST_NUMBERS {
                return Err(self.wrong(token, format!("more than {MOST_NUMBERS} members")));
            }
        }
        if members.is_empty() {
            return Err(self.wrong(token, format!("`{name}` has no member")));
        }
        let depths = members.iter().map(|member| match &member.ty {
            Type::Struct(of) => of.depth,
            Type::Number { .. } => 0,
        });
        let depth = 1 + depths.max().unwrap_or(0);
        let of = Rc::new(Struct { name: name.to_owned(), stride, members, depth });
        self.measured(token, &of)?;
        self.structs.insert(name, of);
        Ok(())
    }

    /// Whether a structure is of a size that can be worked with.
    fn measured(&self, token: Token<'t>, of: &Rc<Struct>) -> Read<()> {
        let ty = Type::Struct(Rc::clone(of));
        if of.depth > MOST_DEPTH {
            return Err(self.wrong(token, format!("more than {MOST_DEPTH} nested structures")));
        }
        if ty.number_count() > MOST_NUMBERS {
            return Err(self.wrong(token, format!("more than {MOST_NUMBERS} numbers in it")));
        }
        Ok(())
    }

    fn member(&mut self, first: Token<'t>) -> Read<Member> {
        let (ty, len) = self.type_or_array(first)?;
        let name = self.word("the name of a member")?.text.to_owned();
        let mut member =
            Member { name, ty, len, offset: None, array_stride: None, matrix_stride: None };
        loop {
            let token = self.lexer.next();
            match token.text {
                _ if token.ends() => return Ok(member),
                "OFFSET" => member.offset = Some(self.integer("a number of bytes")?),
                "ARRAY_STRIDE" if member.len.is_some() => {
                    member.array_stride = Some(self.integer("a number of bytes")?);
                }
                "MATRIX_STRIDE" => member.matrix_stride = Some(self.integer("a number of bytes")?),
                "ARRAY_STRIDE" => return Err(self.wrong(token, "ARRAY_STRIDE without an array")),
                _ => return Err(self.unknown(token, "option of a member", OPTIONS.into_iter())),
            }
        }
    }

    fn type_or_array(&mut self, token: Token<'t>) -> Read<(Type, Option<u32>)> {
        let Some((name, len)) = token.text.strip_suffix(']').and_then(|t| t.split_once('[')) else {
            return Ok((self.type_named(token)?, None));
        };
        let ty = self.type_named(Token { kind: Kind::Word, text: name, ..token })?;
        match len.parse() {
            Ok(len) if len > 0 => Ok((ty, Some(len))),
            _ => Err(self.wrong(token, format!("an array of `{}` elements", super::shown(len)))),
        }
    }

    /// The type that a word names.
    pub(super) fn type_named(&self, token: Token<'t>) -> Read<Type> {
        if let Some(of) = self.structs.get(token.text) {
            return Ok(Type::Struct(Rc::clone(of)));
        }
        if let Some(ty) = Type::of_name(token.text) {
            return Ok(ty);
        }
        let is_format = token.text.split('_').any(|part| FORMAT_ENDS.contains(&part));
        if is_format {
            return Err(self.unsupported(token, ", an image's format"));
        }
        let known = SCALARS.iter().map(|(name, _)| *name).chain(self.structs.keys().copied());
        Err(self.unknown(token, "type", known))
    }
}
