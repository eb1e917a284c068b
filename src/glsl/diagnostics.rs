//! Reading the messages of shaderc and glslc.

use super::{Diagnostic, Flattened, Severity};

/// The name that glslc gives to a text from its standard input.
const STDIN: &str = "<stdin>";

/// Splits a compiler's output into messages. Lines are `file:line: error: text` or
/// `file: error: text`; a line of neither form goes on with the message above it.
pub(super) fn parse(output: &str, flat: &Flattened) -> Vec<Diagnostic> {
    let kernel = flat.files.first().map(|f| f.shown_path());
    let kernel = kernel.unwrap_or_default();
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for line in output.lines() {
        if let Some((place, severity, message)) = split(line) {
            let (file, number) = place_of(place, &kernel);
            let text = number.and_then(|n| flat.line(&file, n));
            diagnostics.push(Diagnostic {
                text: text.map(str::to_owned),
                file,
                line: number,
                severity,
                message: message.trim().to_owned(),
            });
        } else if let Some(last) = diagnostics.last_mut()
            && !is_count(line)
        {
            let rest = [STDIN, kernel.as_str()]
                .iter()
                .find_map(|file| line.strip_prefix(file)?.strip_prefix(':'));
            let rest = rest.unwrap_or(line).trim();
            if !rest.is_empty() {
                last.message.push(' ');
                last.message.push_str(rest);
            }
        }
    }
    diagnostics
}

fn split(line: &str) -> Option<(&str, Severity, &str)> {
    let marks = [(": error: ", Severity::Error), (": warning: ", Severity::Warning)];
    marks
        .into_iter()
        .filter_map(|(mark, severity)| {
            let at = line.find(mark)?;
            Some((at, (&line[..at], severity, &line[at + mark.len()..])))
        })
        .min_by_key(|(at, _)| *at)
        .map(|(_, found)| found)
}

fn place_of(place: &str, kernel: &str) -> (String, Option<u32>) {
    let numbered = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = match numbered {
        Some((file, line)) => (file, Some(line)),
        None => (place, None),
    };
    let file = if file == STDIN { kernel } else { file };
    (file.to_owned(), line)
}

/// `3 errors generated.` and the like.
fn is_count(line: &str) -> bool {
    line.ends_with(" generated.") && line.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::glsl::{Build, Library, Severity, Source, flatten};

    #[test]
    fn messages_get_their_file_line_and_text() {
        let build = Build::new(Source::new("C:/k.comp", "#version 450\nint a;\nint b;\n"));
        let flat = flatten(&build, &Library).unwrap();
        let output = "C:/k.comp:3: error: 'b' : wanted: more\n\
                      <stdin>: GL_EXT_more\n\
                      <stdin>:2: warning: odd\n\
                      <stdin>: error: Linking: no body:\n\
                      <stdin>:     g(\n\
                      2 errors generated.\n";
        let found = parse(output, &flat);
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "C:/k.comp:3: error: 'b' : wanted: more GL_EXT_more\n    int b;",
                "C:/k.comp:2: warning: odd\n    int a;",
                "C:/k.comp: error: Linking: no body: g(",
            ]
        );
        assert_eq!(found[1].severity, Severity::Warning);
    }
}
