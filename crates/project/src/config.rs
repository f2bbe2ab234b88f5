//! Settings from several places, laid over each other, each value remembering where it came from.

mod check;
mod duration;
mod edit;
mod error;
mod file;
mod key_path;
mod layers;
mod load;
mod origin;
mod schema;
mod tree;

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

pub use duration::{HumanDuration, NotADuration};
pub use edit::{set_in_file, unset_in_file};
pub use error::{ConfigError, ConfigErrors};
pub use key_path::KeyPath;
pub use load::{LoadOptions, NobodyTrusted, Trust, process_env};
pub use origin::{Held, HeldReason, Layer, Origin};
pub use schema::{Key, Reach, Schema};
use tree::Node;

/// The settings in force.
///
/// Sections are read with [`get`](Self::get) into a struct of the crate they belong to; nothing here knows one
/// by name.
#[derive(Debug, Default)]
pub struct Config {
    root: Node,
    held: Vec<Held>,
}

impl Config {
    /// Reads every layer. On failure the error lists all problems of all files.
    pub fn load(options: &LoadOptions<'_>) -> Result<Self, ConfigErrors> {
        load::load(options)
    }

    /// A value or a whole section, by its dotted key. Nothing if no layer sets it.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ConfigError> {
        let path: KeyPath = key.parse()?;
        let Some(node) = self.root.find(&path) else { return Ok(None) };
        node.to_value().try_into().map(Some).map_err(|error: toml::de::Error| ConfigError::Unfit {
            origin: node.first_origin().cloned().unwrap_or_else(Origin::default_layer),
            key: path,
            message: error.message().to_owned(),
        })
    }

    /// Where a value came from. For a section, where the first of its values did.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.root.find(&key.parse().ok()?)?.first_origin()
    }

    /// Every value in force, sorted by key.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        self.root.collect_entries(&mut KeyPath::default(), &mut entries);
        entries
    }

    /// What project files asked for and did not get, because the person has not trusted them.
    pub fn held(&self) -> &[Held] {
        &self.held
    }
}

/// One value in force.
#[derive(Debug)]
pub struct Entry<'a> {
    pub key: KeyPath,
    pub value: &'a toml::Value,
    pub origin: &'a Origin,
    /// The schema says nobody should see it on a screen.
    pub secret: bool,
}

impl Entry<'_> {
    /// The value as TOML, masked if it is a secret.
    pub fn shown(&self) -> String {
        if self.secret { "\"********\"".into() } else { self.value.to_string() }
    }
}
