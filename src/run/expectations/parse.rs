//! Reading an expectations file.

use std::collections::HashMap;
use std::path::Path;

use glob::Pattern;

use super::{Expectation, Expectations, ExpectationsError, plain};
use crate::check::{Check, Mark};
use crate::ops::{nearest, suggested};
use crate::worker::is_selector;

impl Expectations {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// A line that is none, stands twice, or isn't where sorting would put it.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ExpectationsError> {
        let mut read = Self { path: path.to_owned(), ..Self::default() };
        let mut places = HashMap::new();
        for (index, text) in text.lines().enumerate() {
            let (text, line) = (text.trim_end(), index + 1);
            let start = text.trim_start();
            if start.is_empty() || start.starts_with('#') {
                read.comments.push((read.lines.len(), text.to_owned()));
                continue;
            }
            let expectation =
                expectation(text, line).map_err(|flaw| ExpectationsError::Syntax {
                    path: path.to_owned(),
                    line,
                    column: flaw.column,
                    reason: flaw.reason,
                })?;
            let Expectation { device, scope, message, .. } = &expectation;
            let key = (device.clone(), scope.clone(), message.clone());
            if let Some(first) = places.insert(key, line) {
                return Err(ExpectationsError::Twice { path: path.to_owned(), line, first });
            }
            if let Some(last) = read.lines.last()
                && last.text.as_str() > text
            {
                let (path, above) = (path.to_owned(), last.line);
                return Err(ExpectationsError::Unsorted { path, line, above });
            }
            read.lines.push(expectation);
        }
        Ok(read)
    }
}

/// What is wrong with a line, and at which character.
struct Flaw {
    column: usize,
    reason: String,
}

fn expectation(text: &str, line: usize) -> Result<Expectation, Flaw> {
    let mut columns = Columns { text, at: 0 };
    let mark = mark(&columns.word("mark")?)?;
    let device = device(columns.word("device")?)?;
    let scope = columns.word("check")?;
    let (target, check) = target_and_check(&scope)?;
    let message = columns.word("message")?;
    if !message.is_quoted {
        return Err(message.flaw("the message must stand in double quotes"));
    }
    if message.text.is_empty() && mark == Mark::Fail {
        return Err(message.flaw("`fail` needs a message, such as the kind of the finding"));
    }
    let reason = columns.reason()?;
    Ok(Expectation {
        mark,
        device,
        scope: scope.text,
        message: message.text,
        reason,
        line,
        target,
        check,
        scope_column: scope.column,
        text: text.to_owned(),
    })
}

fn mark(word: &Word) -> Result<Mark, Flaw> {
    let known = Mark::ALL.into_iter().find(|mark| mark.name() == word.text);
    known.ok_or_else(|| word.flaw(&format!("`{}` is none of fail, flaky, skip", word.text)))
}

fn device(word: Word) -> Result<String, Flaw> {
    if word.text == "*" || is_selector(&word.text) {
        return Ok(word.text);
    }
    let reason = format!("`{}` is no device; a device is *, all, or vk: and a part", word.text);
    Err(word.flaw(&format!("{reason} of a name")))
}

fn target_and_check(word: &Word) -> Result<(Option<Pattern>, Option<Check>), Flaw> {
    let (target, check) = match word.text.rsplit_once('/') {
        Some((target, check)) => (Some(target), check),
        None => (None, word.text.as_str()),
    };
    let known = Check::ALL.into_iter().find(|known| known.name() == check);
    if known.is_none() && check != "*" {
        let near = nearest(check, Check::ALL.iter().map(|check| check.name().to_owned()));
        let near = suggested(&near);
        let reason = format!("no check is called `{check}`{near}; write CHECK or TARGET/CHECK");
        return Err(word.flaw(&reason));
    }
    let glob = target.map(|target| Pattern::new(plain(target))).transpose();
    let glob = glob.map_err(|error| word.flaw(&error.to_string()))?;
    Ok((glob, known))
}

/// A column of a line.
struct Word {
    text: String,
    is_quoted: bool,
    /// Where it begins, in characters from 1.
    column: usize,
}

impl Word {
    fn flaw(&self, reason: &str) -> Flaw {
        Flaw { column: self.column, reason: reason.to_owned() }
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

struct Columns<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
}

impl Columns<'_> {
    fn rest(&mut self) -> &str {
        let blanks = |rest: &str| rest.len() - rest.trim_start_matches(BLANKS).len();
        self.at += blanks(&self.text[self.at..]);
        &self.text[self.at..]
    }

    fn flaw(&self, reason: &str) -> Flaw {
        let column = self.text[..self.at].chars().count() + 1;
        Flaw { column, reason: reason.to_owned() }
    }

    fn word(&mut self, what: &str) -> Result<Word, Flaw> {
        let rest = self.rest();
        if rest.is_empty() || rest.starts_with('#') {
            return Err(self.flaw(&format!("the {what} is missing")));
        }
        let is_quoted = rest.starts_with('"');
        let end = rest.find(BLANKS).unwrap_or(rest.len());
        let bare = rest[..end].to_owned();
        let Flaw { column, .. } = self.flaw("");
        if is_quoted {
            let text = self.quoted()?;
            return Ok(Word { text, is_quoted, column });
        }
        self.at += end;
        Ok(Word { text: bare, is_quoted, column })
    }

    /// The text of a column in quotes. A backslash stands before a quote, itself, or an n.
    fn quoted(&mut self) -> Result<String, Flaw> {
        let mut text = String::new();
        let start = self.at + 1;
        let mut signs = self.text[start..].char_indices();
        while let Some((at, sign)) = signs.next() {
            match sign {
                '"' => {
                    self.at = start + at + 1;
                    let next = self.text[self.at..].chars().next();
                    return match next {
                        Some(sign) if !BLANKS.contains(&sign) => {
                            Err(self.flaw("a blank belongs behind the closing quote"))
                        }
                        _ => Ok(text),
                    };
                }
                '\\' => match signs.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, sign @ ('"' | '\\'))) => text.push(sign),
                    _ => {
                        self.at = start + at;
                        return Err(self.flaw("a backslash stands only before \", \\ or n"));
                    }
                },
                sign => text.push(sign),
            }
        }
        Err(self.flaw("the quote that opens here is never closed"))
    }

    fn reason(&mut self) -> Result<String, Flaw> {
        let rest = self.rest();
        let Some(reason) = rest.strip_prefix('#') else {
            let is_over = rest.is_empty();
            let reason = "the reason is missing: # and why it is so";
            return Err(self.flaw(if is_over { reason } else { "expected # and the reason" }));
        };
        let reason = reason.trim().to_owned();
        if reason.is_empty() {
            return Err(self.flaw("the reason is empty"));
        }
        Ok(reason)
    }
}
