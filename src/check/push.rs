//! Push constants: what the plan gives against what the kernel declares.

use std::fmt::Write;

use crate::ops::{HostMember, Name, Push, PushValue};
use crate::spirv::{ElementType, Interface, PushMember};
use crate::tensor::Dtype;

/// The block's bytes, packed as the kernel declares it.
///
/// # Errors
/// A member that only one side has, or of another type, with the members side by side.
pub(super) fn block(interface: &Interface, push: &Push) -> Result<Vec<u8>, String> {
    let mut block = vec![0; interface.push_bytes.next_multiple_of(4) as usize];
    match push {
        Push::Members(members) => named(&interface.push, members, &mut block)?,
        Push::Block(members) => {
            let scalars = scalars(&interface.push);
            if let Some(what) = differs(&scalars, members) {
                return Err(format!("{what}\n{}", side_by_side(&scalars, members)));
            }
            for member in members {
                put(&mut block, member.offset_bytes, &member.dtype.encode(&[member.value]));
            }
        }
    }
    Ok(block)
}

fn named(
    declared: &[PushMember],
    given: &[(Name, PushValue)],
    block: &mut [u8],
) -> Result<(), String> {
    let table = || by_name(declared, given);
    if let Some((extra, _)) =
        given.iter().find(|(name, _)| declared.iter().all(|m| m.name != *name))
    {
        return Err(format!("no push constant `{extra}`\n{}", table()));
    }
    for member in declared {
        let Some((_, value)) = given.iter().find(|(name, _)| *name == member.name) else {
            return Err(format!("push constant `{}` is not given\n{}", member.name, table()));
        };
        let bytes = stored(member, value).map_err(|what| {
            format!("push constant `{}` is a {}, and {what}", member.name, typed(member))
        })?;
        for (at, scalar) in bytes {
            put(block, at, &scalar);
        }
    }
    Ok(())
}

fn put(block: &mut [u8], at: u32, bytes: &[u8]) {
    let at = at as usize;
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The scalars of a member with their offsets in the block.
fn stored(member: &PushMember, value: &PushValue) -> Result<Vec<(u32, Vec<u8>)>, String> {
    let places: Vec<u32> = places(member).collect();
    match value {
        PushValue::U32(v) if matches!(member.ty, ElementType::U32 | ElementType::I32) => {
            one(&places, "one u32").map(|at| vec![(at, v.to_le_bytes().to_vec())])
        }
        PushValue::F32(v) if member.ty == ElementType::F32 => {
            one(&places, "one f32").map(|at| vec![(at, v.to_le_bytes().to_vec())])
        }
        PushValue::U32(_) => Err("the plan gives one u32".to_owned()),
        PushValue::F32(_) => Err("the plan gives one f32".to_owned()),
        PushValue::Numbers(values) if values.len() == places.len() => {
            let dtype = member.ty.dtype().ok_or("no number fits that".to_owned())?;
            let fits = |v: &f64| dtype.is_float() || dtype.round(*v) == *v;
            match values.iter().find(|v| !fits(v)) {
                Some(value) => Err(format!("{value} is none of {dtype}")),
                None => {
                    Ok(places.into_iter().zip(values.iter().map(|v| dtype.encode(&[*v]))).collect())
                }
            }
        }
        PushValue::Numbers(values) => Err(format!("{} numbers are given", values.len())),
    }
}

fn one(places: &[u32], given: &str) -> Result<u32, String> {
    match places {
        [at] => Ok(*at),
        _ => Err(format!("the plan gives {given}")),
    }
}

/// Offsets of a member's scalars.
fn places(member: &PushMember) -> impl Iterator<Item = u32> + use<> {
    let len = member.len.unwrap_or(1);
    let stride = member.size / len.max(1);
    let width = member.ty.scalar_bytes();
    let (offset, components) = (member.offset, member.components);
    (0..len).flat_map(move |at| (0..components).map(move |c| offset + at * stride + c * width))
}

/// What the kernel declares at an offset.
struct Declared {
    offset: u32,
    name: String,
    ty: ElementType,
}

fn scalars(members: &[PushMember]) -> Vec<Declared> {
    let of = |member: &PushMember| {
        let several = member.len.unwrap_or(1) * member.components > 1;
        let (name, ty) = (member.name.clone(), member.ty);
        let named = move |(at, offset)| Declared {
            offset,
            name: if several { format!("{name}[{at}]") } else { name.clone() },
            ty,
        };
        places(member).enumerate().map(named).collect::<Vec<_>>()
    };
    let mut all: Vec<Declared> = members.iter().flat_map(of).collect();
    all.sort_by_key(|d| d.offset);
    all
}

fn differs(declared: &[Declared], given: &[HostMember]) -> Option<String> {
    for member in given {
        let Some(kernel) = declared.iter().find(|d| d.offset == member.offset_bytes) else {
            return Some(format!(
                "the kernel has no push constant at offset {}",
                member.offset_bytes
            ));
        };
        let is_same = match (&member.name, kernel.ty.dtype()) {
            (Some(name), _) if *name != kernel.name => false,
            (_, Some(dtype)) => interchangeable(dtype, member.dtype),
            (_, None) => false,
        };
        if !is_same {
            return Some(format!("the push constants at offset {} differ", member.offset_bytes));
        }
    }
    let missing = declared.iter().find(|d| given.iter().all(|g| g.offset_bytes != d.offset));
    missing.map(|d| format!("push constant `{}` at offset {} is not given", d.name, d.offset))
}

/// The same type, or integers of one width: their bits are the same on both sides.
fn interchangeable(a: Dtype, b: Dtype) -> bool {
    a == b || (a.is_integer() && b.is_integer() && a.block_bytes() == b.block_bytes())
}

/// The declared members beside the given ones of their names.
fn by_name(declared: &[PushMember], given: &[(Name, PushValue)]) -> String {
    let mut text = format!("  {:>6}  {:<28}  {}", "offset", "kernel", "given");
    for member in declared {
        let value = given.iter().find(|(name, _)| *name == member.name);
        let value =
            value.map_or_else(|| "-".to_owned(), |(name, v)| format!("{name} = {}", shown(v)));
        let kernel = format!("{} {}", typed(member), member.name);
        let _ = write!(text, "\n  {:>6}  {kernel:<28}  {value}", member.offset);
    }
    for (name, value) in given.iter().filter(|(name, _)| declared.iter().all(|m| m.name != *name)) {
        let _ = write!(text, "\n  {:>6}  {:<28}  {name} = {}", "-", "-", shown(value));
    }
    text
}

fn side_by_side(declared: &[Declared], given: &[HostMember]) -> String {
    let mut offsets: Vec<u32> = declared.iter().map(|d| d.offset).collect();
    offsets.extend(given.iter().map(|g| g.offset_bytes));
    offsets.sort_unstable();
    offsets.dedup();
    let mut text = format!("  {:>6}  {:<28}  {}", "offset", "kernel", "host");
    for offset in offsets {
        let kernel = declared.iter().find(|d| d.offset == offset);
        let host = given.iter().find(|g| g.offset_bytes == offset);
        let kernel = kernel.map_or_else(|| "-".to_owned(), |d| format!("{} {}", d.ty, d.name));
        let host = host.map_or_else(
            || "-".to_owned(),
            |g| format!("{} {}", g.dtype, g.name.as_deref().unwrap_or("(unnamed)")),
        );
        let _ = write!(text, "\n  {offset:>6}  {kernel:<28}  {host}");
    }
    text
}

fn typed(member: &PushMember) -> String {
    let mut text = member.ty.to_string();
    if member.components > 1 {
        let _ = write!(text, " x {}", member.components);
    }
    if let Some(len) = member.len {
        let _ = write!(text, "[{len}]");
    }
    text
}

fn shown(value: &PushValue) -> String {
    match value {
        PushValue::U32(v) => v.to_string(),
        PushValue::F32(v) => format!("{v:?}"),
        PushValue::Numbers(values) => match values.as_slice() {
            [value] => value.to_string(),
            values => format!("{values:?}"),
        },
    }
}
