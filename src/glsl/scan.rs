//! Reading GLSL line by line, just far enough to know directives from comments.

/// What the expander has to know about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing but blanks and comments.
    Blank,
    /// `#version`.
    Version,
    /// `#extension`.
    Extension,
    /// `#include "name"` or `#include <name>`.
    Include(String),
    /// `#include` followed by anything else.
    MalformedInclude,
    /// `#if`, `#ifdef`, `#ifndef`.
    If,
    /// `#else`, `#elif`.
    Else,
    /// `#endif`.
    EndIf,
    /// `#pragma once`.
    Once,
    /// Code, or a directive that the expander passes on.
    Other,
}

/// Where the end of a line leaves the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// A fresh line.
    #[default]
    Code,
    /// A backslash joins the next line to this one.
    Continued,
    /// A line comment that a backslash continues.
    LineComment,
    /// Inside `/* */`.
    BlockComment,
}

/// A scanner that remembers comments and continued lines.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
}

impl Scanner {
    /// The state before the next line.
    pub(super) fn state(&self) -> State {
        self.state
    }

    /// Takes the next line, without its line ending.
    pub(super) fn line(&mut self, text: &str) -> Line {
        let before = self.state;
        let (code, mut after) = strip_comments(text, before);
        if after == State::Code && text.ends_with('\\') {
            after = State::Continued;
        }
        self.state = after;
        let code = code.trim();
        if code.is_empty() {
            return Line::Blank;
        }
        match code.strip_prefix('#') {
            Some(rest) if before != State::Continued => directive(rest.trim_start()),
            _ => Line::Other,
        }
    }
}

/// The line with every comment replaced by a blank, and the state after it.
fn strip_comments(text: &str, before: State) -> (String, State) {
    let mut code = String::with_capacity(text.len());
    let continued = text.ends_with('\\');
    let mut in_block = before == State::BlockComment;
    if before == State::LineComment {
        let after = if continued { before } else { State::Code };
        return (code, after);
    }
    let mut in_string = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if in_block {
            match rest.find("*/") {
                Some(end) => rest = &rest[end + 2..],
                None => return (code, State::BlockComment),
            }
            in_block = false;
            code.push(' ');
            continue;
        }
        if !in_string && rest.starts_with("//") {
            let after = if continued { State::LineComment } else { State::Code };
            return (code, after);
        }
        if !in_string && rest.starts_with("/*") {
            in_block = true;
            rest = &rest[2..];
            continue;
        }
        if c == '"' {
            in_string = !in_string;
        }
        code.push(c);
        rest = &rest[c.len_utf8()..];
    }
    let after = if in_block { State::BlockComment } else { State::Code };
    (code, after)
}

fn directive(text: &str) -> Line {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    match word {
        "version" => Line::Version,
        "extension" => Line::Extension,
        "if" | "ifdef" | "ifndef" => Line::If,
        "else" | "elif" => Line::Else,
        "endif" => Line::EndIf,
        "pragma" if rest.trim() == "once" => Line::Once,
        "include" => match included_name(rest.trim()) {
            Some(name) => Line::Include(name.to_owned()),
            None => Line::MalformedInclude,
        },
        _ => Line::Other,
    }
}

fn included_name(text: &str) -> Option<&str> {
    let name = match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"')?,
        None => text.strip_prefix('<')?.strip_suffix('>')?,
    };
    let malformed = name.is_empty() || name.contains(['"', '<', '>']);
    (!malformed).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Line, Scanner, State};

    fn scan(text: &str) -> Vec<Line> {
        let mut scanner = Scanner::default();
        text.lines().map(|line| scanner.line(line)).collect()
    }

    #[test]
    fn includes_are_found_in_every_legal_spelling() {
        let spellings = [
            "#include \"a/b.glsl\"",
            "  #  include <a/b.glsl>  // why",
            "/* c */ #include/* d */\"a/b.glsl\" /* e */",
        ];
        for text in spellings {
            assert_eq!(scan(text), [Line::Include("a/b.glsl".to_owned())], "{text}");
        }
        assert_eq!(scan("#include \"a//b.glsl\""), [Line::Include("a//b.glsl".to_owned())]);
    }

    #[test]
    fn other_includes_are_malformed() {
        for text in ["#include", "#include NAME", "#include \"a", "#include \"\"", "#include <a\""]
        {
            assert_eq!(scan(text), [Line::MalformedInclude], "{text}");
        }
        assert_eq!(scan("#includes \"a\""), [Line::Other]);
    }

    #[test]
    fn comments_and_continued_lines_hide_directives() {
        assert_eq!(scan("// #include \"a\""), [Line::Blank]);
        assert_eq!(scan("/* x\n#include \"a\"\n*/"), [Line::Blank, Line::Blank, Line::Blank]);
        assert_eq!(scan("// x \\\n#include \"a\""), [Line::Blank, Line::Blank]);
        assert_eq!(scan("#define X \\\n#include \"a\""), [Line::Other, Line::Other]);
        assert_eq!(scan("/**/ int a; /*\n*/ #endif"), [Line::Other, Line::EndIf]);
    }

    #[test]
    fn the_state_tells_where_a_comment_is_open() {
        let mut scanner = Scanner::default();
        scanner.line("int a; /* open");
        assert_eq!(scanner.state(), State::BlockComment);
        scanner.line("close */ int b; // c \\");
        assert_eq!(scanner.state(), State::LineComment);
        scanner.line("last");
        assert_eq!(scanner.state(), State::Code);
    }
}
