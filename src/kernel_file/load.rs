//! From a file to declarations that fit one another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::KernelFile;
use super::buffers::BufferDecl;
use super::error::{KernelFileError, Text};
use super::files::{Environment, Files, read};
use super::formula::Formula;
use super::kernels::{KernelDecl, Loader};
use super::keys::{FILE, GRADIENT, SUBGROUP};
use super::needs::needs;
use super::points::Point;
use super::read::{Read, Table, Value};
use super::scope::Scope;
use super::steps::{Does, StepDecl, step};
use super::truth::TruthDecl;
use crate::ops::{Order, Pass};

/// More than anybody writes by hand or by a script.
const MAX_FILE_BYTES: u64 = 4 << 20;
const MAX_STEPS: usize = 10_000;
/// Shapes times builds; each is a case with a run of its own.
const MAX_POINTS: usize = 1_000_000;

const ORDERS: [(&str, Order); 2] = [("fixed", Order::Fixed), ("atomic", Order::Atomic)];

/// Whose truth and gradient are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Asked,
    /// A twin's own truth isn't looked at, so that files which name each other end.
    Twin,
}

pub(super) fn load(path: &Path, environment: Environment<'_>) -> Read<KernelFile> {
    load_as(path, environment, Reading::Asked)
}

fn load_as(path: &Path, environment: Environment<'_>, reading: Reading) -> Read<KernelFile> {
    let shown = path.display().to_string();
    let unreadable = |reason| KernelFileError::Unreadable { path: shown.clone(), reason };
    let bytes = read(path, MAX_FILE_BYTES).map_err(unreadable)?;
    let body = String::from_utf8(bytes).map_err(|_| unreadable("not UTF-8 text".to_owned()))?;
    parse_as(path, body, environment, reading)
}

/// A text that isn't on disk, as if it were the file at `path`.
pub(super) fn parse(path: &Path, text: &str, environment: Environment<'_>) -> Read<KernelFile> {
    parse_as(path, text.to_owned(), environment, Reading::Asked)
}

/// Whether a text in TOML is meant to be a kernel file, right or wrong.
pub(super) fn is_meant(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|root| {
        let root = root.get_ref();
        root.contains_key("version") && root.contains_key("kernel")
    })
}

fn parse_as(
    path: &Path,
    body: String,
    environment: Environment<'_>,
    reading: Reading,
) -> Read<KernelFile> {
    let text = Text { shown: path.display().to_string(), body };
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut file = declarations(path, &text, Files { folder, environment }, reading)?;
    if let TruthDecl::File { path, .. } = &file.truth {
        file.twin = Some(Box::new(load_as(path, environment, Reading::Twin)?));
    }
    file.check_uses()?;
    if reading == Reading::Asked {
        file.check_twin()?;
        file.dry_run(&file.first_point())?;
    }
    Ok(file)
}

fn declarations(path: &Path, text: &Text, files: Files<'_>, reading: Reading) -> Read<KernelFile> {
    let root = DeTable::parse(&text.body).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        text.wrong(at, error.message())
    })?;
    if ["version", "kernel"].iter().all(|key| !root.get_ref().contains_key(*key)) {
        let what = "this is no kernel file: it has neither `version = 1` nor a [kernel.NAME] table";
        return Err(text.wrong(0, what));
    }
    let table = Table::root(text, root.get_ref(), FILE)?;
    version(&table)?;
    let mut loader = Loader { text, files, variables: Vec::new() };
    if let Some(shapes) = table.get("shapes") {
        loader.shapes(shapes)?;
    }
    let mut kernels: Vec<KernelDecl> = Vec::new();
    for entry in table.need("kernel")?.entries()? {
        kernels.push(loader.kernel(entry)?);
    }
    let mut buffers: Vec<BufferDecl> = Vec::new();
    for entry in table.get("buffer").map_or(Ok(Vec::new()), Value::entries)? {
        buffers.push(loader.buffer(entry)?);
    }
    let mut steps: Vec<StepDecl> = Vec::new();
    for value in table.need("step")?.list("tables: [[step]]")? {
        if steps.len() == MAX_STEPS {
            return Err(value.wrong(format!("more than {MAX_STEPS} steps")));
        }
        steps.push(step(value, &kernels, &buffers)?);
    }
    let truth = match table.entry("truth").filter(|_| reading == Reading::Asked) {
        None => TruthDecl::None,
        Some(entry) => loader.truth(entry.value, entry.at, &mut kernels, &buffers, &steps)?,
    };
    let vjp = match table.entry("gradient").filter(|_| reading == Reading::Asked) {
        None => Vec::new(),
        Some(entry) => vjp(&loader.files, &entry.value.table(entry.at, GRADIENT)?)?,
    };
    if let Some(gradient) = table.entry("gradient").filter(|_| !vjp.is_empty())
        && matches!(&truth, TruthDecl::Op(op) if op.pass == Pass::Vjp)
    {
        return Err(gradient.wrong("a gradient belongs to a forward"));
    }
    let subgroup_sizes = match table.entry("subgroup") {
        None => Vec::new(),
        Some(entry) => sizes(&entry.value.table(entry.at, SUBGROUP)?, "sizes")?,
    };
    let needs = table.entry("needs").map_or(Ok(Vec::new()), needs)?;
    Ok(KernelFile {
        path: path.to_path_buf(),
        about: table.get("about").map(Value::str).transpose()?.map(str::to_owned),
        order: table.get("order").map_or(Ok(Order::Fixed), |value| value.word(&ORDERS))?,
        scope: Scope::new(text, loader.variables)?,
        text: text.clone(),
        kernels,
        buffers,
        steps,
        truth,
        twin: None,
        vjp,
        subgroup_sizes,
        needs,
    })
}

fn version(table: &Table<'_>) -> Read<()> {
    let value = table.need("version")?;
    match value.integer()? {
        1 => Ok(()),
        other => Err(value.wrong(format!("version {other}; this lab reads version 1"))),
    }
}

fn vjp(files: &Files<'_>, table: &Table<'_>) -> Read<Vec<PathBuf>> {
    let list = table.need("vjp")?.list("kernel files")?;
    list.into_iter().map(|value| files.file(value)).collect()
}

pub(super) fn sizes(table: &Table<'_>, key: &str) -> Read<Vec<u32>> {
    let list = table.need(key)?.list("subgroup sizes")?;
    let size = |value: Value<'_>| {
        let size: u32 = value.integer_of("a subgroup size")?;
        if size.is_power_of_two() && size <= 128 {
            Ok(size)
        } else {
            Err(value.wrong(format!("{size}: subgroup sizes are powers of two up to 128")))
        }
    };
    list.into_iter().map(size).collect()
}

impl KernelFile {
    /// What stands in the file and is used by nothing, or names nothing.
    fn check_uses(&self) -> Read<()> {
        let text = &self.text;
        let count = self.scope.point_count();
        if let Some(longest) = self.scope.axes.iter().max_by_key(|axis| axis.len)
            && count > MAX_POINTS
        {
            let at = self.scope.variables[longest.variable].at;
            return Err(text.wrong(at, format!("{count} cases; at most {MAX_POINTS} are possible")));
        }
        for formula in self.formulas() {
            self.scope.check(text, formula)?;
        }
        let (mut kernels, mut buffers) = (BTreeSet::new(), BTreeSet::new());
        for step in &self.steps {
            match &step.does {
                Does::Dispatch(dispatch) => {
                    kernels.insert(dispatch.kernel);
                    buffers.extend(dispatch.bind.iter().map(|(_, buffer)| buffer.as_str()));
                }
                Does::Fill { buffer, .. } => {
                    buffers.insert(buffer);
                }
            }
        }
        match &self.truth {
            TruthDecl::Kernel(dispatch) => {
                kernels.insert(dispatch.kernel);
                buffers.extend(dispatch.bind.iter().map(|(_, buffer)| buffer.as_str()));
            }
            TruthDecl::Op(op) => buffers.extend(op.map.iter().map(|(_, buffer)| buffer.as_str())),
            TruthDecl::File { .. } | TruthDecl::None => {}
        }
        if let Some(twin) = &self.twin {
            buffers.extend(twin.buffers.iter().map(|buffer| buffer.name.as_str()));
        }
        for (at, kernel) in self.kernels.iter().enumerate() {
            if !kernels.contains(&at) {
                let what = format!("no step runs the kernel `{}`", kernel.name);
                return Err(text.wrong(kernel.at, what));
            }
        }
        for buffer in &self.buffers {
            if !buffers.contains(buffer.name.as_str()) {
                let what = format!("no step binds the buffer `{}`", buffer.name);
                return Err(text.wrong(buffer.at, what));
            }
            self.check_alias(buffer)?;
            self.check_expect(buffer)?;
        }
        Ok(())
    }

    fn check_alias(&self, buffer: &BufferDecl) -> Read<()> {
        let Some((alias, at)) = &buffer.alias else { return Ok(()) };
        let wrong = |what: String| Err(self.text.wrong(*at, what));
        if *alias == buffer.name {
            return wrong(format!("`{alias}` can't be an alias of itself"));
        }
        let Some(other) = self.buffers.iter().find(|other| other.name == *alias) else {
            let names = self.buffers.iter().map(|other| other.name.clone());
            let near = crate::ops::suggested(&crate::ops::nearest(alias, names));
            return wrong(format!("no buffer `{alias}`{near}"));
        };
        match &other.alias {
            Some((further, _)) => {
                wrong(format!("`{alias}` is an alias itself: name `{further}` here"))
            }
            None => Ok(()),
        }
    }

    fn check_expect(&self, buffer: &BufferDecl) -> Read<()> {
        let Some(expect) = &buffer.expect else { return Ok(()) };
        let judge = match &self.truth {
            TruthDecl::None => None,
            TruthDecl::File { .. } | TruthDecl::Kernel(_) => Some("truth.kernel"),
            TruthDecl::Op(op) if op.map.iter().any(|(_, mapped)| *mapped == buffer.name) => {
                Some("truth.op")
            }
            TruthDecl::Op(op) if op.pass == Pass::Vjp => {
                // The gradient is run with several cotangents and must be linear in them.
                let what = "beside a `vjp`, only buffers that `truth.map` names are compared";
                return Err(self.text.wrong(expect.at, what));
            }
            TruthDecl::Op(_) => None,
        };
        match (&expect.want, judge) {
            (None, None) => {
                let what =
                    "no truth speaks of it, so a `file` or `values` must say what is expected";
                Err(self.text.wrong(expect.at, what))
            }
            (Some(_), Some(judge)) => {
                let what = "says what is expected: `rtol` and `atol` alone are wanted";
                Err(self.text.wrong(expect.at, format!("`{judge}` {what}")))
            }
            _ => Ok(()),
        }
    }

    fn formulas(&self) -> Vec<&Formula> {
        let mut formulas: Vec<_> = self.buffers.iter().map(|buffer| &buffer.len).collect();
        for step in &self.steps {
            if let Does::Dispatch(dispatch) = &step.does {
                formulas.extend(&dispatch.groups);
                formulas.extend(dispatch.push.formulas());
            }
        }
        formulas.extend(self.truth.formulas());
        formulas
    }

    /// Evaluates a case without reading its data.
    fn dry_run(&self, point: &Point) -> Read<()> {
        let values = self.scope.values(&self.text, &point.0, &BTreeMap::new())?;
        let layouts = self.layouts(&values)?;
        self.plan(&values, &self.steps)?;
        self.truth(&values, &layouts)?;
        Ok(())
    }
}
