//! What the terminal UI asks of the program around it: other programs, files, the clipboard.

use std::io;
use std::path::Path;

use async_trait::async_trait;
use client::ClientError;
use protocol::{Image, SessionId};

/// A text that only the program can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Permissions,
    Memory,
    Mcp,
    Settings,
    Doctor,
    Bug,
}

/// The world outside the session. The UI starts no process and opens no file of a person's by itself.
#[async_trait]
pub trait Outside: Send + Sync {
    /// Lets the person change `text` in their editor. The terminal is theirs meanwhile, so this may block.
    fn edit(&self, text: &str) -> io::Result<String>;

    /// The branch that is checked out, and whether there are changes.
    async fn branch(&self) -> Option<String>;

    /// A picture, by what the file holds.
    async fn image(&self, path: &Path) -> Result<Image, String>;

    /// The picture in the system's clipboard.
    async fn clipboard_image(&self) -> Result<Image, String>;

    /// Into the system's clipboard, where there is one; the terminal's own is tried as well.
    async fn copy(&self, text: &str) -> bool;

    /// A message on the desktop.
    async fn notify(&self, title: &str, body: &str);

    /// Markdown about this machine and its settings.
    async fn report(&self, report: Report, session: Option<&SessionId>) -> Result<String, ClientError>;

    /// Writes what the person asked to have in a file; relative paths are to where they work. Answers where it is.
    async fn write(&self, path: &Path, text: &str) -> Result<String, String>;

    /// Keeps a setting of the UI: `theme`, `vim`, `screen`.
    async fn keep_setting(&self, key: &str, value: &str) -> Result<(), String>;
}
