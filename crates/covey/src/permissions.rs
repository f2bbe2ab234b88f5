//! `covey guard`: what may happen, why, and what did.

mod arguments;
mod audit;
mod backtest;
mod corpus;
mod explain;
mod rules;
mod trust;

use std::path::Path;

use guard::{Guard, GuardOptions, GuardSettings};
use project::Roots;

use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::print;

pub(crate) use arguments::{GuardArguments, GuardCommand, rule};

pub(crate) fn guard(command: GuardCommand) -> Result<Exit, Failure> {
    match command {
        GuardCommand::Explain(arguments) => explain::explain(&arguments),
        GuardCommand::Rules(arguments) => rules::rules(&arguments),
        GuardCommand::Forget { rule, all, json } => rules::forget(rule.as_deref(), all, json),
        GuardCommand::Why { text, limit, json } => audit::why(text.as_deref(), limit, json),
        GuardCommand::Audit { command, session, json } => {
            audit::audit(command.as_ref(), session.as_deref(), json)
        }
        GuardCommand::Backtest(arguments) => backtest::backtest(&arguments),
        GuardCommand::Trust { command, json } => trust::trust(command, json),
        GuardCommand::Corpus { mode, json } => corpus::corpus(mode, json),
    }
}

/// A guard of this folder that remembers nothing new and writes no log.
fn looking_on(settings: &Settings, permissions: GuardSettings) -> Result<Guard, Failure> {
    let roots = Roots::new([&settings.root]).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Guard::new(GuardOptions {
        settings: permissions,
        roots,
        home: Some(settings.home.clone()),
        user_home: std::env::home_dir().unwrap_or_default(),
        session: None,
    }))
}

/// A path as a person would say it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn done(text: &str) -> Result<Exit, Failure> {
    print(text)?;
    Ok(Exit::Done)
}
