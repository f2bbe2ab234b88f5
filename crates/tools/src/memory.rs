//! What is remembered of a project from one session to the next: one Markdown list in the person's own folder.

use std::path::PathBuf;

use project::{create_private_dir, write_private_atomic};

use crate::{ToolContext, ToolError};

/// The whole of it goes into a prompt, so it stays small.
const MAX_BYTES: usize = 16 * 1024;
const MAX_ENTRY: usize = 500;
const NAME: &str = "MEMORY.md";

/// Beginnings of what must never be remembered.
const SECRETS: [&str; 9] =
    ["sk-", "ghp_", "gho_", "github_pat_", "AKIA", "xoxb-", "glpat-", "-----BEGIN", "eyJhbGciOi"];

/// The file, where there is one to be.
pub(crate) fn path(context: &ToolContext) -> Option<PathBuf> {
    context.desk.memory().map(|folder| folder.join(NAME))
}

pub(crate) fn read(context: &ToolContext) -> Result<String, ToolError> {
    let path = known_path(context)?;
    match std::fs::read(&path) {
        Ok(bytes) => {
            let mut text = String::from_utf8_lossy(&bytes).into_owned();
            // The person may have written more into it than we would.
            if text.len() > 2 * MAX_BYTES {
                text.truncate(text.floor_char_boundary(2 * MAX_BYTES));
                text.push_str("\n… [the rest is left out]\n");
            }
            Ok(text)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(ToolError(format!("the memory can not be read: {error}"))),
    }
}

/// Adds one entry, unless it is there already; says what was done.
pub(crate) fn add(context: &ToolContext, text: &str) -> Result<String, ToolError> {
    let entry = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if entry.len() > MAX_ENTRY {
        return Err(ToolError(format!("an entry has {MAX_ENTRY} bytes at most, this one {}", entry.len())));
    }
    if entry.split(|c: char| c.is_whitespace() || "\"'`=:,(".contains(c)).any(is_secret) {
        return Err(ToolError("this looks like a secret, which is not to be remembered".to_owned()));
    }
    let mut memory = read(context)?;
    if memory.lines().any(|line| same(line.trim_start_matches("- "), &entry)) {
        return Ok("already remembered".to_owned());
    }
    if memory.len() + entry.len() + 3 > MAX_BYTES {
        return Err(ToolError("the memory is full: `forget` something first".to_owned()));
    }
    if !memory.is_empty() && !memory.ends_with('\n') {
        memory.push('\n');
    }
    memory.push_str(&format!("- {entry}\n"));
    write(context, &memory)?;
    Ok("remembered".to_owned())
}

/// Takes away the entry that holds `text`; with more than one, none.
pub(crate) fn forget(context: &ToolContext, text: &str) -> Result<String, ToolError> {
    let memory = read(context)?;
    let holds = |line: &&str| line.starts_with("- ") && line.contains(text.trim());
    match memory.lines().filter(holds).count() {
        0 => Err(ToolError("no entry holds that text".to_owned())),
        1 => {
            let rest: String =
                memory.lines().filter(|line| !holds(line)).map(|line| format!("{line}\n")).collect();
            write(context, &rest)?;
            Ok("forgotten".to_owned())
        }
        count => Err(ToolError(format!("{count} entries hold that text: give more of it"))),
    }
}

fn write(context: &ToolContext, text: &str) -> Result<(), ToolError> {
    let path = known_path(context)?;
    let written = match path.parent() {
        Some(folder) => {
            create_private_dir(folder).and_then(|()| write_private_atomic(&path, text.as_bytes()))
        }
        None => write_private_atomic(&path, text.as_bytes()),
    };
    written.map_err(|error| ToolError(format!("the memory can not be written: {error}")))
}

fn known_path(context: &ToolContext) -> Result<PathBuf, ToolError> {
    path(context).ok_or_else(|| ToolError("nothing is remembered here".to_owned()))
}

fn is_secret(word: &str) -> bool {
    SECRETS.iter().any(|start| word.starts_with(start) && (word.len() >= 16 || *start == "-----BEGIN"))
}

/// The same but for case and punctuation.
fn same(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    bare(one) == bare(other)
}
