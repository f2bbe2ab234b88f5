//! One helper touches the API; each test is a story in and text out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{Engine, EngineOptions};
use futures::StreamExt;
use models::{Catalogue, RetryPolicy};
use project::Home;
use protocol::{
    Content, Decision, Event, EventBody, Limits, Mode, Op, PermissionOutcome, SessionId, ToolContent, TurnId,
};
use sessions::Store;
use testkit::{ModelServer, Script};

/// A project, a model and an engine.
pub(crate) struct World {
    pub(crate) server: ModelServer,
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) project: PathBuf,
    pub(crate) folder: tempfile::TempDir,
    window: u32,
    wire: &'static str,
}

/// The ways in which models are spoken to.
pub(crate) const WIRES: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

impl World {
    /// `script` is what the model says; see [`Script`].
    pub(crate) async fn new(script: &str) -> Self {
        Self::with_window(script, 100_000).await
    }

    /// With a model that takes so many tokens.
    pub(crate) async fn with_window(script: &str, window: u32) -> Self {
        let server = ModelServer::start(script.parse::<Script>().unwrap()).await.unwrap();
        Self::made_of(server, window, WIRES[0])
    }

    /// With a model that refuses what its vendor would refuse.
    pub(crate) async fn strict(wire: &'static str) -> Self {
        let server = ModelServer::start(Script::default()).await.unwrap().strict();
        Self::made_of(server, 100_000, wire)
    }

    fn made_of(server: ModelServer, window: u32, wire: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let store = Store::new(folder.path().join("sessions"));
        let engine = new_engine(&server, &store, folder.path(), window, wire);
        Self { server, engine, store, project, folder, window, wire }
    }

    /// A file of the person's own.
    pub(crate) fn keep(&self, path: &str, text: &str) {
        let path = home_in(self.folder.path()).config_dir().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The person accepts everything in the project as it is now.
    pub(crate) fn trust(&self) {
        let root = self.project.canonicalize().unwrap();
        let mut store = guard::TrustStore::open(home_in(self.folder.path()).data_dir(), &root);
        let found = store.found();
        store.accept(&found).unwrap();
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) async fn session(&self) -> SessionId {
        let cwd = self.project.canonicalize().unwrap().to_string_lossy().into_owned();
        let create = Op::CreateSession {
            cwd,
            agent: None,
            model: None,
            mode: None,
            title: None,
            folders: vec![],
            ephemeral: false,
        };
        self.engine.submit(create).await.unwrap().session
    }

    pub(crate) async fn start(
        &self,
        session: &SessionId,
        prompt: &str,
        attended: bool,
        limits: Limits,
    ) -> TurnId {
        let prompt = vec![Content::text(prompt)];
        let start = Op::StartTurn { session: session.clone(), prompt, key: None, limits, attended };
        self.engine.submit(start).await.unwrap().turn.unwrap()
    }

    /// Sends a prompt and waits for the turn's end.
    pub(crate) async fn ask(&self, session: &SessionId, prompt: &str) -> Vec<Arc<Event>> {
        let turn = self.start(session, prompt, false, Limits::default()).await;
        self.until(session, |event| ends(event, &turn)).await
    }

    /// The session's events from its beginning up to the first that fits.
    pub(crate) async fn until(&self, session: &SessionId, fits: impl Fn(&Event) -> bool) -> Vec<Arc<Event>> {
        let mut events = self.engine.events(session.clone(), 0).await.unwrap();
        let mut seen = Vec::new();
        let read = async {
            while let Some(event) = events.next().await {
                let event = event.unwrap();
                seen.push(event.clone());
                if fits(&event) {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("the session went on for ever");
        seen
    }

    /// Another engine, with MCP servers.
    pub(crate) async fn with_servers(mut self, mcp: engine::ServersOf) -> Self {
        self.engine.shutdown().await;
        self.engine = engine_with(&self.server, &self.store, self.folder.path(), self.window, self.wire, mcp);
        self
    }

    /// A second engine on the same store, as after a restart.
    pub(crate) async fn restart(&mut self) {
        self.engine.shutdown().await;
        self.engine = new_engine(&self.server, &self.store, self.folder.path(), self.window, self.wire);
    }
}

fn new_engine(server: &ModelServer, store: &Store, folder: &Path, window: u32, wire: &str) -> Engine {
    engine_with(server, store, folder, window, wire, Arc::new(Default::default))
}

fn engine_with(
    server: &ModelServer,
    store: &Store,
    folder: &Path,
    window: u32,
    wire: &str,
    mcp: engine::ServersOf,
) -> Engine {
    let config = format!(
        "wire = \"{wire}\"\nbase_url = \"{}\"\n[models.scripted]\ncontext = {window}\n",
        if wire.starts_with("openai") { server.base_url() } else { server.url() }
    );
    let providers = [("testkit".to_owned(), toml::from_str(&config).unwrap())].into();
    let retry = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() };
    Engine::new(EngineOptions {
        store: store.clone(),
        catalogue: Arc::new(Catalogue::new(providers, |_| None).with_retry(retry)),
        fleet: None,
        agent: "native".into(),
        model: Some("testkit/scripted".into()),
        mode: Mode::Ask,
        reasoning: None,
        simple_prompts: None,
        usage_log: None,
        context: Default::default(),
        index: None,
        auto_context: 2_000,
        mcp,
        logins: None,
        web: Default::default(),
        redactor: Default::default(),
        permissions: Default::default(),
        home: Some(home_in(folder)),
        user_home: "/nonexistent".into(),
        launcher: Arc::new(project::Unconfined),
        host: None,
        socket: None,
        version: "0.0.0".to_owned(),
    })
}

/// The person's folders.
fn home_in(folder: &Path) -> Home {
    Home::at(folder.join("home"))
}

/// Another engine on a world's store.
pub(crate) fn engine_on(world: &World) -> Engine {
    new_engine(&world.server, &world.store, world.folder.path(), world.window, world.wire)
}

pub(crate) fn ends(event: &Event, turn: &TurnId) -> bool {
    matches!(event.body, EventBody::TurnEnd(_)) && event.turn.as_ref() == Some(turn)
}

/// Plays a story: `file: NAME: TEXT`, `user: PROMPT` or `user: allow | deny WHY | cancel`, and everything else is the
/// model's [`Script`]. Answers what happened, a line each.
pub(crate) async fn play(story: &str) -> String {
    let lines: Vec<&str> = story.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let script: Vec<&str> = lines
        .iter()
        .filter(|line| !line.starts_with("user:") && !line.starts_with("file:"))
        .copied()
        .collect();
    let world = World::new(&script.join("\n")).await;
    let session = world.session().await;
    let mut turn = TurnId::new("none");
    for line in lines {
        if let Some(file) = line.strip_prefix("file:") {
            let (name, text) = file.trim().split_once(':').unwrap();
            world.write(name, text.trim());
        }
        let Some(words) = line.strip_prefix("user:").map(str::trim) else { continue };
        let waiting =
            |event: &Event| matches!(event.body, EventBody::PermissionRequest(_)) || ends(event, &turn);
        match words.split_once(' ').unwrap_or((words, "")) {
            ("allow", _) => answer(&world, &session, &turn, "allow", None).await,
            ("deny", why) => answer(&world, &session, &turn, "deny", Some(why.to_owned())).await,
            ("cancel", _) => {
                world.until(&session, |event| matches!(event.body, EventBody::PermissionRequest(_))).await;
                let cancel = Op::CancelTurn { session: session.clone(), turn: None };
                world.engine.submit(cancel).await.unwrap();
            }
            _ => {
                if turn.as_str() != "none" {
                    world.until(&session, waiting).await;
                }
                turn = world.start(&session, words, true, Limits::default()).await;
            }
        }
    }
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let project = world.project.canonicalize().unwrap().to_string_lossy().into_owned();
    print(&events).replace(&project, "PROJECT")
}

async fn answer(world: &World, session: &SessionId, turn: &TurnId, option: &str, reason: Option<String>) {
    let asked = |event: &Event| {
        matches!(event.body, EventBody::PermissionRequest(_)) && event.turn.as_ref() == Some(turn)
    };
    let events = world.until(session, asked).await;
    let request = match &events.last().unwrap().body {
        EventBody::PermissionRequest(request) => request.request.clone(),
        other => panic!("{other:?}"),
    };
    let reason = reason.filter(|reason| !reason.is_empty());
    let decision = Decision::Choose { option: option.to_owned(), reason };
    let op = Op::AnswerPermission { session: session.clone(), request, decision };
    world.engine.submit(op).await.unwrap();
}

/// Events as lines that a person reads: pieces of a message are joined, times and numbers left out.
pub(crate) fn print(events: &[Arc<Event>]) -> String {
    let mut lines: Vec<(Option<protocol::MessageId>, String)> = Vec::new();
    let mut titles = std::collections::HashMap::new();
    for event in events {
        let line = match &event.body {
            EventBody::AgentMessage(chunk) | EventBody::AgentThought(chunk) => {
                let verb = if matches!(event.body, EventBody::AgentMessage(_)) { "says" } else { "thinks" };
                match lines.iter_mut().find(|(id, _)| id.as_ref() == Some(&chunk.message)) {
                    Some((_, line)) => line.push_str(&chunk.text),
                    None => lines.push((Some(chunk.message.clone()), format!("{verb}: {}", chunk.text))),
                }
                continue;
            }
            EventBody::UserPrompt(prompt) => format!("user: {}", protocol::prompt_text(&prompt.content)),
            EventBody::Retract(retract) => {
                lines.retain(|(id, _)| id.as_ref() != Some(&retract.message));
                "retracted what it said".to_owned()
            }
            EventBody::Retry(retry) => format!("retry {}", retry.attempt),
            EventBody::ToolCall(call) => {
                titles.insert(call.call.clone(), call.title.clone());
                format!("{}: starts", call.title)
            }
            EventBody::ToolCallUpdate(update) => {
                let text = update.content.iter().flatten().filter_map(|content| match content {
                    ToolContent::Content { content } => content.as_text(),
                    _ => None,
                });
                let text = text.collect::<String>().trim().replace('\n', " / ");
                format!("{}: {:?}: {text}", titles[&update.call], update.status.unwrap()).replace('\t', " ")
            }
            EventBody::PermissionRequest(request) => {
                format!("{}: asks permission ({})", request.title, request.reasons.join(", "))
            }
            EventBody::Permission(answer) => match answer.outcome {
                PermissionOutcome::Approved => format!("approved by {:?}", answer.by),
                PermissionOutcome::Denied => format!("denied by {:?}", answer.by),
                PermissionOutcome::Cancelled => "question withdrawn".to_owned(),
            },
            EventBody::Notice(notice) => format!("notice: {}", notice.text),
            EventBody::Error(error) => format!("error: {}", error.message),
            EventBody::TurnStart(_) => "turn started".to_owned(),
            EventBody::TurnEnd(end) => match end.cause {
                Some(cause) => format!("turn ended: {} ({cause:?})", end.stop.as_str()),
                None => format!("turn ended: {}", end.stop.as_str()),
            },
            _ => continue,
        };
        lines.push((None, line));
    }
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}
