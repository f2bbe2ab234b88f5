//! Making room for an agent that can not do so itself: it begins a new session and is told what happened in short.

use protocol::{Content, Event, EventBody, NoticeLevel};

use crate::fleet::Post;
use crate::handover::HISTORY_BYTES;
use crate::memory::Memory;
use crate::narrator::notice;
use crate::telling::is_child;
use crate::{Reporter, Turn};

const COMPACT: &str = "compact";

/// Whether the prompt was a `/compact` that the agent does not understand. Then it is done: the agent's own session is
/// forgotten, and the next prompt opens another with our summary before it.
pub(crate) async fn began_anew(post: &Post, turn: &Turn, reporter: &Reporter) -> bool {
    let asked = matches!(turn.prompt.as_slice(), [Content::Text { text }] if is_compact(text));
    if !asked || is_child(turn) {
        return false;
    }
    let events = turn.services.history(HISTORY_BYTES).await.unwrap_or_default();
    if offers(&events) {
        return false;
    }
    Memory::forget(&turn.services.folder(), &post.id);
    let text = format!(
        "`{}` can not make its conversation smaller; from the next prompt on it has a new one, and is told what happened in short",
        post.id
    );
    reporter.send(notice(NoticeLevel::Info, text)).await;
    true
}

fn is_compact(text: &str) -> bool {
    let typed = text.trim().strip_prefix('/');
    typed.and_then(|typed| typed.split_whitespace().next()) == Some(COMPACT)
}

/// Whether the agent said that it knows the command itself.
fn offers(events: &[Event]) -> bool {
    let last = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Commands(list) => Some(list),
        _ => None,
    });
    last.is_some_and(|list| list.commands.iter().any(|command| command.name == COMPACT))
}
