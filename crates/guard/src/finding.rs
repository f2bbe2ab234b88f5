//! What was found in an action: one thing that it does, how grave that is, and which rule would be about it.

use std::path::PathBuf;

use crate::rules::Subject;
use crate::verdict::{Level, Needs};

/// What a thing amounts to. Later ones are graver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Looks, inside the project.
    Look,
    /// Adds something to the project that was not there: a folder, an empty file, a line of the index.
    Create,
    /// A file tool changes an ordinary file of the project.
    Edit,
    /// Builds, tests or lints with a known tool.
    Build,
    /// Rewrites the project's files in a known way.
    Format,
    /// Installs what a lock file pins.
    Install,
    /// Commits on a branch that is not protected.
    Commit,
    /// Reads from a public host.
    Fetch,
    /// Looks outside the project.
    Peek,
    /// Anything else that a person should see first.
    Ask,
    /// Deletes what no checkpoint keeps: asked about even where nothing else is, if somebody is there.
    Lose,
    /// Destroys, steals, escapes, or hides what it does.
    Block,
}

impl Kind {
    pub(crate) fn level(self) -> Level {
        match self {
            Self::Look => Level::Safe,
            Self::Block => Level::Blocked,
            _ => Level::Caution,
        }
    }

    /// Whether everything stays as it was.
    pub(crate) fn only_looks(self) -> bool {
        matches!(self, Self::Look | Self::Fetch | Self::Peek)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "look" => Self::Look,
            "create" => Self::Create,
            "build" => Self::Build,
            "format" => Self::Format,
            "install" => Self::Install,
            "commit" => Self::Commit,
            "fetch" => Self::Fetch,
            "peek" => Self::Peek,
            "ask" => Self::Ask,
            "block" => Self::Block,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    pub(crate) because: String,
    pub(crate) subject: Subject,
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    pub(crate) destroys: Vec<PathBuf>,
    pub(crate) needs: Needs,
    /// A secret is read somewhere in it.
    pub(crate) secret: bool,
    /// Something in it can carry data to another machine.
    pub(crate) sends: bool,
}

impl Findings {
    pub(crate) fn add(&mut self, kind: Kind, because: impl Into<String>, subject: Subject) {
        let finding = Finding { kind, because: because.into(), subject };
        if !self.list.contains(&finding) {
            self.list.push(finding);
        }
    }

    pub(crate) fn level(&self) -> Level {
        self.list.iter().map(|finding| finding.kind.level()).max().unwrap_or(Level::Safe)
    }

    pub(crate) fn destroy(&mut self, path: PathBuf) {
        if !self.destroys.contains(&path) {
            self.destroys.push(path);
        }
    }

    pub(crate) fn host(&mut self, name: &str) {
        if !self.needs.hosts.iter().any(|known| known == name) {
            self.needs.hosts.push(name.to_owned());
        }
    }
}
