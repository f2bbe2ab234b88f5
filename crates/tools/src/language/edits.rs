//! Edits that a server proposes, made through the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use project::{ByteRange, Expect};
use protocol::FileWrite;
use serde_json::Value;

use super::MAX_SOURCE;
use crate::{ToolContext, ToolError};

/// Files that one edit may touch.
const MAX_FILES: usize = 500;

/// A file's address.
pub(crate) fn uri(path: &Path) -> String {
    let mut out = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(*byte as char)
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The file that an address names; none for anything but a file.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let rest = uri.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| (byte as char).to_digit(16);
        let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
        bytes.push((high * 16 + low) as u8);
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// The edits of each file, as the server proposes them.
pub(crate) fn paths_of(edit: &Value) -> Result<BTreeMap<PathBuf, Vec<Value>>, ToolError> {
    let mut files: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::new();
    let mut add = |uri: &str, edits: &Value| -> Result<(), ToolError> {
        let path = path(uri)
            .ok_or_else(|| ToolError(format!("the server wants to change `{uri}`, which is no file")))?;
        files.entry(path).or_default().extend(edits.as_array().cloned().unwrap_or_default());
        Ok(())
    };
    for (uri, edits) in edit.get("changes").and_then(Value::as_object).into_iter().flatten() {
        add(uri, edits)?;
    }
    for change in edit.get("documentChanges").and_then(Value::as_array).into_iter().flatten() {
        if change.get("kind").is_some() {
            return Err(ToolError(
                "the server wants to create, move or delete files; do that yourself".to_owned(),
            ));
        }
        add(change["textDocument"]["uri"].as_str().unwrap_or_default(), &change["edits"])?;
    }
    if files.len() > MAX_FILES {
        return Err(ToolError(format!(
            "the server wants to change {} files, which is too many",
            files.len()
        )));
    }
    Ok(files)
}

/// Makes the edits: all files are worked out first, so that one that can not be leaves the others alone.
pub(crate) async fn apply(
    context: &ToolContext,
    files: BTreeMap<PathBuf, Vec<Value>>,
) -> Result<Vec<FileWrite>, ToolError> {
    let mut ready = Vec::new();
    for (path, edits) in files {
        let read = context.host.read(&path, ByteRange::first(MAX_SOURCE)).await?;
        let stamp = read.stamp();
        let text = String::from_utf8(read.bytes)
            .map_err(|_| ToolError(format!("`{}` is not UTF-8 text", path.display())))?;
        ready.push((path.clone(), changed(&text, &edits)?, stamp));
    }
    let mut wrote = Vec::new();
    for (path, text, stamp) in ready {
        let bytes = text.len() as u64;
        context.host.write(&path, text.into_bytes(), Expect::Unchanged(stamp)).await?;
        let name = path.strip_prefix(&context.cwd).unwrap_or(&path).to_string_lossy().into_owned();
        wrote.push(FileWrite { path: name, bytes, call: None, blob: None });
    }
    Ok(wrote)
}

/// A text with edits made, from the last to the first so that none moves another.
fn changed(text: &str, edits: &[Value]) -> Result<String, ToolError> {
    let mut spans = Vec::new();
    for edit in edits {
        let (from, to) = (offset(text, &edit["range"]["start"]), offset(text, &edit["range"]["end"]));
        let (Some(from), Some(to)) = (from, to) else {
            return Err(ToolError("the server's edit lies outside the file".to_owned()));
        };
        spans.push((from, to.max(from), edit["newText"].as_str().unwrap_or_default()));
    }
    spans.sort_by_key(|(from, to, _)| (*from, *to));
    let overlap = spans.windows(2).any(|pair| pair[1].0 < pair[0].1);
    if overlap {
        return Err(ToolError("the server's edits overlap".to_owned()));
    }
    let mut out = text.to_owned();
    for (from, to, new) in spans.into_iter().rev() {
        out.replace_range(from..to, new);
    }
    Ok(out)
}

/// The byte at a position that counts lines from zero and columns in UTF-16.
fn offset(text: &str, position: &Value) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let column = usize::try_from(position["character"].as_u64()?).ok()?;
    let mut start = 0;
    for _ in 0..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            // One past the last line is its end.
            None => return Some(text.len()),
        }
    }
    let content = &text[start..];
    let content = &content[..content.find('\n').unwrap_or(content.len())];
    let mut units = 0;
    for (at, letter) in content.char_indices() {
        if units >= column {
            return Some(start + at);
        }
        units += letter.len_utf16();
    }
    Some(start + content.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edit(from: (u64, u64), to: (u64, u64), new: &str) -> Value {
        let place = |(line, character): (u64, u64)| json!({"line": line, "character": character});
        json!({"range": {"start": place(from), "end": place(to)}, "newText": new})
    }

    #[test]
    fn edits_are_made_in_any_order_and_count_utf_16() {
        let text = "a😀b\nsecond\n";
        assert_eq!(
            changed(text, &[edit((1, 0), (1, 6), "2"), edit((0, 3), (0, 4), "B")]).unwrap(),
            "a😀B\n2\n"
        );
        assert_eq!(changed(text, &[edit((9, 0), (9, 0), "end")]).unwrap(), "a😀b\nsecond\nend");
        assert!(changed(text, &[edit((0, 0), (0, 3), "x"), edit((0, 1), (0, 4), "y")]).is_err());
        assert!(changed(text, &[json!({})]).is_err());
    }

    #[test]
    fn addresses_and_paths_are_each_others() {
        for name in ["/a/b.rs", "/a b/ü%.rs", "/x/\"'#?.c"] {
            assert_eq!(path(&uri(Path::new(name))), Some(PathBuf::from(name)));
        }
        assert_eq!(path("https://example.org"), None);
        assert_eq!(path("file:///%zz"), None);
    }
}
