//! A script's words, each with its place.

/// A word of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// As written, without quotes.
    pub(super) text: &'t str,
    /// Byte offset.
    pub(super) at: usize,
    /// Counted from 1.
    pub(super) line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything between blanks.
    Word,
    /// Something between quotes.
    Quoted,
    /// The end of a line, unless a backslash goes on with it.
    LineEnd,
    /// The end of the script.
    End,
}

impl Token<'_> {
    /// Whether it is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text == keyword
    }

    /// Whether the statement ends here.
    pub(super) fn ends(&self) -> bool {
        matches!(self.kind, Kind::LineEnd | Kind::End)
    }
}

/// Goes through a text word by word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The word that comes next, which stays there.
    pub(super) fn peek(&self) -> Token<'t> {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Token<'t> {
        self.skip_blanks();
        let (at, line) = (self.at, self.line);
        let token = |kind, text| Token { kind, text, at, line };
        let rest = self.rest();
        match rest.chars().next() {
            None => token(Kind::End, ""),
            Some('\n') => {
                self.step_line();
                token(Kind::LineEnd, "")
            }
            Some('"') => {
                // A quote that nothing closes ends with its line.
                let inner = &rest[1..];
                let len = inner.find(['"', '\n']).unwrap_or(inner.len());
                self.at += 1 + len;
                self.at += usize::from(self.rest().starts_with('"'));
                token(Kind::Quoted, &inner[..len])
            }
            Some(_) => {
                let len = rest.find(is_end).unwrap_or(rest.len());
                self.at += len;
                token(Kind::Word, &rest[..len])
            }
        }
    }

    /// The text up to a line whose first word is `END`, and the line it begins at; the `END` stays
    /// there. None if there is no such line.
    pub(super) fn block(&mut self) -> Option<(&'t str, u32)> {
        let (start, line) = (self.at, self.line);
        let mut ahead = *self;
        loop {
            let from = ahead.at;
            let end = ahead.rest().find('\n').map_or(ahead.text.len(), |len| from + len);
            if is_closing(&ahead.text[from..end]) {
                let body = &self.text[start..from];
                *self = ahead;
                return Some((body, line));
            }
            if end == ahead.text.len() {
                return None;
            }
            ahead.at = end;
            ahead.step_line();
        }
    }

    fn step_line(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
    }

    /// Blanks, comments and the ends of lines that a backslash continues.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("\\\n") {
                self.at += 1;
                self.step_line();
            } else if rest.starts_with("\\\r\n") {
                self.at += 2;
                self.step_line();
            } else if blank == 0 {
                return;
            }
        }
    }
}

fn is_closing(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix("END").is_some_and(|rest| rest.is_empty() || rest.starts_with(is_end))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\x0c' | '\0')
}

fn is_end(c: char) -> bool {
    is_blank(c) || c == '\n'
}

#[cfg(test)]
mod tests {
    use super::{Kind, Lexer};

    #[test]
    fn words_know_their_lines_across_comments_and_continued_lines() {
        let mut lexer = Lexer::new("RUN p \\\n 1 # one\n\"a b\" END");
        let mut seen = Vec::new();
        loop {
            let token = lexer.next();
            seen.push((token.text, token.line));
            if token.kind == Kind::End {
                break;
            }
        }
        let want = [("RUN", 1), ("p", 1), ("1", 2), ("", 2), ("a b", 3), ("END", 3), ("", 3)];
        assert_eq!(seen, want);
    }

    #[test]
    fn a_block_ends_at_the_word_and_not_at_one_that_begins_so() {
        let mut lexer = Lexer::new("int ENDED;\nENDING\n  END\nRUN");
        assert_eq!(lexer.block(), Some(("int ENDED;\nENDING\n", 1)));
        assert_eq!((lexer.next().text, lexer.peek().line), ("END", 3));
        assert_eq!(Lexer::new("no end").block(), None);
    }
}
