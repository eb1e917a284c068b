//! Expressions in their places in the file.

use super::error::{KernelFileError, Text};
use super::expr::Expr;
use super::number::Number;

/// How much of an expression a message repeats.
const SHOWN_CHARS: usize = 60;

/// A number or an expression of the file.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    /// As written.
    shown: String,
    expr: Expr,
    at: usize,
    /// Where the expression's first byte stands, unless escapes moved its parts.
    inside: Option<usize>,
    is_constant: bool,
}

/// What the names of a file stand for in one case.
pub(super) trait Names {
    /// The number of that name, or why there is none.
    fn number(&self, name: &str) -> Result<Number, String>;
}

impl Formula {
    pub(super) fn constant(number: Number, at: usize) -> Self {
        Self {
            shown: number.to_string(),
            expr: Expr::number(number),
            at,
            inside: None,
            is_constant: true,
        }
    }

    pub(super) fn new(text: &str, expr: Expr, at: usize, inside: Option<usize>) -> Self {
        Self { shown: text.trim().to_owned(), expr, at, inside, is_constant: false }
    }

    /// As written, for ids.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether it is a number of the file, no expression.
    pub(super) const fn is_constant(&self) -> bool {
        self.is_constant
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The names in it, each with its place in the file.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.expr.names().into_iter().map(|(at, name)| (self.place(at), name))
    }

    fn place(&self, at: usize) -> usize {
        self.inside.map_or(self.at, |inside| inside + at)
    }

    pub(super) fn value(&self, text: &Text, names: &dyn Names) -> Result<Number, KernelFileError> {
        let value = self.expr.value(&|name| names.number(name));
        value.map_err(|e| text.wrong(self.place(e.at), e.message))
    }

    /// Its value where a whole number from 0 to `most` is wanted.
    pub(super) fn whole(
        &self,
        text: &Text,
        names: &dyn Names,
        most: u64,
    ) -> Result<u64, KernelFileError> {
        let value = self.value(text, names)?;
        let (at, why) = match value.to_whole().map(|whole| (u64::try_from(whole), whole)) {
            Some((Ok(whole), _)) if whole <= most => return Ok(whole),
            Some((Err(_), whole)) if whole < 0 => (0, "which is negative".to_owned()),
            Some(_) => (0, format!("and at most {most} is possible")),
            None => {
                let at = self.expr.first_division().unwrap_or(0);
                (at, "which is no whole number; ceil(..) or floor(..) makes it one".to_owned())
            }
        };
        Err(text.wrong(self.place(at), format!("{}, {why}", self.described(value))))
    }

    fn described(&self, value: Number) -> String {
        let value = value.to_string();
        if value == self.shown {
            return format!("this is {value}");
        }
        let shown: String = self.shown.chars().take(SHOWN_CHARS).collect();
        format!("`{shown}` is {value}")
    }
}
