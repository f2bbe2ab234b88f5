//! What another agent's tool call is about to do, in terms that the guard can judge.
//!
//! The agent's word is all there is: the kind it gives, the arguments it shows. What is not understood counts as
//! anything at all, and what it does beyond its word meets the sandbox.

use std::path::{Path, PathBuf};

use guard::{Action, Change};
use protocol::{Location, ToolContent, ToolKind};
use serde_json::Value;

#[cfg(test)]
mod tests;

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "abs_path",
    "target_file",
    "notebook_path",
    "fileName",
    "file_name",
    "dir_path",
];
const FOLDERS: &[&str] = &["cwd", "workdir", "working_directory", "workingDirectory", "directory"];

/// A tool call as its agent describes it.
pub(crate) struct Described<'a> {
    pub(crate) kind: ToolKind,
    pub(crate) title: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) locations: &'a [Location],
    pub(crate) content: &'a [ToolContent],
    pub(crate) cwd: &'a Path,
}

impl Described<'_> {
    /// None at all when it can not be told, which the guard takes for the worst.
    pub(crate) fn actions(&self) -> Vec<Action> {
        match self.kind {
            ToolKind::Execute => self.commands(),
            ToolKind::Edit => self.change(Change::Edit),
            ToolKind::Delete => self.change(Change::Delete),
            ToolKind::Move => self.change(Change::Move),
            ToolKind::Read | ToolKind::Search => {
                let mut paths = self.paths();
                if paths.is_empty() {
                    paths.push(self.cwd.to_owned());
                }
                vec![Action::Read { paths }]
            }
            ToolKind::Fetch => {
                let url = self.text(&["url", "uri"]).map(|url| Action::Fetch { url });
                vec![url.unwrap_or(Action::Foreign { read_only: true })]
            }
            ToolKind::Think => vec![Action::Inward],
            ToolKind::Other if self.input.get("command").is_some() => self.commands(),
            ToolKind::Other => vec![Action::Foreign { read_only: false }],
        }
    }

    fn change(&self, change: Change) -> Vec<Action> {
        let paths = self.paths();
        if paths.is_empty() { vec![] } else { vec![Action::Write { change, paths }] }
    }

    /// Every file that it names, in its arguments, its places and its differences.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let named = PATHS.iter().filter_map(|name| self.input.get(*name)?.as_str());
        let several = ["paths", "files"].iter().filter_map(|name| self.input.get(*name)?.as_array());
        let several =
            several.flatten().filter_map(|entry| entry.as_str().or_else(|| entry.get("path")?.as_str()));
        let shown = self.content.iter().filter_map(|content| match content {
            ToolContent::Diff { path, .. } => Some(path.as_str()),
            _ => None,
        });
        let places = self.locations.iter().map(|location| location.path.as_str());
        // Codex lists its changes by path.
        let keys =
            self.input.get("changes").and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
        let mut paths: Vec<PathBuf> = Vec::new();
        for path in named.chain(several).chain(shown).chain(places).chain(keys.map(String::as_str)) {
            let path = path.strip_prefix("file://").unwrap_or(path);
            let path = self.cwd.join(path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn commands(&self) -> Vec<Action> {
        let folder = FOLDERS.iter().find_map(|name| self.input.get(*name)?.as_str());
        let cwd = folder.map_or_else(|| self.cwd.to_owned(), |folder| self.cwd.join(folder));
        if self.input.is_null() && !self.title.is_empty() {
            // Gemini shows a command as the title of its call and nowhere else.
            return vec![Action::Shell { command: self.title.to_owned(), cwd }];
        }
        let mut actions = Vec::new();
        for name in ["command", "cmd", "commands", "script"] {
            let Some(value) = self.input.get(name) else { continue };
            match value {
                Value::String(command) => {
                    actions.push(Action::Shell { command: command.clone(), cwd: cwd.clone() })
                }
                Value::Array(words) if name == "commands" => {
                    for line in words {
                        let line = line.as_str().or_else(|| line.get("command")?.as_str());
                        let Some(line) = line else { return vec![] };
                        actions.push(Action::Shell { command: line.to_owned(), cwd: cwd.clone() });
                    }
                }
                Value::Array(words) => {
                    let argv: Option<Vec<String>> =
                        words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
                    let Some(argv) = argv.filter(|argv| !argv.is_empty()) else { return vec![] };
                    actions.push(of_argv(argv, &cwd));
                }
                _ => return vec![],
            }
            // One name is enough; the next one says the same again.
            break;
        }
        actions
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.input.get(*name)?.as_str()).map(str::to_owned)
    }
}

/// A shell that is given a line is that line.
pub(crate) fn of_argv(argv: Vec<String>, cwd: &Path) -> Action {
    if let [shell, flag, line] = argv.as_slice() {
        let shell = Path::new(shell).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if matches!(shell, "bash" | "sh" | "zsh" | "dash") && matches!(flag.as_str(), "-c" | "-lc") {
            return Action::Shell { command: line.clone(), cwd: cwd.to_owned() };
        }
    }
    Action::Program { argv, cwd: cwd.to_owned() }
}
