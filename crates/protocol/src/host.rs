//! What an editor may do in a session's place: files, programs, diagnostics.
//!
//! An editor makes a [`HostOffer`]; from then on it is sent [`HostRequest`]s and answers each once, by its number. None
//! of this is recorded: the log has the tool call that wanted it, and what came of that.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What an editor offers to do for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostOffer {
    /// Made up by the editor when it starts. Under the same name a lost connection is taken up again, with all that
    /// was not answered; under another one nobody knows what was done, and it fails.
    pub host: String,
    /// For the person: `VS Code`.
    pub name: String,
    /// Reads and writes files, as they are in its buffers.
    #[serde(default)]
    pub files: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub terminal: Option<TerminalOffer>,
    /// Knows errors and warnings of files.
    #[serde(default)]
    pub diagnostics: bool,
}

/// How programs would run there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TerminalOffer {
    /// Whether it locks programs into what a request grants. One that does not is only used where no sandbox is wanted.
    pub confined: bool,
}

/// What was taken of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostAccepted {
    /// The project's folders: nothing outside them is asked for unless a person allowed it.
    pub roots: Vec<String>,
    pub files: bool,
    pub terminal: bool,
    pub diagnostics: bool,
    /// Why something was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
}

/// Something for the editor to do. It comes again under its number when the connection was lost: what was done already is
/// answered again, not done again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct HostRequest {
    #[ts(type = "number")]
    pub request: u64,
    #[serde(flatten)]
    pub call: HostCall,
}

/// What is to be done. Paths are absolute; bytes are in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum HostCall {
    Read {
        path: String,
        #[ts(type = "number")]
        offset: u64,
        #[ts(type = "number")]
        limit: u64,
    },
    /// The first entries of a folder by name.
    List {
        path: String,
        #[ts(type = "number")]
        limit: u64,
    },
    Stat {
        path: String,
    },
    /// Replaces what a file says, or makes it with the folders on the way.
    Write {
        path: String,
        bytes: String,
        expect: HostExpect,
    },
    MakeDir {
        path: String,
    },
    /// To a place where nothing is.
    Rename {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    /// Starts a program. The answer names it.
    Start(HostTask),
    /// The next of what it printed, when there is something, or that it ended.
    Output {
        terminal: String,
    },
    Input {
        terminal: String,
        bytes: String,
    },
    CloseInput {
        terminal: String,
    },
    /// Asks it to end, and ends it after a while.
    Stop {
        terminal: String,
        #[ts(type = "number")]
        grace_ms: u64,
    },
    /// It is not wanted any more: end it and forget it.
    Release {
        terminal: String,
    },
    /// Errors and warnings of a file as it is now.
    Diagnostics {
        path: String,
    },
}

/// What must be at a path for a write to go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HostExpect {
    Anything,
    Absent,
    Unchanged(HostStamp),
}

/// By what it is noticed that somebody else changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostStamp {
    #[ts(type = "number")]
    pub len: u64,
    /// Since 1970. An editor with unsaved changes may count them in here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub modified_ms: Option<u64>,
}

/// A program to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct HostTask {
    /// A command line for the shell; or see `argv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub shell: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub argv: Vec<String>,
    pub cwd: String,
    pub env: Vec<(String, String)>,
    /// Whether it is written to while it runs.
    pub interactive: bool,
    /// Whether it wants a terminal. A host that has none gives it pipes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub terminal: bool,
    /// What it may use beside the project.
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub network: bool,
}

/// What came of a [`HostRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum HostAnswer {
    Read {
        bytes: String,
        /// Of the whole file.
        stamp: HostStamp,
    },
    List {
        entries: Vec<HostEntry>,
        #[ts(type = "number")]
        total: u64,
    },
    Stat {
        kind: HostKind,
        stamp: HostStamp,
    },
    /// Written; what it is now.
    Written {
        stamp: HostStamp,
    },
    Done,
    Started {
        terminal: String,
    },
    Output {
        bytes: String,
    },
    /// It ended and all it printed was told.
    Ended {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        code: Option<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        signal: Option<i32>,
    },
    Diagnostics {
        found: Vec<HostDiagnostic>,
    },
    Failed {
        why: HostFailure,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostEntry {
    pub name: String,
    pub kind: HostKind,
    #[ts(type = "number")]
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    File,
    Dir,
    Symlink,
    Other,
}

/// Something that a compiler or linter says about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HostDiagnostic {
    /// From 1.
    pub line: u32,
    /// 1 error, 2 warning, 3 information, 4 hint, as language servers count.
    pub severity: u8,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<String>,
}

/// Why it was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HostFailure {
    NotFound,
    /// Outside what it gives access to.
    Outside,
    Denied,
    IsDirectory,
    NotADirectory,
    Exists,
    /// Somebody changed the file since.
    Stale,
    Failed,
}
