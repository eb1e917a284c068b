//! `[[step]]`: what is dispatched and filled.

use super::buffers::BufferDecl;
use super::formula::Formula;
use super::kernels::KernelDecl;
use super::keys::{PUSH, STEP};
use super::read::{Entry, Read, Table, Value, is_identifier};
use super::types::{dtype_of, type_names};
use crate::ops::{Socket, nearest, suggested};
use crate::tensor::Dtype;

/// More than any device's push constants.
const MAX_PUSH_BYTES: u64 = 1 << 12;

/// A step of the file.
#[derive(Clone, Debug)]
pub(super) struct StepDecl {
    pub(super) barrier_before: bool,
    pub(super) does: Does,
}

#[derive(Clone, Debug)]
pub(super) enum Does {
    Dispatch(DispatchDecl),
    Fill { buffer: String, word: u32 },
}

#[derive(Clone, Debug)]
pub(super) struct DispatchDecl {
    /// Index of the kernel.
    pub(super) kernel: usize,
    pub(super) bind: Vec<(Socket, String)>,
    pub(super) push: PushDecl,
    pub(super) groups: Vec<Formula>,
}

#[derive(Clone, Debug)]
pub(super) enum PushDecl {
    /// Each with the scalars of its member.
    Members(Vec<(String, Vec<Formula>)>),
    Block(Vec<BlockMember>),
}

/// An entry of push constants in list form.
#[derive(Clone, Debug)]
pub(super) struct BlockMember {
    pub(super) name: Option<String>,
    pub(super) offset_bytes: u32,
    pub(super) dtype: Dtype,
    pub(super) value: Formula,
}

impl PushDecl {
    pub(super) fn formulas(&self) -> Vec<&Formula> {
        match self {
            Self::Members(members) => members.iter().flat_map(|(_, values)| values).collect(),
            Self::Block(members) => members.iter().map(|member| &member.value).collect(),
        }
    }
}

/// The name among those that the file declares.
pub(super) fn known<'n>(
    value: Value<'_>,
    what: &str,
    mut names: impl Iterator<Item = &'n str> + Clone,
) -> Read<usize> {
    let name = value.str()?;
    names.clone().position(|known| known == name).ok_or_else(|| {
        let near = nearest(name, names.by_ref().map(str::to_owned));
        value.wrong(format!("no {what} `{name}`{}", suggested(&near)))
    })
}

pub(super) fn known_buffer(value: Value<'_>, buffers: &[BufferDecl]) -> Read<String> {
    let at = known(value, "buffer", buffers.iter().map(|buffer| buffer.name.as_str()))?;
    Ok(buffers[at].name.clone())
}

pub(super) fn step(
    value: Value<'_>,
    kernels: &[KernelDecl],
    buffers: &[BufferDecl],
) -> Read<StepDecl> {
    let table = value.table(value.at(), STEP)?;
    let barrier_before = table.flag("barrier_before", true)?;
    let does = match (table.get("kernel"), table.get("fill")) {
        (Some(_), Some(fill)) => {
            return Err(fill.wrong("a step has either a `kernel` or a `fill`"));
        }
        (None, None) => return Err(table.wrong("a step needs a `kernel` or a `fill`")),
        (Some(kernel), None) => {
            table.refuse(&["word"], "goes with `fill`")?;
            let kernel = known(kernel, "kernel", kernels.iter().map(|k| k.name.as_str()))?;
            Does::Dispatch(DispatchDecl {
                kernel,
                bind: bind(table.need("bind")?, buffers)?,
                push: table.get("push").map_or(Ok(PushDecl::Members(Vec::new())), push)?,
                groups: groups(table.need("groups")?)?,
            })
        }
        (None, Some(buffer)) => {
            table.refuse(&["bind", "push", "groups"], "goes with `kernel`")?;
            let word = table.get("word");
            Does::Fill {
                buffer: known_buffer(buffer, buffers)?,
                word: word.map_or(Ok(0), |word| word.integer_of("a word of 32 bits"))?,
            }
        }
    };
    Ok(StepDecl { barrier_before, does })
}

pub(super) fn bind(table: Value<'_>, buffers: &[BufferDecl]) -> Read<Vec<(Socket, String)>> {
    let mut bound: Vec<(Socket, String)> = Vec::new();
    for entry in table.entries()? {
        // `1.0 = "x"` without quotes is a table in TOML.
        let inner = if entry.value.is_table() { entry.value.entries()? } else { vec![entry] };
        for place in inner {
            let key = if entry.value.is_table() {
                format!("{}.{}", entry.key, place.key)
            } else {
                place.key.to_owned()
            };
            let socket = socket(&key).ok_or_else(|| {
                let what = format!("`{key}` is neither a binding, \"set.binding\" nor a GLSL name");
                place.wrong(what)
            })?;
            if bound.iter().any(|(known, _)| *known == socket) {
                return Err(place.wrong(format!("`{key}` is bound twice")));
            }
            bound.push((socket, known_buffer(place.value, buffers)?));
        }
    }
    Ok(bound)
}

fn socket(key: &str) -> Option<Socket> {
    if is_identifier(key) {
        return Some(Socket::Named(key.to_owned().into()));
    }
    let (set, binding) = key.split_once('.').unwrap_or(("0", key));
    let number = |text: &str| {
        let is_plain = text.chars().all(|c| c.is_ascii_digit());
        if is_plain { text.parse().ok() } else { None }
    };
    Some(Socket::At { set: number(set)?, binding: number(binding)? })
}

pub(super) fn groups(value: Value<'_>) -> Read<Vec<Formula>> {
    let list = value.list("up to three numbers of workgroups")?;
    if list.is_empty() || list.len() > 3 {
        return Err(value.wrong(format!("one to three numbers are wanted, not {}", list.len())));
    }
    list.into_iter().map(Value::formula).collect()
}

pub(super) fn push(value: Value<'_>) -> Read<PushDecl> {
    if let Some(list) = value.as_list() {
        return block(&list).map(PushDecl::Block);
    }
    if !value.is_table() {
        return Err(
            value.wrong("a table of members or a list of { type, offset, value } is wanted")
        );
    }
    let mut members: Vec<(String, Vec<Formula>)> = Vec::new();
    for (name, entry) in flat("", value.entries()?)? {
        if members.iter().any(|(known, _)| *known == name) {
            return Err(entry.wrong(format!("`{name}` is given twice")));
        }
        let scalars = entry.value.one_or_list()?;
        let scalars: Read<Vec<Formula>> = scalars.into_iter().map(Value::formula).collect();
        members.push((name, scalars?));
    }
    Ok(PushDecl::Members(members))
}

/// The entries by dotted names; without quotes a dotted key is a table in a table. TOML's reader
/// bounds how deep they lie.
fn flat<'d>(prefix: &str, entries: Vec<Entry<'d>>) -> Read<Vec<(String, Entry<'d>)>> {
    let mut all = Vec::new();
    for entry in entries {
        let name = format!("{prefix}{}", entry.key);
        if entry.value.is_table() {
            all.extend(flat(&format!("{name}."), entry.value.entries()?)?);
        } else {
            all.push((name, entry));
        }
    }
    Ok(all)
}

fn block(list: &[Value<'_>]) -> Read<Vec<BlockMember>> {
    let mut members: Vec<BlockMember> = Vec::new();
    for value in list {
        let table = value.table(value.at(), PUSH)?;
        let dtype = push_dtype(&table)?;
        let offset = table.need("offset")?;
        let offset_bytes: u32 = offset.integer_of("an offset in bytes")?;
        offset.within(u64::from(offset_bytes), MAX_PUSH_BYTES)?;
        let end = |at: u32, dtype: Dtype| u64::from(at) + dtype.block_bytes() as u64;
        let overlaps = |other: &&BlockMember| {
            u64::from(other.offset_bytes) < end(offset_bytes, dtype)
                && u64::from(offset_bytes) < end(other.offset_bytes, other.dtype)
        };
        if let Some(other) = members.iter().find(overlaps) {
            let (at, of) = (other.offset_bytes, other.dtype);
            return Err(offset.wrong(format!("overlaps the {of} at offset {at}")));
        }
        let name = table.get("name").map(Value::str).transpose()?.map(str::to_owned);
        members.push(BlockMember {
            name,
            offset_bytes,
            dtype,
            value: table.need("value")?.formula()?,
        });
    }
    Ok(members)
}

fn push_dtype(table: &Table<'_>) -> Read<Dtype> {
    let value = table.need("type")?;
    let name = value.str()?;
    dtype_of(name).filter(|dtype| dtype.block_len() == 1).ok_or_else(|| {
        value.wrong(format!(
            "no type of push constants `{name}`{}",
            suggested(&nearest(name, type_names()))
        ))
    })
}
