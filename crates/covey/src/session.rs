//! `covey session`: recorded sessions.

mod check;
mod context;
mod import;
mod list;
mod manage;
mod replay;
mod search;
mod show;
mod undo;

use protocol::{SessionId, SessionSummary};
use sessions::{Found, Store};

use crate::cli::SessionCommand;
use crate::exit::{Exit, Failure};
use crate::settings::home;
use crate::terminal::one_line;

pub(crate) fn session(command: SessionCommand) -> Result<Exit, Failure> {
    let home = home()?;
    let store = Store::new(home.sessions_dir()).owned_by("covey session");
    match command {
        SessionCommand::List { limit, all, here, json } => {
            list::list(&store, if all { None } else { Some(limit) }, here, json)
        }
        SessionCommand::Show { session, last, json } => show::show(&store, &session, last, json),
        SessionCommand::Search { words, limit, json } => {
            search::search(&store, &home.data_dir().join("search.sqlite"), &words.join(" "), limit, json)
        }
        SessionCommand::Export { session, format, output, json } => {
            show::export(&store, &session, format, output.as_deref(), json)
        }
        SessionCommand::Replay { session, speed, idle, types, text, from, json } => {
            let pace = replay::Pace { speed, idle: idle.0 };
            replay::replay(&store, &session, pace, replay::filter(&types, text)?, from, json)
        }
        SessionCommand::Import { from: Some(agent), list: true, cwd, json, .. } => {
            import::list(&agent, cwd.as_deref(), json)
        }
        SessionCommand::Import { from: Some(agent), cwd, json, .. } => {
            import::newest(&store, &agent, cwd.as_deref(), json)
        }
        SessionCommand::Import { files, cwd, json, .. } => {
            import::import(&store, &files, cwd.as_deref(), json)
        }
        SessionCommand::Fork { session, at, json } => manage::fork(&store, &session, at, json),
        SessionCommand::Rename { session, title, json } => manage::rename(&store, &session, &title, json),
        SessionCommand::Delete { sessions, json } => manage::delete(&store, &sessions, json),
        SessionCommand::Context { session, json } => context::context(&store, &session, json),
        SessionCommand::Uncompact { session, json } => context::uncompact(&store, &session, json),
        SessionCommand::Undo(arguments) => undo::undo(&store, &arguments),
        SessionCommand::Redo(arguments) => undo::redo(&store, &arguments),
        SessionCommand::Diff { session, turn, path, json } => {
            undo::diff(&store, session.as_deref(), turn, path.as_deref(), json)
        }
        SessionCommand::Verify { session, json } => check::verify(&store, session.as_deref(), json),
    }
}

/// The one session that a person means.
pub(crate) fn one_session(store: &Store, query: &str) -> Result<SessionId, Failure> {
    match store.find(query)? {
        Found::One(session) => Ok(session),
        Found::None => Err(Failure::usage(format!("no session fits `{}`", one_line(query, 60)))
            .hint("list them: covey session list")),
        Found::Ambiguous(candidates) => Err(ambiguous(query, &candidates)),
    }
}

fn ambiguous(query: &str, candidates: &[SessionSummary]) -> Failure {
    const SHOWN: usize = 10;
    let mut message = format!("`{}` fits {} sessions:", one_line(query, 60), candidates.len());
    for candidate in candidates.iter().take(SHOWN) {
        message.push_str(&format!("\n  {}  {}", candidate.session, one_line(&candidate.title, 60)));
    }
    if candidates.len() > SHOWN {
        message.push_str(&format!("\n  … and {} more", candidates.len() - SHOWN));
    }
    Failure::usage(message).hint("say more of the id or the title")
}
