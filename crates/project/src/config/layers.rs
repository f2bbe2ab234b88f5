//! What the layers are made of: files, and single values typed by a person.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeValue;

use super::check::{tighter, unknown};
use super::schema::{Key, Reach, Schema};
use super::{ConfigError, KeyPath, Layer, Origin};

/// Where the layer being read comes from, and whether it may decide everything.
pub(super) struct Source<'a> {
    origin: Origin,
    /// Where the file's lines start.
    lines: Vec<usize>,
    /// Asked at most once, and only when something depends on it.
    trust: Option<&'a dyn Fn() -> bool>,
    trusted: Option<bool>,
}

impl<'a> Source<'a> {
    /// A file. Without `trust` it is the person's own.
    pub(super) fn file(layer: Layer, path: &Path, text: &str, trust: Option<&'a dyn Fn() -> bool>) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1)).collect();
        let origin = Origin { layer, file: Some(Arc::from(path)), line: None, variable: None };
        Self { origin, lines, trust, trusted: None }
    }

    /// A single value that has no line.
    pub(super) fn single(layer: Layer, variable: Option<&'static str>) -> Self {
        let origin = Origin { layer, file: None, line: None, variable };
        Self { origin, lines: Vec::new(), trust: None, trusted: None }
    }

    /// The origin of what stands at this byte.
    pub(super) fn origin(&self, byte: usize) -> Origin {
        let line = match self.lines.is_empty() {
            true => None,
            false => Some(self.lines.partition_point(|start| *start <= byte)),
        };
        Origin { line, ..self.origin.clone() }
    }

    pub(super) fn is_trusted(&mut self) -> bool {
        let trust = self.trust;
        *self.trusted.get_or_insert_with(|| trust.is_none_or(|trusts| trusts()))
    }
}

/// What the schema says about a key and everything above it.
pub(super) fn find_schema(
    sections: &[&Key],
    path: &KeyPath,
    origin: &Origin,
) -> Result<(Schema, Reach), ConfigError> {
    let mut keys: Vec<&Key> = sections.to_vec();
    let mut found: Option<Schema> = None;
    let mut reach = Reach::Anyone;
    let mut walked = KeyPath::default();
    for part in path.parts() {
        walked.push(part);
        let schema = match found {
            None | Some(Schema::Table(_)) => {
                let key = keys.iter().find(|key| key.name == part);
                let key = key.ok_or_else(|| unknown(&keys, &walked, origin.clone()))?;
                reach = tighter(reach, key.reach);
                key.schema
            }
            Some(Schema::Map(of)) => *of,
            Some(Schema::Any) => Schema::Any,
            Some(_) => return Err(unknown(&[], path, origin.clone())),
        };
        keys = if let Schema::Table(keys) = schema { keys.iter().collect() } else { Vec::new() };
        found = Some(schema);
    }
    found.map(|schema| (schema, reach)).ok_or_else(|| ConfigError::BadKey { text: String::new() })
}

/// What a person means by `text` where the schema wants such a value: TOML, or the text itself.
pub(super) fn typed<'t>(schema: &Schema, key: &KeyPath, text: &'t str) -> Result<DeValue<'t>, ConfigError> {
    let parsed = DeValue::parse(text.trim()).map(toml::Spanned::into_inner);
    match parsed {
        Ok(DeValue::String(inner)) => Ok(DeValue::String(inner)),
        _ if schema.wants_text() => Ok(DeValue::String(text.into())),
        Ok(value) => Ok(value),
        Err(_) if matches!(schema, Schema::Any) => Ok(DeValue::String(text.into())),
        Err(_) => {
            let (key, text, expected) = (key.clone(), text.to_owned(), schema.expected());
            Err(ConfigError::BadValue { key, text, expected })
        }
    }
}
