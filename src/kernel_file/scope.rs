//! The names of a file: shapes, defines and specialization constants, in every case.

use std::collections::BTreeMap;

use super::error::Text;
use super::formula::{Formula, Names};
use super::number::Number;
use super::read::Read;
use crate::ops::{nearest, suggested};

/// What a name may stand for.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Number(Formula),
    Text(String),
    Flag(bool),
}

/// Whose name it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Shapes,
    Kernel(String),
    /// A kernel that has no name of its own; expressions can't name its constants.
    Unnamed,
}

/// A name of the file with everything that it may stand for.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) owner: Owner,
    pub(super) at: usize,
    /// At least one.
    pub(super) choices: Vec<Choice>,
    /// Whether the file gives a list, which is swept.
    pub(super) is_list: bool,
}

/// A list that cases sweep over.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) name: String,
    /// One of those that it moves.
    pub(super) variable: usize,
    pub(super) len: usize,
}

/// All names of a file.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) variables: Vec<Variable>,
    /// What each is called in expressions, ids and `names`.
    pub(super) shown: Vec<String>,
    pub(super) axes: Vec<Axis>,
    axis_of: Vec<Option<usize>>,
    lookup: BTreeMap<String, usize>,
    /// Names that kernels give different values, with the ways to write them.
    ambiguous: BTreeMap<String, Vec<String>>,
    /// Each behind those that its expressions name.
    order: Vec<usize>,
}

/// What the names stand for in one case.
pub(super) struct Values<'s> {
    scope: &'s Scope,
    chosen: Vec<usize>,
    numbers: Vec<Option<Number>>,
}

impl Choice {
    /// As ids and defines spell it.
    pub(super) fn shown(&self) -> &str {
        match self {
            Self::Number(formula) => formula.shown(),
            Self::Text(text) => text,
            Self::Flag(true) => "true",
            Self::Flag(false) => "false",
        }
    }
}

impl Variable {
    /// Whether it has the same values in another kernel.
    fn agrees(&self, other: &Self) -> bool {
        let mut pairs = self.choices.iter().zip(&other.choices);
        self.is_list == other.is_list
            && self.choices.len() == other.choices.len()
            && pairs.all(|(a, b)| a.shown() == b.shown())
    }

    pub(super) fn is_shape(&self) -> bool {
        self.owner == Owner::Shapes
    }

    /// Whether other names decide its value.
    pub(super) fn is_computed(&self) -> bool {
        let computed = |choice: &Choice| matches!(choice, Choice::Number(f) if !f.is_constant());
        self.choices.iter().any(computed)
    }

    fn qualified(&self) -> Option<String> {
        match &self.owner {
            Owner::Kernel(kernel) => Some(format!("{kernel}.{}", self.name)),
            Owner::Shapes | Owner::Unnamed => None,
        }
    }
}

impl Scope {
    /// # Errors
    /// A name that nothing defines, or that is defined by itself.
    pub(super) fn new(text: &Text, variables: Vec<Variable>) -> Read<Self> {
        let mut scope = Self {
            shown: Vec::new(),
            axes: Vec::new(),
            axis_of: Vec::new(),
            lookup: BTreeMap::new(),
            ambiguous: BTreeMap::new(),
            order: Vec::new(),
            variables,
        };
        for at in 0..scope.variables.len() {
            scope.name(at);
        }
        scope.order = scope.sorted(text)?;
        Ok(scope)
    }

    /// Gives a variable its name and its axis.
    fn name(&mut self, at: usize) {
        let variable = &self.variables[at];
        let is_namesake =
            |other: &&Variable| other.name == variable.name && other.owner != Owner::Unnamed;
        let namesakes: Vec<&Variable> = self.variables.iter().filter(is_namesake).collect();
        // A number that has nothing but its id means another constant in every kernel.
        let is_plain = match &variable.owner {
            Owner::Shapes => true,
            Owner::Kernel(_) => {
                !variable.name.starts_with(|c: char| c.is_ascii_digit())
                    && namesakes.iter().all(|other| !other.is_shape() && variable.agrees(other))
            }
            Owner::Unnamed => false,
        };
        let qualified = variable.qualified();
        let shown = match &qualified {
            Some(qualified) if !is_plain => qualified.clone(),
            _ => variable.name.clone(),
        };
        let axis = match self.lookup.get(&shown) {
            Some(first) if variable.owner != Owner::Unnamed => self.axis_of[*first],
            _ if variable.is_list => {
                let len = variable.choices.len();
                self.axes.push(Axis { name: shown.clone(), variable: at, len });
                Some(self.axes.len() - 1)
            }
            _ => None,
        };
        if variable.owner != Owner::Unnamed {
            if let Some(qualified) = qualified {
                self.lookup.entry(qualified.clone()).or_insert(at);
                if !is_plain {
                    self.ambiguous.entry(variable.name.clone()).or_default().push(qualified);
                }
            }
            self.lookup.entry(shown.clone()).or_insert(at);
        }
        self.axis_of.push(axis);
        self.shown.push(shown);
    }

    /// The variable of that name.
    fn find(&self, name: &str) -> Result<usize, String> {
        if let Some(at) = self.lookup.get(name) {
            return Ok(*at);
        }
        if let Some(ways) = self.ambiguous.get(name) {
            return Err(format!("`{name}` differs between kernels: write {}", ways.join(" or ")));
        }
        let near = nearest(name, self.lookup.keys().cloned());
        Err(format!("nothing is called `{name}`{}", suggested(&near)))
    }

    /// # Errors
    /// A name in the formula that nothing defines.
    pub(super) fn check(&self, text: &Text, formula: &Formula) -> Read<()> {
        for (at, name) in formula.names() {
            self.find(name).map_err(|what| text.wrong(at, what))?;
        }
        Ok(())
    }

    /// The variables so that each stands behind those that it names.
    fn sorted(&self, text: &Text) -> Read<Vec<usize>> {
        let mut needs: Vec<Vec<usize>> = Vec::new();
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); self.variables.len()];
        for (at, variable) in self.variables.iter().enumerate() {
            let mut named = Vec::new();
            for choice in &variable.choices {
                let Choice::Number(formula) = choice else { continue };
                for (place, name) in formula.names() {
                    named.push(self.find(name).map_err(|what| text.wrong(place, what))?);
                }
            }
            for other in &named {
                needed_by[*other].push(at);
            }
            needs.push(named);
        }
        let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = Vec::new();
        let mut ready: Vec<usize> =
            (0..missing.len()).filter(|at| missing[*at] == 0).rev().collect();
        while let Some(at) = ready.pop() {
            order.push(at);
            for user in &needed_by[at] {
                missing[*user] -= 1;
                if missing[*user] == 0 {
                    ready.push(*user);
                }
            }
        }
        match self.variables.iter().zip(&missing).find(|(_, missing)| **missing > 0) {
            None => Ok(order),
            Some((variable, _)) => {
                let what = format!("`{}` is defined by itself", variable.name);
                Err(text.wrong(variable.at, what))
            }
        }
    }

    /// What the names stand for where each axis has the index of a point; `given` numbers take the
    /// place of those that the file has.
    pub(super) fn values(
        &self,
        text: &Text,
        point: &[usize],
        given: &BTreeMap<usize, Number>,
    ) -> Read<Values<'_>> {
        let index = |axis: usize| {
            let last = self.axes.get(axis).map_or(0, |axis| axis.len - 1);
            point.get(axis).map_or(0, |index| (*index).min(last))
        };
        let chosen = self.axis_of.iter().map(|axis| axis.map_or(0, index)).collect();
        let numbers = vec![None; self.variables.len()];
        let mut values = Values { scope: self, chosen, numbers };
        for at in &self.order {
            values.numbers[*at] = match (given.get(at), values.choice(*at)) {
                (Some(number), _) => Some(*number),
                (None, Choice::Number(formula)) => Some(formula.value(text, &values)?),
                (None, Choice::Text(text)) => parsed(text),
                (None, Choice::Flag(_)) => None,
            };
        }
        Ok(values)
    }
}

/// The number that a define's text is.
fn parsed(text: &str) -> Option<Number> {
    let text = text.trim();
    let float = || text.parse().ok().filter(|v: &f64| v.is_finite()).map(Number::Float);
    text.parse().ok().map(Number::whole).or_else(float)
}

impl Values<'_> {
    /// What a variable stands for.
    pub(super) fn choice(&self, variable: usize) -> &Choice {
        &self.scope.variables[variable].choices[self.chosen[variable]]
    }

    /// The number that a variable stands for, if it is one.
    pub(super) fn of(&self, variable: usize) -> Option<Number> {
        self.numbers[variable]
    }

    /// The text of the define of that name.
    pub(super) fn define(&self, name: &str) -> Result<&str, String> {
        self.scope.find(name).map(|at| self.choice(at).shown())
    }

    /// The extent of the shape of that name.
    pub(super) fn shape(&self, name: &str) -> Option<i128> {
        let at = *self.scope.lookup.get(name)?;
        let is_shape = self.scope.variables[at].is_shape();
        self.numbers[at].filter(|_| is_shape)?.to_whole()
    }

    /// All numbers by name.
    pub(super) fn all(&self) -> BTreeMap<String, Number> {
        let number = |(name, at): (&String, &usize)| Some((name.clone(), self.numbers[*at]?));
        self.scope.lookup.iter().filter_map(number).collect()
    }
}

impl Names for Values<'_> {
    fn number(&self, name: &str) -> Result<Number, String> {
        let at = self.scope.find(name)?;
        self.numbers[at]
            .ok_or_else(|| format!("`{name}` is `{}`, which is no number", self.choice(at).shown()))
    }
}
