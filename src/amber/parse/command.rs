//! `RUN`, `COPY`, `EXPECT` and `REPEAT`.

use super::super::error::Read;
use super::super::number::Number;
use super::super::script::{Action, Command, Comparator, Expect, Tolerance};
use super::super::token::Token;
use super::{Parser, shown};

const COMPARATORS: [(&str, Comparator); 6] = [
    ("EQ", Comparator::Eq),
    ("NE", Comparator::Ne),
    ("LT", Comparator::Lt),
    ("LE", Comparator::Le),
    ("GT", Comparator::Gt),
    ("GE", Comparator::Ge),
];

const OF_BUFFERS: [&str; 3] = ["EQ_BUFFER", "RMSE_BUFFER", "EQ_HISTOGRAM_EMD_BUFFER"];

/// Tolerances of one `EXPECT`.
const MOST_TOLERANCES: usize = 4;

impl<'t> Parser<'t> {
    /// What may be repeated; none for any other word.
    pub(super) fn command(&mut self, token: Token<'t>) -> Read<Option<Command>> {
        let action = match token.text {
            "RUN" => self.run(token)?,
            "COPY" => self.copy(token)?,
            "EXPECT" => self.expect()?,
            "CLEAR" | "CLEAR_COLOR" | "CLEAR_DEPTH" | "CLEAR_STENCIL" => {
                return Err(self.unsupported(token, ""));
            }
            _ => return Ok(None),
        };
        Ok(Some(Command { line: token.line, action }))
    }

    pub(super) fn repeat(&mut self, token: Token<'t>) -> Read<()> {
        let counted = self.lexer.peek();
        let count: u32 = self.integer("a number of times")?;
        if count == 0 {
            return Err(self.wrong(counted, "REPEAT 0 does nothing"));
        }
        self.end("REPEAT")?;
        let mut commands = Vec::new();
        while let Some(first) = self.line_of(token)? {
            match self.command(first)? {
                Some(command) => commands.push(command),
                None => {
                    let known = ["COPY", "EXPECT", "RUN"].into_iter();
                    return Err(self.unknown(first, "statement of a REPEAT", known));
                }
            }
        }
        let action = Action::Repeat { count, commands };
        self.script.commands.push(Command { line: token.line, action });
        Ok(())
    }

    fn run(&mut self, token: Token<'t>) -> Read<Action> {
        // Timing is what `cargo bench` does.
        self.takes("TIMED_EXECUTION");
        let pipeline = self.known_pipeline()?;
        let mut groups = [0; 3];
        for count in &mut groups {
            *count = self.integer("a number of workgroups")?;
        }
        self.end(token.text)?;
        Ok(Action::Run { pipeline, groups })
    }

    fn copy(&mut self, token: Token<'t>) -> Read<Action> {
        let from = self.known_buffer()?;
        self.keyword("COPY", &["TO"])?;
        let to = self.known_buffer()?;
        self.end(token.text)?;
        if from == to {
            return Err(self.wrong(token, "COPY of a buffer to itself"));
        }
        self.same_format(token, from, to)?;
        Ok(Action::Copy { from, to })
    }

    fn same_format(&self, token: Token<'t>, a: usize, b: usize) -> Read<()> {
        let (a, b) = (&self.script.buffers[a], &self.script.buffers[b]);
        if (&a.ty, a.layout, a.len) == (&b.ty, b.layout, b.len) {
            return Ok(());
        }
        let what = format!("`{}` and `{}` differ in type or size", shown(&a.name), shown(&b.name));
        Err(self.wrong(token, what))
    }

    fn expect(&mut self) -> Read<Action> {
        let named = self.word("the name of a buffer")?;
        let buffer = self.buffer_at(named)?;
        let what = self.word("IDX or a comparison of buffers")?;
        match what.text {
            "IDX" => self.expect_values(buffer),
            "EQ_HISTOGRAM_EMD_BUFFER" => Err(self.unsupported(what, "")),
            "EQ_BUFFER" | "RMSE_BUFFER" => {
                let want = self.known_buffer()?;
                self.same_format(named, buffer, want)?;
                let tolerance = if what.is("RMSE_BUFFER") {
                    self.keyword("RMSE_BUFFER", &["TOLERANCE"])?;
                    Some(self.number("a tolerance")?.1.value())
                } else {
                    None
                };
                self.end("EXPECT")?;
                Ok(Action::Compare { got: buffer, want, tolerance })
            }
            _ => {
                let known = OF_BUFFERS.into_iter().chain(["IDX"]);
                Err(self.unknown(what, "comparison", known))
            }
        }
    }

    fn expect_values(&mut self, buffer: usize) -> Read<Action> {
        let at = self.lexer.peek();
        let offset_bytes: u64 = self.integer("a number of bytes after IDX")?;
        let next = self.lexer.peek();
        if Number::parse(next.text).is_some() {
            return Err(
                self.unsupported(next, " as the second index of EXPECT, which is an image's")
            );
        }
        let tolerances = if self.takes("TOLERANCE") { self.tolerances()? } else { Vec::new() };
        let word = self.word("a comparator")?;
        let Some((_, comparator)) = COMPARATORS.iter().find(|(name, _)| *name == word.text) else {
            let known = COMPARATORS.iter().map(|(name, _)| *name);
            return Err(self.unknown(word, "comparator", known));
        };
        if !tolerances.is_empty() && *comparator != Comparator::Eq {
            return Err(self.wrong(word, "only EQ has a TOLERANCE"));
        }
        let mut values = Vec::new();
        while !self.lexer.peek().ends() {
            let fields = &self.script.buffers[buffer].element.fields;
            let field = fields[values.len() % fields.len()];
            values.push(self.stored(&field, "a number")?);
        }
        self.end("EXPECT")?;
        let Some(last) = values.len().checked_sub(1) else {
            return Err(self.missing(word, &format!("a number after {}", word.text)));
        };
        let element = &self.script.buffers[buffer].element;
        let (stride, each) = (element.stride as u64, element.fields.len());
        if !offset_bytes.is_multiple_of(stride) {
            let what = format!("{offset_bytes} is no multiple of an element's {stride} bytes");
            return Err(self.wrong(at, what));
        }
        let len = self.script.buffers[buffer].len as u64;
        if (offset_bytes / stride).saturating_add((last / each) as u64) >= len {
            return Err(self.wrong(at, format!("it goes beyond the {len} elements of the buffer")));
        }
        let comparator = *comparator;
        Ok(Action::Expect(Expect { buffer, offset_bytes, comparator, values, tolerances }))
    }

    fn tolerances(&mut self) -> Read<Vec<Tolerance>> {
        let mut found = Vec::new();
        loop {
            let token = self.lexer.peek();
            let percent = token.text.strip_suffix('%');
            let number = Number::parse(percent.unwrap_or(token.text)).map(Number::value);
            match number {
                Some(number) if number >= 0.0 && found.len() < MOST_TOLERANCES => {
                    self.lexer.next();
                    found.push(match percent {
                        Some(_) => Tolerance::Percent(number),
                        None => Tolerance::Absolute(number),
                    });
                }
                Some(_) => return Err(self.wrong(token, "one to four tolerances, none negative")),
                None if found.is_empty() => return Err(self.missing(token, "a tolerance")),
                None => return Ok(found),
            }
        }
    }
}
