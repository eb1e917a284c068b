//! Cases: every combination of shapes and builds, and the ids that name them.

use std::fmt::Write;

use super::scope::{Choice, Scope};

/// One combination of the values that a file lists: an index per list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point(pub(super) Vec<usize>);

impl Point {
    /// On how many axes two points of one file differ.
    #[must_use]
    pub fn distance(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).filter(|(a, b)| a != b).count()
    }
}

/// The id of the only case of a file without shapes and lists.
const ONLY: &str = "only";
/// How many of the possible values a message repeats.
const SHOWN_VALUES: usize = 20;

/// A part of an id: the name and its possible values.
struct Part<'s> {
    name: &'s str,
    choices: &'s [Choice],
    /// None where the file gives one number.
    axis: Option<usize>,
}

/// How many combinations lists of these lengths have.
fn product(lens: impl Iterator<Item = usize>) -> usize {
    lens.fold(1, usize::saturating_mul)
}

impl Scope {
    pub(super) fn point_count(&self) -> usize {
        product(self.axes.iter().map(|axis| axis.len))
    }

    pub(super) fn build_count(&self) -> usize {
        let builds = self.axes.iter().filter(|axis| !self.variables[axis.variable].is_shape());
        product(builds.map(|axis| axis.len))
    }

    /// All of them; the first list moves slowest.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut points = vec![Point(Vec::new())];
        for axis in &self.axes {
            let longer = |point: &Point| {
                let start = point.0.clone();
                (0..axis.len).map(move |index| {
                    let mut indices = start.clone();
                    indices.push(index);
                    Point(indices)
                })
            };
            points = points.iter().flat_map(longer).collect();
        }
        points
    }

    /// Where one shape has the greatest listed value below its own.
    pub(super) fn shrunk(&self, point: &Point) -> Vec<Point> {
        let mut smaller = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            let variable = &self.variables[axis.variable];
            let Some(index) = point.0.get(at).filter(|_| variable.is_shape()) else { continue };
            let extent = |index: usize| {
                let choice = variable.choices.get(index)?;
                choice.shown().parse::<u64>().ok()
            };
            let below = (0..axis.len).filter(|other| extent(*other) < extent(*index));
            if let Some(next) = below.max_by_key(|other| extent(*other)) {
                let mut indices = point.0.clone();
                indices[at] = next;
                smaller.push(Point(indices));
            }
        }
        smaller
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.variables.iter().enumerate().filter_map(|(at, variable)| {
            let axis = self.axes.iter().position(|axis| axis.variable == at);
            let is_number = variable.is_shape() && !variable.is_list && !variable.is_computed();
            let part = Part { name: &self.shown[at], choices: &variable.choices, axis };
            (axis.is_some() || is_number).then_some(part)
        })
    }

    pub(super) fn id(&self, point: &Point) -> String {
        let mut id = String::new();
        for part in self.parts() {
            let index = part.axis.and_then(|axis| point.0.get(axis)).copied().unwrap_or(0);
            let value = part.choices.get(index).map(part_value).unwrap_or_default();
            let comma = if id.is_empty() { "" } else { "," };
            // Writing to a String can't fail.
            let _ = write!(id, "{comma}{}={value}", part.name);
        }
        if id.is_empty() { ONLY.to_owned() } else { id }
    }

    /// # Errors
    /// What of the id fits nothing.
    pub(super) fn point(&self, id: &str) -> Result<Point, String> {
        let parts: Vec<Part<'_>> = self.parts().collect();
        let mut indices: Vec<Option<usize>> = vec![None; self.axes.len()];
        let given = id.split(',').filter(|_| !(parts.is_empty() && id == ONLY));
        for text in given {
            let Some((name, value)) = text.split_once('=') else {
                return Err(format!("`{text}` is no `name=value`"));
            };
            let Some(part) = parts.iter().find(|part| part.name == name) else {
                let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
                return Err(format!("no name `{name}`; it has {}", names.join(", ")));
            };
            let Some(index) = part.choices.iter().position(|c| part_value(c) == value) else {
                let mut known: Vec<String> =
                    part.choices.iter().take(SHOWN_VALUES).map(part_value).collect();
                known.extend((part.choices.len() > SHOWN_VALUES).then(|| "...".to_owned()));
                return Err(format!("{name} is one of {}", known.join(", ")));
            };
            if let Some(axis) = part.axis
                && indices[axis].replace(index).is_some()
            {
                return Err(format!("`{name}` is given twice"));
            }
        }
        let missing = |axis: usize| format!("it doesn't say `{}`", self.axes[axis].name);
        let point: Result<Vec<usize>, String> = indices
            .into_iter()
            .enumerate()
            .map(|(axis, index)| index.ok_or_else(|| missing(axis)))
            .collect();
        point.map(Point)
    }
}

/// A value as ids spell it.
fn part_value(choice: &Choice) -> String {
    escaped(choice.shown())
}

/// A value without the characters that ids give a meaning.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for c in value.chars() {
        if c.is_whitespace() || c.is_control() || matches!(c, ',' | '=' | '/' | '%' | '"' | '\'') {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(c);
        }
    }
    text
}
