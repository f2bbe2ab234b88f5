//! Keys and tokens, kept out of logs and messages.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

/// A key or a token. It can be shown in no way but [`Secret::reveal`], and can not be serialised: only a
/// [`Book`](crate::Book) writes secrets down, in the form that a store keeps.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the header or the form that it is sent in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that someone else wrote: providers quote keys that they refuse.
    pub fn redact(&self, text: String) -> String {
        // Something shorter is no key, and would blot out ordinary words.
        if self.0.len() >= 8 && text.contains(&*self.0) { text.replace(&*self.0, "***") } else { text }
    }

    /// Nothing but blanks, as in a variable that is set to nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
