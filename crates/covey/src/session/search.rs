//! `covey session search`.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use protocol::Timestamp;
use serde_json::{Value, json};
use sessions::{Hit, HitKind, Search, SearchError, Store};

use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, ago, one_line, print, tell, tell_warning};

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
    let now = Timestamp::now();
    let mut out = String::new();
    for hit in hits {
        let title = one_line(&hit.title, 50);
        let about = format!("{} · {} · event {}", ago(hit.ts, now), kind(hit.kind), hit.seq);
        let _ = writeln!(out, "{}  {title}  {}", style.accent(hit.session.as_str()), style.faint(&about));
        let _ = writeln!(out, "    {}", marked(hit, style));
    }
    out
}

/// The snippet with its finds made strong.
fn marked(hit: &Hit, style: Style) -> String {
    let mut out = String::new();
    let mut at = 0;
    let clean = |text: &str| text.replace(|c: char| c.is_control(), " ");
    for mark in &hit.marks {
        let (Some(before), Some(found)) = (hit.snippet.get(at..mark.start), hit.snippet.get(mark.clone()))
        else {
            continue;
        };
        out.push_str(&clean(before));
        out.push_str(&style.strong(&clean(found)));
        at = mark.end;
    }
    out.push_str(&clean(hit.snippet.get(at..).unwrap_or_default()));
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
