//! From a person's words to a query, and from rows to hits.

use std::ops::Range;

use protocol::Timestamp;
use rusqlite::{Connection, params};

use super::documents::{MARK_END, MARK_START};
use super::{Hit, HitKind};

/// The words as an FTS5 expression, or none when there are none. Everything is quoted, so nothing a person types is
/// taken for an operator.
pub(super) fn expression(query: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let (part, after, quoted) = match rest.strip_prefix('"') {
            Some(inner) => {
                let (phrase, after) = inner.split_once('"').unwrap_or((inner, ""));
                (phrase, after, true)
            }
            None => {
                let end = rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len());
                (&rest[..end], &rest[end..], false)
            }
        };
        // Signs alone are no words to the index.
        if part.contains(char::is_alphanumeric) {
            let part = part.replace('\0', " ");
            // The last word may not be finished yet, unless it was ended by a space or a quote.
            let open = if !quoted && after.is_empty() { "*" } else { "" };
            parts.push(format!("\"{part}\"{open}"));
        }
        rest = after.trim_start();
    }
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

pub(super) fn run(database: &Connection, expression: &str, limit: usize) -> rusqlite::Result<Vec<Hit>> {
    let mut statement = database.prepare_cached(
        "select s.id, s.title, d.seq, d.ts, d.kind,
                snippet(words, 0, char(1), char(2), '…', 24), rank
         from words
         join documents d on d.number = words.rowid
         join sessions s on s.number = d.session
         where words match ?1
         order by rank limit ?2",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![expression, limit], |row| {
        let id: String = row.get(0)?;
        let kind: i64 = row.get(4)?;
        let marked: String = row.get(5)?;
        let (snippet, marks) = marks(&marked);
        let rank: f64 = row.get(6)?;
        let hit = |session| Hit {
            session,
            title: row.get(1).unwrap_or_default(),
            seq: row.get::<_, i64>(2).map_or(0, |seq| seq.max(0) as u64),
            ts: Timestamp::from_millis(row.get(3).unwrap_or_default()),
            kind: match kind {
                0 => HitKind::Prompt,
                1 => HitKind::Answer,
                _ => HitKind::ToolCall,
            },
            snippet,
            marks,
            score: -rank,
        };
        // Only our own ids were written; anything else is damage and is not shown.
        Ok(id.parse().ok().map(hit))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// Takes the marks out of a snippet and says where they were.
fn marks(marked: &str) -> (String, Vec<Range<usize>>) {
    let mut text = String::with_capacity(marked.len());
    let mut ranges = Vec::new();
    let mut start = None;
    for c in marked.chars() {
        match c {
            MARK_START => start = Some(text.len()),
            MARK_END => ranges.extend(start.take().map(|start| start..text.len())),
            // One line, however it was written.
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    (text, ranges)
}
