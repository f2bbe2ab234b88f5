//! Hooks: the person's own programs, run at certain moments.
//!
//! A file in `hooks/` holds any number of them:
//!
//! ```toml
//! [[hook]]
//! on = ["pre_tool", "post_tool"]
//! tool = "shell"                  # or a list; `*` stands for anything
//! path = ["src/**"]               # only for calls that touch one of these
//! command = "scripts/check.sh"    # run by the shell in the project's folder, with the event as JSON on stdin
//! timeout = "10s"
//! network = false
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};
use project::HumanDuration;
use protocol::HookEvent;
use serde::Deserialize;

use crate::shelf::{Shelf, Shelved};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Nobody waits longer for a hook.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// One program, and when it runs.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Where it is written down: the file, and which of it.
    pub name: String,
    pub on: Vec<HookEvent>,
    pub command: String,
    pub timeout: Duration,
    pub network: bool,
    tools: Option<GlobSet>,
    paths: Option<GlobSet>,
}

impl Hook {
    /// Whether it runs for this: the tool that is called, if one is, and the files that it touches, relative to the
    /// project.
    pub fn fits(&self, on: HookEvent, tool: Option<&str>, paths: &[PathBuf]) -> bool {
        let by_tool = |tools: &GlobSet| tool.is_some_and(|tool| tools.is_match(tool));
        let by_path = |globs: &GlobSet| paths.iter().any(|path| globs.is_match(path));
        self.on.contains(&on)
            && self.tools.as_ref().is_none_or(by_tool)
            && self.paths.as_ref().is_none_or(by_path)
    }
}

/// A file of hooks that is not understood. None of it runs, and the person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadHooks {
    pub path: PathBuf,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    hook: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    on: OneOrMany,
    #[serde(default)]
    tool: OneOrMany,
    #[serde(default)]
    path: OneOrMany,
    command: String,
    timeout: Option<Timeout>,
    #[serde(default)]
    network: bool,
}

/// `"10s"`, or a number of seconds.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a time span such as `\"10s\"`, or a number of seconds")]
enum Timeout {
    Span(HumanDuration),
    Seconds(u64),
}

impl Timeout {
    fn span(self) -> Duration {
        match self {
            Self::Span(span) => span.0,
            Self::Seconds(seconds) => Duration::from_secs(seconds),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(vec![])
    }
}

impl OneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

impl Shelf<'_> {
    /// Every hook that may run, the person's first, and the files that nobody understands.
    ///
    /// A hook of the project runs only when its file was accepted and so were the project's files that its command
    /// names: a script that changed is a hook that changed.
    pub fn hooks(&self) -> (Shelved<Hook>, Vec<BadHooks>) {
        let mut shelved = Shelved::default();
        let mut bad = Vec::new();
        let mut hooks = Vec::new();
        for path in self.files_ending("hooks", &[".covey/hooks"], "toml") {
            let Some(text) = self.read(&path, &mut shelved) else { continue };
            let is_own = self.is_own(&path);
            match parse(&path, &text) {
                Ok(parsed) => {
                    for hook in parsed {
                        let named =
                            if is_own { vec![] } else { project::named_files(&self.root, &hook.command) };
                        let held: Vec<PathBuf> =
                            named.into_iter().filter(|file| !self.accepted(file)).collect();
                        if held.is_empty() {
                            hooks.push(hook);
                        } else {
                            shelved.held.extend(held);
                        }
                    }
                }
                Err(why) => bad.push(BadHooks { path, why }),
            }
        }
        shelved.items = hooks;
        (shelved, bad)
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<Hook>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hooks = file.hook.into_iter().enumerate().map(|(at, written)| {
        let event = |word: String| {
            HookEvent::by_name(&word).ok_or_else(|| {
                let known: Vec<&str> = HookEvent::ALL.iter().map(|event| event.as_str()).collect();
                format!("there is no event `{word}`; there are: {}", known.join(", "))
            })
        };
        let on: Vec<HookEvent> = written.on.into_vec().into_iter().map(event).collect::<Result<_, _>>()?;
        if on.is_empty() || written.command.trim().is_empty() {
            return Err("a hook needs `on` and `command`".to_owned());
        }
        Ok(Hook {
            name: format!("{name}#{}", at + 1),
            on,
            command: written.command,
            timeout: written.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.span().min(MAX_TIMEOUT)),
            network: written.network,
            tools: globs(written.tool.into_vec())?,
            paths: globs(written.path.into_vec())?,
        })
    });
    hooks.collect()
}

fn globs(patterns: Vec<String>) -> Result<Option<GlobSet>, String> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(&pattern).map_err(|error| error.to_string())?);
    }
    set.build().map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Vec<Hook>, String> {
        parse(Path::new("x/check.toml"), text)
    }

    #[test]
    fn a_hook_fits_by_event_tool_and_path() {
        let hooks = one("[[hook]]\non = \"pre_tool\"\ntool = [\"shell\", \"mcp__*\"]\npath = \"src/**\"\ncommand = \"x\"\n").unwrap();
        let hook = &hooks[0];
        assert_eq!((hook.name.as_str(), hook.timeout), ("check.toml#1", DEFAULT_TIMEOUT));
        let src = [PathBuf::from("src/a/b.rs")];
        assert!(hook.fits(HookEvent::PreTool, Some("shell"), &src));
        assert!(hook.fits(HookEvent::PreTool, Some("mcp__git__log"), &src));
        assert!(!hook.fits(HookEvent::PostTool, Some("shell"), &src));
        assert!(!hook.fits(HookEvent::PreTool, Some("read"), &src));
        assert!(!hook.fits(HookEvent::PreTool, Some("shell"), &["docs/a.md".into()]));
        assert!(!hook.fits(HookEvent::PreTool, None, &src));
    }

    #[test]
    fn what_is_not_understood_says_why() {
        for (text, why) in [
            ("[[hook]]\non = \"pretool\"\ncommand = \"x\"", "there is no event `pretool`"),
            ("[[hook]]\ncommand = \"x\"", "missing field `on`"),
            ("[[hook]]\non = []\ncommand = \"x\"", "needs `on`"),
            ("[[hook]]\non = \"stop\"\ncommand = \"x\"\ntimout = \"1s\"", "unknown field `timout`"),
            ("[[hook]]\non = \"stop\"\ncommand = \"x\"\ntimeout = \"soon\"", "time span"),
            ("[[hook]]\non = \"stop\"\ncommand = \"x\"\npath = \"a{\"", "a{"),
            ("\u{0}", "TOML"),
        ] {
            let error = one(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        assert!(one("").unwrap().is_empty());
        let seconds = one("[[hook]]\non = \"stop\"\ncommand = \"x\"\ntimeout = 5").unwrap();
        assert_eq!(seconds[0].timeout, Duration::from_secs(5));
        assert_eq!(
            one("[[hook]]\non = \"stop\"\ncommand = \"x\"\ntimeout = \"9d\"").unwrap()[0].timeout,
            MAX_TIMEOUT
        );
    }
}
