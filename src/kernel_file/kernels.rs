//! `[shapes]` and `[kernel.NAME]`: what is built, and the names that builds and cases vary.

use super::error::Text;
use super::files::{Contents, Files};
use super::keys::KERNEL;
use super::read::{Entry, Read, Table, Value, is_identifier};
use super::scope::{Choice, Owner, Variable};
use crate::glsl::{Source, Target};
use crate::ops::{Code, Constant};

/// Values of one list.
const MAX_CHOICES: usize = 100_000;
/// Shapes, defines and constants of one file.
const MAX_NAMES: usize = 1000;

const TARGETS: [(&str, Target); 3] = [
    ("vulkan1.1", Target::Vulkan11),
    ("vulkan1.2", Target::Vulkan12),
    ("vulkan1.3", Target::Vulkan13),
];

/// A kernel of the file.
#[derive(Clone, Debug)]
pub(super) struct KernelDecl {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) code: Code,
    /// Indices of variables.
    pub(super) defines: Vec<usize>,
    pub(super) spec: Vec<(Constant, usize)>,
}

/// What reading a file goes on with.
pub(super) struct Loader<'d> {
    pub(super) text: &'d Text,
    pub(super) files: Files<'d>,
    pub(super) variables: Vec<Variable>,
}

impl<'d> Loader<'d> {
    pub(super) fn shapes(&mut self, table: Value<'d>) -> Read<()> {
        for entry in table.entries()? {
            let name = entry.identifier()?;
            let is_list = entry.value.as_list().is_some();
            let mut choices = Vec::new();
            for value in entry.value.one_or_list()? {
                if is_list || !value.is_text() {
                    let extent: u64 = value.integer_of("an extent")?;
                    value.within(extent, 1 << 53)?;
                }
                choices.push(Choice::Number(value.formula()?));
            }
            self.add(entry, name, Owner::Shapes, choices)?;
        }
        Ok(())
    }

    pub(super) fn kernel(&mut self, entry: Entry<'d>) -> Read<KernelDecl> {
        let name = entry.identifier()?;
        let table = entry.value.table(entry.at, KERNEL)?;
        let code = self.code(table.need("file")?, &table)?;
        let owner = Owner::Kernel(name.clone());
        let defines =
            table.get("defines").map_or(Ok(Vec::new()), |value| self.defines(value, &owner))?;
        let spec = table.get("spec").map_or(Ok(Vec::new()), |value| self.spec(value, &owner))?;
        Ok(KernelDecl { name, at: entry.at, code, defines, spec })
    }

    /// The code of a kernel with what a table puts around it.
    pub(super) fn code(&self, file: Value<'d>, table: &Table<'d>) -> Read<Code> {
        let (path, contents) = self.files.code(file)?;
        let text = match contents {
            Contents::Spirv(words) => {
                table.refuse(
                    &["defines", "include", "preamble", "target"],
                    "is for GLSL, and the file holds SPIR-V",
                )?;
                return Ok(Code::Spirv { path, words });
            }
            Contents::Glsl(text) => text,
        };
        let preamble = match table.get("preamble") {
            None => None,
            Some(value) => match self.files.code(value)? {
                (path, Contents::Glsl(text)) => Some(Source::new(path, text)),
                (path, Contents::Spirv(_)) => {
                    return Err(value.wrong(format!("{path} is no GLSL text")));
                }
            },
        };
        let folders = table.get("include").map_or(Ok(Vec::new()), |value| self.folders(value))?;
        let target = table.get("target").map_or(Ok(Target::default()), |v| v.word(&TARGETS))?;
        Ok(Code::Glsl { source: Source::new(path, text), preamble, folders, target })
    }

    pub(super) fn folders(&self, value: Value<'d>) -> Read<Vec<std::path::PathBuf>> {
        value.list("folders")?.into_iter().map(|folder| self.files.folder(folder)).collect()
    }

    pub(super) fn defines(&mut self, table: Value<'d>, owner: &Owner) -> Read<Vec<usize>> {
        let mut indices = Vec::new();
        for entry in table.entries()? {
            let name = entry.identifier()?;
            let mut choices = Vec::new();
            for value in entry.value.one_or_list()? {
                choices.push(if value.is_boolean() {
                    Choice::Flag(value.boolean()?)
                } else if value.is_text() {
                    Choice::Text(value.str()?.to_owned())
                } else {
                    value.integer_of::<i64>("an integer of 64 bits").map_err(|error| {
                        if value.is_integer() {
                            error
                        } else {
                            value.wrong("a define is text, an integer or a boolean")
                        }
                    })?;
                    Choice::Number(value.formula()?)
                });
            }
            indices.push(self.add(entry, name, owner.clone(), choices)?);
        }
        Ok(indices)
    }

    pub(super) fn spec(&mut self, table: Value<'d>, owner: &Owner) -> Read<Vec<(Constant, usize)>> {
        let mut indices: Vec<(Constant, usize)> = Vec::new();
        for entry in table.entries()? {
            let constant = match entry.key.parse() {
                Ok(id) => Constant::Id(id),
                Err(_) if is_identifier(entry.key) => Constant::Named(entry.key.to_owned().into()),
                Err(_) => {
                    let what = format!("`{}` is neither a name nor a constant id", entry.key);
                    return Err(self.text.wrong(entry.at, what));
                }
            };
            if indices.iter().any(|(known, _)| *known == constant) {
                return Err(self.text.wrong(entry.at, "this constant is given twice"));
            }
            let mut choices = Vec::new();
            for value in entry.value.one_or_list()? {
                choices.push(Choice::Number(value.constant()?));
            }
            let at = self.add(entry, entry.key.to_owned(), owner.clone(), choices)?;
            indices.push((constant, at));
        }
        Ok(indices)
    }

    fn add(
        &mut self,
        entry: Entry<'d>,
        name: String,
        owner: Owner,
        choices: Vec<Choice>,
    ) -> Read<usize> {
        let is_list = entry.value.as_list().is_some();
        if is_list && owner == Owner::Unnamed {
            return Err(entry.value.wrong("a truth's kernel has one build: no list here"));
        }
        if choices.len() > MAX_CHOICES {
            return Err(entry.value.wrong(format!("more than {MAX_CHOICES} values")));
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(again) = choices.iter().find(|choice| !seen.insert(choice.shown())) {
            return Err(entry.value.wrong(format!("`{}` is listed twice", again.shown())));
        }
        let is_known = |v: &Variable| v.name == name && v.owner == owner;
        if owner != Owner::Unnamed && self.variables.iter().any(is_known) {
            let what = format!("`{name}` is a define and a specialization constant of one kernel");
            return Err(self.text.wrong(entry.at, what));
        }
        if self.variables.len() == MAX_NAMES {
            let what = format!("more than {MAX_NAMES} shapes, defines and constants");
            return Err(self.text.wrong(entry.at, what));
        }
        self.variables.push(Variable { name, owner, at: entry.at, choices, is_list });
        Ok(self.variables.len() - 1)
    }
}
