//! Making room for an agent that can not do so itself: it begins a new session and is told what happened in short.

use protocol::{Content, Event, EventBody, NoticeLevel};

use crate::fleet::Post;
use crate::handover::HISTORY_BYTES;
use crate::memory::Memory;
use crate::narrator::{Narrator, notice};
use crate::telling::is_child;
use crate::{Reporter, Turn};

const COMPACT: &str = "compact";

/// Whether the prompt was a `/compact` that the agent does not understand. Then it is done: the agent's own session is
/// forgotten, and the next prompt opens another with our summary before it.
pub(crate) async fn began_anew(post: &Post, turn: &Turn, reporter: &Reporter) -> bool {
    if !is_asked(turn) || is_child(turn) {
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
    for update in Narrator::new(turn.id.clone()).compacted(String::new(), 0) {
        reporter.send(update).await;
    }
    true
}

/// Whether the prompt was a `/compact` that goes to the agent: one that knows it by that name and says nothing of it
/// has done it when its turn is done.
pub(crate) fn is_asked(turn: &Turn) -> bool {
    matches!(turn.prompt.as_slice(), [Content::Text { text }] if is_compact(text))
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
