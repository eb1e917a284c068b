//! Which line of which file a line of the compiled text is.

use crate::soft::program::SourceFile;

/// A file has no more lines than this, whatever a `#line` says.
const LIMIT_LINES: usize = 1 << 20;

/// Gives the lines of a text to the files that its `#line` directives name. The text is `name`'s
/// until the first of them.
pub(super) fn spread(name: &str, text: &str, files: &mut [SourceFile]) {
    let (mut file, mut next) = (name.to_owned(), 1_usize);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        if let Some((number, named)) = directive(line) {
            next = number;
            file = named.map_or(file, str::to_owned);
            continue;
        }
        let at = match found.iter().position(|(other, _)| *other == file) {
            Some(at) => at,
            None => {
                found.push((file.clone(), Vec::new()));
                found.len() - 1
            }
        };
        let lines = &mut found[at].1;
        if next <= LIMIT_LINES {
            lines.resize(lines.len().max(next), String::new());
            if let Some(place) = next.checked_sub(1).and_then(|at| lines.get_mut(at)) {
                line.clone_into(place);
            }
        }
        next += 1;
    }
    for (name, lines) in found {
        for file in files.iter_mut().filter(|file| file.name == name) {
            file.text = lines.join("\n");
        }
    }
}

/// The number of the line behind a `#line`, and the file that it names.
fn directive(line: &str) -> Option<(usize, Option<&str>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("line")?;
    let rest = rest.trim();
    let (number, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let name = name.trim().strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    Some((number.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::spread;
    use crate::soft::program::SourceFile;

    #[test]
    fn lines_go_where_the_directives_say() {
        let file = |name: &str| SourceFile { name: name.to_owned(), text: String::new() };
        let mut files = vec![file("a.comp"), file("inc.glsl")];
        let text = "#version 450\n#line 3 \"a.comp\"\nthree\n#line 1 \"inc.glsl\"\none\ntwo\n#line \
                    4 \"a.comp\"\nfour";
        spread("a.comp", text, &mut files);
        assert_eq!(files[0].text, "#version 450\n\nthree\nfour");
        assert_eq!(files[1].text, "one\ntwo");
        spread("a.comp", "#line 99999999999 \"a.comp\"\nfar", &mut files);
        assert_eq!(files[0].text, "");
    }
}
