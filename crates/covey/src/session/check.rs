//! `covey session verify`.

use std::fmt::Write;

use serde_json::{Value, json};
use sessions::{CacheState, Report, Store};

use super::one_session;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, print};

pub(super) fn verify(store: &Store, query: Option<&str>, json: bool) -> Result<Exit, Failure> {
    let sessions = match query {
        Some(query) => vec![one_session(store, query)?],
        None => store.ids()?,
    };
    let style = Style::of(Stream::Out);
    let mut all_sound = true;
    for session in sessions {
        let line = match store.verify(&session) {
            Ok(report) => {
                all_sound &= report.is_sound();
                if json {
                    format!("{}\n", as_json(session.as_str(), &report))
                } else {
                    as_text(session.as_str(), &report, style)
                }
            }
            Err(error) => {
                all_sound = false;
                let why = Failure::from(error).message;
                match json {
                    true => format!("{}\n", json!({"session": session, "sound": false, "error": why})),
                    false => format!("{} {session}  {why}\n", style.danger("✗")),
                }
            }
        };
        print(&line)?;
    }
    Ok(if all_sound { Exit::Done } else { Exit::Failed })
}

fn as_text(session: &str, report: &Report, style: Style) -> String {
    let sign = if report.is_sound() { style.good("✓") } else { style.danger("✗") };
    let mut out = format!("{sign} {session}  {} events, {} bytes\n", report.events, report.bytes);
    for damage in &report.damaged {
        let seq = damage.seq.map(|seq| format!(" (event {seq})")).unwrap_or_default();
        let _ = writeln!(out, "    damaged at byte {}{seq}: {}", damage.offset, damage.why);
    }
    let unlisted = report.damaged_count.saturating_sub(report.damaged.len() as u64);
    if unlisted > 0 {
        let _ = writeln!(out, "    … and {unlisted} more damaged records");
    }
    for gap in &report.gaps {
        let _ = writeln!(out, "    events {}-{} are missing", gap.start(), gap.end());
    }
    for seq in &report.duplicates {
        let _ = writeln!(out, "    event {seq} is there twice");
    }
    if !report.starts_well {
        let _ = writeln!(out, "    the first record is not session_start");
    }
    if report.torn_tail > 0 {
        let _ = writeln!(out, "    the last {} bytes are torn; the next run repairs that", report.torn_tail);
    }
    for blob in &report.missing_blobs {
        let _ = writeln!(out, "    blob {blob} is missing");
    }
    for blob in &report.damaged_blobs {
        let _ = writeln!(out, "    blob {blob} is damaged");
    }
    for repair in &report.repairs {
        let kept = repair.kept_in.as_deref().map(|file| format!(", kept in {file}")).unwrap_or_default();
        let _ = writeln!(out, "    repaired: {} bytes cut at byte {}{kept}", repair.bytes, repair.offset);
    }
    out
}

fn as_json(session: &str, report: &Report) -> Value {
    let damaged: Vec<Value> = report
        .damaged
        .iter()
        .map(|damage| json!({"offset": damage.offset, "bytes": damage.bytes, "seq": damage.seq, "why": damage.why.to_string()}))
        .collect();
    let gaps: Vec<Value> = report.gaps.iter().map(|gap| json!([gap.start(), gap.end()])).collect();
    json!({
        "session": session,
        "sound": report.is_sound(),
        "events": report.events,
        "bytes": report.bytes,
        "damaged": damaged,
        "damaged_count": report.damaged_count,
        "gaps": gaps,
        "duplicates": report.duplicates,
        "starts_well": report.starts_well,
        "torn_tail": report.torn_tail,
        "missing_blobs": report.missing_blobs,
        "damaged_blobs": report.damaged_blobs,
        "repairs": report.repairs,
        "caches": {
            "index": cache(&report.index),
            "snapshot": cache(&report.snapshot),
            "metadata": cache(&report.metadata),
        },
    })
}

fn cache(state: &CacheState) -> String {
    format!("{state:?}").to_lowercase()
}
