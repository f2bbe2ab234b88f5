//! `covey session search`.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use protocol::Timestamp;
use serde_json::{Value, json};
use sessions::{Hit, HitKind, Search, SearchError, Store};

use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, ago, columns, one_line, print, tell, tell_warning};

pub(super) fn search(
    store: &Store,
    database: &Path,
    query: &str,
    limit: usize,
    json: bool,
) -> Result<Exit, Failure> {
    let mut search = Search::open(database).map_err(failure)?;
    let watched = Stream::Err.is_terminal();
    let style = Style::of(Stream::Err);
    let started = Instant::now();
    let mut last_shown: Option<Instant> = None;
    let updated = search
        .update(store, &mut |progress| {
            // Only work that takes a while is worth a line.
            let due = last_shown.map_or(started.elapsed() > Duration::from_millis(500), |last| {
                last.elapsed() > Duration::from_millis(100)
            });
            if watched && due {
                last_shown = Some(Instant::now());
                let line = format!("reading  {} of {} sessions", progress.sessions_done, progress.sessions);
                tell(&format!("\r{}\x1b[K", style.faint(&line)));
            }
            ControlFlow::Continue(())
        })
        .map_err(failure)?;
    if last_shown.is_some() {
        tell("\r\x1b[K");
    }
    for (session, why) in &updated.failed {
        tell_warning(&format!("`{session}` was not searched: {}", one_line(why, 100)));
    }
    let hits = search.search(query, limit).map_err(failure)?;
    let out = if json {
        hits.iter().map(|hit| format!("{}\n", as_json(hit))).collect()
    } else {
        as_text(&hits, query)
    };
    print(&out)?;
    Ok(Exit::Done)
}

fn as_text(hits: &[Hit], query: &str) -> String {
    if hits.is_empty() {
        return format!("nothing about `{}` in any session\n", one_line(query, 60));
    }
    let style = Style::of(Stream::Out);
    let (now, width) = (Timestamp::now(), columns());
    let mut out = String::new();
    let mut shown = Vec::new();
    for hit in hits {
        if shown.contains(&&hit.session) {
            continue;
        }
        // All that was found in one session stands together, below its best find.
        shown.push(&hit.session);
        let id = hit.session.as_str();
        let when = ago(hit.ts, now);
        let title = one_line(&hit.title, width.saturating_sub(id.len() + 4 + when.chars().count()).max(8));
        let _ = writeln!(out, "{}  {title}  {}", style.accent(id), style.faint(&when));
        for hit in hits.iter().filter(|other| other.session == hit.session) {
            let place = format!("{:>9} {:<5}", kind(hit.kind), hit.seq);
            let room = width.saturating_sub(place.chars().count() + 4).max(16);
            let _ = writeln!(out, "  {}  {}", style.faint(&place), marked(hit, room, style));
        }
    }
    out
}

/// The snippet with its finds made strong, cut to what fits.
fn marked(hit: &Hit, mut room: usize, style: Style) -> String {
    let mut out = String::new();
    let mut take = |text: &str| {
        let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(room).collect();
        room -= clean.chars().count();
        clean
    };
    let mut at = 0;
    for mark in &hit.marks {
        let (Some(before), Some(found)) = (hit.snippet.get(at..mark.start), hit.snippet.get(mark.clone()))
        else {
            continue;
        };
        out.push_str(&take(before));
        out.push_str(&style.strong(&take(found)));
        at = mark.end;
    }
    out.push_str(&take(hit.snippet.get(at..).unwrap_or_default()));
    out
}

fn as_json(hit: &Hit) -> Value {
    let marks: Vec<Value> = hit.marks.iter().map(|mark| json!([mark.start, mark.end])).collect();
    json!({
        "session": hit.session,
        "title": hit.title,
        "seq": hit.seq,
        "ts": hit.ts,
        "kind": kind(hit.kind),
        "snippet": hit.snippet,
        "marks": marks,
        "score": hit.score,
    })
}

fn kind(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Prompt => "prompt",
        HitKind::Answer => "answer",
        HitKind::ToolCall => "tool_call",
    }
}

fn failure(error: SearchError) -> Failure {
    Failure::from_error(&error)
}
