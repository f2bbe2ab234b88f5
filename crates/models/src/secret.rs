//! Keys, kept out of logs and messages.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

/// A key. It can be shown in no way but [`Secret::reveal`].
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The key itself, for the header it is sent in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that someone else wrote: providers quote keys that they refuse.
    pub fn redact(&self, text: String) -> String {
        // Something shorter is no key, and would blot out ordinary words.
        if self.0.len() >= 8 && text.contains(&*self.0) { text.replace(&*self.0, "***") } else { text }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
