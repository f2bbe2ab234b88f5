//! Mentions: `@file`, `@dir/`, `@file:10-40`, `@"a file"`, `@symbol`, `@role`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use guard::as_data;
use index::{Cancel, IfBusy, Index};
use project::{ByteRange, EntryKind, Host};
use protocol::{Content, Image, Resource, Source};

use super::Place;

/// Mentions of one prompt that are looked at.
const MOST: usize = 40;
/// Bytes of one file that come along; the agent reads on where it wants more. About four to a token.
const MAX_EACH: usize = 32 * 1024;
/// Bytes of all of them together.
const MAX_ALL: usize = 96 * 1024;
const MAX_IMAGE: usize = 10 << 20;
/// Entries of a folder that are listed.
const MAX_LISTED: usize = 200;
/// Places where a symbol is defined that come along.
const MAX_DEFINITIONS: usize = 3;
/// How long a symbol waits for the index to be brought up to date.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a mention names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) path: String,
    /// The first and the last line, counted from one.
    pub(crate) lines: Option<(u32, u32)>,
}

impl Spec {
    /// `src/a.rs`, `src/a.rs:10`, `src/a.rs:10-40`, `src/a.rs#L10-40`.
    pub(crate) fn parse(text: &str) -> Self {
        let split = text.rsplit_once("#L").or_else(|| text.rsplit_once(':'));
        if let Some((path, lines)) = split.filter(|(path, _)| !path.is_empty()) {
            let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
            if let (Ok(from), Ok(to)) = (from.parse(), to.trim_start_matches('L').parse())
                && 1 <= from
                && from <= to
            {
                return Self { path: path.to_owned(), lines: Some((from, to)) };
            }
        }
        Self { path: text.to_owned(), lines: None }
    }

    fn name(&self) -> String {
        match self.lines {
            Some((from, to)) => format!("{}#L{from}-{to}", self.path),
            None => self.path.clone(),
        }
    }
}

/// What is mentioned in some texts, each thing once.
pub(super) async fn resolve(texts: impl Iterator<Item = &String>, place: &Place) -> Vec<Content> {
    let mut found = Vec::new();
    let mut room = MAX_ALL;
    let mut seen: Vec<String> = Vec::new();
    for text in texts {
        for mention in mentioned(text) {
            if seen.len() >= MOST {
                return found;
            }
            if seen.iter().any(|known| known == mention) {
                continue;
            }
            seen.push(mention.to_owned());
            for content in one(mention, place, room).await {
                if let Content::Resource(resource) = &content {
                    // `@a.txt, @a.txt.` is one thing.
                    let is_same = |known: &Content| matches!(known, Content::Resource(known) if known.uri == resource.uri);
                    if found.iter().any(is_same) {
                        continue;
                    }
                    room = room.saturating_sub(resource.text.as_ref().map_or(0, String::len));
                }
                found.push(content);
            }
        }
    }
    found
}

/// The words after an `@` that begins a word.
fn mentioned(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        rest = after;
        let begins = before.is_whitespace() || matches!(before, '(' | '[' | '"' | '\'' | '`' | ',');
        before = first;
        if first != '@' || !begins {
            continue;
        }
        let mention = match after.strip_prefix('"') {
            Some(quoted) => quoted.split(['"', '\n']).next().unwrap_or_default(),
            None => after.split(char::is_whitespace).next().unwrap_or_default(),
        };
        rest = &after[mention.len()..];
        before = mention.chars().last().unwrap_or('@');
        if !mention.is_empty() {
            found.push(mention);
        }
    }
    found
}

/// A mention as it was typed, and as it may have been meant before a full stop or a bracket.
async fn one(mention: &str, place: &Place, room: usize) -> Vec<Content> {
    let meant = mention.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '`']);
    for text in [mention, meant] {
        if let Some(content) = fetch(&Spec::parse(text), place, room).await {
            return vec![content];
        }
        if mention == meant {
            break;
        }
    }
    if let Some(resource) = place.servers.resource(meant).await {
        return vec![Content::Resource(resource)];
    }
    if let Some((name, purpose)) = (place.roles)().into_iter().find(|(name, _)| name == meant) {
        return vec![role(&name, &purpose)];
    }
    symbol(meant, place, room).await
}

/// Somebody to send, told in words that an agent without our sub-agents understands, too.
fn role(name: &str, purpose: &str) -> Content {
    let text = Some(format!(
        "[covey: the person wants the sub-agent `{name}` ({purpose}) for this. Send it with `task` and role `{name}`; \
         an agent that has no sub-agents takes the role itself.]"
    ));
    Content::Resource(Resource { uri: format!("agent:{name}"), media_type: None, text, blob: None })
}

/// The file, the lines or the folder that is named. None when nothing in the project has that name.
pub(crate) async fn fetch(spec: &Spec, place: &Place, room: usize) -> Option<Content> {
    let path = locate(spec, place).await?;
    let stat = place.host.stat(&path).await.ok()?;
    let named = Spec { path: shown(&path, place), ..spec.clone() };
    match stat.kind {
        EntryKind::Dir => Some(folder(&named, &path, place.host.as_ref()).await),
        EntryKind::File => file(&named, &path, place, room).await,
        _ => None,
    }
}

async fn locate(spec: &Spec, place: &Place) -> Option<PathBuf> {
    for base in [&place.cwd, &place.root] {
        let path = base.join(&spec.path);
        // What lies outside the project is the agent's to ask for, not ours to attach.
        if place.host.roots().iter().any(|root| path.starts_with(root))
            && place.host.stat(&path).await.is_ok()
        {
            return Some(path);
        }
    }
    None
}

fn shown(path: &Path, place: &Place) -> String {
    let path = path.strip_prefix(&place.root).unwrap_or(path);
    let shown = path.to_string_lossy();
    if shown.is_empty() { ".".to_owned() } else { shown.trim_end_matches('/').to_owned() }
}

async fn folder(spec: &Spec, path: &Path, host: &dyn Host) -> Content {
    let text = match host.list(path, MAX_LISTED).await {
        Ok(listing) => {
            let entry = |entry: &project::DirEntry| match entry.kind {
                EntryKind::Dir => format!("{}/\n", entry.name.to_string_lossy()),
                _ => format!("{}\n", entry.name.to_string_lossy()),
            };
            let mut text: String = listing.entries.iter().map(entry).collect();
            if listing.total > listing.entries.len() {
                text.push_str(&format!("… {} more\n", listing.total - listing.entries.len()));
            }
            text
        }
        Err(error) => format!("can not be listed: {error}\n"),
    };
    let uri = format!("{}/", spec.path);
    Content::Resource(Resource { text: Some(as_data(&uri, &text)), uri, media_type: None, blob: None })
}

async fn file(spec: &Spec, path: &Path, place: &Place, room: usize) -> Option<Content> {
    let first = place.host.read(path, ByteRange::first(MAX_IMAGE)).await.ok()?;
    if let Some(media_type) = Image::media_type_of(&first.bytes) {
        if first.total_len as usize > MAX_IMAGE {
            return Some(note(spec, "a picture that is too large to come along"));
        }
        let data = base64::engine::general_purpose::STANDARD.encode(&first.bytes);
        let name = Some(spec.path.clone());
        return Some(Content::Image(Image {
            media_type: media_type.to_owned(),
            name,
            source: Source::Data(data),
        }));
    }
    if first.bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Some(note(spec, &format!("{} bytes that are no text", first.total_len)));
    }
    let whole = String::from_utf8_lossy(&first.bytes);
    let (text, from) = match spec.lines {
        Some((from, to)) => {
            let lines = whole.split_inclusive('\n').skip(from as usize - 1).take((to - from + 1) as usize);
            (lines.collect::<String>(), from)
        }
        None => (whole.into_owned(), 1),
    };
    if text.is_empty() && spec.lines.is_some() {
        return Some(note(spec, "the file has fewer lines"));
    }
    let text = place.redactor.redact(&text).into_owned();
    Some(attached(spec, &text, from, first.total_len, room))
}

/// As much of a text as there is room for, with what is missing said.
fn attached(spec: &Spec, text: &str, from: u32, total: u64, room: usize) -> Content {
    let most = MAX_EACH.min(room);
    let mut shown = &text[..text.floor_char_boundary(most)];
    if shown.len() < text.len() {
        // Whole lines, unless there is but one.
        shown = shown.rfind('\n').map_or(shown, |end| &shown[..=end]);
    }
    let mut body = shown.to_owned();
    if shown.len() < text.len() {
        let next = from as usize + shown.matches('\n').count();
        body.push_str(&format!(
            "\n[covey: this is not all of it ({total} bytes); `read` it from line {next} on]\n"
        ));
    }
    let uri = spec.name();
    Content::Resource(Resource { text: Some(as_data(&uri, &body)), uri, media_type: None, blob: None })
}

fn note(spec: &Spec, what: &str) -> Content {
    let text = Some(format!("[covey: `{}`: {what}]", spec.path));
    Content::Resource(Resource { uri: spec.name(), media_type: None, text, blob: None })
}

/// Where a name is defined, if the project has an index.
async fn symbol(name: &str, place: &Place, room: usize) -> Vec<Content> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '#');
    let Some(index) = place.index.clone() else { return vec![] };
    if name.len() < 3 || !name.chars().all(is_name) {
        return vec![];
    }
    let wanted = name.to_owned();
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let search = tokio::task::spawn_blocking(move || {
        bring_up_to_date(&index, &cancel);
        let searcher = index.searcher();
        let mut found = searcher.symbol(&wanted, MAX_DEFINITIONS).definitions;
        found.truncate(MAX_DEFINITIONS);
        found
    });
    let mut search = std::pin::pin!(search);
    let found = match tokio::time::timeout(PATIENCE, &mut search).await {
        Ok(found) => found,
        Err(_) => {
            stop.cancel();
            search.await
        }
    };
    let mut contents = Vec::new();
    for definition in found.unwrap_or_default() {
        let spec = Spec { path: definition.file, lines: Some((definition.line.max(1), definition.end_line)) };
        contents.extend(fetch(&spec, place, room).await);
    }
    contents
}

fn bring_up_to_date(index: &Index, cancel: &Cancel) {
    // A busy or broken index answers with what it has.
    let _ = index.update(IfBusy::Refuse, &|_| {}, cancel);
}

#[cfg(test)]
mod tests {
    use super::{Spec, mentioned};

    #[test]
    fn mentions_are_words_that_begin_with_an_at() {
        assert_eq!(mentioned("see @src/a.rs:10-40, and @docs/"), ["src/a.rs:10-40,", "docs/"]);
        assert_eq!(mentioned("(@a.rs) `@b.rs` me@example.org @@x @"), ["a.rs)", "b.rs`", "@x"]);
        assert_eq!(mentioned("@\"a file.txt\" and @\"open"), ["a file.txt", "open"]);
        assert!(mentioned("").is_empty());
    }

    #[test]
    fn lines_are_told_from_names() {
        let spec = |path: &str, lines| Spec { path: path.to_owned(), lines };
        assert_eq!(Spec::parse("a.rs:10-40"), spec("a.rs", Some((10, 40))));
        assert_eq!(Spec::parse("a.rs:7"), spec("a.rs", Some((7, 7))));
        assert_eq!(Spec::parse("a.rs#L7-L9"), spec("a.rs", Some((7, 9))));
        for text in ["a.rs", "Cart::apply", "a.rs:0", "a.rs:9-3", ":3", "a:b", "a.rs:99999999999"] {
            assert_eq!(Spec::parse(text), spec(text, None), "{text}");
        }
    }
}
