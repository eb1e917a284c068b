//! Puts a kernel file, its preamble and all its includes into one text.
//!
//! The expander knows comments but does not evaluate conditions: an include inside `#if 0` is
//! expanded too, and the preprocessor drops it later. An include that is missing, malformed or
//! cyclic stops everything where no condition is open; where one is, an `#error` line takes its
//! place, and only if the preprocessor reaches that line does the build fail, with the same
//! [`GlslError`].

use std::collections::HashSet;
use std::fmt::Write as _;

use super::scan::{Line, Scanner, State};
use super::{Build, GlslError, Includes, Site, Source};

/// How the placeholder of a deferred error starts; its index follows.
const DEFERRED: &str = "vklab deferred include ";

/// Includes that double in every file would otherwise fill the memory.
const LIMIT_BYTES: usize = 16 << 20;

/// Beyond this depth the same file is being reached under ever new spellings.
const LIMIT_DEPTH: usize = 200;

/// Similarity from which a name is worth suggesting.
const SIMILAR: f64 = 0.5;

/// One text, and what is needed to trace messages back from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// What the compiler gets.
    pub text: String,
    /// Every file that went in, the kernel file first, each once.
    pub files: Vec<Source>,
    deferred: Vec<GlslError>,
}

impl Flattened {
    /// The text of a line of one of the files, by the path that messages show.
    #[must_use]
    pub fn line(&self, shown_path: &str, line: u32) -> Option<&str> {
        let file = self.files.iter().find(|f| f.shown_path() == shown_path)?;
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        file.text.lines().nth(index)
    }

    /// The include error behind a compiler message about its placeholder.
    pub(super) fn deferred(&self, message: &str) -> Option<GlslError> {
        let (_, rest) = message.split_once(DEFERRED)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let index: usize = rest[..digits.unwrap_or(rest.len())].parse().ok()?;
        self.deferred.get(index).cloned()
    }
}

/// Expands the includes of a build. `#version` comes first (the file's own, else the preamble's),
/// then the file's head up to its first line that is no comment and no `#extension`, then the
/// preamble, then the rest; `#line` directives keep every line's origin.
///
/// # Errors
/// No `#version`, or an include that is missing, malformed or cyclic outside every condition.
pub fn flatten(build: &Build, includes: &dyn Includes) -> Result<Flattened, GlslError> {
    let mut expander = Expander {
        includes,
        out: String::new(),
        files: Vec::new(),
        deferred: Vec::new(),
        stack: Vec::new(),
        once: HashSet::new(),
        open_conditions: 0,
        may_miscount: false,
    };
    expander.kernel(build)?;
    Ok(Flattened { text: expander.out, files: expander.files, deferred: expander.deferred })
}

/// A file being expanded, with its line under way.
struct Frame {
    path: String,
    site: Site,
}

struct Expander<'a> {
    includes: &'a dyn Includes,
    out: String,
    files: Vec<Source>,
    deferred: Vec<GlslError>,
    stack: Vec<Frame>,
    once: HashSet<String>,
    open_conditions: usize,
    /// A file was put in under a condition that is still open. Where the condition doesn't hold,
    /// the compiler skips the directive behind that file too, and would count its lines as the
    /// outer file's.
    may_miscount: bool,
}

impl Expander<'_> {
    fn kernel(&mut self, build: &Build) -> Result<(), GlslError> {
        let source = &build.source;
        let mut rest = text_of(source);
        let mut scanner = Scanner::default();
        let mut number = 1;
        if has_version(source) {
            // Everything above `#version` is a comment and stays above it, so that the compiler
            // counts that line itself.
            while let Some((line, after)) = next_line(rest) {
                self.push_line(line);
                rest = after;
                number += 1;
                if scanner.line(line) == Line::Version {
                    break;
                }
            }
        } else {
            let version = build.preamble.as_ref().and_then(version_line);
            self.push_line(
                version.ok_or_else(|| GlslError::MissingVersion { file: source.shown_path() })?,
            );
        }
        self.push_line("#extension GL_GOOGLE_cpp_style_line_directive : require");
        self.line_directive(number, source);
        self.files.push(source.clone());
        self.lines(source, rest, number, scanner, build.preamble.as_ref())
    }

    /// The lines of a file from line `number` on. The preamble, if there is one, goes before the
    /// first that is more than head.
    fn lines(
        &mut self,
        source: &Source,
        text: &str,
        mut number: u32,
        mut scanner: Scanner,
        mut preamble: Option<&Source>,
    ) -> Result<(), GlslError> {
        let mut site = Site { file: source.shown_path(), line: number, text: String::new() };
        self.stack.push(Frame { path: source.path.to_string(), site: site.clone() });
        let mut comment_from = site.clone();
        let mut rest = text;
        while let Some((line, after)) = next_line(rest) {
            rest = after;
            (site.line, site.text) = (number, line.to_owned());
            let before = scanner.state();
            let kind = scanner.line(line);
            if let Some(frame) = self.stack.last_mut() {
                frame.site = site.clone();
            }
            if before != State::BlockComment && scanner.state() == State::BlockComment {
                comment_from = site.clone();
            }
            if !matches!(kind, Line::Blank | Line::Version | Line::Extension)
                && let Some(preamble) = preamble.take()
            {
                self.enter(before);
                self.included(preamble)?;
                self.leave(before, number, source);
            }
            self.line(line, &kind, before, scanner.state(), source)?;
            number += 1;
            if self.out.len() > LIMIT_BYTES {
                return Err(self.too_large());
            }
        }
        if scanner.state() == State::BlockComment {
            return Err(unterminated(comment_from));
        }
        if scanner.state() != State::Code {
            // The file ends in a backslash, which must not swallow the directive that follows.
            self.push_line("");
        }
        if let Some(preamble) = preamble {
            self.included(preamble)?;
        }
        self.stack.pop();
        Ok(())
    }

    fn line(
        &mut self,
        line: &str,
        kind: &Line,
        before: State,
        after: State,
        source: &Source,
    ) -> Result<(), GlslError> {
        match kind {
            Line::Include(name) => {
                self.may_miscount |= self.open_conditions > 0;
                self.enter(before);
                self.include(name)?;
                let next = self.site().line + 1;
                self.leave(after, next, source);
                return Ok(());
            }
            Line::MalformedInclude => {
                let site = self.site();
                return self.defer(GlslError::MalformedInclude { site });
            }
            // Only the one at the top counts; what stands beside it in comments must survive.
            Line::Version if before != State::BlockComment && after != State::BlockComment => {
                self.push_line("");
                return Ok(());
            }
            Line::Once => {
                self.once.insert(source.path.to_string());
                self.push_line("");
                return Ok(());
            }
            Line::If => self.open_conditions += 1,
            Line::EndIf => self.open_conditions = self.open_conditions.saturating_sub(1),
            Line::Blank | Line::Version | Line::Extension | Line::Else | Line::Other => {}
        }
        self.push_line(line);
        if self.may_miscount && matches!(kind, Line::Else | Line::EndIf) {
            let next = self.site().line + 1;
            self.leave(after, next, source);
            self.may_miscount = self.open_conditions > 0;
        }
        Ok(())
    }

    fn include(&mut self, name: &str) -> Result<(), GlslError> {
        let site = self.site();
        let from = self.stack.last().map(|f| f.path.clone());
        let from = from.unwrap_or_default();
        let Some(found) = self.includes.find(name, &from)? else {
            let nearest = nearest(name, self.includes.names(&from));
            return self.defer(GlslError::MissingInclude {
                name: name.to_owned(),
                site: Box::new(site),
                places: self.includes.places(&from),
                nearest,
            });
        };
        if self.once.contains(found.path.as_ref()) {
            return Ok(());
        }
        let again = self.stack.iter().position(|f| f.path == found.path);
        let first = again.or((self.stack.len() >= LIMIT_DEPTH).then_some(0));
        if let Some(first) = first {
            let sites = self.stack[first..].iter().map(|f| f.site.clone());
            return self.defer(GlslError::IncludeCycle { sites: sites.collect() });
        }
        self.included(&found)
    }

    fn included(&mut self, source: &Source) -> Result<(), GlslError> {
        if !self.files.iter().any(|f| f.path == source.path) {
            self.files.push(source.clone());
        }
        self.line_directive(1, source);
        let text = text_of(source);
        self.lines(source, text, 1, Scanner::default(), None)
    }

    fn defer(&mut self, error: GlslError) -> Result<(), GlslError> {
        if self.open_conditions == 0 {
            return Err(error);
        }
        let placeholder = format!("#error {DEFERRED}{}", self.deferred.len());
        self.push_line(&placeholder);
        self.deferred.push(error);
        Ok(())
    }

    /// Closes a comment that is open where another file is about to be put in.
    fn enter(&mut self, state: State) {
        if state == State::BlockComment {
            self.push_line("*/");
        }
    }

    /// Goes on with line `number` of `source`, in the comment that is open there.
    fn leave(&mut self, state: State, number: u32, source: &Source) {
        if state == State::BlockComment {
            self.line_directive(number.saturating_sub(1), source);
            self.push_line("/*");
        } else {
            self.line_directive(number, source);
        }
    }

    fn line_directive(&mut self, number: u32, source: &Source) {
        // Writing to a String can't fail.
        let _ = writeln!(self.out, "#line {number} \"{}\"", source.shown_path());
    }

    fn push_line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn site(&self) -> Site {
        let top = self.stack.last().map(|f| f.site.clone());
        top.unwrap_or_else(|| Site { file: String::new(), line: 0, text: String::new() })
    }

    fn too_large(&self) -> GlslError {
        let kernel = self.stack.first().map(|f| f.site.file.clone());
        GlslError::TooLarge { file: kernel.unwrap_or_default(), limit_bytes: LIMIT_BYTES }
    }
}

/// The text without a byte order mark, which editors add and GLSL doesn't know.
fn text_of(source: &Source) -> &str {
    source.text.strip_prefix('\u{feff}').unwrap_or(&source.text)
}

fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    Some((line.strip_suffix('\r').unwrap_or(line), rest))
}

fn version_line(source: &Source) -> Option<&str> {
    let mut scanner = Scanner::default();
    text_of(source).lines().find(|line| scanner.line(line) == Line::Version)
}

fn has_version(source: &Source) -> bool {
    version_line(source).is_some()
}

fn unterminated(site: Site) -> GlslError {
    GlslError::Compile {
        diagnostics: vec![super::Diagnostic {
            file: site.file,
            line: Some(site.line),
            severity: super::Severity::Error,
            message: "unterminated comment".to_owned(),
            text: Some(site.text),
        }],
    }
}

fn nearest(name: &str, names: Vec<String>) -> Option<String> {
    let similarity = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
    names
        .into_iter()
        .map(|other| (similarity(&other), other))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        // Of equals the alphabetically first, whatever order a folder lists them in.
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests;
