//! `covey session context` and `uncompact`: what fills the model's window, and getting back what was summarised.

use protocol::{Compaction, ContextLedger, EventBody, Timestamp};
use serde_json::json;
use sessions::Store;

use super::one_session;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, count, one_line, print};

const BAR: usize = 40;

pub(super) fn context(store: &Store, query: &str, json: bool) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    let view = store.open_view(&session)?;
    let Some(ledger) = view.context else {
        return Err(Failure::new("nobody counted what is in this session's window yet")
            .hint("it is counted at the end of each turn of the built-in agent"));
    };
    if json {
        let line = json!({"session": session, "total": ledger.total(), "context": ledger, "pins": view.pins});
        print(&format!("{line}\n"))?;
        return Ok(Exit::Done);
    }
    print(&draw(&ledger, Style::of(Stream::Out)))?;
    Ok(Exit::Done)
}

fn draw(ledger: &ContextLedger, style: Style) -> String {
    let total = ledger.total();
    let mut text = match ledger.window {
        Some(window) => {
            let usable = u64::from(window.saturating_sub(ledger.reserve)).max(1);
            let filled = (total as usize * BAR / usable as usize).min(BAR);
            format!(
                "{}{} {} of {} tokens, {} kept free for the answer\n",
                style.accent(&"█".repeat(filled)),
                style.faint(&"░".repeat(BAR - filled)),
                count(total),
                count(usable),
                count(u64::from(ledger.reserve)),
            )
        }
        None => format!("{} tokens\n", count(total)),
    };
    for part in &ledger.parts {
        let share = part.tokens * 100 / total.max(1);
        let source =
            part.source.as_deref().map(|source| format!("  {}", one_line(source, 40))).unwrap_or_default();
        text.push_str(&format!(
            "  {:>7}  {share:>3} %  {}{}\n",
            count(part.tokens),
            part.name,
            style.faint(&source)
        ));
    }
    text
}

/// The next prompt sees the whole conversation again, as far as it fits.
pub(super) fn uncompact(store: &Store, query: &str, json: bool) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    store.note(&session, EventBody::Compaction(Compaction::undo()), Timestamp::now())?;
    match json {
        true => print(&format!("{}\n", json!({"session": session, "uncompacted": true})))?,
        false => print("the whole conversation is back; what does not fit is cut back again\n")?,
    }
    Ok(Exit::Done)
}
