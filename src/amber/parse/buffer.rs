//! `BUFFER`.

use super::super::error::Read;
use super::super::number::Number;
use super::super::script::{Buffer, Init};
use super::super::token::{Kind, Token};
use super::super::types::{Element, Field, Layout, Type};
use super::{Parser, shown};

/// The fields of a structure are kept for every buffer that is made of it.
const MOST_BUFFERS: usize = 1024;

impl<'t> Parser<'t> {
    pub(super) fn buffer(&mut self, token: Token<'t>) -> Read<()> {
        let name = self.fresh("buffer", |this, name| this.buffers.contains_key(name))?;
        let start = self.lexer.peek();
        if start.is("FORMAT") {
            return Err(self.unsupported(start, " of a buffer, which is an image's"));
        }
        self.keyword("the name of a buffer", &["DATA_TYPE"])?;
        if self.script.buffers.len() >= MOST_BUFFERS {
            return Err(self.wrong(token, format!("more than {MOST_BUFFERS} buffers")));
        }
        let typed = self.lexer.peek();
        let (ty, is_array) = self.buffer_type()?;
        let layout = match self.lexer.peek() {
            next if next.is("STD140") => Some(Layout::Std140),
            next if next.is("STD430") => Some(Layout::Std430),
            _ => None,
        };
        if layout.is_some() {
            self.lexer.next();
        }
        let layout = layout.unwrap_or_default();
        let mut element = ty.element(layout);
        if is_array && layout == Layout::Std140 {
            element.stride = element.stride.next_multiple_of(16);
        }
        let ends = element.fields.iter().map(|field| field.offset + field.dtype.block_bytes());
        let end = ends.max().unwrap_or(0);
        if end > element.stride {
            let what = format!("its members take {end} bytes, its stride is {}", element.stride);
            return Err(self.wrong(typed, what));
        }
        let (len, init) = self.initializer(token, &ty, &element)?;
        self.end("BUFFER")?;
        self.buffers.insert(name, self.script.buffers.len());
        let name = name.to_owned();
        let line = token.line;
        self.script.buffers.push(Buffer { name, line, ty, layout, element, len, init });
        Ok(())
    }

    fn buffer_type(&mut self) -> Read<(Type, bool)> {
        let token = self.word("a type after DATA_TYPE")?;
        match token.text.strip_suffix("[]") {
            Some(name) => Ok((self.type_named(Token { text: name, ..token })?, true)),
            None => Ok((self.type_named(token)?, false)),
        }
    }

    fn initializer(
        &mut self,
        token: Token<'t>,
        ty: &Type,
        element: &Element,
    ) -> Read<(usize, Init)> {
        let start = self.lexer.peek();
        if start.is("WIDTH") {
            return Err(self.unsupported(start, " of a buffer, which is an image's"));
        }
        if self.keyword("the type of a buffer", &["DATA", "SIZE"])? == "DATA" {
            let values = self.data(token, element)?;
            return Ok((values.len() / element.fields.len(), Init::Data(values)));
        }
        // Not a `usize`, so that scripts mean the same on every machine.
        let len: u32 = self.integer("a number of elements")?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let init = match self.keyword("SIZE", &["FILL", "SERIES_FROM", "FILE"])? {
            "FILL" => {
                // Many scripts fill integers with `0.0`.
                let (at, value) = self.number("a number to fill with")?;
                let value = value.whole();
                let dtypes = element.fields.iter().map(|field| field.dtype);
                if let Some(dtype) = dtypes.into_iter().find(|d| value.encode(*d).is_none()) {
                    let what = format!("`{}` is no number of type {dtype}", shown(at.text));
                    return Err(self.wrong(at, what));
                }
                Init::Fill(value)
            }
            "SERIES_FROM" => {
                if !matches!(ty, Type::Number { columns: 1, rows: 1, .. }) {
                    return Err(self.wrong(start, "a series is made of numbers alone"));
                }
                let from = self.stored(&element.fields[0], "a number to start from")?;
                self.keyword("SERIES_FROM", &["INC_BY"])?;
                let step = self.stored(&element.fields[0], "a number to add")?;
                Init::Series { from, step }
            }
            _ => self.data_file()?,
        };
        Ok((len, init))
    }

    fn data_file(&mut self) -> Read<Init> {
        let kind = self.lexer.peek();
        if kind.is("PNG") {
            return Err(self.unsupported(kind, " files"));
        }
        let kind = self.keyword("FILE", &["BINARY", "TEXT"])?;
        let path = self.word("a path")?.text.to_owned();
        Ok(if kind == "TEXT" { Init::TextFile(path) } else { Init::BinaryFile(path) })
    }

    /// Numbers up to `END`, on any number of lines.
    fn data(&mut self, buffer: Token<'t>, element: &Element) -> Read<Vec<Number>> {
        let mut values = Vec::new();
        loop {
            let token = self.lexer.peek();
            match token.kind {
                Kind::LineEnd => {
                    self.lexer.next();
                }
                Kind::End => return Err(self.unclosed(buffer)),
                Kind::Word | Kind::Quoted if token.is("END") => {
                    self.lexer.next();
                    break;
                }
                Kind::Word | Kind::Quoted => {
                    let field = element.fields[values.len() % element.fields.len()];
                    values.push(self.stored(&field, "a number or END")?);
                }
            }
        }
        if !values.len().is_multiple_of(element.fields.len()) {
            let (got, each) = (values.len(), element.fields.len());
            let what = format!("{got} numbers, which is no multiple of the {each} of an element");
            return Err(self.wrong(buffer, what));
        }
        Ok(values)
    }

    /// The next word, a number that a field can hold.
    pub(super) fn stored(&mut self, field: &Field, what: &str) -> Read<Number> {
        let (token, number) = self.number(what)?;
        if number.encode(field.dtype).is_some() {
            return Ok(number);
        }
        let what = format!("`{}` is no number of type {}", shown(token.text), field.dtype);
        Err(self.wrong(token, what))
    }
}
