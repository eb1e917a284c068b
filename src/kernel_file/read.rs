//! TOML with places: values that know where they stand and say what was wanted instead.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{KernelFileError, Text};
use super::expr::{Expr, ExprError};
use super::formula::Formula;
use super::keys::Keys;
use super::number::Number;
use crate::ops::{nearest, suggested};

/// It keeps what compares each with each from taking for ever.
const MAX_ENTRIES: usize = 1000;

pub(super) type Read<T> = Result<T, KernelFileError>;

/// A value with its place.
#[derive(Clone, Copy)]
pub(super) struct Value<'d> {
    pub(super) text: &'d Text,
    inner: &'d Spanned<DeValue<'d>>,
}

/// A key with its place and value.
#[derive(Clone, Copy)]
pub(super) struct Entry<'d> {
    pub(super) key: &'d str,
    pub(super) at: usize,
    pub(super) value: Value<'d>,
}

/// A table whose keys are known.
pub(super) struct Table<'d> {
    text: &'d Text,
    at: usize,
    keys: Keys,
    entries: Vec<Entry<'d>>,
}

/// The entries in the order in which the file has them.
fn entries<'d>(text: &'d Text, table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
    let mut entries: Vec<Entry<'d>> = table
        .iter()
        .map(|(key, inner)| Entry {
            key: key.get_ref().as_ref(),
            at: key.span().start,
            value: Value { text, inner },
        })
        .collect();
    entries.sort_by_key(|entry| entry.at);
    entries
}

impl<'d> Table<'d> {
    /// The whole file.
    pub(super) fn root(text: &'d Text, root: &'d DeTable<'d>, keys: Keys) -> Read<Self> {
        Self::of(text, 0, entries(text, root), keys)
    }

    fn of(text: &'d Text, at: usize, entries: Vec<Entry<'d>>, keys: Keys) -> Read<Self> {
        for entry in &entries {
            if !keys.keys.contains(&entry.key) {
                let near = nearest(entry.key, keys.keys.iter().map(|key| (*key).to_owned()));
                let (key, table) = (entry.key, keys.table);
                let what = format!("unknown key `{key}` in {table}{}", suggested(&near));
                return Err(text.wrong(entry.at, what));
            }
        }
        Ok(Self { text, at, keys, entries })
    }

    pub(super) fn entry(&self, key: &str) -> Option<Entry<'d>> {
        self.entries.iter().find(|entry| entry.key == key).copied()
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'d>> {
        self.entry(key).map(|entry| entry.value)
    }

    pub(super) fn need(&self, key: &str) -> Read<Value<'d>> {
        self.get(key)
            .ok_or_else(|| self.wrong(format!("{} needs the key `{key}`", self.keys.table)))
    }

    /// The first of these keys that it has, as an error.
    pub(super) fn refuse(&self, keys: &[&str], why: &str) -> Read<()> {
        match self.entries.iter().find(|entry| keys.contains(&entry.key)) {
            Some(entry) => Err(self.text.wrong(entry.at, format!("`{}` {why}", entry.key))),
            None => Ok(()),
        }
    }

    pub(super) fn wrong(&self, message: impl Into<String>) -> KernelFileError {
        self.text.wrong(self.at, message)
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> Read<bool> {
        self.get(key).map_or(Ok(default), Value::boolean)
    }
}

impl<'d> Value<'d> {
    pub(super) fn at(self) -> usize {
        self.inner.span().start
    }

    pub(super) fn wrong(self, message: impl Into<String>) -> KernelFileError {
        self.text.wrong(self.at(), message)
    }

    fn wanted<T>(self, what: &str) -> Read<T> {
        let kind = match self.inner.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        Err(self.wrong(format!("{what} is wanted here, not {kind}")))
    }

    pub(super) fn str(self) -> Read<&'d str> {
        match self.inner.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => self.wanted("text"),
        }
    }

    pub(super) fn boolean(self) -> Read<bool> {
        self.inner.get_ref().as_bool().map_or_else(|| self.wanted("true or false"), Ok)
    }

    pub(super) fn is_boolean(self) -> bool {
        self.inner.get_ref().is_bool()
    }

    pub(super) fn is_integer(self) -> bool {
        self.inner.get_ref().is_integer()
    }

    pub(super) fn is_text(self) -> bool {
        self.inner.get_ref().is_str()
    }

    pub(super) fn is_table(self) -> bool {
        self.inner.get_ref().is_table()
    }

    /// The elements of a list, none for any other value.
    pub(super) fn as_list(self) -> Option<Vec<Self>> {
        let list = self.inner.get_ref().as_array()?;
        Some(list.iter().map(|inner| Self { text: self.text, inner }).collect())
    }

    pub(super) fn list(self, of: &str) -> Read<Vec<Self>> {
        self.as_list().map_or_else(|| self.wanted(&format!("a list of {of}")), Ok)
    }

    /// The elements of a list that holds at least one, or the value alone.
    pub(super) fn one_or_list(self) -> Read<Vec<Self>> {
        match self.as_list() {
            Some(list) if list.is_empty() => Err(self.wrong("the list is empty")),
            Some(list) => Ok(list),
            None => Ok(vec![self]),
        }
    }

    /// A table with known keys; `at` is where errors about missing ones point.
    pub(super) fn table(self, at: usize, keys: Keys) -> Read<Table<'d>> {
        Table::of(self.text, at, self.entries()?, keys)
    }

    /// The entries of a table whose keys are names.
    pub(super) fn entries(self) -> Read<Vec<Entry<'d>>> {
        match self.inner.get_ref() {
            DeValue::Table(table) if table.len() > MAX_ENTRIES => {
                Err(self.wrong(format!("more than {MAX_ENTRIES} entries in one table")))
            }
            DeValue::Table(table) => Ok(entries(self.text, table)),
            _ => self.wanted("a table"),
        }
    }

    /// An integer within 128 bits.
    pub(super) fn integer(self) -> Read<i128> {
        match self.inner.get_ref() {
            DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
                .map_err(|_| self.wrong("the integer is too large")),
            _ => self.wanted("an integer"),
        }
    }

    /// An integer of a type.
    pub(super) fn integer_of<T: TryFrom<i128>>(self, range: &str) -> Read<T> {
        let value = self.integer()?;
        T::try_from(value).map_err(|_| self.wrong(format!("{value} is not {range}")))
    }

    /// An integer or float as a double that holds it exactly; infinities and NaN included.
    pub(super) fn number(self) -> Read<f64> {
        match self.inner.get_ref() {
            DeValue::Integer(_) => {
                let value = self.integer()?;
                if value.unsigned_abs() <= 1 << 53 {
                    Ok(value as f64)
                } else {
                    Err(self.wrong("an integer beyond 2^53; use a file"))
                }
            }
            DeValue::Float(float) => {
                float.as_str().parse().map_err(|_| self.wrong("this float can't be read"))
            }
            _ => self.wanted("a number"),
        }
    }

    /// A number that is finite and not negative.
    pub(super) fn tolerance(self) -> Read<f64> {
        let value = self.number()?;
        if value.is_finite() && value >= 0.0 {
            Ok(value)
        } else {
            Err(self.wrong("a tolerance is a finite number that isn't negative"))
        }
    }

    /// An integer, a float or an expression.
    pub(super) fn formula(self) -> Read<Formula> {
        match self.inner.get_ref() {
            DeValue::Integer(_) => Ok(Formula::constant(Number::whole(self.integer()?), self.at())),
            DeValue::Float(_) => Ok(Formula::constant(Number::Float(self.number()?), self.at())),
            DeValue::String(text) => {
                let place = self.inside(text);
                let wrong = |e: ExprError| {
                    self.text.wrong(place.map_or(self.at(), |p| p + e.at), e.message)
                };
                Ok(Formula::new(text, Expr::parse(text).map_err(wrong)?, self.at(), place))
            }
            _ => self.wanted("an integer or an expression"),
        }
    }

    /// An integer, a float, a boolean as 1 or 0, or an expression.
    pub(super) fn constant(self) -> Read<Formula> {
        match self.inner.get_ref() {
            DeValue::Boolean(holds) => Ok(Formula::constant(Number::truth(*holds), self.at())),
            _ => self.formula(),
        }
    }

    /// # Errors
    /// A number that exceeds the most that is possible.
    pub(super) fn within(self, given: u64, most: u64) -> Read<()> {
        if given <= most { Ok(()) } else { Err(self.wrong(format!("at most {most} is possible"))) }
    }

    /// Where a text begins in the file, if it stands there as it is, without escapes.
    fn inside(self, text: &str) -> Option<usize> {
        let raw = self.text.body.get(self.inner.span())?;
        let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
        let is_plain = raw.get(quotes..raw.len().checked_sub(quotes)?)? == text;
        is_plain.then(|| self.at() + quotes)
    }

    /// A text that is one of the words, each with what it stands for.
    pub(super) fn word<T: Copy>(self, words: &[(&str, T)]) -> Read<T> {
        let given = self.str()?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == given) {
            return Ok(*meaning);
        }
        let all: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        Err(self.wrong(format!("\"{given}\" is none of {}", all.join(", "))))
    }
}

/// Names of shapes, kernels, buffers and constants.
pub(super) fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && name.starts_with(|c: char| !c.is_ascii_digit())
}

impl Entry<'_> {
    pub(super) fn wrong(&self, message: impl Into<String>) -> KernelFileError {
        self.value.text.wrong(self.at, message)
    }

    /// Its key, which is a name.
    pub(super) fn identifier(&self) -> Read<String> {
        if is_identifier(self.key) {
            return Ok(self.key.to_owned());
        }
        let what = format!("`{}` is no name: letters, digits and _, no digit first", self.key);
        Err(self.wrong(what))
    }
}
