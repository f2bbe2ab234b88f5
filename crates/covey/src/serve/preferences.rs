//! What the settings page changes: the person's own settings file, and the rules that the guard keeps for them.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use client::{ClientError, Failure as Kind};
use engine::{Engine, Preferred as Choice};
use guard::{Effect, Memory, Rule, Source};
use mcp::ServerConfig;
use project::set_in_file;
use server::{KnownRule, KnownServer, Permission, PreferenceChange, Preferences, Preferred};

use crate::exit::{Exit, Failure};
use crate::settings::{SECTIONS, Settings};

pub(super) struct Own {
    pub(super) engine: Engine,
    pub(super) cwd: PathBuf,
}

#[async_trait]
impl Preferences for Own {
    async fn read(&self) -> Result<Preferred, ClientError> {
        self.preferred().map_err(told)
    }

    async fn change(&self, change: PreferenceChange) -> Result<Preferred, ClientError> {
        self.make(change).map_err(told)?;
        self.preferred().map_err(told)
    }
}

impl Own {
    fn settings(&self) -> Result<Settings, Failure> {
        Settings::load(Some(&self.cwd), &[])
    }

    fn preferred(&self) -> Result<Preferred, Failure> {
        let settings = self.settings()?;
        let Choice { agent, model, mode } = self.engine.preferred();
        let mut rules = settings.permissions(&[], &[])?.rules;
        rules.extend(&Memory::load(settings.home.data_dir()).rules_for(&settings.root));
        let rule = |entry: &guard::Entry| KnownRule {
            rule: entry.rule.text().to_owned(),
            effect: match entry.effect {
                Effect::Allow => Permission::Allow,
                Effect::Ask => Permission::Ask,
                Effect::Deny => Permission::Deny,
            },
            own: matches!(entry.source, Source::Project | Source::User),
        };
        let server = |(name, config): (String, ServerConfig)| KnownServer {
            name,
            what: config.command.or(config.url).unwrap_or_default(),
            enabled: !config.disabled,
        };
        Ok(Preferred {
            file: settings.home.config_file().display().to_string(),
            agent,
            model,
            mode,
            rules: rules.iter().map(rule).collect(),
            servers: crate::servers::configured(&settings)?.into_iter().map(server).collect(),
        })
    }

    fn make(&self, change: PreferenceChange) -> Result<(), Failure> {
        let settings = self.settings()?;
        let file = settings.home.config_file();
        let set = |key: &str, value: &str| set_in_file(&file, key, value, SECTIONS).map_err(Failure::from);
        let PreferenceChange { agent, model, mode, rule, server } = change;
        // Looked at before anything is written.
        let parsed = rule.as_ref().map(|rule| rule.rule.parse::<Rule>()).transpose();
        parsed.map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))?;
        if let Some(server) = &server
            && !crate::servers::configured(&settings)?.contains_key(&server.name)
        {
            return Err(Failure::usage(format!("there is no MCP server `{}`", server.name)));
        }
        if let Some(model) = &model {
            settings
                .catalogue()?
                .resolve(model.as_str())
                .map_err(|error| Failure { hint: Some(error.hint()), ..Failure::usage(error.to_string()) })?;
            set("model", model.as_str())?;
        }
        if let Some(agent) = &agent {
            set("agent", agent.as_str())?;
        }
        if let Some(mode) = mode {
            set("mode", mode.as_str())?;
        }
        if let Some(server) = server {
            set(&format!("mcp.{}.disabled", server.name), if server.enabled { "false" } else { "true" })?;
        }
        if let Some(rule) = rule {
            keep(&settings, rule.rule, rule.effect)?;
        }
        let before = self.engine.preferred();
        self.engine.prefer(Choice {
            agent: agent.unwrap_or(before.agent),
            model: model.or(before.model),
            mode: mode.unwrap_or(before.mode),
        });
        Ok(())
    }
}

/// Keeps a rule for every project, as if the person had answered so, or forgets it.
fn keep(settings: &Settings, rule: String, effect: Permission) -> Result<(), Failure> {
    let effect = match effect {
        Permission::Allow => Some(Effect::Allow),
        Permission::Ask => Some(Effect::Ask),
        Permission::Deny => Some(Effect::Deny),
        Permission::Default => None,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let kept = Memory::change(settings.home.data_dir(), |memory| {
        for list in memory.rules.values_mut() {
            list.retain(|known| known.rule != rule);
        }
        if let Some(effect) = effect {
            memory.keep(None, &[rule], effect, now);
        }
    });
    kept.map_err(|error| Failure::from_error(&error))
}

fn told(failure: Failure) -> ClientError {
    let kind = if failure.exit == Exit::Usage { Kind::Invalid } else { Kind::Storage };
    ClientError { kind, message: failure.message, hint: failure.hint }
}
