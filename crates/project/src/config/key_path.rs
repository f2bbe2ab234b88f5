//! Dotted keys.

use std::fmt;
use std::str::FromStr;

use super::ConfigError;

/// A dotted key such as `providers.local.base_url`. A part with other characters than letters, digits, `-` and
/// `_` is quoted, as in TOML: `providers."a.b".wire`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath {
    parts: Vec<String>,
}

impl KeyPath {
    /// The parts, without quotes.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// This key with one more part.
    pub fn join(&self, part: &str) -> Self {
        let mut longer = self.clone();
        longer.push(part);
        longer
    }

    pub(super) fn push(&mut self, part: &str) {
        self.parts.push(part.to_owned());
    }

    pub(super) fn pop(&mut self) {
        self.parts.pop();
    }
}

impl<T: Into<String>> FromIterator<T> for KeyPath {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Self {
        Self { parts: parts.into_iter().map(Into::into).collect() }
    }
}

impl FromStr for KeyPath {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match toml_edit::Key::parse(text) {
            Ok(parts) => Ok(parts.iter().map(|part| part.get()).collect()),
            Err(_) => Err(ConfigError::BadKey { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                formatter.write_str(".")?;
            }
            let written = toml_edit::Key::new(part.as_str()).default_repr();
            formatter.write_str(written.as_raw().as_str().unwrap_or(part))?;
        }
        Ok(())
    }
}
