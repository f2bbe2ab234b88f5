//! The slash commands that make sense in an editor. The rest is typed to an agent as it is.

use client::commands::{self, CommandId};
use client::{Client, ClientError};
use protocol::{AgentCommand, AgentId, FileEffect, Mode, ModelRef, Op, Reply, Request, SessionId};

/// Ours, in the order in which they are offered.
const OURS: &[CommandId] = &[
    CommandId::Compact,
    CommandId::Uncompact,
    CommandId::Undo,
    CommandId::Redo,
    CommandId::Diff,
    CommandId::Context,
    CommandId::Cost,
    CommandId::Pin,
    CommandId::Unpin,
    CommandId::Mode,
    CommandId::Model,
    CommandId::Agent,
    CommandId::Rename,
    CommandId::AddDir,
    CommandId::RemoveDir,
    CommandId::Shell,
    CommandId::Status,
    CommandId::Help,
];

/// What came of a prompt that may be a command.
pub(super) enum Said {
    /// It is none of ours.
    Nothing,
    /// It is a prompt in other words.
    Prompt(String),
    /// It is done, and this is what there is to say.
    Text(String),
}

/// What the editor lists.
pub(super) fn offered() -> Vec<AgentCommand> {
    let ours = commands::COMMANDS.iter().filter(|command| OURS.contains(&command.id));
    let command = |command: &commands::Command| AgentCommand {
        name: command.name.to_owned(),
        description: command.help.to_owned(),
        hint: command.hint.map(str::to_owned),
    };
    ours.map(command).collect()
}

pub(super) async fn run(client: &dyn Client, session: &SessionId, typed: Option<&str>) -> Said {
    let Some((command, rest)) = typed.and_then(|typed| commands::parse(typed.trim())) else {
        return Said::Nothing;
    };
    if !OURS.contains(&command.id) {
        return Said::Nothing;
    }
    match command.id {
        // The agent does this one, so that it is a turn like any other.
        CommandId::Compact => return Said::Nothing,
        CommandId::Shell if !rest.is_empty() => return Said::Prompt(format!("!{rest}")),
        _ => {}
    }
    let said = carry_out(client, session, command.id, rest).await;
    Said::Text(said.unwrap_or_else(|error| match error.hint {
        Some(hint) => format!("{}\n\nhint: {hint}", error.message),
        None => error.message,
    }))
}

async fn carry_out(
    client: &dyn Client,
    session: &SessionId,
    command: CommandId,
    rest: &str,
) -> Result<String, ClientError> {
    let session = session.clone();
    let given = (!rest.is_empty()).then(|| rest.to_owned());
    let item = rest.trim_start_matches('@').to_owned();
    Ok(match command {
        CommandId::Undo => {
            let request =
                Request::Changes { session: session.clone(), what: given.clone(), path: None, redo: false };
            let changes = changes(client, request).await?;
            client.submit(Op::Undo { session, what: given, path: None, force: false }).await?;
            format!("taken back:\n{changes}")
        }
        CommandId::Redo => {
            let request = Request::Changes { session: session.clone(), what: None, path: None, redo: true };
            let changes = changes(client, request).await?;
            client.submit(Op::Redo { session, force: false }).await?;
            format!("done again:\n{changes}")
        }
        CommandId::Diff => {
            let what = Some("all".to_owned());
            let changes =
                changes(client, Request::Changes { session, what, path: given, redo: false }).await?;
            format!("what this session changed:\n{changes}")
        }
        CommandId::Uncompact => {
            client.submit(Op::Uncompact { session }).await?;
            "the whole conversation is in the window again".to_owned()
        }
        CommandId::Pin if given.is_some() => {
            client.submit(Op::Pin { session, item: item.clone() }).await?;
            format!("pinned: {item}")
        }
        CommandId::Unpin if given.is_some() => {
            client.submit(Op::Unpin { session, item: item.clone() }).await?;
            format!("let go: {item}")
        }
        CommandId::Rename if given.is_some() => {
            client.submit(Op::Rename { session, title: rest.to_owned() }).await?;
            format!("this session is now called {rest}")
        }
        CommandId::Mode if given.is_some() => match rest.parse::<Mode>() {
            Ok(mode) => {
                client.submit(Op::SetMode { session, mode }).await?;
                format!("mode: {rest}")
            }
            Err(error) => error.to_string(),
        },
        CommandId::Model if given.is_some() => {
            client.submit(Op::SetModel { session, model: ModelRef::new(rest) }).await?;
            format!("from now on {rest} answers")
        }
        CommandId::Agent if given.is_some() => {
            client.submit(Op::SetAgent { session, agent: AgentId::new(rest), model: None }).await?;
            format!("from now on {rest} answers, and is told what happened so far")
        }
        CommandId::AddDir if given.is_some() => {
            let mut folders = folders(client, &session).await?;
            folders.push(rest.to_owned());
            client.submit(Op::SetFolders { session, folders }).await?;
            format!("this session works in {rest} too, until the editor names its folders again")
        }
        CommandId::RemoveDir if given.is_some() => {
            let mut folders = folders(client, &session).await?;
            folders.retain(|folder| folder.trim_end_matches('/') != rest.trim_end_matches('/'));
            client.submit(Op::SetFolders { session, folders }).await?;
            format!("this session no longer works in {rest}")
        }
        CommandId::Help => {
            let line = |command: AgentCommand| {
                let hint = command.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
                format!("- `/{}{hint}` {}\n", command.name, command.description)
            };
            offered().into_iter().map(line).collect()
        }
        other => about(client, session, other).await?,
    })
}

/// How the session is.
async fn about(client: &dyn Client, session: SessionId, command: CommandId) -> Result<String, ClientError> {
    let Reply::Session(view) = client.read(Request::Session { session }).await? else {
        return Ok(String::new());
    };
    let model = view.model.as_ref().map_or("its own model", ModelRef::as_str);
    let cost = view.usage.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
    let spent =
        format!("{} tokens in, {} out{cost}, {} turns", view.usage.input, view.usage.output, view.turns);
    Ok(match command {
        CommandId::Cost => spent,
        CommandId::Context => match &view.context {
            None => "nothing was sent to a model yet".to_owned(),
            Some(ledger) => {
                let window = ledger.window.map(|window| format!(" of {window}")).unwrap_or_default();
                let parts = ledger.parts.iter().map(|part| format!("- {}: {}\n", part.name, part.tokens));
                format!("{} tokens{window}\n\n{}", ledger.total(), parts.collect::<String>())
            }
        },
        CommandId::Pin | CommandId::Unpin if view.pins.is_empty() => "nothing is pinned".to_owned(),
        CommandId::Pin | CommandId::Unpin => view.pins.iter().map(|pin| format!("- {}\n", pin.pin)).collect(),
        CommandId::AddDir | CommandId::RemoveDir => {
            let folders = std::iter::once(&view.cwd).chain(&view.folders);
            folders.map(|folder| format!("- {folder}\n")).collect()
        }
        CommandId::Shell => "which command? /shell cargo test".to_owned(),
        _ => format!(
            "{} with {model}, mode {}, in {}\n\n{spent}\n\nsession {}",
            view.agent,
            view.mode.as_str(),
            view.cwd,
            view.session
        ),
    })
}

async fn folders(client: &dyn Client, session: &SessionId) -> Result<Vec<String>, ClientError> {
    match client.read(Request::Session { session: session.clone() }).await? {
        Reply::Session(view) => Ok(view.folders),
        _ => Ok(vec![]),
    }
}

/// What would change, a line each.
async fn changes(client: &dyn Client, request: Request) -> Result<String, ClientError> {
    let Reply::Changes(changes) = client.read(request).await? else { return Ok(String::new()) };
    if changes.is_empty() {
        return Ok("- nothing\n".to_owned());
    }
    let line = |change: &protocol::FileChange| {
        let does = match change.does {
            FileEffect::Create => "comes back",
            FileEffect::Restore => "as it was",
            FileEffect::Delete => "goes away",
        };
        let conflict = change.conflict.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("- `{}` {does}{conflict}\n", change.path)
    };
    Ok(changes.iter().map(line).collect())
}
