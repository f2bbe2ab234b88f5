//! Opening a session with an agent: the one it had, or a new one that is told what happened.

use std::sync::Arc;
use std::time::Duration;

use acp::{About, CallError, News, Opened, Place, RpcError};
use protocol::{AgentCommands, Effort, NoticeLevel, Update};
use tokio::sync::mpsc;

use super::connection::{Arrived, Connection, explain, out_of_turn};
use super::terminals::Terminals;
use crate::fleet::{Post, Trouble};
use crate::idle::Rests;
use crate::memory::Memory;
use crate::narrator::notice;
use crate::past;
use crate::roll::{OnRoll, Working};
use crate::thinking;
use crate::{Reporter, Turn};

/// How long an agent may take to open a session: taking up a long one means telling all of it again.
const OPENING: Duration = Duration::from_secs(180);
/// How long it may take to change a mode or a model.
const CHOOSING: Duration = Duration::from_secs(20);

/// A session with an agent.
pub(super) struct Live {
    pub(super) connection: Arc<Connection>,
    pub(super) session: Opened,
    pub(super) arrived: mpsc::Receiver<Arrived>,
    pub(super) terminals: Terminals,
    /// The project could only be looked at when its process was started.
    pub(super) only_looks: bool,
    /// What the session has cost so far, as the agent counts.
    pub(super) cost_usd: f64,
    chosen_mode: Option<String>,
    chosen_model: bool,
    chosen_effort: Option<Effort>,
    /// How much it thinks by itself, once it was told something else.
    usual_effort: Option<String>,
    working: Option<Working>,
}

impl Rests for Live {
    fn on_roll(&self) -> &Arc<OnRoll> {
        self.connection.on_roll()
    }

    fn working(&mut self) -> &mut Option<Working> {
        &mut self.working
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.connection.unroute(&self.session.id);
    }
}

/// A session that is ready for a prompt, and what the agent must be told before it.
pub(super) struct Ready {
    pub(super) live: Live,
    pub(super) preamble: Option<String>,
}

/// Finds or opens the session, and sets mode and model.
pub(super) async fn ready(
    post: &Post,
    kept: Option<Live>,
    turn: &Turn,
    reporter: &Reporter,
) -> Result<Ready, Trouble> {
    let only_looks = post.known.only_looks(turn.mode);
    let kept = kept.filter(|live| live.only_looks == only_looks && !live.connection.is_closed());
    let memory = past::remembered(post, turn).await;
    let (mut live, knows) = match kept {
        Some(live) => (live, memory.map(|memory| memory.turn)),
        None => open(post, memory, turn, reporter).await?,
    };
    live.only_looks = only_looks;
    let preamble = past::preamble(post, turn, knows.as_ref()).await;
    live.choose(post, turn, reporter).await;
    Ok(Ready { live, preamble })
}

async fn open(
    post: &Post,
    memory: Option<Memory>,
    turn: &Turn,
    reporter: &Reporter,
) -> Result<(Live, Option<protocol::TurnId>), Trouble> {
    let connection = {
        let files = post.known.entry.interface.files;
        post.fleet.connection(post.start(turn.mode, &[]), &post.id, files).await?
    };
    let servers = post.fleet.options.servers.iter().filter(|server| match server {
        acp::McpServer::Http { .. } => connection.agreed.mcp_http,
        acp::McpServer::Stdio { .. } => true,
    });
    let folders = if connection.agreed.folders { post.folders().to_vec() } else { vec![] };
    let place = Place { cwd: post.cwd.clone(), folders, servers: servers.cloned().collect() };
    let opening = take_up_or_begin(post, &connection, &place, memory, reporter);
    let opened = tokio::time::timeout(OPENING, opening).await.unwrap_or_else(|_| {
        let seconds = OPENING.as_secs();
        Err(Trouble::unreachable(format!("`{}` opened no session within {seconds} seconds", post.id), None))
    });
    let (session, arrived, knows) = opened?;
    connection.is_ready();
    let live = Live {
        working: Some(connection.on_roll().work()),
        connection,
        session,
        arrived,
        terminals: Terminals::default(),
        only_looks: false,
        cost_usd: 0.0,
        chosen_mode: None,
        chosen_model: false,
        chosen_effort: None,
        usual_effort: None,
    };
    Ok((live, knows))
}

type OpenedSession = (Opened, mpsc::Receiver<Arrived>, Option<protocol::TurnId>);

/// Resuming is best, loading is second, and a new session can always be had.
async fn take_up_or_begin(
    post: &Post,
    connection: &Connection,
    place: &Place,
    memory: Option<Memory>,
    reporter: &Reporter,
) -> Result<OpenedSession, Trouble> {
    let client = &connection.client;
    if let Some(Memory { session, turn, forks: true }) = &memory {
        // Where there is no copy to be had, a new session is told what happened.
        if connection.agreed.fork
            && let Ok(opened) = client.fork_session(session, place).await
        {
            let arrived = connection.route(&opened.id);
            return Ok((opened, arrived, Some(turn.clone())));
        }
    }
    if let Some(Memory { session, turn, forks: false }) = memory {
        let mut arrived = connection.route(&session);
        let agreed = &connection.agreed;
        let taken_up = if agreed.resume {
            settle(connection, &mut arrived, client.resume_session(&session, place), reporter).await
        } else if agreed.load {
            settle(connection, &mut arrived, client.load_session(&session, place), reporter).await
        } else {
            Err(CallError::Refused(RpcError::unknown_method("session/load")))
        };
        match taken_up {
            Ok(opened) => return Ok((opened, arrived, Some(turn))),
            Err(CallError::Closed) => {
                return Err(explain(&post.id, &CallError::Closed, &connection.last_words().await));
            }
            Err(_) => {
                connection.unroute(&session);
                reporter.send(past::begins_anew(&post.id)).await;
            }
        }
    }
    let mut begun = client.new_session(place).await;
    if let Err(CallError::Refused(refusal)) = &begun
        && refusal.code == RpcError::AUTH_REQUIRED
        && let Some(method) = key_method(post, connection)
        && client.authenticate(&method).await.is_ok()
    {
        begun = client.new_session(place).await;
    }
    match begun {
        Ok(opened) => {
            let arrived = connection.route(&opened.id);
            Ok((opened, arrived, None))
        }
        Err(error) => Err(explain(&post.id, &error, &connection.last_words().await)),
    }
}

/// A way to log in that needs nobody, because a key is there.
fn key_method(post: &Post, connection: &Connection) -> Option<String> {
    let options = &post.fleet.options;
    let key = post
        .known
        .entry
        .probe
        .variables
        .iter()
        .any(|name| (options.env)(name).is_some() || post.known.config.env.contains_key(name));
    let by_key = |method: &&acp::AuthMethod| method.id.contains("key") || method.id.contains("env");
    key.then(|| connection.agreed.auth.iter().find(by_key).map(|method| method.id.clone())).flatten()
}

/// Waits for an answer while what arrives is taken: a session that is loaded tells all of its past.
async fn settle<T>(
    connection: &Connection,
    arrived: &mut mpsc::Receiver<Arrived>,
    answer: impl Future<Output = Result<T, CallError>>,
    reporter: &Reporter,
) -> Result<T, CallError> {
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            Some(arrived) = arrived.recv() => between_turns(connection, arrived, reporter).await,
        }
    }
}

/// What arrives while no prompt runs. What was said is in our log already; what can be said lasts.
pub(super) async fn between_turns(connection: &Connection, arrived: Arrived, reporter: &Reporter) {
    match arrived {
        Arrived::News(News::Commands(AgentCommands { commands })) => {
            reporter.send(Update::Commands(AgentCommands { commands })).await;
        }
        Arrived::News(_) | Arrived::Odd(_) => {}
        Arrived::Ask { id, ask } => {
            // It hangs up by itself when it does not want to hear it.
            let _ = connection.client.peer().respond(&id, out_of_turn(&ask)).await;
        }
    }
}

impl Live {
    /// Sets the agent's own mode, model and thinking, where it has them. The walls hold either way.
    async fn choose(&mut self, post: &Post, turn: &Turn, reporter: &Reporter) {
        if let Some(wanted) = post.known.mode(turn.mode).map(str::to_owned)
            && self.chosen_mode.as_ref() != Some(&wanted)
        {
            self.chosen_mode = Some(wanted.clone());
            if let Some(problem) = self.choose_one(About::Mode, &wanted, reporter).await {
                let text = format!("`{}` keeps its own mode: {problem}", post.id);
                reporter.send(notice(NoticeLevel::Warning, text)).await;
            }
        }
        let by_argument = !post.known.entry.interface.model_args.is_empty();
        if let Some(model) = post.model.as_ref().filter(|_| !self.chosen_model && !by_argument) {
            self.chosen_model = true;
            if let Some(problem) = self.choose_one(About::Model, model, reporter).await {
                let text = format!("`{}` keeps its own model: {problem}", post.id);
                reporter.send(notice(NoticeLevel::Warning, text)).await;
            }
        }
        if self.chosen_effort != turn.effort {
            self.chosen_effort = turn.effort;
            self.choose_effort(post, turn.effort, reporter).await;
        }
    }

    async fn choose_effort(&mut self, post: &Post, effort: Option<Effort>, reporter: &Reporter) {
        let Some(option) = self.session.options.iter().find(|option| option.about == About::Thinking) else {
            if let Some(effort) = effort {
                reporter.send(thinking::not_offered(&post.id, effort)).await;
            }
            return;
        };
        let wanted = match effort {
            Some(effort) => {
                self.usual_effort.get_or_insert_with(|| option.current.clone());
                thinking::choice(option, effort, &post.known).map(|choice| choice.value.clone())
            }
            None => self.usual_effort.clone(),
        };
        let problem = match (wanted, effort) {
            (Some(wanted), _) => self.choose_one(About::Thinking, &wanted, reporter).await,
            (None, Some(effort)) => Some(format!("it has no word for `{}`", effort.as_str())),
            (None, None) => None,
        };
        if let Some(problem) = problem {
            let text = format!("`{}` thinks as it likes: {problem}", post.id);
            reporter.send(notice(NoticeLevel::Warning, text)).await;
        }
    }

    /// What went wrong, if anything did. Nothing to choose from is nothing wrong.
    async fn choose_one(&mut self, about: About, wanted: &str, reporter: &Reporter) -> Option<String> {
        let option = self.session.options.iter().find(|option| option.about == about)?.clone();
        let Some(choice) = option.choice(wanted) else {
            let there: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).collect();
            // A mode of ours that it has no word for is no news; a model that it does not have is.
            return (about == About::Model)
                .then(|| format!("it has no `{wanted}`, only {}", there.join(", ")));
        };
        if choice.value == option.current {
            return None;
        }
        let connection = self.connection.clone();
        let session = self.session.clone();
        let setting = connection.client.choose(&session, &option, &choice.value);
        let settled = settle(&connection, &mut self.arrived, setting, reporter);
        match tokio::time::timeout(CHOOSING, settled).await {
            Ok(Ok(())) => {
                for known in self.session.options.iter_mut().filter(|known| known.id == option.id) {
                    known.current.clone_from(&choice.value);
                }
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it did not answer".to_owned()),
        }
    }
}
