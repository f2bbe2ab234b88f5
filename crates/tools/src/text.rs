//! The text of a file, and how to put it back so that nothing changes that nobody named.
//!
//! A model writes `\n` and knows nothing of marks and encodings. So a file is decoded, matched and changed as plain text
//! with `\n`, and each change is spliced into the text as it was: encoding, byte order mark, line ends and the last line's
//! missing end stay.

mod encoding;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use encoding::{Encoding, NotText, Unencodable, shown};
pub(crate) use stream::Decoder;

/// A decoded file.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    encoding: Encoding,
    /// As in the file, without a mark.
    original: String,
    /// With `\n` for `\r\n`. Absent when that makes no difference.
    plain: Option<String>,
    /// Where in `plain` the line ends are that have a `\r` in the file, ascending.
    carriages: Vec<usize>,
}

/// A change of the plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

impl Text {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NotText> {
        let (encoding, original) = encoding::decode(bytes)?;
        Ok(Self::of(encoding, original))
    }

    /// A text that is not in a file yet.
    pub(crate) fn new(original: String) -> Self {
        Self::of(Encoding::Utf8, original)
    }

    fn of(encoding: Encoding, original: String) -> Self {
        let mut carriages = Vec::new();
        let mut removed = 0;
        for (at, _) in original.match_indices("\r\n") {
            carriages.push(at - removed);
            removed += 1;
        }
        let plain = (removed > 0).then(|| original.replace("\r\n", "\n"));
        Self { encoding, original, plain, carriages }
    }

    /// With `\n` at every line's end.
    pub(crate) fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.original)
    }

    /// With the line ends as in the file.
    pub(crate) fn original(&self) -> &str {
        &self.original
    }

    /// The same file with another text, taken as it is.
    pub(crate) fn with(&self, original: String) -> Self {
        Self::of(self.encoding, original)
    }

    /// Whether the file starts with UTF-8's byte order mark.
    pub(crate) fn is_marked(&self) -> bool {
        self.encoding == Encoding::Utf8Mark
    }

    /// The same text in a file without the mark.
    pub(crate) fn unmarked(&self) -> Self {
        let encoding = if self.is_marked() { Encoding::Utf8 } else { self.encoding };
        Self { encoding, ..self.clone() }
    }

    /// Whether every line ends in `\r\n`.
    pub(crate) fn is_crlf(&self) -> bool {
        !self.carriages.is_empty() && self.plain().matches('\n').count() == self.carriages.len()
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, Unencodable> {
        encoding::encode(self.encoding, &self.original)
    }

    /// With some places changed; they are in order and do not overlap. New lines end as those around them do.
    pub(crate) fn spliced(&self, splices: &[Splice]) -> Self {
        let mut changed = String::with_capacity(self.original.len());
        let mut done = 0;
        for splice in splices {
            let splice = self.narrowed(splice);
            let range = self.in_original(splice.range.start)..self.in_original(splice.range.end);
            changed.push_str(&self.original[done..range.start]);
            changed.push_str(&self.line_ends_at(splice.range.start, &splice.new));
            done = range.end;
        }
        changed.push_str(&self.original[done..]);
        self.with(changed)
    }

    /// The same change without the whole lines at both sides that stay, so that their ends stay too.
    fn narrowed(&self, splice: &Splice) -> Splice {
        let old = &self.plain()[splice.range.clone()];
        let new = plain(&splice.new);
        let same_start = common_lines(old.split_inclusive('\n'), new.split_inclusive('\n'));
        let (old, new) = (&old[same_start..], &new[same_start..]);
        let ends = |text: &str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
        let (old_lines, new_lines) = (ends(old), ends(new));
        let mut same_end = 0;
        for (a, b) in old_lines.iter().rev().zip(new_lines.iter().rev()) {
            if a != b
                || old[old.len() - same_end - a..old.len() - same_end]
                    != new[new.len() - same_end - b..new.len() - same_end]
            {
                break;
            }
            same_end += a;
        }
        Splice {
            range: splice.range.start + same_start..splice.range.end - same_end,
            new: new[..new.len() - same_end].to_owned(),
        }
    }

    fn in_original(&self, offset: usize) -> usize {
        offset + self.carriages.partition_point(|at| *at < offset)
    }

    fn line_ends_at<'a>(&self, offset: usize, new: &'a str) -> Cow<'a, str> {
        if self.carriages.is_empty() {
            return Cow::Borrowed(new);
        }
        // The line itself, or where it is the last and has no end, the one before.
        let plain = self.plain();
        let end = plain[offset..].find('\n').map(|at| offset + at).or_else(|| plain[..offset].rfind('\n'));
        match end {
            Some(end) if self.carriages.binary_search(&end).is_ok() => Cow::Owned(new.replace('\n', "\r\n")),
            _ => Cow::Borrowed(new),
        }
    }
}

/// With `\n` for `\r\n`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// How many bytes of leading lines are the same.
fn common_lines<'a>(a: impl Iterator<Item = &'a str>, b: impl Iterator<Item = &'a str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
}
