//! From what a person typed to what an agent is sent.
//!
//! A command is spelled out, mentioned files come along, and what the code index knows about the question is put beside
//! it. All of it is recorded with the prompt, so that every agent sees the same and a log can be read again later.

mod commands;
mod mentions;
mod offer;

use std::path::PathBuf;
use std::sync::Arc;

use guard::Redactor;
use index::{AutoOptions, Index};
use project::Host;
use protocol::{Content, ItemBody, Resource, SessionView};

use crate::servers::ServerSet;
pub(crate) use commands::{Commands, named};
pub(crate) use mentions::{Spec, fetch};
pub(crate) use offer::{RoleName, offer};

/// Prompts with fewer words than this have nothing to look up.
const WORTH_LOOKING_UP: usize = 3;
/// Before the places that were put beside a prompt, in the name of what was put there.
const LOOKED_UP: &str = "context:";

/// Where a prompt was typed.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) index: Option<Index>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) servers: Arc<ServerSet>,
    /// The roles that sub-agents can have; read when somebody mentions one.
    pub(crate) roles: Box<dyn Fn() -> Vec<RoleName> + Send + Sync>,
}

/// Spells a prompt out. `commands` is asked only for one that begins like a command, `view` only when something could be
/// put beside it. What can not be found stays as it was typed.
pub(crate) async fn prepare(
    prompt: Vec<Content>,
    place: &Place,
    commands: impl FnOnce() -> Commands,
    budget: usize,
    view: Option<&SessionView>,
) -> Vec<Content> {
    let typed: Vec<String> = prompt.iter().filter_map(Content::as_text).map(str::to_owned).collect();
    if crate::native::typed_command(&prompt).is_some() {
        // A shell's words are not ours to spell out.
        return prompt;
    }
    let mut added = Vec::new();
    let command = typed.first().and_then(|text| named(text));
    if let Some((name, arguments)) = command {
        let spelled = match commands().spelled_out(name, arguments) {
            Some(spelled) => Some(spelled),
            None => place.servers.spelled_out(name, arguments).await,
        };
        added.extend(spelled.map(Content::Resource));
    }
    let spelled: Vec<String> = added.iter().filter_map(text_of).collect();
    added.extend(mentions::resolve(typed.iter().chain(&spelled), place).await);
    if let Some(view) = view.filter(|_| budget > 0 && command.is_none()) {
        added.extend(looked_up(&typed.join("\n"), place, budget, view, &added).await);
    }
    prompt.into_iter().chain(added).collect()
}

fn text_of(content: &Content) -> Option<String> {
    match content {
        Content::Resource(resource) => resource.text.clone(),
        _ => None,
    }
}

/// Pieces of the project that fit the prompt, from an index that is there already: nobody waits for one to be made.
async fn looked_up(
    text: &str,
    place: &Place,
    budget: usize,
    view: &SessionView,
    added: &[Content],
) -> Option<Content> {
    let index = place.index.clone().filter(Index::exists)?;
    if text.split_whitespace().count() < WORTH_LOOKING_UP {
        return None;
    }
    let options = AutoOptions {
        budget,
        already: already(view, added),
        // Words answer in milliseconds; the encoder would have to be loaded first.
        mode: index::Mode::Lexical,
        ..AutoOptions::default()
    };
    let text = text.to_owned();
    let found =
        tokio::task::spawn_blocking(move || index.searcher().auto_context(&text, &options)).await.ok()?;
    // Without it the agent looks things up itself.
    let found = found.ok()??;
    let names: Vec<String> =
        found.places.iter().map(|(file, from, to)| format!("{file}#L{from}-{to}")).collect();
    let text = place.redactor.redact(&found.text).into_owned();
    Some(Content::Resource(Resource {
        uri: format!("{LOOKED_UP}{}", names.join(",")),
        media_type: None,
        text: Some(text),
        blob: None,
    }))
}

/// What the conversation shows already: files that were read, mentioned or looked up.
fn already(view: &SessionView, added: &[Content]) -> Vec<(String, Option<(u32, u32)>)> {
    let mut seen = Vec::new();
    let prompts = view.items.iter().filter_map(|item| match &item.body {
        ItemBody::Prompt { content } => Some(content.as_slice()),
        _ => None,
    });
    for content in prompts.flatten().chain(added) {
        let Content::Resource(resource) = content else { continue };
        let names = resource.uri.strip_prefix(LOOKED_UP).unwrap_or(&resource.uri);
        seen.extend(names.split(',').map(|name| match name.split_once("#L") {
            Some((file, lines)) => (file.to_owned(), range(lines)),
            None => (name.to_owned(), None),
        }));
    }
    for item in &view.items {
        let ItemBody::Tool { call, .. } = &item.body else { continue };
        if call.name == "read" {
            seen.extend(call.locations.iter().map(|location| (location.path.clone(), None)));
        }
    }
    seen
}

fn range(lines: &str) -> Option<(u32, u32)> {
    let (from, to) = lines.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}
