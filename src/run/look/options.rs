//! Options of a first look, each as it is written on a command line.

use std::str::FromStr;

use crate::kernel_file::Init;

/// What `--buffer` takes.
pub const BUFFER_FORM: &str = "[SET.]BINDING=TYPE:LEN[:INIT][:ROLE]";
/// What `--groups` takes.
pub const GROUPS_FORM: &str = "X[,Y[,Z]]";
/// What `--shape` takes.
pub const SHAPE_FORM: &str = "NAME=VALUE[,VALUE...]";
/// What `--push` takes.
pub const PUSH_FORM: &str = "MEMBER=VALUE[,VALUE...]";
/// What `--spec` takes.
pub const SPEC_FORM: &str = "NAME_OR_ID=VALUE[,VALUE...]";
/// What `--define` takes.
pub const DEFINE_FORM: &str = "NAME[=VALUE]";

const ROLES: [&str; 4] = ["in", "out", "inout", "scratch"];

/// Numbers of workgroups: up to three integers or expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups(pub(super) Vec<String>);

impl FromStr for Groups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let counts = split(text);
        if counts.len() > 3 || counts.iter().any(String::is_empty) {
            return Err(format!("expected {GROUPS_FORM}: integers or expressions"));
        }
        Ok(Self(counts))
    }
}

/// A name with its values; none where there is no `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub(super) given: String,
    pub(super) name: String,
    pub(super) value: Option<String>,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (text.trim(), None),
        };
        if name.is_empty() {
            return Err("expected a name before the `=`".to_owned());
        }
        Ok(Self { given: text.to_owned(), name: name.to_owned(), value })
    }
}

impl Assignment {
    /// As [`FromStr`], for an option that needs a value.
    ///
    /// # Errors
    /// A text without name or value.
    pub fn valued(text: &str) -> Result<Self, String> {
        match text.parse::<Self>()? {
            Self { value: Some(value), .. } if split(&value).iter().any(String::is_empty) => {
                Err("expected a value behind the `=`, and between commas".to_owned())
            }
            Self { value: None, .. } => Err("expected NAME=VALUE".to_owned()),
            assignment => Ok(assignment),
        }
    }

    /// The values between its commas.
    pub(super) fn values(&self) -> Vec<String> {
        self.value.as_deref().map(split).unwrap_or_default()
    }
}

/// A buffer behind a binding.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferOption {
    pub(super) given: String,
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) ty: String,
    pub(super) len: String,
    pub(super) init: Option<Start>,
    pub(super) role: Option<&'static str>,
}

/// What a buffer starts with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Start {
    Named(String),
    /// Random numbers between two, as written.
    Range(String, String),
}

impl FromStr for BufferOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}; expected {BUFFER_FORM}");
        let (place, rest) = text.split_once('=').ok_or_else(|| wrong("no `=`"))?;
        let (set, binding) = place.split_once('.').unwrap_or(("0", place));
        let number = |text: &str| {
            text.parse::<u32>().map_err(|_| wrong(&format!("`{place}` is no binding")))
        };
        let (set, binding) = (number(set)?, number(binding)?);
        let mut parts = rest.split(':').map(str::trim);
        let (ty, len) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        if ty.is_empty() || len.is_empty() {
            return Err(wrong("a type and a length are needed"));
        }
        let (mut init, mut role) = (None, None);
        for part in parts {
            if let Some(known) = ROLES.into_iter().find(|role| *role == part)
                && role.is_none()
            {
                role = Some(known);
            } else if init.is_none() && role.is_none() {
                init = Some(start(part).ok_or_else(|| {
                    let inits: Vec<&str> = Init::names().collect();
                    let (inits, roles) = (inits.join(", "), ROLES.join(", "));
                    wrong(&format!(
                        "`{part}` is neither an INIT ({inits}, LOW..HIGH) nor a ROLE ({roles})"
                    ))
                })?);
            } else {
                return Err(wrong(&format!("`{part}` is too much")));
            }
        }
        let (ty, len) = (ty.to_owned(), len.to_owned());
        Ok(Self { given: text.to_owned(), set, binding, ty, len, init, role })
    }
}

fn start(text: &str) -> Option<Start> {
    if Init::names().any(|name| name == text) {
        return Some(Start::Named(text.to_owned()));
    }
    let (low, high) = text.split_once("..")?;
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    (is_number(low) && is_number(high)).then(|| Start::Range(low.to_owned(), high.to_owned()))
}

/// Parts between commas that stand outside of parentheses.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_i32);
    for c in text.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Assignment, BufferOption, Groups, Start};

    #[test]
    fn commas_in_parentheses_separate_nothing() {
        let groups: Groups = "max(n, 1),ceil(m/8)".parse().expect("groups");
        assert_eq!(groups.0, ["max(n, 1)", "ceil(m/8)"]);
        for wrong in ["", "1,,2", "1,2,3,4"] {
            let error = wrong.parse::<Groups>().expect_err(wrong);
            assert!(error.contains("X[,Y[,Z]]"), "{error}");
        }
    }

    #[test]
    fn buffers_have_a_place_a_type_and_a_length() {
        let full: BufferOption = "1.2=i32:4*n:0..63:inout".parse().expect("a buffer");
        assert_eq!((full.set, full.binding), (1, 2));
        assert_eq!((full.ty.as_str(), full.len.as_str()), ("i32", "4*n"));
        assert_eq!(full.init, Some(Start::Range("0".to_owned(), "63".to_owned())));
        assert_eq!(full.role, Some("inout"));
        let short: BufferOption = "3=f32:7:out".parse().expect("a buffer");
        assert_eq!((short.binding, short.init, short.role), (3, None, Some("out")));
        for (wrong, part) in [
            ("f32:1024", "no `=`"),
            ("x=f32:1024", "`x` is no binding"),
            ("0=f32", "a type and a length"),
            ("0=f32:1:unifrom", "`unifrom` is neither"),
            ("0=f32:1:out:ones", "`ones` is too much"),
        ] {
            let error = wrong.parse::<BufferOption>().expect_err(wrong);
            assert!(error.contains(part) && error.contains("TYPE:LEN"), "{error}");
        }
    }

    #[test]
    fn assignments_need_a_name() {
        assert!("=1".parse::<Assignment>().is_err());
        assert_eq!("FAST".parse::<Assignment>().map(|a| a.value), Ok(None));
        for wrong in ["n", "n=", "n=1,,2"] {
            assert!(Assignment::valued(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Assignment::valued("n=1, 2").expect("values").values(), ["1", "2"]);
    }
}
