//! Words for a shell.

/// A word as a shell reads it back, in quotes only where it needs them.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        for plain in ["0=f32:1024:uniform", "a/b.comp", "n=255,BM=32/normal"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("ceil(n/64)"), "'ceil(n/64)'");
        assert_eq!(shell_word("0=f32:4*n"), "'0=f32:4*n'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
