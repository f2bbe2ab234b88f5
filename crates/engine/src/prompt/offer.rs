//! What can be mentioned, offered while somebody types after an `@`.

use std::path::Path;
use std::time::Duration;

use index::{Cancel, IfBusy, Index, IndexError};
use protocol::{Mention, MentionKind};

use super::Place;

/// Of each kind, before more of the first.
const FIRST_PATHS: usize = 4;
const MOST_SYMBOLS: usize = 6;
const MOST_AGENTS: usize = 4;
/// How long somebody who types waits for an index that is not there yet.
const PATIENCE: Duration = Duration::from_secs(2);
const BUSY: Duration = Duration::from_millis(20);

/// A role that a sub-agent can have: its name, and what it is for.
pub(crate) type RoleName = (String, String);

/// The best fits of each kind: a few paths, then sub-agents and names in the code, then more paths.
pub(crate) async fn offer(fragment: &str, limit: usize, place: &Place) -> Vec<Mention> {
    let (root, text) = (place.cwd.clone(), fragment.to_owned());
    let paths = tokio::task::spawn_blocking(move || project::complete_paths(&root, &text, limit));
    let (paths, symbols) = tokio::join!(paths, symbols(fragment, place));
    // Nobody is told while they type; what failed has nothing to offer.
    let mut paths = paths.unwrap_or_default().into_iter().map(|name| Mention {
        kind: MentionKind::Path,
        name,
        detail: String::new(),
    });
    let mut offered: Vec<Mention> = paths.by_ref().take(FIRST_PATHS).collect();
    offered.extend(agents(fragment, (place.roles)()));
    offered.extend(symbols);
    offered.extend(paths);
    offered.truncate(limit);
    offered
}

fn agents(fragment: &str, roles: Vec<RoleName>) -> Vec<Mention> {
    let wanted = fragment.to_lowercase();
    let mut fits: Vec<(bool, RoleName)> = roles
        .into_iter()
        .filter(|(name, _)| name.to_lowercase().contains(&wanted))
        .map(|role| (!role.0.to_lowercase().starts_with(&wanted), role))
        .collect();
    fits.sort();
    let agent = |(_, (name, detail)): (bool, RoleName)| Mention { kind: MentionKind::Agent, name, detail };
    fits.into_iter().take(MOST_AGENTS).map(agent).collect()
}

async fn symbols(fragment: &str, place: &Place) -> Vec<Mention> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let Some(index) = place.index.clone() else { return vec![] };
    if fragment.chars().count() < 2 || !fragment.chars().all(is_name) {
        return vec![];
    }
    let (wanted, cancel) = (fragment.to_owned(), Cancel::default());
    let stop = cancel.clone();
    let search = tokio::task::spawn_blocking(move || named_like(&index, &wanted, &cancel));
    let mut search = std::pin::pin!(search);
    let found = match tokio::time::timeout(PATIENCE, &mut search).await {
        Ok(found) => found,
        Err(_) => {
            stop.cancel();
            search.await
        }
    };
    let symbol = |found: index::Place| {
        let file = Path::new(&found.file).display();
        let detail = format!("{file}:{}", found.line);
        Some(Mention { kind: MentionKind::Symbol, name: found.symbol?, detail })
    };
    found.unwrap_or_default().into_iter().filter_map(symbol).collect()
}

fn named_like(index: &Index, wanted: &str, cancel: &Cancel) -> Vec<index::Place> {
    // One that is there answers as it is: keys do not wait for files. One that somebody makes just now, perhaps for the
    // letter before, is worth a moment.
    while !index.exists() && !cancel.is_cancelled() {
        match index.update(IfBusy::Refuse, &|_| {}, cancel) {
            Err(IndexError::Busy { .. }) => std::thread::sleep(BUSY),
            _ => break,
        }
    }
    index.searcher().named_like(wanted, MOST_SYMBOLS)
}
