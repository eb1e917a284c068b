//! Text that fits a terminal of 80 columns.

/// Columns that a report may take.
pub const WIDTH: usize = 80;

/// Joins pieces with single spaces and breaks lines before [`WIDTH`]; lines behind the first start
/// with `indent` spaces. `used` columns of the first line are taken already.
pub fn wrapped<'a>(
    pieces: impl IntoIterator<Item = &'a str>,
    used: usize,
    indent: usize,
) -> String {
    let mut text = String::new();
    let mut column = used;
    for piece in pieces {
        let width = piece.chars().count();
        let at_start = text.is_empty();
        if !at_start && column + 1 + width > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if !at_start {
            text.push(' ');
            column += 1;
        }
        text.push_str(piece);
        column += width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, wrapped};

    #[test]
    fn no_line_is_longer_than_the_width_and_no_word_is_lost() {
        let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
        let text = wrapped(words.iter().map(String::as_str), 10, 4);
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|first| first.len() + 10 <= WIDTH));
        assert!(lines.all(|line| line.len() <= WIDTH && line.starts_with("    word")));
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
    }
}
