//! One session between the editor and the engine: events one way, prompts and answers the other.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use ::acp::{About, Choice, ConfigOption, Editor, Id, News, Opened, Peer, RpcError, ToolNews, prompt_answer};
use client::{Client, ClientError, EventStream, Failure};
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::{
    AgentCommand, AgentCommands, AgentId, CallId, Content, Decision, Effort, ErrorInfo, Event, EventBody,
    Limits, Mode, ModelRef, Op, PermissionRequest, Reply, Request, SessionId, SessionView, ToolCall,
    ToolStatus, TurnId,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::commands::{self, Said};
use super::tell::{Teller, nothing_new};

/// What can be chosen, by the names that the editor sends back.
const MODE: &str = "mode";
const MODEL: &str = "model";
const AGENT: &str = "agent";
const THINKING: &str = "thinking";
/// As much as the agent likes.
const AS_IT_LIKES: &str = "default";

/// How often in a row a session is listened to again.
const TRIES: u32 = 3;

/// What the editor wants of a session that is open.
pub(super) enum Input {
    Prompt {
        id: Id,
        prompt: Vec<Content>,
    },
    Cancel,
    SetMode {
        id: Id,
        mode: String,
    },
    SetOption {
        id: Id,
        option: String,
        value: String,
    },
    Close {
        id: Id,
    },
    /// A command of the session's runs in a terminal of the editor's.
    InTerminal {
        command: String,
        terminal: String,
    },
}

impl Input {
    /// The request that waits for an answer.
    pub(super) fn id(&self) -> Option<&Id> {
        match self {
            Self::Prompt { id, .. }
            | Self::SetMode { id, .. }
            | Self::SetOption { id, .. }
            | Self::Close { id } => Some(id),
            Self::Cancel | Self::InTerminal { .. } => None,
        }
    }
}

/// Whether the editor is told what happened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    Told,
    Known,
}

pub(super) struct Relay {
    client: Arc<dyn Client>,
    session: SessionId,
    peer: Peer,
    editor: Editor,
    events: EventStream,
    teller: Teller,
    view: Box<SessionView>,
    /// Prompts that wait for the end of their turn.
    prompts: HashMap<TurnId, Id>,
    /// Questions on the editor's screen.
    asked: HashMap<protocol::RequestId, AbortHandle>,
    answers: FuturesUnordered<BoxFuture<'static, Answered>>,
    /// Calls whose arguments a question repeats, because an editor may show nothing else.
    calls: HashMap<CallId, ToolCall>,
    failure: Option<ErrorInfo>,
    prompts_sent: u32,
    /// The last event that was told.
    seen: u64,
    /// How often the events ended since.
    lost_times: u32,
    closing: Option<Id>,
}

/// A question, and the option that was chosen; an error when nobody answered.
type Answered = (protocol::RequestId, Option<Option<String>>);

impl Relay {
    pub(super) async fn open(
        client: Arc<dyn Client>,
        session: SessionId,
        peer: Peer,
        notices: bool,
        past: Past,
    ) -> Result<Self, ClientError> {
        let view = view(client.as_ref(), &session).await?;
        let after = if past == Past::Told { 0 } else { view.seq };
        let events = client.events(session.clone(), after).await?;
        let editor = Editor::new(peer.clone(), session.as_str());
        let seen = view.seq;
        let spent = if past == Past::Told { protocol::Usage::default() } else { view.usage };
        let teller = Teller::new(Path::new(&view.cwd), notices, &spent);
        let mut relay = Self {
            client,
            session,
            peer,
            editor,
            events,
            teller,
            view,
            prompts: HashMap::new(),
            asked: HashMap::new(),
            answers: FuturesUnordered::new(),
            calls: HashMap::new(),
            failure: None,
            prompts_sent: 0,
            seen,
            lost_times: 0,
            closing: None,
        };
        if past == Past::Told {
            relay.tell_the_past().await?;
        }
        Ok(relay)
    }

    async fn tell_the_past(&mut self) -> Result<(), ClientError> {
        while let Some(event) = self.events.next().await {
            let event = event?;
            for news in self.teller.tell(&event) {
                self.tell(news).await;
            }
            if event.seq >= self.view.seq {
                break;
            }
        }
        Ok(())
    }

    /// What can be chosen in it.
    pub(super) async fn opened(&mut self) -> Opened {
        let options = options(self.client.as_ref(), &self.view).await;
        Opened { id: self.session.to_string(), options, ..Opened::default() }
    }

    /// Until the session is closed or the editor is gone.
    pub(super) async fn run(mut self, inputs: &mut mpsc::Receiver<Input>) {
        self.tell_commands().await;
        for request in std::mem::take(&mut self.view.pending) {
            self.ask(request);
        }
        loop {
            tokio::select! {
                input = inputs.recv() => match input {
                    Some(input) => self.input(input).await,
                    None => return self.lost("the session is told elsewhere from now on").await,
                },
                event = self.events.next() => match event {
                    Some(Ok(event)) => self.event(&event).await,
                    // The process that had the session is gone; it is taken up where it was left.
                    Some(Err(_)) | None => if let Err(error) = self.listen_again().await {
                        return self.lost(&error.message).await;
                    },
                },
                Some((request, answer)) = self.answers.next() => self.answered(request, answer).await,
            }
            if self.prompts.is_empty()
                && let Some(id) = self.closing.take()
            {
                return self.respond(&id, Ok(json!({}))).await;
            }
        }
    }

    async fn listen_again(&mut self) -> Result<(), ClientError> {
        self.lost_times += 1;
        if self.lost_times > TRIES {
            let message = "the session was closed".to_owned();
            return Err(ClientError { kind: Failure::Closed, message, hint: None });
        }
        self.events = self.client.events(self.session.clone(), self.seen).await?;
        Ok(())
    }

    async fn input(&mut self, input: Input) {
        match input {
            Input::Prompt { id, prompt } => self.prompt(id, prompt).await,
            Input::Cancel => self.cancel().await,
            Input::SetMode { id, mode } => {
                let done = self.choose(MODE, &mode).await.map(|()| json!({}));
                self.respond(&id, done).await;
            }
            Input::SetOption { id, option, value } => {
                let answer = match self.choose(&option, &value).await {
                    Ok(()) => self.chosen().await,
                    Err(error) => Err(error),
                };
                self.respond(&id, answer).await;
            }
            Input::Close { id } => {
                self.cancel().await;
                self.closing = Some(id);
            }
            Input::InTerminal { command, terminal } => {
                if let Some(news) = self.teller.in_terminal(&command, &terminal) {
                    self.tell(news).await;
                }
            }
        }
    }

    async fn prompt(&mut self, id: Id, prompt: Vec<Content>) {
        let typed = prompt.iter().find_map(Content::as_text);
        let prompt = match commands::run(self.client.as_ref(), &self.session, typed).await {
            Said::Nothing => prompt,
            Said::Prompt(text) => vec![Content::text(text)],
            Said::Text(text) => {
                self.tell(News::Said { content: Content::text(text), message: None }).await;
                return self.respond(&id, Ok(json!({"stopReason": "end_turn"}))).await;
            }
        };
        self.prompts_sent += 1;
        let key = format!("acp-{:08x}-{}", engine::random(), self.prompts_sent);
        self.teller.is_own(key.clone());
        let start = Op::StartTurn {
            session: self.session.clone(),
            prompt: prompt.into_iter().map(|part| mentioned(part, Path::new(&self.view.cwd))).collect(),
            key: Some(key),
            limits: Limits::default(),
            attended: true,
        };
        match self.client.submit(start).await {
            Ok(receipt) => match receipt.turn {
                Some(turn) => drop(self.prompts.insert(turn, id)),
                None => self.respond(&id, Ok(json!({"stopReason": "end_turn"}))).await,
            },
            Err(error) => self.respond(&id, Err(rpc_error(&error))).await,
        }
    }

    async fn cancel(&mut self) {
        // Where no turn runs there is nothing to cancel.
        let _ = self.client.submit(Op::CancelTurn { session: self.session.clone(), turn: None }).await;
    }

    async fn choose(&mut self, option: &str, value: &str) -> Result<(), RpcError> {
        let session = self.session.clone();
        let op = match option {
            MODE => {
                let mode = Mode::from_str(value);
                let invalid = |error| RpcError::new(RpcError::INVALID_PARAMS, format!("{error}"));
                Op::SetMode { session, mode: mode.map_err(invalid)? }
            }
            MODEL => Op::SetModel { session, model: ModelRef::new(value) },
            AGENT => Op::SetAgent { session, agent: AgentId::new(value), model: None },
            THINKING if value == AS_IT_LIKES => Op::SetEffort { session, effort: None },
            THINKING => {
                let effort = Effort::from_str(value);
                let invalid = |error| RpcError::new(RpcError::INVALID_PARAMS, format!("{error}"));
                Op::SetEffort { session, effort: Some(effort.map_err(invalid)?) }
            }
            other => {
                let why =
                    format!("there is no option `{other}`, only {MODE}, {MODEL}, {AGENT} and {THINKING}");
                return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
            }
        };
        self.client.submit(op).await.map(drop).map_err(|error| rpc_error(&error))
    }

    /// All options as they are after a choice: one may change what there is of another.
    async fn chosen(&mut self) -> Result<Value, RpcError> {
        self.view = view(self.client.as_ref(), &self.session).await.map_err(|error| rpc_error(&error))?;
        let answer = ::acp::session_answer(&self.opened().await, &[], false);
        Ok(json!({"configOptions": answer["configOptions"]}))
    }

    async fn event(&mut self, event: &Event) {
        (self.seen, self.lost_times) = (event.seq, 0);
        for news in self.teller.tell(event) {
            self.tell(news).await;
        }
        match &event.body {
            EventBody::ToolCall(call) => drop(self.calls.insert(call.call.clone(), call.clone())),
            EventBody::ToolCallUpdate(update) if update.status.is_some_and(ToolStatus::is_final) => {
                self.calls.remove(&update.call);
            }
            EventBody::PermissionRequest(request) => self.ask(request.clone()),
            EventBody::Permission(answer) => {
                // Somebody answered, here or elsewhere; a question that is still shown is taken back.
                if let Some(shown) = self.asked.remove(&answer.request) {
                    shown.abort();
                }
            }
            EventBody::Mode(_) | EventBody::Model(_) | EventBody::Agent(_) => {
                if let Ok(view) = view(self.client.as_ref(), &self.session).await {
                    self.view = view;
                    let options = options(self.client.as_ref(), &self.view).await;
                    self.tell(News::Options(options)).await;
                }
            }
            EventBody::Commands(_) => self.tell_commands().await,
            EventBody::Error(error) => self.failure = Some(error.clone()),
            EventBody::TurnEnd(end) => {
                let id = event.turn.as_ref().and_then(|turn| self.prompts.remove(turn));
                if let Some(id) = id {
                    let failure = self.failure.take();
                    let answer = prompt_answer(end.stop, end.cause, &end.usage).ok_or_else(|| {
                        let message = failure.as_ref().map_or("the turn failed", |error| &error.message);
                        let hint = failure.as_ref().and_then(|error| error.hint.clone());
                        with_hint(RpcError::new(RpcError::INTERNAL, message), hint)
                    });
                    self.respond(&id, answer).await;
                }
            }
            _ => {}
        }
    }

    /// Puts a question on the editor's screen. One without choices is answered already.
    fn ask(&mut self, request: PermissionRequest) {
        if request.options.is_empty() {
            return;
        }
        let tool = self.about(&request);
        let editor = self.editor.clone();
        // Editors have buttons and no line to write in, so nothing is changed there.
        let (id, mut options) = (request.request, request.options);
        options.retain(|option| option.kind != protocol::OptionKind::AllowEdited);
        let (handle, registration) = AbortHandle::new_pair();
        self.asked.insert(id.clone(), handle);
        let asking = Abortable::new(async move { editor.ask(&tool, &options).await }, registration);
        let answer = asking.map(move |answer| {
            // Taken back, or the editor does not know how to ask: nobody answered.
            let chosen = answer.ok().and_then(Result::ok);
            (id, chosen)
        });
        self.answers.push(answer.boxed());
    }

    /// The call that a question is about, with everything that a person needs to decide.
    fn about(&self, request: &PermissionRequest) -> ToolNews {
        let known = request.call.as_ref().and_then(|call| self.calls.get(call));
        let mut tool = match known {
            Some(call) => ToolNews { begins: false, ..self.teller.known(call) },
            None => {
                let call = request.call.clone().unwrap_or_else(|| CallId::new(request.request.as_str()));
                nothing_new(call)
            }
        };
        tool.title = Some(request.title.clone());
        tool.status = Some(ToolStatus::Pending);
        if !request.reasons.is_empty() {
            tool.content = Some(vec![protocol::ToolContent::text(request.reasons.join("\n"))]);
        }
        tool
    }

    async fn answered(&mut self, request: protocol::RequestId, answer: Option<Option<String>>) {
        if self.asked.remove(&request).is_none() {
            return;
        }
        let decision = match answer.flatten() {
            Some(option) => Decision::Choose { option, reason: None },
            None => Decision::Dismiss,
        };
        let op = Op::AnswerPermission { session: self.session.clone(), request: request.clone(), decision };
        if let Err(error) = self.client.submit(op).await
            && error.kind == Failure::Invalid
        {
            // An option that was not offered is no answer.
            let op =
                Op::AnswerPermission { session: self.session.clone(), request, decision: Decision::Dismiss };
            let _ = self.client.submit(op).await;
        }
    }

    async fn tell_commands(&mut self) {
        let added = match self.client.read(Request::Commands { session: self.session.clone() }).await {
            Ok(Reply::Commands(added)) => added,
            _ => vec![],
        };
        let mut all = commands::offered();
        let theirs = added.into_iter().filter(|added| client::commands::find(&added.name).is_none());
        all.extend(theirs.map(|added| AgentCommand {
            name: added.name,
            description: added.description,
            hint: added.hint,
        }));
        self.tell(News::Commands(AgentCommands { commands: all })).await;
    }

    /// The engine let go of the session.
    async fn lost(&mut self, why: &str) {
        for (_, id) in std::mem::take(&mut self.prompts) {
            self.respond(&id, Err(RpcError::new(RpcError::INTERNAL, why))).await;
        }
        if let Some(id) = self.closing.take() {
            self.respond(&id, Ok(json!({}))).await;
        }
    }

    /// An editor that is gone needs to be told nothing; its end is noticed where it is read.
    async fn tell(&mut self, news: News) {
        let _ = self.editor.tell(news).await;
    }

    async fn respond(&mut self, id: &Id, result: Result<Value, RpcError>) {
        let _ = self.peer.respond(id, result).await;
    }
}

async fn view(client: &dyn Client, session: &SessionId) -> Result<Box<SessionView>, ClientError> {
    match client.read(Request::Session { session: session.clone() }).await? {
        Reply::Session(view) => Ok(view),
        _ => Err(ClientError {
            kind: Failure::NotFound,
            message: format!("there is no session `{session}`"),
            hint: None,
        }),
    }
}

/// Mode, how much to think, agent and, for the built-in agent, model.
async fn options(client: &dyn Client, view: &SessionView) -> Vec<ConfigOption> {
    let same = |value: &str| Choice { value: value.to_owned(), name: value.to_owned() };
    let mut options = vec![ConfigOption {
        id: MODE.to_owned(),
        name: "Mode".to_owned(),
        about: About::Mode,
        current: view.mode.as_str().to_owned(),
        choices: Mode::NAMES.iter().map(|name| Choice { name: title(name), ..same(name) }).collect(),
        switch: false,
    }];
    if let Some(current) = view.model.as_ref().filter(|_| view.agent.as_str() == engine::NativeAgent::ID) {
        let known = match client.read(Request::Models).await {
            Ok(Reply::Models(models)) => models,
            _ => vec![],
        };
        let mut choices: Vec<Choice> =
            known.iter().filter(|model| model.usable).map(|model| same(model.model.as_str())).collect();
        if !choices.iter().any(|choice| choice.value == current.as_str()) {
            choices.insert(0, same(current.as_str()));
        }
        options.push(ConfigOption {
            id: MODEL.to_owned(),
            name: "Model".to_owned(),
            about: About::Model,
            current: current.to_string(),
            choices,
            switch: false,
        });
    }
    let levels = std::iter::once(&AS_IT_LIKES).chain(Effort::NAMES);
    options.push(ConfigOption {
        id: THINKING.to_owned(),
        name: "Thinking".to_owned(),
        about: About::Thinking,
        current: view.effort.map_or(AS_IT_LIKES, Effort::as_str).to_owned(),
        choices: levels.map(|name| Choice { name: title(name), ..same(name) }).collect(),
        switch: false,
    });
    if let Ok(Reply::Agents(agents)) = client.read(Request::Agents).await {
        let usable = agents.iter().filter(|agent| agent.usable || agent.agent == view.agent);
        let choices: Vec<Choice> = usable.map(|agent| same(agent.agent.as_str())).collect();
        if choices.len() > 1 {
            options.push(ConfigOption {
                id: AGENT.to_owned(),
                name: "Agent".to_owned(),
                about: About::Other,
                current: view.agent.to_string(),
                choices,
                switch: false,
            });
        }
    }
    options
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A link to a file of the project becomes a mention, so that it comes along as if it had been typed.
fn mentioned(part: Content, cwd: &Path) -> Content {
    let Content::Resource(resource) = &part else { return part };
    if resource.text.is_some() || resource.blob.is_some() {
        return part;
    }
    let path = resource.uri.strip_prefix("file://").map(Path::new);
    match path.and_then(|path| path.strip_prefix(cwd).ok()).and_then(Path::to_str) {
        Some(path) if path.contains(char::is_whitespace) => Content::text(format!("@\"{path}\"")),
        Some(path) => Content::text(format!("@{path}")),
        None => part,
    }
}

/// An error of ours in the words of the protocol.
pub(super) fn rpc_error(error: &ClientError) -> RpcError {
    let code = match error.kind {
        Failure::NotFound => RpcError::NOT_FOUND,
        Failure::Invalid => RpcError::INVALID_PARAMS,
        Failure::NoModel | Failure::Denied => RpcError::AUTH_REQUIRED,
        Failure::Locked | Failure::Storage | Failure::Closed => RpcError::INTERNAL,
    };
    with_hint(RpcError::new(code, &error.message), error.hint.clone())
}

/// What to do about it stands in the message too: editors show no more than that.
pub(super) fn with_hint(mut error: RpcError, hint: Option<String>) -> RpcError {
    if let Some(hint) = hint {
        error.message.push_str(&format!("\nhint: {hint}"));
        error.data = Some(json!({"hint": hint}));
    }
    error
}
