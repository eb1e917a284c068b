//! `[truth]`: how to know whether a result is right.

use std::path::{Path, PathBuf};

use super::buffers::BufferDecl;
use super::formula::Formula;
use super::kernels::{KernelDecl, Loader};
use super::keys::TRUTH;
use super::read::{Read, Table, Value};
use super::scope::Owner;
use super::steps::{DispatchDecl, Does, StepDecl, bind, groups, known_buffer, push};
use crate::ops::{Code, Pass};

const PASSES: [(&str, Pass); 2] = [("forward", Pass::Forward), ("vjp", Pass::Vjp)];

/// The truth as the file says it.
#[derive(Clone, Debug)]
pub(super) enum TruthDecl {
    None,
    Op(OpDecl),
    /// A kernel file with buffers of the same names, and where it is named.
    File {
        path: PathBuf,
        at: usize,
    },
    /// What takes the place of the only dispatch.
    Kernel(DispatchDecl),
}

#[derive(Clone, Debug)]
pub(super) struct OpDecl {
    pub(super) op: String,
    pub(super) pass: Pass,
    pub(super) map: Vec<(String, String)>,
    pub(super) dims: Vec<(String, Formula)>,
    pub(super) attributes: Vec<(String, Formula)>,
}

impl TruthDecl {
    pub(super) fn formulas(&self) -> Vec<&Formula> {
        match self {
            Self::None | Self::File { .. } => Vec::new(),
            Self::Op(op) => op.dims.iter().chain(&op.attributes).map(|(_, f)| f).collect(),
            Self::Kernel(dispatch) => {
                let mut formulas = dispatch.push.formulas();
                formulas.extend(&dispatch.groups);
                formulas
            }
        }
    }
}

impl<'d> Loader<'d> {
    /// The truth; a kernel that only it names joins the others.
    pub(super) fn truth(
        &mut self,
        value: Value<'d>,
        at: usize,
        kernels: &mut Vec<KernelDecl>,
        buffers: &[BufferDecl],
        steps: &[StepDecl],
    ) -> Read<TruthDecl> {
        let table = value.table(at, TRUTH)?;
        match (table.get("op"), table.get("kernel")) {
            (Some(_), Some(kernel)) => Err(kernel.wrong("a truth is either an `op` or a `kernel`")),
            (None, None) => Err(table.wrong("a truth needs an `op` or a `kernel`")),
            (Some(op), None) => {
                let of_kernels = ["defines", "spec", "include", "bind", "push", "groups"];
                table.refuse(&of_kernels, "goes with `kernel`")?;
                op_truth(op, &table, buffers).map(TruthDecl::Op)
            }
            (None, Some(kernel)) => {
                let of_ops = ["map", "dims", "attributes", "pass"];
                table.refuse(&of_ops, "goes with `op`")?;
                self.twin(kernel, &table, kernels, buffers, steps)
            }
        }
    }

    fn twin(
        &mut self,
        kernel: Value<'d>,
        table: &Table<'d>,
        kernels: &mut Vec<KernelDecl>,
        buffers: &[BufferDecl],
        steps: &[StepDecl],
    ) -> Read<TruthDecl> {
        let name = kernel.str()?;
        let own = kernels.iter().position(|known| known.name == name);
        if own.is_none() && Path::new(name).extension().is_some_and(|e| e == "toml") {
            let inside = ["defines", "spec", "include", "bind", "push", "groups"];
            table.refuse(&inside, "stands in the twin's own file")?;
            let path = self.files.file(kernel)?;
            return Ok(TruthDecl::File { path, at: kernel.at() });
        }
        let only = only_dispatch(steps).map_err(|count| {
            let what = "a kernel takes the place of the only dispatch";
            kernel.wrong(format!("{what}, and this file has {count}; name a .toml file"))
        })?;
        let at = match own {
            Some(at) => {
                table.refuse(&["defines", "spec", "include"], "stands in [kernel.NAME]")?;
                at
            }
            None => {
                let decl = self.unnamed(kernel, table, &kernels[only.kernel])?;
                kernels.push(decl);
                kernels.len() - 1
            }
        };
        Ok(TruthDecl::Kernel(DispatchDecl {
            kernel: at,
            bind: table.get("bind").map_or(Ok(only.bind.clone()), |value| bind(value, buffers))?,
            push: table.get("push").map_or(Ok(only.push.clone()), push)?,
            groups: table.get("groups").map_or(Ok(only.groups.clone()), groups)?,
        }))
    }

    /// A kernel that is a file. Macros and folders are the replaced kernel's unless given; a
    /// constant isn't, since a kernel that doesn't declare it couldn't take it.
    fn unnamed(
        &mut self,
        file: Value<'d>,
        table: &Table<'d>,
        replaced: &KernelDecl,
    ) -> Read<KernelDecl> {
        let mut code = self.code(file, table)?;
        if let (
            Code::Glsl { folders, target, .. },
            Code::Glsl { folders: theirs, target: their_target, .. },
        ) = (&mut code, &replaced.code)
        {
            *target = *their_target;
            if table.get("include").is_none() {
                folders.clone_from(theirs);
            }
        }
        let is_glsl = matches!(code, Code::Glsl { .. });
        let defines = match table.get("defines") {
            Some(value) => self.defines(value, &Owner::Unnamed)?,
            None if is_glsl => replaced.defines.clone(),
            None => Vec::new(),
        };
        let spec =
            table.get("spec").map_or(Ok(Vec::new()), |value| self.spec(value, &Owner::Unnamed))?;
        Ok(KernelDecl { name: String::new(), at: file.at(), code, defines, spec })
    }
}

/// # Errors
/// How many there are instead.
fn only_dispatch(steps: &[StepDecl]) -> Result<&DispatchDecl, usize> {
    let dispatches: Vec<&DispatchDecl> = steps
        .iter()
        .filter_map(|step| match &step.does {
            Does::Dispatch(dispatch) => Some(dispatch),
            Does::Fill { .. } => None,
        })
        .collect();
    match dispatches.as_slice() {
        [only] => Ok(only),
        others => Err(others.len()),
    }
}

fn op_truth(op: Value<'_>, table: &Table<'_>, buffers: &[BufferDecl]) -> Read<OpDecl> {
    let formulas = |key| -> Read<Vec<(String, Formula)>> {
        let Some(value) = table.get(key) else { return Ok(Vec::new()) };
        let entries = value.entries()?.into_iter();
        entries.map(|entry| Ok((entry.key.to_owned(), entry.value.formula()?))).collect()
    };
    let mut map = Vec::new();
    if let Some(value) = table.get("map") {
        for entry in value.entries()? {
            map.push((entry.key.to_owned(), known_buffer(entry.value, buffers)?));
        }
    }
    Ok(OpDecl {
        op: op.str()?.to_owned(),
        pass: table.get("pass").map_or(Ok(Pass::Forward), |value| value.word(&PASSES))?,
        map,
        dims: formulas("dims")?,
        attributes: formulas("attributes")?,
    })
}
