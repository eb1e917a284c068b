//! What a buffer holds at first, as bytes.

use std::fs;

use super::error::{AmberError, wrong};
use super::number::Number;
use super::script::{Buffer, Init, Script};
use super::token::{Kind, Lexer};
use crate::tensor::Dtype;

impl Buffer {
    /// Its size; none beyond this machine's address space.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        self.len.checked_mul(self.element.stride)
    }

    /// The type of all its numbers and how many of them fill it, or its bytes.
    pub(super) fn storage(&self) -> (Dtype, usize) {
        let bytes = self.bytes().unwrap_or(0);
        let dtype = self.element.fields[0].dtype;
        let size = dtype.block_bytes();
        let is_even = self.element.fields.iter().all(|field| field.dtype == dtype);
        match is_even && self.element.stride.is_multiple_of(size) {
            true => (dtype, bytes / size),
            false => (Dtype::U8, bytes),
        }
    }

    /// The number at an index among all numbers of the buffer, in `bytes` of it.
    pub(super) fn number(&self, bytes: &[u8], index: usize) -> Number {
        let each = self.element.fields.len();
        let field = self.element.fields[index % each];
        let at = index / each * self.element.stride + field.offset;
        Number::decode(&bytes[at..at + field.dtype.block_bytes()], field.dtype)
    }

    fn put(&self, bytes: &mut [u8], index: usize, number: Number) -> Option<()> {
        let each = self.element.fields.len();
        let field = self.element.fields[index % each];
        let at = index / each * self.element.stride + field.offset;
        let encoded = number.encode(field.dtype)?;
        bytes.get_mut(at..at + encoded.len())?.copy_from_slice(&encoded);
        Some(())
    }

    /// What it holds at first; its size has been looked at.
    pub(super) fn contents(&self, script: &Script) -> Result<Vec<u8>, AmberError> {
        let mut bytes = vec![0; self.bytes().unwrap_or(0)];
        let count = self.len * self.element.fields.len();
        match &self.init {
            Init::Data(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.put(&mut bytes, index, *value);
                }
            }
            Init::Fill(value) => {
                let mut elements = bytes.chunks_exact_mut(self.element.stride);
                if let Some(first) = elements.next() {
                    for index in 0..self.element.fields.len() {
                        self.put(first, index, *value);
                    }
                    elements.for_each(|element| element.copy_from_slice(first));
                }
            }
            Init::Series { from, step } => {
                let mut value = *from;
                for index in 0..count {
                    self.put(&mut bytes, index, value);
                    value = self.after(value, *step);
                }
            }
            Init::TextFile(path) => self.read_text(script, path, &mut bytes)?,
            Init::BinaryFile(path) => {
                let read = fs::read(script.folder().join(path));
                let read = read.map_err(|error| unreadable(script, path, &error.to_string()))?;
                if read.len() != bytes.len() {
                    let what = format!(
                        "{} bytes for buffer `{}` of {}",
                        read.len(),
                        self.name,
                        bytes.len()
                    );
                    return Err(unreadable(script, path, &what));
                }
                bytes = read;
            }
        }
        Ok(bytes)
    }

    /// The next number of a series; integers go on at the other end of their range.
    fn after(&self, value: Number, step: Number) -> Number {
        let dtype = self.element.fields[0].dtype;
        match (value, step) {
            (Number::Int(value), Number::Int(step)) if !dtype.is_float() => {
                Number::Int((value + step).rem_euclid(1 << (8 * dtype.block_bytes())))
            }
            _ => Number::Float(value.value() + step.value()),
        }
    }

    fn read_text(&self, script: &Script, path: &str, bytes: &mut [u8]) -> Result<(), AmberError> {
        let file = script.folder().join(path);
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| unreadable(script, path, &error.to_string()))?;
        let mut lexer = Lexer::new(&text);
        let count = self.len * self.element.fields.len();
        let mut index = 0;
        loop {
            let token = lexer.next();
            match token.kind {
                Kind::End => return Ok(()),
                Kind::LineEnd => {}
                // A file may hold more than the buffer's size asks for.
                Kind::Word | Kind::Quoted if index == count => return Ok(()),
                Kind::Word | Kind::Quoted => {
                    let number = Number::parse(token.text);
                    let put = number.and_then(|number| self.put(bytes, index, number));
                    put.ok_or_else(|| {
                        let what = format!("this is no number of buffer `{}`", self.name);
                        wrong(&file.display().to_string(), &text, token.at, what)
                    })?;
                    index += 1;
                }
            }
        }
    }
}

fn unreadable(script: &Script, path: &str, reason: &str) -> AmberError {
    let path = script.folder().join(path).display().to_string();
    AmberError::Unreadable { path, reason: reason.to_owned() }
}
