//! Patches: unified diffs, as git and others write them, and the format that Codex's models write.
//!
//! Both are read into the same [`FilePatch`]es. A hunk is made only where all its context and all that it takes away is.

mod apply;
mod codex;
mod header;
mod locate;
mod names;
#[cfg(test)]
mod tests;
mod unified;

pub(crate) use apply::apply;
pub(crate) use names::likeliest;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    pub(crate) path: String,
    /// What it may be called instead when that is not there: a diff of two files names both, one of trees says from where.
    pub(crate) others: Vec<String>,
    pub(crate) change: FileEdit,
    /// Whether it becomes a file that can be run, or stops being one, where the patch says so.
    pub(crate) executable: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileEdit {
    Create {
        text: String,
    },
    /// What the file held, when the patch tells.
    Delete {
        hunks: Vec<Hunk>,
    },
    Update {
        moved_to: Option<String>,
        hunks: Vec<Hunk>,
    },
    /// A new file that starts as another is.
    Copy {
        from: String,
        hunks: Vec<Hunk>,
    },
}

/// Lines that change, with lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// The first line, from 1, where the patch says so. For a hunk that only adds, the line before.
    pub(crate) start: Option<usize>,
    /// Lines above, further and further in, that lead to the place.
    pub(crate) headings: Vec<String>,
    pub(crate) lines: Vec<HunkLine>,
    /// It ends where the file ends.
    pub(crate) at_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HunkLine {
    pub(crate) kind: LineKind,
    /// Without `\n`.
    pub(crate) text: String,
    /// It is the last of its file and has no end.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Keep,
    Remove,
    Add,
}

/// Why a patch can not be read or made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("line {line} of the patch: {reason}")]
    Unreadable { line: usize, reason: String },
    #[error("the patch changes no file; it must be a unified diff or start with `*** Begin Patch`")]
    Empty,
    #[error("{0}")]
    Misfit(String),
}

/// Reads a patch of either kind.
pub(crate) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines = split(text);
    let patches = if codex::is_codex(&lines) {
        codex::parse(&lines)?
    } else {
        // The counts in a hunk's head tell what belongs to it. Models count badly, so when they lead nowhere the lines
        // speak for themselves.
        unified::parse(&lines, unified::Counts::Hold)
            .or_else(|_| unified::parse(&lines, unified::Counts::Guess))?
    };
    if patches.is_empty() { Err(PatchError::Empty) } else { Ok(patches) }
}

/// The lines of a patch. One that ends its own lines in `\r\n` says nothing about the file's.
fn split(text: &str) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let is_head =
        |line: &&&str| line.starts_with("@@") || line.starts_with("*** ") || line.starts_with("+++ ");
    let mut heads = lines.iter().filter(is_head).peekable();
    if heads.peek().is_some() && heads.all(|line| line.ends_with('\r')) {
        return lines.into_iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    }
    lines
}

impl HunkLine {
    fn new(kind: LineKind, text: &str) -> Self {
        Self { kind, text: text.to_owned(), is_open: false }
    }

    /// By the sign in front. Editors and models strip the blank of an empty line.
    fn read(line: &str) -> Option<Self> {
        let kind = match line.as_bytes().first() {
            None => return Some(Self::new(LineKind::Keep, "")),
            Some(b' ') => LineKind::Keep,
            Some(b'-') => LineKind::Remove,
            Some(b'+') => LineKind::Add,
            Some(_) => return None,
        };
        Some(Self::new(kind, &line[1..]))
    }
}

impl Hunk {
    /// The lines that must be there.
    fn old(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.kind != LineKind::Add)
    }

    /// What it adds, as a file by itself.
    fn added_text(hunks: &[Self]) -> String {
        let mut text = String::new();
        for line in hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == LineKind::Add) {
            text.push_str(&line.text);
            if !line.is_open {
                text.push('\n');
            }
        }
        text
    }
}
