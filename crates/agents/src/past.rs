//! What an agent knows of the conversation, and what it has to be told before a prompt.

use protocol::{AgentId, Event, EventBody, NoticeLevel, TurnId, Update};

use crate::Turn;
use crate::fleet::Post;
use crate::handover::{self, HISTORY_BYTES};
use crate::memory::Memory;
use crate::narrator::notice;
use crate::telling::is_child;

/// The agent's own session, if it had one here, or where this session was copied from. A child turn has a conversation
/// of its own.
pub(crate) async fn remembered(post: &Post, turn: &Turn) -> Option<Memory> {
    if is_child(turn) {
        return None;
    }
    match Memory::read(&turn.services.folder(), &post.id) {
        Some(memory) => Some(memory),
        None => of_parent(post, turn).await,
    }
}

/// What it remembers of the session that this one is a copy of, if it knows the same of it as this one.
async fn of_parent(post: &Post, turn: &Turn) -> Option<Memory> {
    let events = turn.services.history(HISTORY_BYTES).await.ok()?;
    let parent = events.iter().find_map(|event| match &event.body {
        EventBody::SessionStart(start) => start.forked_from.as_ref().map(|fork| fork.session.clone()),
        _ => None,
    })?;
    let memory = Memory::read(&turn.services.folder().parent()?.join(parent.as_str()), &post.id)?;
    let last = events.iter().rev().filter(|event| !event.is_of_child()).find_map(|event| event.turn.as_ref());
    (last == Some(&memory.turn)).then_some(Memory { forks: true, ..memory })
}

/// What happened since the turn that it knows last; all of it when it knows none.
pub(crate) async fn preamble(post: &Post, turn: &Turn, knows: Option<&TurnId>) -> Option<String> {
    if is_child(turn) {
        return None;
    }
    // Without its past a conversation still goes on.
    let events = turn.services.history(HISTORY_BYTES).await.ok()?;
    let told = [new_folders(post, &events, knows), handover::preamble(&events, &post.id, knows)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join("\n\n"))
}

/// The folders besides the project, unless it knows of them. Not every agent can be told by an option, and none tells its
/// model of a change.
fn new_folders(post: &Post, events: &[Event], knows: Option<&TurnId>) -> Option<String> {
    let since = events.iter().rev().take_while(|event| knows.is_none() || event.turn.as_ref() != knows);
    let changed = since.into_iter().any(|event| matches!(event.body, EventBody::Folders(_)));
    let folders: Vec<String> =
        post.folders().iter().map(|folder| format!("`{}`", folder.display())).collect();
    let is_news = changed || knows.is_none();
    (is_news && !folders.is_empty()).then(|| {
        format!("Besides the working folder, these folders belong to the project: {}.", folders.join(", "))
    })
}

/// Writes down what its session is called, to be taken up again.
pub(crate) fn remember(post: &Post, turn: &Turn, session: &str) {
    if !is_child(turn) {
        let memory = Memory { session: session.to_owned(), turn: turn.id.clone(), forks: false };
        memory.write(&turn.services.folder(), &post.id);
    }
}

/// What a person is told when an agent has forgotten its session.
pub(crate) fn begins_anew(id: &AgentId) -> Update {
    let text =
        format!("`{id}` can not take up its session again; it begins a new one and is told what happened");
    notice(NoticeLevel::Info, text)
}
