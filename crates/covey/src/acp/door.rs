//! What the editor asks, answered: by itself, or by the session that it is for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::acp::{
    Call, Id, Listed, LoginMethod, Offered, Params, Peer, Place, RpcError, introduction, listing,
    session_answer,
};
use client::{Client, ClientError};
use protocol::{Op, Reply, Request, SessionId};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::host::Editors;
use super::relay::{Input, Past, Relay, rpc_error, with_hint};
use super::workshop::{Workshop, Workshops};
use crate::cli::AcpArguments;
use crate::exit::{Exit, Failure};
use crate::leave::builds_end;

/// How many sessions are listed at a time.
const LISTED: u32 = 200;
/// What may wait for a session.
const WAITING: usize = 64;
const LOGIN: &str = "covey-login";

/// What our modes mean, for the editor's menu.
const MODES: &[(&str, &str)] = &[
    ("explore", "Looks, and changes nothing"),
    ("plan", "Reads, then proposes"),
    ("ask", "Reads without asking; everything else asks"),
    ("edit", "Edits files of the project; commands ask"),
    ("auto", "What is safe runs; what is dangerous is denied"),
    ("full", "Asks nothing; the sandbox stays"),
];

/// Clones are the same door.
#[derive(Clone)]
struct Rooms {
    peer: Peer,
    workshops: Arc<tokio::sync::Mutex<Workshops>>,
    editors: Arc<Editors>,
    sessions: Arc<Mutex<HashMap<String, Room>>>,
}

/// A session that is open, or about to be.
#[derive(Clone)]
struct Room {
    inputs: mpsc::Sender<Input>,
    workshop: Option<Workshop>,
}

pub(super) struct Door {
    rooms: Rooms,
    /// Sessions, and what takes its time: nothing here keeps a cancel waiting.
    tasks: JoinSet<()>,
}

impl Door {
    pub(super) fn new(peer: Peer, arguments: &AcpArguments) -> Self {
        let workshops = Workshops::new(peer.clone(), arguments);
        let editors = workshops.editors().clone();
        let rooms = Rooms {
            peer,
            workshops: Arc::new(tokio::sync::Mutex::new(workshops)),
            editors,
            sessions: Arc::default(),
        };
        Self { rooms, tasks: JoinSet::new() }
    }

    pub(super) async fn request(&mut self, id: Id, method: &str, params: &Params) {
        while self.tasks.try_join_next().is_some() {}
        let rooms = &self.rooms;
        let call = match Call::parse(method, params) {
            Ok(call) => call,
            Err(error) => return rooms.respond(&id, Err(error)).await,
        };
        // What is for an open session goes to it in the order in which it came.
        let (session, input) = match call {
            Call::Initialize(offered) => return rooms.respond(&id, Ok(rooms.initialize(offered))).await,
            Call::Prompt { session, prompt } => (session, Input::Prompt { id: id.clone(), prompt }),
            Call::SetMode { session, mode } => (session, Input::SetMode { id: id.clone(), mode }),
            Call::SetOption { session, option, value } => {
                (session, Input::SetOption { id: id.clone(), option, value })
            }
            Call::CloseSession { session } => {
                let room = rooms.lock().remove(&session);
                rooms.editors.listen(&session, None);
                return match room {
                    Some(room) => drop(room.inputs.send(Input::Close { id }).await),
                    None => rooms.respond(&id, Err(not_open(&session))).await,
                };
            }
            other => {
                let (inputs, waiting) = mpsc::channel(WAITING);
                if let Call::LoadSession { session, .. } | Call::ResumeSession { session, .. } = &other {
                    // What is asked of it before it is open waits. Whoever had it open is told from where it stands.
                    rooms.lock().insert(session.clone(), Room { inputs: inputs.clone(), workshop: None });
                }
                let rooms = rooms.clone();
                self.tasks.spawn(async move { rooms.take(id, other, inputs, waiting).await });
                return;
            }
        };
        let room = rooms.lock().get(&session).cloned();
        let sent = match room {
            Some(room) => room.inputs.send(input).await.is_ok(),
            None => false,
        };
        if !sent {
            rooms.respond(&id, Err(not_open(&session))).await;
        }
    }

    pub(super) async fn notification(&mut self, method: &str, params: &Params) {
        if method != "session/cancel" {
            return;
        }
        let room = Call::cancelled(params).and_then(|session| self.rooms.lock().get(&session).cloned());
        if let Some(room) = room {
            // A session that ended has nothing to cancel.
            let _ = room.inputs.send(Input::Cancel).await;
        }
    }

    /// Ends every turn that runs.
    pub(super) async fn cancel(&self) {
        let rooms: Vec<Room> = self.rooms.lock().values().cloned().collect();
        for room in rooms {
            // A session that ended has nothing to cancel.
            let _ = room.inputs.send(Input::Cancel).await;
        }
    }

    /// Waits as long as something computes under an agent of any project. `tell` says once what is waited for.
    pub(super) async fn builds_end(&self, tell: impl Fn(&str)) {
        let workshops: Vec<Workshop> = self.rooms.workshops.lock().await.all().cloned().collect();
        futures::future::join_all(workshops.iter().map(|workshop| builds_end(&workshop.engine, &tell))).await;
    }

    /// Lets go of every session.
    pub(super) async fn close(&mut self) {
        self.tasks.shutdown().await;
        self.rooms.lock().clear();
        let workshops = self.rooms.workshops.lock().await;
        futures::future::join_all(workshops.all().map(|workshop| workshop.engine.shutdown())).await;
    }
}

impl Rooms {
    fn initialize(&self, offered: Offered) -> Value {
        let login = LoginMethod {
            id: LOGIN.to_owned(),
            name: "Connect a model".to_owned(),
            description: "Log in to a provider of models, in a terminal".to_owned(),
            args: vec!["--login".to_owned()],
        };
        let logins = if offered.terminal_login { vec![login] } else { vec![] };
        self.editors.offer(offered);
        introduction("covey", "Covey", env!("CARGO_PKG_VERSION"), &logins)
    }

    /// What takes its time. A session that it opens gets what comes by `inputs`, and what waits there already.
    async fn take(self, id: Id, call: Call, inputs: mpsc::Sender<Input>, mut waiting: mpsc::Receiver<Input>) {
        let known = match &call {
            Call::LoadSession { session, .. } | Call::ResumeSession { session, .. } => Some(session.clone()),
            _ => None,
        };
        let opened = match call {
            Call::NewSession { place } => self.new_session(place).await,
            Call::LoadSession { session, place } => self.take_up(&session, place, Past::Told).await,
            Call::ResumeSession { session, place } => self.take_up(&session, place, Past::Known).await,
            other => {
                let answer = self.answer(other).await;
                return self.respond(&id, answer).await;
            }
        };
        let session = match opened {
            Ok(Opening { mut relay, workshop, session, is_new }) => {
                let answer = session_answer(&relay.opened().await, MODES, is_new);
                // Unless somebody else asked for it since.
                if is_new || self.has(&session, &inputs) {
                    self.editors.listen(&session, Some(inputs.clone()));
                    self.lock().insert(session.clone(), Room { inputs, workshop: Some(workshop) });
                } else {
                    drop(inputs);
                }
                // Before anything else is told of it.
                self.respond(&id, Ok(answer)).await;
                relay.run(&mut waiting).await;
                session
            }
            Err(error) => {
                self.respond(&id, Err(error)).await;
                let Some(session) = known else { return };
                if self.has(&session, &inputs) {
                    self.lock().remove(&session);
                }
                session
            }
        };
        // What came too late for it is answered too.
        waiting.close();
        while let Some(input) = waiting.recv().await {
            if let Some(id) = input.id() {
                self.respond(id, Err(not_open(&session))).await;
            }
        }
    }

    /// Whether what is for this session comes by these inputs.
    fn has(&self, session: &str, inputs: &mpsc::Sender<Input>) -> bool {
        self.lock().get(session).is_some_and(|room| room.inputs.same_channel(inputs))
    }

    async fn answer(&self, call: Call) -> Result<Value, RpcError> {
        match call {
            Call::Authenticate { method } if method == LOGIN => {
                // The person did it in the terminal; the next session finds what they connected.
                Ok(json!({}))
            }
            Call::Authenticate { method } => {
                let why = format!("there is no way to log in called `{method}`");
                Err(RpcError::new(RpcError::INVALID_PARAMS, why))
            }
            Call::ListSessions { cwd } => self.list(cwd.as_deref()).await,
            Call::DeleteSession { session } => {
                let known = session_id(&session)?;
                let room = self.lock().remove(&session);
                self.editors.listen(&session, None);
                let client = match room.and_then(|room| room.workshop) {
                    Some(workshop) => workshop.client,
                    None => self.anywhere().await?.client,
                };
                client
                    .submit(Op::DeleteSession { session: known })
                    .await
                    .map_err(|error| rpc_error(&error))?;
                Ok(json!({}))
            }
            _ => Err(RpcError::new(RpcError::INTERNAL, "not answered here")),
        }
    }

    async fn new_session(&self, place: Place) -> Result<Opening, RpcError> {
        let workshop = self.workshop(&place.cwd, place.servers).await?;
        let create = Op::CreateSession {
            cwd: canonical(&place.cwd),
            agent: None,
            model: None,
            mode: None,
            title: None,
            folders: place.folders.iter().map(|folder| canonical(folder)).collect(),
            ephemeral: false,
        };
        let receipt = workshop.client.submit(create).await.map_err(|error| rpc_error(&error))?;
        self.open(workshop, receipt.session, Past::Known, true).await.map_err(|error| rpc_error(&error))
    }

    async fn take_up(&self, session: &str, place: Place, past: Past) -> Result<Opening, RpcError> {
        let known = session_id(session)?;
        let workshop = self.workshop(&place.cwd, place.servers).await?;
        settle(&workshop, &known, &place.folders).await?;
        self.open(workshop, known, past, false).await.map_err(|error| rpc_error(&error))
    }

    async fn open(
        &self,
        workshop: Workshop,
        session: SessionId,
        past: Past,
        is_new: bool,
    ) -> Result<Opening, ClientError> {
        let (client, notices) = (workshop.client.clone(), self.editors.offered().notices);
        let relay = Relay::open(client, session.clone(), self.peer.clone(), notices, past).await?;
        Ok(Opening { relay, workshop, session: session.to_string(), is_new })
    }

    async fn list(&self, cwd: Option<&Path>) -> Result<Value, RpcError> {
        let workshop = self.anywhere().await?;
        let cwd = cwd.map(canonical);
        let reply = workshop.client.read(Request::Sessions { cwd, limit: LISTED }).await;
        let Reply::Sessions(sessions) = reply.map_err(|error| rpc_error(&error))? else {
            return Ok(listing(&[]));
        };
        let listed = sessions.into_iter().filter(|session| !session.marks.archived).map(|session| Listed {
            id: session.session.to_string(),
            cwd: session.cwd.into(),
            title: Some(session.title).filter(|title| !title.is_empty()),
            updated: Some(session.updated.to_string()),
        });
        Ok(listing(&listed.collect::<Vec<_>>()))
    }

    /// Any engine reads the same store; one for this process' folder is as good as another.
    async fn anywhere(&self) -> Result<Workshop, RpcError> {
        let here = std::env::current_dir().map_err(|error| {
            RpcError::new(RpcError::INTERNAL, format!("the current folder is gone: {error}"))
        })?;
        self.workshop(&here, vec![]).await
    }

    async fn workshop(&self, cwd: &Path, servers: Vec<::acp::McpServer>) -> Result<Workshop, RpcError> {
        let found = self.workshops.lock().await.at(cwd, servers).await;
        found.map_err(|failure| failed(&failure))
    }

    async fn respond(&self, id: &Id, result: Result<Value, RpcError>) {
        // An editor that is gone needs no answer.
        let _ = self.peer.respond(id, result).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is about to be told of.
struct Opening {
    relay: Relay,
    workshop: Workshop,
    session: String,
    is_new: bool,
}

/// Has a session work in the folders that the editor names, and in no others besides its own.
async fn settle(workshop: &Workshop, session: &SessionId, folders: &[PathBuf]) -> Result<(), RpcError> {
    let folders = folders.iter().map(|folder| canonical(folder)).collect();
    let op = Op::SetFolders { session: session.clone(), folders };
    workshop.client.submit(op).await.map(drop).map_err(|error| rpc_error(&error))
}

/// Two spellings of one folder are one folder.
fn canonical(cwd: &Path) -> String {
    cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned()).to_string_lossy().into_owned()
}

fn session_id(text: &str) -> Result<SessionId, RpcError> {
    SessionId::from_str(text).map_err(|error| RpcError::new(RpcError::NOT_FOUND, error.to_string()))
}

fn not_open(session: &str) -> RpcError {
    RpcError::new(
        RpcError::NOT_FOUND,
        format!("the session `{session}` is not open; load or resume it first"),
    )
}

fn failed(failure: &Failure) -> RpcError {
    let code = match failure.exit {
        Exit::Usage => RpcError::INVALID_PARAMS,
        Exit::Unreachable => RpcError::AUTH_REQUIRED,
        _ => RpcError::INTERNAL,
    };
    with_hint(RpcError::new(code, &failure.message), failure.hint.clone())
}
