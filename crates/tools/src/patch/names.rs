//! The names in a unified diff: as git writes them, and as `diff` does.

/// Where a file is that is not there.
pub(super) const NOWHERE: &str = "/dev/null";

/// A name as it follows `---` or `+++`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) path: String,
    /// When the file was changed. `diff` says so of two files that it compared; git says nothing.
    stamp: Option<String>,
}

impl Name {
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim_end_matches('\r');
        if text.starts_with('"') {
            return Self { path: unquoted(text), stamp: None };
        }
        let (path, stamp) = text.split_once('\t').unwrap_or((text, ""));
        let stamp = Some(stamp.trim().to_owned()).filter(|stamp| !stamp.is_empty());
        Self { path: path.trim_end().to_owned(), stamp }
    }

    pub(super) fn is_nowhere(&self) -> bool {
        self.path == NOWHERE
    }

    pub(super) fn is_stamped(&self) -> bool {
        self.stamp.is_some()
    }

    /// `diff -N` gives a file that is not there the first moment of all, in the time of its place.
    pub(super) fn is_from_the_beginning(&self) -> bool {
        self.stamp
            .as_ref()
            .is_some_and(|stamp| stamp.starts_with("1970-01-01") || stamp.starts_with("1969-12-31"))
    }
}

/// What `diff --git` says of the two names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitLine {
    /// The file, when both names are of one.
    pub(super) path: String,
    /// Whether names have something in front: `a/` and `b/`, or `i/` and `w/`.
    pub(super) is_prefixed: bool,
}

impl GitLine {
    /// None when the two names are not of one file: other lines say more then.
    pub(super) fn read(line: &str) -> Option<Self> {
        let names = line.strip_prefix("diff --git ")?.trim_end();
        let (old, new) = match names.strip_prefix('"') {
            Some(rest) => {
                let end = closing_quote(rest)?;
                (unquoted(&names[..end + 2]), unquoted(rest[end + 1..].trim_start()))
            }
            None => match names.split_once(" \"") {
                Some((old, new)) => (old.to_owned(), unquoted(&format!("\"{new}"))),
                // Two names of one length, so what is between them is in the middle, whatever blanks they hold.
                None => {
                    let (old, new) = names.split_at_checked(names.len() / 2)?;
                    (old.to_owned(), new.strip_prefix(' ')?.to_owned())
                }
            },
        };
        if old == new {
            return Some(Self { path: old, is_prefixed: false });
        }
        let path = below(&old)?;
        (below(&new)? == path).then(|| Self { path: path.to_owned(), is_prefixed: true })
    }
}

/// Without the first part.
pub(super) fn below(path: &str) -> Option<&str> {
    path.split_once('/').map(|(_, rest)| rest).filter(|rest| !rest.is_empty() && !path.starts_with('/'))
}

/// Which file a diff of two is for, the likeliest first, as `patch` chooses: the shorter name, in fewer folders. A place
/// on somebody's machine is not likely.
pub(crate) fn likeliest(old: &str, new: &str) -> Vec<String> {
    let mut names = vec![old, new];
    names.sort_by_key(|path| {
        let base = path.rsplit('/').next().unwrap_or(path);
        (path.starts_with('/'), path.matches('/').count(), base.len(), path.len())
    });
    // Trees that were compared from above: what is below their names.
    names.extend([below(new), below(old)].into_iter().flatten());
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.iter().any(|known| known == name) {
            unique.push(name.to_owned());
        }
    }
    if unique.iter().any(|name| !name.starts_with('/')) {
        unique.retain(|name| !name.starts_with('/'));
    }
    unique
}

/// Git writes unusual names as C does.
pub(super) fn unquoted(text: &str) -> String {
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
            Some(b'a') => bytes.push(0x07),
            Some(b'b') => bytes.push(0x08),
            Some(b'f') => bytes.push(0x0c),
            Some(b'v') => bytes.push(0x0b),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                // Three digits at the most: one that follows is a letter of the name.
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
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

/// Where the quoted text ends that starts before `rest`.
fn closing_quote(rest: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return Some(at),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}
