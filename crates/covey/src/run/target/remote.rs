//! A run on a server that is there already.

use std::sync::Arc;

use client::{Address, Client, Remote};
use protocol::{ModelRef, Reply, Request, SessionId};

use super::{Target, create, resume};
use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::run::folder;
use crate::settings::Settings;

/// Sessions that are looked through for a name.
const MANY: u32 = 2000;

pub(super) async fn choose(
    settings: &Settings,
    arguments: &RunArguments,
    server: &str,
) -> Result<Target, Failure> {
    // The token is a secret, and a command line is none; the variable keeps it out of there.
    let token = std::env::var("COVEY_TOKEN").ok();
    let client: Arc<dyn Client> = Arc::new(Remote::connect(Address::parse(server, token.as_deref())?).await?);
    let model = arguments.model.clone().map(ModelRef::from);
    let existing = match (&arguments.session, arguments.continue_latest) {
        (Some(query), _) => Some(find(client.as_ref(), query).await?),
        (None, true) => Some(latest(client.as_ref(), &folder(&settings.cwd)).await?),
        (None, false) => None,
    };
    match existing {
        None => create(client, settings, arguments, model).await,
        Some(session) => resume(client, session, arguments, model).await,
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
