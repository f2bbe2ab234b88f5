//! The lines of a unified diff that say which file it is about.

use super::names::{GitLine, Name, below, likeliest, unquoted};
use super::{FileEdit, FilePatch, Hunk, PatchError};

/// What is known of a file so far.
#[derive(Default)]
pub(super) struct Head {
    is_git: bool,
    /// From `diff --git`.
    git: Option<GitLine>,
    old: Option<Name>,
    new: Option<Name>,
    moved: (Option<String>, Option<String>),
    copied: (Option<String>, Option<String>),
    is_created: bool,
    is_deleted: bool,
    executable: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
}

impl Head {
    pub(super) fn git(line: &str) -> Self {
        Self { is_git: true, git: GitLine::read(line), ..Self::default() }
    }

    pub(super) fn is_started(&self) -> bool {
        self.is_git || self.is_named()
    }

    /// Whether the two names were told.
    pub(super) fn is_named(&self) -> bool {
        self.new.is_some()
    }

    pub(super) fn name(&mut self, old: &str, new: &str) {
        (self.old, self.new) = (Some(Name::read(old)), Some(Name::read(new)));
    }

    /// One of git's lines between the head and the hunks.
    pub(super) fn read(&mut self, line: &str) -> Result<(), String> {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.moved.0 = Some(unquoted(from));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.moved.1 = Some(unquoted(to));
        } else if let Some(from) = line.strip_prefix("copy from ") {
            self.copied.0 = Some(unquoted(from));
        } else if let Some(to) = line.strip_prefix("copy to ") {
            self.copied.1 = Some(unquoted(to));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_created = true;
            self.executable = Some(is_executable(mode)?).filter(|executable| *executable);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.executable = Some(is_executable(mode)?);
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            is_executable(mode)?;
            self.is_deleted = true;
        } else if let Some(mode) = line.strip_prefix("index ").and_then(|line| line.split(' ').nth(1)) {
            is_executable(mode)?;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err("a binary file is not patched".to_owned());
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Option<FilePatch>, PatchError> {
        if !self.is_started() {
            return Ok(None);
        }
        let hunks = std::mem::take(&mut self.hunks);
        let executable = self.executable;
        if let (Some(from), Some(path)) = self.copied.clone() {
            let change = FileEdit::Copy { from, hunks };
            return Ok(Some(FilePatch { path, others: vec![], change, executable }));
        }
        let is_from = |name: &Option<Name>| name.as_ref().is_some_and(Name::is_from_the_beginning);
        let is_nowhere = |name: &Option<Name>| name.as_ref().is_some_and(Name::is_nowhere);
        let adds_all = || hunks.iter().all(|hunk| hunk.old().next().is_none());
        let is_created = self.is_created || is_nowhere(&self.old) || is_from(&self.old) && adds_all();
        let is_deleted = self.is_deleted || is_nowhere(&self.new) || is_from(&self.new);
        let mut names = self.names(is_created, is_deleted)?;
        let path = names.paths.remove(0);
        let (others, moved_to) = (names.paths, names.moved_to);
        Ok(Some(if is_created {
            let text = Hunk::added_text(&hunks);
            FilePatch { path, others, change: FileEdit::Create { text }, executable }
        } else if is_deleted {
            FilePatch { path, others, change: FileEdit::Delete { hunks }, executable: None }
        } else {
            if hunks.is_empty() && moved_to.is_none() && executable.is_none() {
                return Ok(None);
            }
            FilePatch { path, others, change: FileEdit::Update { moved_to, hunks }, executable }
        }))
    }

    /// What the file is called, the likeliest first, and where it goes.
    fn names(&self, is_created: bool, is_deleted: bool) -> Result<Names, PatchError> {
        let one = |path: String| Names { paths: vec![path], moved_to: None };
        // These never have anything in front.
        if let (Some(from), Some(to)) = &self.moved {
            let moved_to = Some(to.clone()).filter(|to| to != from);
            return Ok(Names { moved_to, ..one(from.clone()) });
        }
        let old = self.old.as_ref().filter(|name| !name.is_nowhere());
        let new = self.new.as_ref().filter(|name| !name.is_nowhere());
        let strips = match &self.git {
            Some(git) => git.is_prefixed,
            None => {
                old.is_none_or(|name| name.path.starts_with("a/"))
                    && new.is_none_or(|name| name.path.starts_with("b/"))
            }
        };
        let real = |name: &Name| below(&name.path).filter(|_| strips).unwrap_or(&name.path).to_owned();
        let stamped = !self.is_git && [old, new].into_iter().flatten().any(Name::is_stamped);
        Ok(match (old.map(real), new.map(real)) {
            (None, None) => match &self.git {
                Some(git) => one(git.path.clone()),
                None => return Err(PatchError::Misfit("the patch does not name a file".to_owned())),
            },
            (Some(path), None) | (None, Some(path)) => one(path),
            (Some(old), Some(new)) if old == new => one(new),
            (Some(old), Some(new)) if stamped || is_created || is_deleted => {
                Names { paths: likeliest(&old, &new), moved_to: None }
            }
            (Some(old), Some(new)) => {
                let mut paths = vec![old.clone(), new.clone()];
                paths.extend(below(&new).filter(|name| below(&old) == Some(name)).map(str::to_owned));
                Names { paths, moved_to: Some(new) }
            }
        })
    }
}

struct Names {
    /// At least one.
    paths: Vec<String>,
    moved_to: Option<String>,
}

/// As git tells it: `100755` or `100644`. What else it knows is not made of lines.
fn is_executable(mode: &str) -> Result<bool, String> {
    match mode.trim_end() {
        "100755" => Ok(true),
        "120000" => Err("a symbolic link is not patched; use a command for it".to_owned()),
        "160000" => Err("a submodule is not patched; use a command for it".to_owned()),
        _ => Ok(false),
    }
}
