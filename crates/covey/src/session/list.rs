//! `covey session list`.

use std::fmt::Write;

use protocol::{SessionSummary, Timestamp};
use serde_json::json;
use sessions::{ListOptions, Store};

use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, ago, columns, one_line, print};

pub(super) fn list(store: &Store, limit: Option<usize>, here: bool, json: bool) -> Result<Exit, Failure> {
    let cwd = match here {
        true => Some(std::env::current_dir()?.to_string_lossy().into_owned()),
        false => None,
    };
    let listing = store.list(&ListOptions { cwd, limit })?;
    let mut out = String::new();
    if json {
        let unreadable = listing.unreadable.iter().map(|bad| json!({"session": bad.session, "why": bad.why}));
        let unreadable: Vec<_> = unreadable.collect();
        let _ = writeln!(out, "{}", json!({"sessions": listing.sessions, "unreadable": unreadable}));
        print(&out)?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let (now, width) = (Timestamp::now(), columns());
    for summary in &listing.sessions {
        let _ = writeln!(out, "{}", line(summary, now, width, style));
    }
    for bad in &listing.unreadable {
        let _ = writeln!(
            out,
            "{}  {}",
            bad.session,
            style.danger(&format!("unreadable: {}", one_line(&bad.why, 80)))
        );
    }
    if out.is_empty() {
        out.push_str("no sessions yet; covey run \"hello\" makes one\n");
    }
    print(&out)?;
    Ok(Exit::Done)
}

/// The id, the title, and on the right when it was and where, as far as there is room. The right side goes first.
fn line(summary: &SessionSummary, now: Timestamp, width: usize, style: Style) -> String {
    let id = summary.session.as_str();
    let turns = if summary.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", summary.turns) };
    let when = format!("{} · {turns}", ago(summary.updated, now));
    let place = format!("{when} · {}", one_line(&summary.cwd, 40));
    let room = |right: &str| width.saturating_sub(id.len() + 4 + right.chars().count());
    let title = if summary.title.is_empty() { "(no prompt yet)" } else { &summary.title };
    let (right, room) = match (room(&place), room(&when)) {
        (wide, _) if wide >= 32 => (place, wide),
        (_, narrow) if narrow >= 16 => (when, narrow),
        _ => (String::new(), width.saturating_sub(id.len() + 2).max(8)),
    };
    let title = one_line(title, room.min(60));
    format!("{}  {title}  {}", style.accent(id), style.faint(&right)).trim_end().to_owned()
}
