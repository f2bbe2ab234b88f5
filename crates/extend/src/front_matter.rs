//! The few lines before the text: `key: value`, and lists.

use std::collections::BTreeMap;

/// What stands between the two `---` lines at the top of a file.
///
/// The part of YAML that people write there: plain and quoted values, `[a, b]`, and lists with a dash a line. Anything
/// else is taken as plain text, never as an error: the text below it still counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    values: BTreeMap<String, Vec<String>>,
}

impl FrontMatter {
    /// Splits a file into its front matter and its text.
    pub fn split(file: &str) -> (Self, &str) {
        let file = file.strip_prefix('\u{feff}').unwrap_or(file);
        let after = file.strip_prefix("---\n").or_else(|| file.strip_prefix("---\r\n"));
        let Some(rest) = after else { return (Self::default(), file) };
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                return (Self::parse(&rest[..at]), rest[at + line.len()..].trim_start_matches(['\n', '\r']));
            }
            at += line.len();
        }
        // Never closed: then it was a rule across the page.
        (Self::default(), file)
    }

    fn parse(lines: &str) -> Self {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut last = String::new();
        for line in lines.lines() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            if let Some(item) = trimmed.strip_prefix("- ") {
                values.entry(last.clone()).or_default().push(unquoted(item));
                continue;
            }
            let Some((key, value)) = trimmed.split_once(':') else { continue };
            last = key.trim().to_lowercase().replace('-', "_");
            let value = value.trim();
            let items = match value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
                Some(inner) => inner.split(',').map(unquoted).filter(|item| !item.is_empty()).collect(),
                None if value.is_empty() || value == "|" || value == ">" => vec![],
                None => vec![unquoted(value)],
            };
            values.insert(last.clone(), items);
        }
        Self { values }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.first().map(String::as_str)
    }

    /// A list, or a value with commas in it.
    pub fn list(&self, key: &str) -> Vec<String> {
        let values = self.values.get(key).map(Vec::as_slice).unwrap_or_default();
        let pieces = values.iter().flat_map(|value| value.split(','));
        pieces.map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)? {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::FrontMatter;

    #[test]
    fn values_lists_and_the_text_below_are_told_apart() {
        let file = "---\nname: \"fix\"\ntools: [read, 'grep']\npaths:\n  - src/**\n  - docs/*.md\nread-only: true\n---\n\nDo it.\n";
        let (front, text) = FrontMatter::split(file);
        assert_eq!(front.text("name"), Some("fix"));
        assert_eq!(front.list("tools"), ["read", "grep"]);
        assert_eq!(front.list("paths"), ["src/**", "docs/*.md"]);
        assert_eq!(front.flag("read_only"), Some(true));
        assert_eq!(text, "Do it.\n");
    }

    #[test]
    fn a_file_without_one_is_all_text() {
        for file in ["", "plain", "---\nnever closed", "---", "--- \nx\n---\n", "\u{feff}# title"] {
            let (front, text) = FrontMatter::split(file);
            assert_eq!(front, FrontMatter::default(), "{file:?}");
            assert_eq!(text, file.trim_start_matches('\u{feff}'));
        }
        let (front, text) = FrontMatter::split("---\r\nname: x\r\n---\r\nbody");
        assert_eq!((front.text("name"), text), (Some("x"), "body"));
    }
}
