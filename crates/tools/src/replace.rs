//! A pattern replaced in the text of files.

use std::io::Read;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use project::MAX_READ;
use regex::Regex;

use crate::grep::open;
use crate::paths::LineRange;
use crate::text::{Splice, Text};
use crate::walk::{Stop, Walk};

/// The files in which the pattern is, in order. What is no text, or too large to change, has none.
pub(crate) fn candidates(walks: &[Walk], regex: &Regex, stop: &Stop) -> Vec<PathBuf> {
    let found = Mutex::new(Vec::new());
    for walk in walks {
        walk.each(stop, || {
            let found = &found;
            move |entry: &ignore::DirEntry| {
                let Ok(file) = open(entry.path()) else { return };
                let mut bytes = Vec::new();
                let read = file.take(MAX_READ as u64 + 1).read_to_end(&mut bytes);
                if read.is_err() || bytes.len() > MAX_READ {
                    return;
                }
                if Text::decode(&bytes).is_ok_and(|text| regex.is_match(text.plain())) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(entry.path().to_owned());
                }
            }
        });
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    found.dedup();
    found
}

/// The text with every match that starts within `lines` replaced, and how many there were.
pub(crate) fn replaced(text: &Text, regex: &Regex, replacement: &str, lines: LineRange) -> (Text, usize) {
    let plain = text.plain();
    let mut splices = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for found in regex.captures_iter(plain) {
        let Some(whole) = found.get(0) else { continue };
        line += plain[counted..whole.start()].matches('\n').count() as u64;
        counted = whole.start();
        if line > lines.last {
            break;
        }
        if !lines.contains(line) {
            continue;
        }
        // After the end of the last line nothing follows, though `^` and `$` fit there.
        if whole.is_empty() && whole.start() == plain.len() && plain.ends_with('\n') {
            continue;
        }
        let mut new = String::new();
        found.expand(replacement, &mut new);
        splices.push(Splice { range: whole.range(), new });
    }
    (text.spliced(&splices), splices.len())
}

/// The first group that a replacement names and the pattern does not have. It would stand for nothing, and what it was
/// meant to keep would be gone.
pub(crate) fn unknown_group<'a>(regex: &Regex, replacement: &'a str) -> Option<&'a str> {
    let mut rest = replacement;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let name = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map_or("", |(name, _)| name),
            None => {
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                &rest[..end.unwrap_or(rest.len())]
            }
        };
        let is_known = match name.parse::<usize>() {
            Ok(number) => number < regex.captures_len(),
            Err(_) => regex.capture_names().flatten().any(|known| known == name),
        };
        // A dollar that no name follows is a dollar.
        if !name.is_empty() && !is_known {
            return Some(name);
        }
    }
    None
}
