//! What a person can set about the guard.

use project::{Key, Schema};
use serde::{Deserialize, Serialize};

use crate::glob;
use crate::rules::{Effect, RuleError, RuleSet, Source};

/// How far `auto` goes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Temperament {
    /// Only what is safe.
    Conservative,
    /// Also file tools inside the project, and building, testing and linting with known tools.
    #[default]
    Balanced,
    /// Also installs from a lock file, formatters, commits on a branch that is not protected, and reading public hosts.
    Aggressive,
}

impl Temperament {
    pub const NAMES: &'static [&'static str] = &["conservative", "balanced", "aggressive"];
}

/// The section `permissions` of a config file.
///
/// A repository that is not trusted may forbid more and ask more, never allow more.
pub const PERMISSIONS: Key = Key::table(
    "permissions",
    &[
        Key::list("allow", &Schema::Text)
            .trusted()
            .doc("rules for what runs without asking: shell(cargo test *)"),
        Key::list("ask", &Schema::Text).extend().doc("rules for what is always asked"),
        Key::list("deny", &Schema::Text).extend().doc("rules for what never happens"),
        Key::tightening("auto", Temperament::NAMES)
            .default("balanced")
            .doc("how far mode `auto` goes by itself"),
        Key::list("disabled_tools", &Schema::Text).extend().doc("tools that the model is not offered"),
        Key::list("disabled_categories", &Schema::Text).extend().doc("whole categories of tools, likewise"),
        Key::list("protected_branches", &Schema::Text)
            .extend()
            .doc("branches that are never committed to unasked"),
    ],
)
.doc("what may happen without asking, and what never");

/// The section as it is read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PermissionsConfig {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
    pub auto: Temperament,
    pub disabled_tools: Vec<String>,
    pub disabled_categories: Vec<String>,
    pub protected_branches: Vec<String>,
}

/// What a [`Guard`](crate::Guard) goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct GuardSettings {
    pub rules: RuleSet,
    pub temperament: Temperament,
    pub disabled_tools: Vec<String>,
    pub disabled_categories: Vec<String>,
    pub protected_branches: Vec<String>,
}

const PROTECTED: [&str; 7] = ["main", "master", "trunk", "develop", "production", "prod", "release*"];

impl Default for GuardSettings {
    fn default() -> Self {
        Self {
            rules: RuleSet::default(),
            temperament: Temperament::default(),
            disabled_tools: Vec::new(),
            disabled_categories: Vec::new(),
            protected_branches: PROTECTED.map(str::to_owned).to_vec(),
        }
    }
}

impl GuardSettings {
    /// Whether the model is told of a tool at all.
    pub fn offers(&self, tool: &str, category: &str) -> bool {
        let named = |list: &[String], name: &str| list.iter().any(|pattern| glob::word(pattern, name));
        !named(&self.disabled_tools, tool) && !named(&self.disabled_categories, category)
    }

    /// What the settings and the flags `--allow` and `--deny` say.
    pub fn new(config: &PermissionsConfig, allow: &[String], deny: &[String]) -> Result<Self, RuleError> {
        let mut settings = Self {
            temperament: config.auto,
            disabled_tools: config.disabled_tools.clone(),
            disabled_categories: config.disabled_categories.clone(),
            ..Self::default()
        };
        settings.protected_branches.extend(config.protected_branches.iter().cloned());
        let lists = [
            (Effect::Allow, Source::Config, &config.allow[..]),
            (Effect::Ask, Source::Config, &config.ask),
            (Effect::Deny, Source::Config, &config.deny),
            (Effect::Allow, Source::Flag, allow),
            (Effect::Deny, Source::Flag, deny),
        ];
        for (effect, source, texts) in lists {
            for text in texts {
                settings.rules.add(effect, source, text)?;
            }
        }
        Ok(settings)
    }
}
