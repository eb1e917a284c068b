//! From a text to a script, one statement after another.

mod buffer;
mod command;
mod pipeline;
mod shader;
mod structure;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use super::error::{AmberError, Read, Stop, Unsupported, wrong};
use super::number::Number;
use super::script::{Need, NeedKind, Script};
use super::token::{Kind, Lexer, Token};
use super::types::Struct;
use crate::ops::{nearest, suggested};

/// Words that may begin a statement.
const STATEMENTS: [&str; 20] = [
    "ACCELERATION_STRUCTURE",
    "BUFFER",
    "CLEAR",
    "CLEAR_COLOR",
    "CLEAR_DEPTH",
    "CLEAR_STENCIL",
    "COPY",
    "DERIVE_PIPELINE",
    "DEVICE_EXTENSION",
    "DEVICE_FEATURE",
    "DEVICE_PROPERTY",
    "EXPECT",
    "IMAGE",
    "INSTANCE_EXTENSION",
    "PIPELINE",
    "REPEAT",
    "RUN",
    "SAMPLER",
    "SET",
    "SHADER",
];

/// Longer words and longer lists of names get no suggestion, which would take too long.
const MOST_SUGGESTED: (usize, usize) = (64, 1000);

/// Reads a script. Whatever the text is, this ends, with a script or an error.
///
/// # Errors
/// What is wrong with it, at the line and column.
pub fn parse(path: &Path, text: &str) -> Result<Script, AmberError> {
    let mut parser = Parser {
        file: path.display().to_string(),
        text,
        lexer: Lexer::new(text),
        script: Script { path: path.to_owned(), ..Script::default() },
        shaders: HashMap::new(),
        buffers: HashMap::new(),
        pipelines: HashMap::new(),
        structs: HashMap::new(),
    };
    match parser.statements() {
        Ok(()) => Ok(parser.script),
        Err(Stop::Unsupported(what)) => {
            parser.script.unsupported = Some(what);
            Ok(parser.script)
        }
        Err(Stop::Wrong(error)) => Err(*error),
    }
}

/// A script that is being read.
struct Parser<'t> {
    file: String,
    text: &'t str,
    lexer: Lexer<'t>,
    script: Script,
    shaders: HashMap<&'t str, usize>,
    buffers: HashMap<&'t str, usize>,
    pipelines: HashMap<&'t str, usize>,
    structs: HashMap<&'t str, Rc<Struct>>,
}

impl<'t> Parser<'t> {
    fn statements(&mut self) -> Read<()> {
        if !self.text.starts_with(super::FIRST) {
            let what = format!("a script begins with the line `{}`", super::FIRST);
            return Err(self.wrong_at(0, what));
        }
        loop {
            let token = self.lexer.next();
            match token.kind {
                Kind::LineEnd => {}
                Kind::End => return Ok(()),
                Kind::Word | Kind::Quoted => self.statement(token)?,
            }
        }
    }

    fn statement(&mut self, token: Token<'t>) -> Read<()> {
        match token.text {
            "SHADER" => self.shader(token),
            "BUFFER" => self.buffer(token),
            "STRUCT" => self.structure(),
            "PIPELINE" => self.pipeline(token),
            "DERIVE_PIPELINE" => self.derived_pipeline(token),
            "DEVICE_FEATURE" => self.need(token, NeedKind::Feature),
            "DEVICE_PROPERTY" => self.need(token, NeedKind::Property),
            "DEVICE_EXTENSION" | "INSTANCE_EXTENSION" => self.need(token, NeedKind::Extension),
            "SET" => self.setting(),
            "VIRTUAL_FILE" => self.virtual_file(),
            "REPEAT" => self.repeat(token),
            "IMAGE" | "SAMPLER" | "ACCELERATION_STRUCTURE" => Err(self.unsupported(token, "")),
            _ => match self.command(token)? {
                Some(command) => {
                    self.script.commands.push(command);
                    Ok(())
                }
                None => {
                    let more = ["STRUCT", "VIRTUAL_FILE"];
                    let known = STATEMENTS.iter().chain(&more).copied();
                    Err(self.unknown(token, "statement", known))
                }
            },
        }
    }

    fn need(&mut self, token: Token<'t>, kind: NeedKind) -> Read<()> {
        let name = self.word(&format!("a name after {}", token.text))?.text.to_owned();
        self.script.needs.push(Need { line: token.line, kind, name });
        self.end(token.text)
    }

    /// `SET ENGINE_DATA fence_timeout_ms N`: the lab has a time-out of its own.
    fn setting(&mut self) -> Read<()> {
        self.keyword("SET", &["ENGINE_DATA"])?;
        self.keyword("SET ENGINE_DATA", &["fence_timeout_ms"])?;
        self.integer::<u32>("a time in milliseconds")?;
        self.end("SET")
    }

    /// The next word.
    fn word(&mut self, what: &str) -> Read<Token<'t>> {
        let token = self.lexer.next();
        if token.ends() { Err(self.missing(token, what)) } else { Ok(token) }
    }

    /// The next word, one of these.
    fn keyword(&mut self, after: &str, known: &[&'static str]) -> Read<&'static str> {
        let listed = known.join(" or ");
        let token = self.word(&format!("{listed} after {after}"))?;
        let found = known.iter().find(|keyword| token.is(keyword));
        match found {
            Some(keyword) => Ok(*keyword),
            None => {
                let what = format!("`{}` after {after}; expected {listed}", shown(token.text));
                Err(self.wrong(token, what))
            }
        }
    }

    /// Whether the next word is this, which is then taken.
    fn takes(&mut self, keyword: &str) -> bool {
        let is_next = self.lexer.peek().is(keyword);
        if is_next {
            self.lexer.next();
        }
        is_next
    }

    /// The next word, an integer in the type's range.
    fn integer<T: TryFrom<i128>>(&mut self, what: &str) -> Read<T> {
        let token = self.word(what)?;
        let number = match Number::parse(token.text) {
            Some(Number::Int(number)) => T::try_from(number).ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(token, format!("`{}` is not {what}", shown(token.text))))
    }

    /// The next word, a number.
    fn number(&mut self, what: &str) -> Read<(Token<'t>, Number)> {
        let token = self.word(what)?;
        match Number::parse(token.text) {
            Some(number) => Ok((token, number)),
            None => Err(self.wrong(token, format!("`{}` is not {what}", shown(token.text)))),
        }
    }

    /// The end of a statement.
    fn end(&mut self, statement: &str) -> Read<()> {
        let token = self.lexer.next();
        if token.ends() {
            return Ok(());
        }
        Err(self.wrong(token, format!("`{}` after the end of {statement}", shown(token.text))))
    }

    /// The next line with a word in it: its first word, or none at `END`, whose line is taken.
    fn line_of(&mut self, block: Token<'t>) -> Read<Option<Token<'t>>> {
        loop {
            let token = self.lexer.next();
            match token.kind {
                Kind::LineEnd => {}
                Kind::End => return Err(self.unclosed(block)),
                Kind::Word | Kind::Quoted if token.is("END") => {
                    self.end(&format!("{}'s END", shown(block.text)))?;
                    return Ok(None);
                }
                Kind::Word | Kind::Quoted => return Ok(Some(token)),
            }
        }
    }

    /// A name that nothing else of its kind has.
    fn fresh(&mut self, what: &str, is_taken: impl Fn(&Self, &str) -> bool) -> Read<&'t str> {
        let token = self.word(&format!("the name of a {what}"))?;
        if is_taken(self, token.text) {
            let message = format!("there is a {what} `{}` already", shown(token.text));
            return Err(self.wrong(token, message));
        }
        Ok(token.text)
    }

    /// The buffer that the next word names.
    fn known_buffer(&mut self) -> Read<usize> {
        let token = self.word("the name of a buffer")?;
        self.buffer_at(token)
    }

    fn buffer_at(&self, token: Token<'t>) -> Read<usize> {
        let found = self.buffers.get(token.text).copied();
        found.ok_or_else(|| self.unknown(token, "buffer", self.buffers.keys().copied()))
    }

    fn unknown<'n>(
        &self,
        token: Token<'t>,
        what: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Stop {
        let (longest, most) = MOST_SUGGESTED;
        let known = known.take(most).filter(|name| name.len() <= longest).map(str::to_owned);
        let near = if token.text.len() > longest { Vec::new() } else { nearest(token.text, known) };
        self.wrong(token, format!("unknown {what} `{}`{}", shown(token.text), suggested(&near)))
    }

    fn missing(&self, token: Token<'t>, what: &str) -> Stop {
        self.wrong(token, format!("missing {what}"))
    }

    fn unclosed(&self, block: Token<'t>) -> Stop {
        self.wrong(block, format!("{} has no END", shown(block.text)))
    }

    fn wrong(&self, token: Token<'t>, message: impl Into<String>) -> Stop {
        self.wrong_at(token.at, message)
    }

    fn wrong_at(&self, at: usize, message: impl Into<String>) -> Stop {
        Stop::Wrong(Box::new(wrong(&self.file, self.text, at, message)))
    }

    /// The word, and what of it is meant, as something that the lab doesn't do.
    fn unsupported(&self, token: Token<'t>, more: &str) -> Stop {
        let what = format!("{}{more}", shown(token.text));
        Stop::Unsupported(Unsupported { line: token.line, what })
    }
}

/// A word as messages show it, without what is too long.
fn shown(word: &str) -> String {
    const LONGEST: usize = 60;
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let mut text: String = word.chars().take(LONGEST).map(printable).collect();
    if word.chars().nth(LONGEST).is_some() {
        text.push_str("...");
    }
    text
}
