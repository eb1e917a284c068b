//! Expressions over named numbers: their text, and what it comes to.

use super::number::{Calculated, Number};

/// Parentheses, signs and calls inside one another.
const MAX_DEPTH: usize = 64;
/// Numbers, names and operators of one expression. It bounds the depth of a chain as well.
const MAX_NODES: usize = 1000;

/// What is wrong in an expression, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExprError {
    /// Offset in the expression's text.
    pub(super) at: usize,
    /// What is wrong.
    pub(super) message: String,
}

/// A part of an expression, at the byte where its operator, name or number stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    at: usize,
    node: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(Number),
    Name(String),
    Negated(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Ceil,
    Floor,
    Min,
    Max,
    RoundUp,
    Log2,
    Log2Ceil,
    Pow2Ceil,
    Select,
}

/// Name and number of arguments.
const FUNCTIONS: [(&str, Function, usize); 9] = [
    ("ceil", Function::Ceil, 1),
    ("floor", Function::Floor, 1),
    ("min", Function::Min, 2),
    ("max", Function::Max, 2),
    ("round_up", Function::RoundUp, 2),
    ("log2", Function::Log2, 1),
    ("log2_ceil", Function::Log2Ceil, 1),
    ("pow2_ceil", Function::Pow2Ceil, 1),
    ("select", Function::Select, 3),
];

/// Longer ones first, so that `<=` isn't `<`.
const COMPARISONS: [(&str, Operator); 6] = [
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<", Operator::Less),
    (">", Operator::Greater),
];
const SUMS: [(&str, Operator); 2] = [("+", Operator::Plus), ("-", Operator::Minus)];
const PRODUCTS: [(&str, Operator); 3] =
    [("*", Operator::Times), ("/", Operator::Over), ("%", Operator::Modulo)];

impl Expr {
    /// A number that stands alone.
    pub(super) const fn number(number: Number) -> Self {
        Self { at: 0, node: Node::Number(number) }
    }

    /// Reads an expression.
    pub(super) fn parse(text: &str) -> Result<Self, ExprError> {
        let mut parser = Parser { text, at: 0, depth: 0, nodes: 0 };
        let expr = parser.comparison()?;
        parser.skip_blanks();
        match parser.rest().chars().next() {
            None => Ok(expr),
            Some(')') => parser.fail(parser.at, "`)` without its `(`"),
            Some(_) => parser.fail(parser.at, "an operator or the end is wanted here"),
        }
    }

    /// The names in it with their offsets.
    pub(super) fn names(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match &expr.node {
                Node::Number(_) => {}
                Node::Name(name) => found.push((expr.at, name.as_str())),
                Node::Negated(inner) => open.push(inner),
                Node::Binary(_, a, b) => open.extend([b.as_ref(), a.as_ref()]),
                Node::Call(_, arguments) => open.extend(arguments.iter().rev()),
            }
        }
        found
    }

    /// Where it divides first.
    pub(super) fn first_division(&self) -> Option<usize> {
        let mut first: Option<usize> = None;
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match &expr.node {
                Node::Number(_) | Node::Name(_) => {}
                Node::Negated(inner) => open.push(inner),
                Node::Binary(operator, a, b) => {
                    if *operator == Operator::Over {
                        first = Some(first.map_or(expr.at, |at| at.min(expr.at)));
                    }
                    open.extend([a.as_ref(), b.as_ref()]);
                }
                Node::Call(_, arguments) => open.extend(arguments),
            }
        }
        first
    }

    /// What it comes to.
    pub(super) fn value(
        &self,
        lookup: &dyn Fn(&str) -> Result<Number, String>,
    ) -> Result<Number, ExprError> {
        let result: Calculated = match &self.node {
            Node::Number(number) => Ok(*number),
            Node::Name(name) => {
                return lookup(name).map_err(|message| ExprError { at: self.at, message });
            }
            Node::Negated(inner) => inner.value(lookup)?.negated(),
            Node::Binary(operator, a, b) => operator.apply(a.value(lookup)?, b.value(lookup)?),
            // Only the branch that is taken, so that the other may divide by zero.
            Node::Call(Function::Select, arguments) => match arguments.as_slice() {
                [condition, a, b] => {
                    let taken = if condition.value(lookup)?.is_zero() { b } else { a };
                    return taken.value(lookup);
                }
                _ => Err("select takes three arguments"),
            },
            Node::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(argument.value(lookup)?);
                }
                function.apply(&values)
            }
        };
        result.map_err(|message| ExprError { at: self.at, message: message.to_owned() })
    }
}

impl Operator {
    fn apply(self, a: Number, b: Number) -> Calculated {
        let compared = |holds: fn(std::cmp::Ordering) -> bool| {
            a.compare(b).map(|order| Number::truth(holds(order)))
        };
        match self {
            Self::Plus => a.plus(b),
            Self::Minus => a.minus(b),
            Self::Times => a.times(b),
            Self::Over => a.over(b),
            Self::Modulo => a.modulo(b),
            Self::Less => compared(std::cmp::Ordering::is_lt),
            Self::AtMost => compared(std::cmp::Ordering::is_le),
            Self::Greater => compared(std::cmp::Ordering::is_gt),
            Self::AtLeast => compared(std::cmp::Ordering::is_ge),
            Self::Equal => compared(std::cmp::Ordering::is_eq),
            Self::Unequal => compared(std::cmp::Ordering::is_ne),
        }
    }
}

impl Function {
    fn apply(self, values: &[Number]) -> Calculated {
        match (self, values) {
            (Self::Ceil, [a]) => a.ceil(),
            (Self::Floor, [a]) => a.floor(),
            (Self::Min, [a, b]) => a.compare(*b).map(|order| if order.is_gt() { *b } else { *a }),
            (Self::Max, [a, b]) => a.compare(*b).map(|order| if order.is_lt() { *b } else { *a }),
            (Self::RoundUp, [a, step]) => a.rounded_up(*step),
            (Self::Log2, [a]) => a.log2(),
            (Self::Log2Ceil, [a]) => a.pow2_ceil()?.log2(),
            (Self::Pow2Ceil, [a]) => a.pow2_ceil(),
            _ => Err("another number of arguments is wanted"),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    nodes: usize,
}

type Parsed = Result<Expr, ExprError>;

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Result<T, ExprError> {
        Err(ExprError { at, message: message.into() })
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes one of the operators, if it stands here.
    fn operator(&mut self, of: &[(&str, Operator)]) -> Option<(usize, Operator)> {
        self.skip_blanks();
        let (sign, operator) = of.iter().find(|(sign, _)| self.rest().starts_with(sign))?;
        let at = self.at;
        self.at += sign.len();
        Some((at, *operator))
    }

    fn node(&mut self, at: usize, node: Node) -> Parsed {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return self.fail(at, format!("the expression has more than {MAX_NODES} parts"));
        }
        Ok(Expr { at, node })
    }

    fn binary(&mut self, (at, operator): (usize, Operator), a: Expr, b: Expr) -> Parsed {
        self.node(at, Node::Binary(operator, Box::new(a), Box::new(b)))
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.sum()?;
        let Some(operator) = self.operator(&COMPARISONS) else {
            return Ok(first);
        };
        let second = self.sum()?;
        self.binary(operator, first, second)
    }

    fn sum(&mut self) -> Parsed {
        let mut expr = self.product()?;
        while let Some(operator) = self.operator(&SUMS) {
            let next = self.product()?;
            expr = self.binary(operator, expr, next)?;
        }
        Ok(expr)
    }

    fn product(&mut self) -> Parsed {
        let mut expr = self.factor()?;
        while let Some(operator) = self.operator(&PRODUCTS) {
            let next = self.factor()?;
            expr = self.binary(operator, expr, next)?;
        }
        Ok(expr)
    }

    fn factor(&mut self) -> Parsed {
        self.skip_blanks();
        let at = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(at, format!("nested more than {MAX_DEPTH} deep"));
        }
        let expr = match self.rest().chars().next() {
            None if self.text.trim().is_empty() => self.fail(0, "the expression is empty"),
            None => self.fail(at, "the expression ends where a number or name is wanted"),
            Some('-') => {
                self.at += 1;
                let inner = self.factor()?;
                self.node(at, Node::Negated(Box::new(inner)))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.comparison()?;
                self.close(at)?;
                Ok(inner)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.literal(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name_or_call(),
            Some(c) => self.fail(at, format!("a number or name is wanted, not `{c}`")),
        }?;
        self.depth -= 1;
        Ok(expr)
    }

    fn close(&mut self, opened: usize) -> Result<(), ExprError> {
        self.skip_blanks();
        if !self.rest().starts_with(')') {
            return self.fail(opened, "`(` without its `)`");
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self) -> Parsed {
        let (at, rest) = (self.at, self.rest());
        let digits =
            |from: &str| from.len() - from.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut end = digits(rest);
        let mut is_float = false;
        if rest[end..].starts_with('.') {
            is_float = true;
            end += 1;
            end += digits(&rest[end..]);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[end + 1 + sign..]);
            if exponent > 0 {
                is_float = true;
                end += 1 + sign + exponent;
            }
        }
        self.at += end;
        let text = &rest[..end];
        let number = if is_float {
            text.parse().ok().filter(|v: &f64| v.is_finite()).map(Number::Float)
        } else {
            text.parse().ok().map(Number::whole)
        };
        match number {
            Some(number) => self.node(at, Node::Number(number)),
            None => self.fail(at, format!("`{text}` is no number that fits")),
        }
    }

    fn name_or_call(&mut self) -> Parsed {
        let at = self.at;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest().find(|c: char| !is_part(c)).unwrap_or(self.rest().len());
        let name = &self.rest()[..end];
        self.at += end;
        self.skip_blanks();
        if !self.rest().starts_with('(') {
            return self.node(at, Node::Name(name.to_owned()));
        }
        let Some((_, function, count)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let known = FUNCTIONS.iter().map(|(name, ..)| (*name).to_owned());
            let near = crate::ops::suggested(&crate::ops::nearest(name, known));
            return self.fail(at, format!("no function `{name}`{near}"));
        };
        let opened = self.at;
        self.at += 1;
        let mut arguments = vec![self.comparison()?];
        self.skip_blanks();
        while self.rest().starts_with(',') {
            self.at += 1;
            arguments.push(self.comparison()?);
            self.skip_blanks();
        }
        self.close(opened)?;
        if arguments.len() != *count {
            let given = arguments.len();
            return self.fail(at, format!("{name} takes {count} arguments, not {given}"));
        }
        self.node(at, Node::Call(*function, arguments))
    }
}
