//! The lines of a unified diff that say which file it is about.

use super::{FileEdit, FilePatch, Hunk, PatchError};

/// What is known of a file so far.
#[derive(Default)]
pub(super) struct Head {
    is_git: bool,
    /// From `diff --git`, for files without content.
    git_path: Option<String>,
    old: Option<String>,
    new: Option<String>,
    moved: (Option<String>, Option<String>),
    is_created: bool,
    is_deleted: bool,
    executable: Option<bool>,
    pub(super) hunks: Vec<Hunk>,
}

const NOWHERE: &str = "/dev/null";

impl Head {
    pub(super) fn git(line: &str) -> Self {
        let git_path = line.rsplit_once(" b/").map(|(_, path)| path.to_owned());
        Self { is_git: true, git_path, ..Self::default() }
    }

    pub(super) fn is_started(&self) -> bool {
        self.is_git || self.is_named()
    }

    /// Whether the two names were told.
    pub(super) fn is_named(&self) -> bool {
        self.new.is_some()
    }

    pub(super) fn name(&mut self, old: &str, new: &str) {
        (self.old, self.new) = (Some(path(old)), Some(path(new)));
    }

    /// One of git's lines between the head and the hunks.
    pub(super) fn read(&mut self, line: &str) -> Result<(), String> {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.moved.0 = Some(unquoted(from));
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.moved.1 = Some(unquoted(to));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_created = true;
            self.executable = Some(is_executable(mode)).filter(|executable| *executable);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.executable = Some(is_executable(mode));
        } else if line.starts_with("deleted file mode") {
            self.is_deleted = true;
        } else if line.starts_with("copy from") {
            return Err("a copy in a patch is not made; use `copy`".to_owned());
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err("a binary file is not patched".to_owned());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Option<FilePatch>, PatchError> {
        if !self.is_started() {
            return Ok(None);
        }
        let strip =
            self.is_git || is_prefixed(self.old.as_deref(), "a/") && is_prefixed(self.new.as_deref(), "b/");
        let real = |path: &Option<String>, prefix: &str| {
            let path = path.as_deref().filter(|path| *path != NOWHERE)?;
            Some(path.strip_prefix(prefix).filter(|_| strip).unwrap_or(path).to_owned())
        };
        let old = real(&self.old, "a/").or_else(|| self.moved.0.clone());
        let new = real(&self.new, "b/").or_else(|| self.moved.1.clone());
        let is_created = self.is_created || self.old.as_deref() == Some(NOWHERE);
        let is_deleted = self.is_deleted || self.new.as_deref() == Some(NOWHERE);
        let either = || new.clone().or_else(|| old.clone()).or_else(|| self.git_path.clone());
        let nameless = || PatchError::Misfit("the patch does not name a file".to_owned());
        let (hunks, executable) = (self.hunks, self.executable);
        Ok(Some(if is_created {
            let text = Hunk::added_text(&hunks);
            FilePatch { path: either().ok_or_else(nameless)?, change: FileEdit::Create { text }, executable }
        } else if is_deleted {
            let path = old.clone().or_else(either).ok_or_else(nameless)?;
            FilePatch { path, change: FileEdit::Delete { hunks }, executable: None }
        } else {
            let path = old.clone().or_else(either).ok_or_else(nameless)?;
            let moved_to = new.filter(|new| *new != path);
            if hunks.is_empty() && moved_to.is_none() && executable.is_none() {
                return Ok(None);
            }
            FilePatch { path, change: FileEdit::Update { moved_to, hunks }, executable }
        }))
    }
}

/// As git tells it: `100755` or `100644`.
fn is_executable(mode: &str) -> bool {
    mode.trim_end() == "100755"
}

fn is_prefixed(path: Option<&str>, prefix: &str) -> bool {
    path.is_some_and(|path| path == NOWHERE || path.starts_with(prefix))
}

/// A path as it follows `---`: a time may stand behind it.
fn path(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    if text.starts_with('"') {
        return unquoted(text);
    }
    text.split('\t').next().unwrap_or(text).trim_end().to_owned()
}

/// Git writes unusual names as C does.
fn unquoted(text: &str) -> String {
    let Some(inner) = text.trim_end().strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.trim_end().to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                while let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                    value = value * 8 + u32::from(digit - b'0');
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
