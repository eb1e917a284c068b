//! insta's file format: a YAML header between `---`, then the contents.
//!
//! Files are written as insta itself would, so that accepting one changes nothing in it.

/// A snapshot file, as far as the lab uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SnapshotFile {
    pub(super) source: String,
    pub(super) description: String,
    /// Shown in a review below the description.
    pub(super) info: Vec<(String, String)>,
    pub(super) contents: String,
}

impl SnapshotFile {
    /// A value of `info`.
    pub(super) fn info(&self, key: &str) -> Option<&str> {
        self.info.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The file's text.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "---\nsource: {}\ndescription: {}\ninfo:\n",
            scalar(&self.source),
            scalar(&self.description)
        );
        for (key, value) in &self.info {
            text += &format!("  {}: {}\n", scalar(key), scalar(value));
        }
        text + "---\n" + self.contents.trim_end() + "\n"
    }

    /// Reads a file that [`text`](Self::text) or insta wrote. Keys that the lab doesn't use are
    /// passed over.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.replace("\r\n", "\n");
        let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        let (header, contents) = parts.ok_or("it has no header between two lines of `---`")?;
        let mut file = Self { contents: contents.trim_end().to_owned(), ..Self::default() };
        let mut is_info = false;
        for line in header.lines() {
            let (key, value) = line.split_once(':').ok_or(format!("`{line}` has no `:`"))?;
            let value = read_scalar(value.trim())?;
            match (key, key.strip_prefix("  ")) {
                (_, Some(inner)) if is_info => file.info.push((read_scalar(inner)?, value)),
                ("source", _) => file.source = value,
                ("description", _) => file.description = value,
                _ => {}
            }
            if !line.starts_with(' ') {
                is_info = key == "info";
            }
        }
        Ok(file)
    }
}

fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

fn read_scalar(text: &str) -> Result<String, String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).map_err(|error| format!("{text}: {error}"));
    }
    Ok(text.to_owned())
}

/// Whether YAML and insta take the text for itself without quotes.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 7] = ["yes", "no", "true", "false", "on", "off", "null"];
    let Some(first) = text.chars().next() else { return false };
    let is_special = |c: char| c.is_ascii_control() || ":{}[],#`\"'\\".contains(c);
    let is_number = text.parse::<f64>().is_ok() || text.starts_with("0x");
    !(text.trim() != text
        || "&*?|-<>=!%@.~".contains(first)
        || text.contains(is_special)
        || is_number
        || WORDS.contains(&text.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_would_take_for_something_else_is_quoted() {
        for text in ["", "5", "1e3", "true", "No", "~", "a: b", "x, y", " x", "-", ".5", "\"", "\\"]
        {
            let written = scalar(text);
            assert!(written.starts_with('"'), "{written}");
            assert_eq!(read_scalar(&written).as_deref(), Ok(text));
        }
        for text in ["quick", "Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", "0.1.0"] {
            assert_eq!(scalar(text), text);
        }
    }

    #[test]
    fn a_file_reads_back() {
        let info = [("seed", "18446744073709551615"), ("bits moved", "2 cases: a.b 1, c.d 1")];
        let file = SnapshotFile {
            source: "vklab report".to_owned(),
            description: "a \"description\"".to_owned(),
            info: info.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
            contents: "one\n---\ntwo".to_owned(),
        };
        assert_eq!(SnapshotFile::parse(&file.text()), Ok(file));
        assert!(SnapshotFile::parse("no header").is_err());
    }
}
