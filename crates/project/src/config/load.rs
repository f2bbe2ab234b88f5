//! Reading the layers, one over the other.

use std::path::Path;

use toml::de::DeTable;

use super::check::{Check, MAX_ERRORS};
use super::layers::{Source, find_schema, typed};
use super::schema::{Key, Reach, Schema};
use super::tree::Node;
use super::{Config, ConfigError, ConfigErrors, Held, KeyPath, Layer, Origin, file};
use crate::home::Home;
use crate::root::Project;

/// The variables that set a key.
const ENVIRONMENT: [(&str, &str); 4] =
    [("COVEY_MODEL", "model"), ("COVEY_AGENT", "agent"), ("COVEY_MODE", "mode"), ("COVEY_LOG", "log")];

/// A broken file can hold one syntax error a byte; after this many the rest says nothing new.
const MAX_SYNTAX_ERRORS: usize = 10;

/// Where to read settings from.
pub struct LoadOptions<'a> {
    pub home: &'a Home,
    pub project: Option<&'a Project>,
    /// Everything that may be set; each crate has a constant for its part.
    pub sections: &'a [&'a Key],
    /// [`process_env`], or something else in tests.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Dotted keys and values as typed, the last one winning.
    pub flags: &'a [(String, String)],
    pub trust: &'a dyn Trust,
}

/// Knows which repository files the person trusts. `guard` keeps that memory; this crate only asks.
pub trait Trust {
    /// Whether this very content of this file was trusted. Asked only when something in it depends on that.
    fn trusts(&self, file: &Path, content: &[u8]) -> bool;
}

/// Trusts no file: what a first visit to a repository gets.
#[derive(Debug, Clone, Copy)]
pub struct NobodyTrusted;

impl Trust for NobodyTrusted {
    fn trusts(&self, _file: &Path, _content: &[u8]) -> bool {
        false
    }
}

/// The environment of this process, for [`LoadOptions::env`].
pub fn process_env(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

pub(super) fn load(options: &LoadOptions<'_>) -> Result<Config, ConfigErrors> {
    let mut loader =
        Loader { sections: options.sections, root: Node::default(), held: Vec::new(), errors: Vec::new() };
    loader.defaults();
    let user = options.home.config_file();
    loader.file(Layer::User, &user, None);
    if let Some(project) = options.project {
        for (layer, path) in
            [(Layer::Project, project.config_file()), (Layer::Local, project.local_config_file())]
        {
            // In a home folder that is a project of its own the two can be one file.
            if path != user {
                loader.file(layer, &path, Some(options.trust));
            }
        }
    }
    for (variable, key) in ENVIRONMENT {
        let value = (options.env)(variable).filter(|value| !value.is_empty());
        if let Some(value) = value.filter(|_| options.sections.iter().any(|section| section.name == key)) {
            loader.single(Layer::Environment, Some(variable), key, &value);
        }
    }
    for (key, value) in options.flags {
        loader.single(Layer::Flag, None, key, value);
    }
    match loader.errors {
        errors if errors.is_empty() => Ok(Config { root: loader.root, held: loader.held }),
        errors => Err(ConfigErrors { errors }),
    }
}

struct Loader<'a> {
    sections: &'a [&'a Key],
    root: Node,
    held: Vec<Held>,
    errors: Vec<ConfigError>,
}

impl Loader<'_> {
    fn defaults(&mut self) {
        let mut found = Vec::new();
        collect_defaults(self.sections.iter().copied(), &KeyPath::default(), &mut found);
        for (key, value) in found {
            self.single(Layer::Default, None, &key.to_string(), value);
        }
    }

    fn single(&mut self, layer: Layer, variable: Option<&'static str>, key: &str, text: &str) {
        if let Err(error) = self.try_single(layer, variable, key, text) {
            self.errors.push(error);
        }
    }

    fn try_single(
        &mut self,
        layer: Layer,
        variable: Option<&'static str>,
        key: &str,
        text: &str,
    ) -> Result<(), ConfigError> {
        let mut path: KeyPath = key.parse()?;
        let origin = Origin { layer, file: None, line: None, variable };
        let (schema, reach) = find_schema(self.sections, &path, &origin)?;
        let value = typed(&schema, &path, text)?;
        let mut check = Check {
            source: Source::single(layer, variable),
            below: &self.root,
            errors: &mut self.errors,
            held: &mut self.held,
        };
        if let Some(node) = check.value(&schema, reach, &mut path, origin, &value) {
            self.root.merge(node.under(path.parts()));
        }
        Ok(())
    }

    fn file(&mut self, layer: Layer, path: &Path, trust: Option<&dyn Trust>) {
        let text = match file::read(path) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(error) => return self.errors.push(error),
        };
        let asks = trust.map(|trust| || trust.trusts(path, text.as_bytes()));
        let source = Source::file(layer, path, &text, asks.as_ref().map(|asks| asks as &dyn Fn() -> bool));
        // One pass that keeps spans and borrows strings; `toml_edit` would build a tree of formatting too.
        let (table, broken) = DeTable::parse_recoverable(&text);
        if !broken.is_empty() {
            let broken = broken.iter().take(MAX_SYNTAX_ERRORS).map(|error| syntax_error(&source, error));
            return self.errors.extend(broken);
        }
        let mut errors = Vec::new();
        let mut check = Check { source, below: &self.root, errors: &mut errors, held: &mut self.held };
        let layer = check.file(self.sections, table.get_ref());
        self.errors.extend(errors.into_iter().take(MAX_ERRORS));
        self.root.merge(layer);
    }
}

fn syntax_error(source: &Source<'_>, error: &toml::de::Error) -> ConfigError {
    let message = error.message().lines().next().unwrap_or_default().to_owned();
    ConfigError::Syntax { origin: source.origin(error.span().map_or(0, |span| span.start)), message }
}

fn collect_defaults<'k>(
    keys: impl Iterator<Item = &'k Key>,
    path: &KeyPath,
    found: &mut Vec<(KeyPath, &'static str)>,
) {
    for key in keys {
        let path = path.join(key.name);
        if let Schema::Table(keys) = key.schema {
            collect_defaults(keys.iter(), &path, found);
        }
        if let Some(default) = key.default {
            found.push((path, default));
        }
    }
}

/// Checks one typed value without loading anything.
pub(super) fn check_typed(
    sections: &[&Key],
    path: &KeyPath,
    text: &str,
    origin: Origin,
) -> Result<Schema, ConfigError> {
    let (schema, _) = find_schema(sections, path, &origin)?;
    let value = typed(&schema, path, text)?;
    let (mut errors, mut held) = (Vec::new(), Vec::new());
    let source = Source::single(origin.layer, None);
    let mut check = Check { source, below: &Node::default(), errors: &mut errors, held: &mut held };
    check.value(&schema, Reach::Anyone, &mut path.clone(), origin, &value);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(schema),
    }
}
