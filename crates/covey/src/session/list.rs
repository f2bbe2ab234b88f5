//! `covey session list`.

use std::fmt::Write;

use protocol::Timestamp;
use serde_json::json;
use sessions::{ListOptions, Store};

use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, ago, one_line};

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
        super::print(&out)?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let now = Timestamp::now();
    for summary in &listing.sessions {
        let title = if summary.title.is_empty() {
            "(no prompt yet)".to_owned()
        } else {
            one_line(&summary.title, 60)
        };
        let turns = if summary.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", summary.turns) };
        let _ = writeln!(
            out,
            "{}  {title}  {}",
            style.accent(summary.session.as_str()),
            style.faint(&format!("{} · {turns} · {}", ago(summary.updated, now), one_line(&summary.cwd, 60)))
        );
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
    super::print(&out)?;
    Ok(Exit::Done)
}
