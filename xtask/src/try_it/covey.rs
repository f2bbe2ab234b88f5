//! The program that is tried, with a home of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::run::Failure;

pub(super) struct Covey {
    /// Settings and sessions; never the person's own.
    pub(super) home: PathBuf,
    /// Where it works.
    pub(super) folder: PathBuf,
    /// Whether the person's `COVEY_…` variables count.
    pub(super) keeps_environment: bool,
}

impl Covey {
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(super::program("covey"));
        if !self.keeps_environment {
            let mut names = std::env::vars_os().map(|(name, _)| name);
            while let Some(name) = names.find(|name| name.to_string_lossy().starts_with("COVEY_")) {
                command.env_remove(name);
            }
        }
        command.args(words).env("COVEY_HOME", &self.home).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// What `doctor` says about the model, if it is good.
    pub(super) fn model(&self) -> Result<Option<String>, Failure> {
        let output = self.command(&["doctor", "--json"]).stderr(Stdio::inherit()).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| Failure::new(format!("`covey doctor --json` did not answer JSON: {error}")))?;
        let checks = report["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let model = checks.iter().find(|check| check["name"] == "model" && check["state"] == "good");
        Ok(model.and_then(|check| check["text"].as_str()).map(str::to_owned))
    }
}
