//! `[buffer.NAME]`: what kernels bind.

use std::path::PathBuf;

use super::formula::Formula;
use super::kernels::Loader;
use super::keys::{BUFFER, EXPECT, INIT};
use super::read::{Entry, Read, Table, Value};

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRole {
    /// Read and left as it was.
    In,
    /// Written completely.
    Out,
    /// Read and written.
    InOut,
    /// Holds nothing before and means nothing afterwards.
    Scratch,
}

const ROLES: [(&str, BufferRole); 4] = [
    ("in", BufferRole::In),
    ("out", BufferRole::Out),
    ("inout", BufferRole::InOut),
    ("scratch", BufferRole::Scratch),
];

/// What a buffer holds before the first step.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Random numbers from -1 to 1; integers from 0 to 255, or -128 to 127 where signed.
    Uniform,
    /// Random numbers of a normal distribution.
    Normal,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// The number of each element.
    Iota,
    /// Poison.
    Undefined,
    /// Random numbers between two; both ends included for integers.
    Range {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// These, repeated until the buffer is full.
    Values(Vec<f64>),
    /// These bytes.
    Bytes(Vec<u8>),
}

const INITS: [(&str, Init); 6] = [
    ("uniform", Init::Uniform),
    ("normal", Init::Normal),
    ("zeros", Init::Zeros),
    ("ones", Init::Ones),
    ("iota", Init::Iota),
    ("undefined", Init::Undefined),
];

/// Numbers or a file of bytes.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Values(Vec<f64>),
    File { path: PathBuf, at: usize },
}

#[derive(Clone, Debug)]
pub(super) enum InitDecl {
    Made(Init),
    File { path: PathBuf, at: usize },
}

#[derive(Clone, Debug)]
pub(super) struct ExpectDecl {
    pub(super) at: usize,
    pub(super) want: Option<Data>,
    pub(super) rtol: f64,
    pub(super) atol: f64,
}

/// A buffer of the file.
#[derive(Clone, Debug)]
pub(super) struct BufferDecl {
    pub(super) name: String,
    pub(super) at: usize,
    /// A type, or the name of a define that holds one, and where it stands.
    pub(super) dtype: (String, usize),
    pub(super) len: Formula,
    pub(super) role: BufferRole,
    pub(super) init: InitDecl,
    pub(super) expect: Option<ExpectDecl>,
    /// Name and place.
    pub(super) alias: Option<(String, usize)>,
    /// Bytes and place.
    pub(super) offset: Option<(u64, usize)>,
    pub(super) accumulate: bool,
    pub(super) unwritten: bool,
}

impl<'d> Loader<'d> {
    pub(super) fn buffer(&self, entry: Entry<'d>) -> Read<BufferDecl> {
        let name = entry.identifier()?;
        let table = entry.value.table(entry.at, BUFFER)?;
        let dtype = table.need("type")?;
        let role = table.need("role")?.word(&ROLES)?;
        let init = self.init(&table, role)?;
        let accumulate = table.flag("accumulate", false)?;
        let unwritten = table.flag("unwritten", false)?;
        if !matches!(role, BufferRole::Out | BufferRole::InOut) {
            table.refuse(
                &["expect", "accumulate", "unwritten"],
                "is for buffers of role \"out\" or \"inout\"",
            )?;
        }
        let expect = table.entry("expect").map(|entry| self.expect(entry)).transpose()?;
        let alias = match table.get("alias") {
            None => None,
            Some(value) => Some((value.str()?.to_owned(), value.at())),
        };
        let offset = match table.get("offset_bytes") {
            None => None,
            Some(value) => Some((value.integer_of::<u64>("an offset")?, value.at())),
        };
        Ok(BufferDecl {
            name,
            at: entry.at,
            dtype: (dtype.str()?.to_owned(), dtype.at()),
            len: table.need("len")?.formula()?,
            role,
            init,
            expect,
            alias,
            offset,
            accumulate,
            unwritten,
        })
    }

    fn init(&self, table: &Table<'d>, role: BufferRole) -> Read<InitDecl> {
        let has_alias = table.get("alias").is_some();
        let Some(entry) = table.entry("init") else {
            let is_read = matches!(role, BufferRole::In | BufferRole::InOut) && !has_alias;
            return Ok(InitDecl::Made(if is_read { Init::Uniform } else { Init::Undefined }));
        };
        let value = entry.value;
        let init = if value.is_table() { self.init_table(entry)? } else { named_init(value)? };
        if matches!(init, InitDecl::Made(Init::Undefined)) {
            return Ok(init);
        }
        if role == BufferRole::Scratch {
            return Err(value.wrong("a scratch buffer holds nothing before the first step"));
        }
        if has_alias {
            return Err(value.wrong("the buffer that `alias` names says what the memory holds"));
        }
        Ok(init)
    }

    fn init_table(&self, entry: Entry<'d>) -> Read<InitDecl> {
        let table = entry.value.table(entry.value.at(), INIT)?;
        let given = INIT.keys.iter().filter_map(|key| table.entry(key)).collect::<Vec<_>>();
        let [only] = given.as_slice() else {
            return Err(table.wrong("one of `uniform`, `values` and `file` is wanted"));
        };
        Ok(match only.key {
            "uniform" => {
                let ends = only.value.list("two numbers")?;
                let [low, high] = ends.as_slice() else {
                    return Err(only.value.wrong("two numbers are wanted: [low, high]"));
                };
                let (low, high) = (low.number()?, high.number()?);
                if !(low <= high && (high - low).is_finite()) {
                    return Err(only.value.wrong("low is at most high, both finite"));
                }
                InitDecl::Made(Init::Range { low, high })
            }
            "values" => InitDecl::Made(Init::Values(values(only.value)?)),
            _ => InitDecl::File { path: self.files.file(only.value)?, at: only.value.at() },
        })
    }

    fn expect(&self, entry: Entry<'d>) -> Read<ExpectDecl> {
        let table = entry.value.table(entry.value.at(), EXPECT)?;
        let tolerance = |key| table.get(key).map_or(Ok(0.0), Value::tolerance);
        let want = match (table.get("file"), table.get("values")) {
            (Some(_), Some(values)) => {
                return Err(values.wrong("`file` and `values` can't both be expected"));
            }
            (Some(file), None) => Some(Data::File { path: self.files.file(file)?, at: file.at() }),
            (None, Some(list)) => Some(Data::Values(values(list)?)),
            (None, None) => None,
        };
        let (rtol, atol) = (tolerance("rtol")?, tolerance("atol")?);
        Ok(ExpectDecl { at: entry.at, want, rtol, atol })
    }
}

fn named_init(value: Value<'_>) -> Read<InitDecl> {
    let words: Vec<(&str, usize)> =
        INITS.iter().enumerate().map(|(at, (word, _))| (*word, at)).collect();
    Ok(InitDecl::Made(INITS[value.word(&words)?].1.clone()))
}

fn values(value: Value<'_>) -> Read<Vec<f64>> {
    let list = value.list("numbers")?;
    if list.is_empty() {
        return Err(value.wrong("the list is empty"));
    }
    list.into_iter().map(Value::number).collect()
}
