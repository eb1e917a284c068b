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

impl Init {
    /// What a kernel file calls those that need no further words.
    pub fn names() -> impl Iterator<Item = &'static str> {
        INITS.iter().map(|(name, _)| *name)
    }
}

/// A number and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) value: f64,
    pub(super) at: usize,
}

/// Numbers or a file of bytes.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Values(Vec<Placed>),
    File { path: PathBuf, at: usize },
}

#[derive(Clone, Debug)]
pub(super) enum InitDecl {
    /// With the numbers that the file gives for it.
    Made(Init, Vec<Placed>),
    File {
        path: PathBuf,
        at: usize,
    },
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

impl BufferDecl {
    /// The numbers that the file gives for elements.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &Placed> {
        let made = match &self.init {
            InitDecl::Made(_, numbers) => numbers.as_slice(),
            InitDecl::File { .. } => &[],
        };
        let wanted = match self.expect.as_ref().and_then(|expect| expect.want.as_ref()) {
            Some(Data::Values(values)) => values.as_slice(),
            Some(Data::File { .. }) | None => &[],
        };
        made.iter().chain(wanted)
    }
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
            let init = if is_read { Init::Uniform } else { Init::Undefined };
            return Ok(InitDecl::Made(init, Vec::new()));
        };
        let value = entry.value;
        let init = if value.is_table() { self.init_table(entry)? } else { named_init(value)? };
        if matches!(init, InitDecl::Made(Init::Undefined, _)) {
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
                let ends = vec![placed(*low)?, placed(*high)?];
                let (low, high) = (ends[0].value, ends[1].value);
                if !(low <= high && (high - low).is_finite()) {
                    return Err(only.value.wrong("low is at most high, both finite"));
                }
                InitDecl::Made(Init::Range { low, high }, ends)
            }
            "values" => {
                let values = values(only.value)?;
                InitDecl::Made(Init::Values(plain(&values)), values)
            }
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
    Ok(InitDecl::Made(INITS[value.word(&words)?].1.clone(), Vec::new()))
}

fn placed(value: Value<'_>) -> Read<Placed> {
    Ok(Placed { value: value.number()?, at: value.at() })
}

pub(super) fn plain(values: &[Placed]) -> Vec<f64> {
    values.iter().map(|placed| placed.value).collect()
}

fn values(value: Value<'_>) -> Read<Vec<Placed>> {
    let list = value.list("numbers")?;
    if list.is_empty() {
        return Err(value.wrong("the list is empty"));
    }
    list.into_iter().map(placed).collect()
}
