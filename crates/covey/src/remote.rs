//! A server that is there already, and the sessions it has.

use std::sync::Arc;

use client::{Address, Client, Remote};
use protocol::{Reply, Request, SessionId};

use crate::exit::Failure;

/// Sessions that are looked through for a name.
const MANY: u32 = 2000;

/// Connects to what `--server` names.
pub(crate) async fn connect(server: &str) -> Result<Arc<dyn Client>, Failure> {
    // The token is a secret, and a command line is none; the variable keeps it out of there.
    let token = std::env::var("COVEY_TOKEN").ok();
    Ok(Arc::new(Remote::connect(Address::parse(server, token.as_deref())?).await?))
}

/// The session that the person means: one by its name, the newest of a folder, or a new one.
pub(crate) async fn session(
    client: &dyn Client,
    query: Option<&str>,
    continue_latest: bool,
    cwd: &str,
) -> Result<Option<SessionId>, Failure> {
    match (query, continue_latest) {
        (Some(query), _) => find(client, query).await.map(Some),
        (None, true) => latest(client, cwd).await.map(Some),
        (None, false) => Ok(None),
    }
}

/// By its id, the start of it, or words of its title.
async fn find(client: &dyn Client, query: &str) -> Result<SessionId, Failure> {
    let Reply::Sessions(all) = client.read(Request::Sessions { cwd: None, limit: MANY }).await? else {
        return Err(Failure::new("the server gave an answer to another question"));
    };
    let words = query.to_lowercase();
    let fits: Vec<_> = all
        .into_iter()
        .filter(|one| one.session.as_str().starts_with(query) || one.title.to_lowercase().contains(&words))
        .collect();
    match fits.as_slice() {
        [one] => Ok(one.session.clone()),
        [] => Err(Failure::new(format!("the server has no session `{query}`"))),
        many => {
            Err(Failure::usage(format!("{} sessions fit `{query}`", many.len())).hint("name one by its id"))
        }
    }
}

async fn latest(client: &dyn Client, cwd: &str) -> Result<SessionId, Failure> {
    match client.read(Request::Sessions { cwd: Some(cwd.to_owned()), limit: 1 }).await? {
        Reply::Sessions(list) if !list.is_empty() => Ok(list[0].session.clone()),
        _ => Err(Failure::usage(format!("the server has no session in `{cwd}` to continue"))),
    }
}
