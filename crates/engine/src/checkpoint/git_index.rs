//! Git's own list of what it has, read from `.git/index`.
//!
//! A file that looks as it did when git last saw it needs no copy: git has its content. Only the file is read; no git
//! runs, and nothing of the user's repository is touched.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Larger ones are of repositories in which copying everything else would not do either.
const MAX_INDEX: u64 = 256 << 20;

/// What git knows of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tracked {
    pub(super) blob: String,
    pub(super) len: u32,
    /// Seconds and nanoseconds.
    pub(super) modified: (u32, u32),
}

/// The files that git has, by path below `root`. Empty when there is no index, or none that can be read: then everything
/// is copied.
pub(super) fn read(root: &Path) -> HashMap<PathBuf, Tracked> {
    let path = git_dir(root).join("index");
    let Ok(metadata) = fs::metadata(&path) else { return HashMap::new() };
    // A pipe would have us wait for its other end.
    if !metadata.is_file() || metadata.len() > MAX_INDEX {
        return HashMap::new();
    }
    let written = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let Ok(bytes) = fs::read(&path) else { return HashMap::new() };
    let mut tracked = parse(&bytes).unwrap_or_default();
    if let Some(written) = written {
        // What changed in the same moment as the index may have changed after it: git calls it racy.
        tracked.retain(|_, file| u64::from(file.modified.0) < written.as_secs());
    }
    tracked
}

/// `.git`, or where the file of that name leads, as in a worktree.
fn git_dir(root: &Path) -> PathBuf {
    let git = root.join(".git");
    if !fs::symlink_metadata(&git).is_ok_and(|metadata| metadata.is_file()) {
        return git;
    }
    match fs::read_to_string(&git) {
        Ok(text) => text.trim().strip_prefix("gitdir: ").map_or(git, |target| root.join(target)),
        Err(_) => git,
    }
}

/// Versions 2 to 4; none when it is damaged or of another kind.
fn parse(bytes: &[u8]) -> Option<HashMap<PathBuf, Tracked>> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = word(4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = word(8)?;
    let mut tracked = HashMap::new();
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let start = at;
        let (mode, len) = (word(at + 24)?, word(at + 36)?);
        let modified = (word(at + 8)?, word(at + 12)?);
        let blob: String = bytes.get(at + 40..at + 60)?.iter().map(|byte| format!("{byte:02x}")).collect();
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        at += 62;
        let mut skip = false;
        if version >= 3 && flags & 0x4000 != 0 {
            let more = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
            // Skip-worktree and intent-to-add: git does not have what lies there.
            skip = more & 0x6000 != 0;
            at += 2;
        }
        if version == 4 {
            let (cut, used) = number(bytes.get(at..)?)?;
            at += used;
            name.truncate(name.len().checked_sub(cut)?);
            let end = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
            name.extend_from_slice(&bytes[at..at + end]);
            at += end + 1;
        } else {
            let end = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
            name = bytes[at..at + end].to_vec();
            // Padded to a multiple of eight, with at least one zero.
            at = start + (at + end - start + 8) / 8 * 8;
        }
        let staged = flags & 0x3000 != 0;
        let is_file = mode & 0o170_000 == 0o100_000;
        if is_file && !staged && !skip {
            let path = PathBuf::from(std::ffi::OsString::from_vec(name.clone()));
            tracked.insert(path, Tracked { blob, len, modified });
        }
    }
    Some(tracked)
}

/// A number in git's offset encoding, and how many bytes it took.
fn number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut used = 0;
    let mut value = 0usize;
    loop {
        let byte = *bytes.get(used)?;
        used += 1;
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, used));
        }
        value = value.checked_add(1)?;
    }
}
