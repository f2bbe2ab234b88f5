//! A model provider on loopback that does what a script says.

mod conversation;
mod delivery;
mod http;
mod reply;
mod script;
mod strict;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use self::delivery::{Asked, Outcome};
use self::http::{Connection, Head};
pub use self::reply::{Delivery, Fault, Part, Reply, Split, Tokens};
pub use self::script::{Script, ScriptError};
pub use self::wire::WireFormat;

/// How long the waiting helpers wait before they fail the test: far more than loopback ever takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. It stops, with all its connections, when it is dropped.
///
/// ```no_run
/// # async fn story() {
/// let server = testkit::ModelServer::play("
///     reply
///       text: I will read it.
///       call: read {\"path\": \"a.txt\"}
///     model: It says hello.
/// ").await;
/// // … point a client at server.base_url() …
/// let first = server.request(0).await;
/// assert_eq!(first.json["stream"], true);
/// # }
/// ```
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// `Null` when the body is not JSON.
    pub json: Value,
    pub wire: Option<WireFormat>,
    /// When it was read to its end.
    pub at: Instant,
}

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }
}

struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    record: Option<mpsc::UnboundedSender<Arc<Recorded>>>,
}

struct State {
    script: Script,
    next: usize,
    brain: Brain,
    strict: bool,
    requests: Vec<Arc<Recorded>>,
    outcomes: BTreeMap<usize, Outcome>,
    connections: usize,
    calls: u64,
}

/// What answers when the script has nothing left to say.
enum Brain {
    Echo,
    Obey,
    Always(Reply),
}

impl ModelServer {
    /// Serves a script on a free port of 127.0.0.1.
    pub async fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::bind(([127, 0, 0, 1], 0).into(), script.into(), Brain::Echo, None).await
    }

    /// Serves a script written as text: [`Script`] says how.
    ///
    /// # Panics
    /// When the script is wrong or no port is free, with a message for the author of the test.
    pub async fn play(script: &str) -> Self {
        let script: Script = script.parse().unwrap_or_else(|error| panic!("{error}"));
        Self::start(script).await.unwrap_or_else(|error| panic!("no model server: {error}"))
    }

    /// Serves a model without a script, which obeys directives in the prompt: `[[tool:NAME {"json":…}]]`, `[[think]]`,
    /// `[[slow]]`, `[[error:529]]`, `[[repeat:20000]]`, `[[say:TEXT]]`.
    pub async fn obedient(port: u16) -> io::Result<Self> {
        Self::bind(([127, 0, 0, 1], port).into(), Script::default(), Brain::Obey, None).await
    }

    /// Everything at once: a port (0 for a free one), a script, what comes after it, and where requests are sent as
    /// they come.
    pub async fn with(options: ServerOptions) -> io::Result<Self> {
        let brain = match options.then {
            Then::Echo => Brain::Echo,
            Then::Obey => Brain::Obey,
            Then::Always(reply) => Brain::Always(reply),
        };
        Self::bind(([127, 0, 0, 1], options.port).into(), options.script, brain, options.record).await
    }

    async fn bind(
        address: SocketAddr,
        script: Script,
        brain: Brain,
        record: Option<mpsc::UnboundedSender<Arc<Recorded>>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let state = State {
            script,
            next: 0,
            brain,
            strict: false,
            requests: Vec::new(),
            outcomes: BTreeMap::new(),
            connections: 0,
            calls: 0,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: watch::Sender::new(0), record });
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { address, shared, accepting })
    }

    /// From now on, refuses what the vendor of a wire refuses, with status 400 and in the vendor's shape: fields that
    /// it does not know, roles out of order, calls without results. A request that is refused takes no reply.
    pub fn strict(self) -> Self {
        self.shared.lock().strict = true;
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, for wires whose base has no version segment (Anthropic, Gemini).
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:PORT/v1`, for the OpenAI wires.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// The lines of a `config.toml` that make this server Covey's model.
    pub fn config(&self) -> String {
        let model =
            self.shared.lock().script.models.first().cloned().unwrap_or_else(|| "scripted".to_owned());
        format!(
            "model = \"testkit/{model}\"\n\n[providers.testkit]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n\n[providers.testkit.models.{model}]\ncontext = 200000\n",
            self.base_url()
        )
    }

    /// Begins another script, whatever is left of the one before.
    pub fn rewrite(&self, script: impl Into<Script>) {
        let mut state = self.shared.lock();
        (state.script, state.next) = (script.into(), 0);
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.shared.lock().script.replies.push(reply);
    }

    /// All requests for an answer so far, in the order in which they came; lists of models are not among them.
    pub fn requests(&self) -> Vec<Arc<Recorded>> {
        self.shared.lock().requests.clone()
    }

    /// How many connections were opened so far: a client that keeps its connection opens one.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    /// The request with this number, from 0, as soon as it is there.
    ///
    /// # Panics
    /// When it does not come within 20 seconds.
    pub async fn request(&self, number: usize) -> Arc<Recorded> {
        let what = format!("request {number} did not come");
        self.wait(&what, |state| state.requests.get(number).cloned()).await
    }

    /// Returns when the client has gone away before the answer to this request was complete.
    ///
    /// # Panics
    /// When the answer was sent to its end, or nothing happens within 20 seconds.
    pub async fn aborted(&self, number: usize) {
        let what = format!("the client did not abort request {number}");
        let outcome = self.wait(&what, |state| state.outcomes.get(&number).copied()).await;
        assert!(outcome == Outcome::Aborted, "the answer to request {number} was {outcome:?}, not aborted");
    }

    async fn wait<T>(&self, what: &str, mut ready: impl FnMut(&State) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let found = async {
            loop {
                if let Some(found) = ready(&self.shared.lock()) {
                    return found;
                }
                // The sender lives as long as we do.
                let _ = changed.changed().await;
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("{what}"))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// For [`ModelServer::with`].
#[derive(Debug, Default)]
pub struct ServerOptions {
    pub port: u16,
    pub script: Script,
    pub then: Then,
    pub record: Option<mpsc::UnboundedSender<Arc<Recorded>>>,
}

/// What answers when the script has nothing left to say.
#[derive(Debug, Default)]
pub enum Then {
    /// `You said: …`
    #[default]
    Echo,
    /// Directives in the prompt, as [`ModelServer::obedient`].
    Obey,
    Always(Reply),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it looked must not hide its message behind a poisoned lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.send_modify(|version| *version += 1);
        result
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and every connection with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((socket, _)) = accepted else { continue };
                shared.change(|state| state.connections += 1);
                connections.spawn(serve(socket, shared.clone()));
            }
        }
    }
}

async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    // Small writes are the point of several faults. Without this they would be joined on the way.
    let _ = socket.set_nodelay(true);
    let mut connection = Connection::new(socket);
    // A client that breaks off in the middle of a request is not our concern: it has its own test.
    while let Ok(Some((head, body))) = connection.request().await {
        if !exchange(&mut connection, head, body, &shared).await {
            return;
        }
    }
}

/// Answers one request; false closes the connection.
async fn exchange(connection: &mut Connection, head: Head, body: Bytes, shared: &Shared) -> bool {
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    let wire = if head.method == "POST" { WireFormat::of(&head.path) } else { None };
    let Head { method, path, headers } = head;
    let Some(wire) = wire else {
        return other(connection, &method, &path, shared).await.is_ok();
    };
    let request =
        Arc::new(Recorded { method, path, headers, body, json, wire: Some(wire), at: Instant::now() });
    let conversation = wire.conversation(&request.path, &request.json);
    if let Some(record) = &shared.record {
        // Nobody reads any more: then nobody wants it.
        let _ = record.send(request.clone());
    }
    let refusal = match shared.lock().strict {
        true => strict::check(wire, &request).err(),
        false => None,
    };
    let (number, reply, mut calls) = shared.change(|state| {
        state.requests.push(request.clone());
        if let Some(what) = &refusal {
            return (state.requests.len() - 1, Reply::status(400).message(what), state.calls);
        }
        let reply = state.reply(&conversation);
        let calls = state.calls;
        // Reserved before the lock is let go, so that answers in parallel do not share ids.
        state.calls += reply.parts.len() as u64;
        (state.requests.len() - 1, reply, calls)
    });
    let asked = Asked {
        wire,
        streams: wire.streams(&request.path, &request.json),
        body: &request.json,
        model: &conversation.model,
        number: number as u64 + 1,
    };
    let outcome = delivery::deliver(connection, &reply, &asked, &mut calls).await;
    shared.change(|state| state.outcomes.insert(number, outcome));
    outcome == Outcome::Sent
}

impl State {
    fn reply(&mut self, conversation: &conversation::Conversation) -> Reply {
        if self.script.forever && !self.script.replies.is_empty() && self.next >= self.script.replies.len() {
            self.next = 0;
        }
        if let Some(reply) = self.script.replies.get(self.next) {
            self.next += 1;
            return reply.clone();
        }
        match &self.brain {
            Brain::Echo => conversation.echo(),
            Brain::Obey => conversation.obey(),
            Brain::Always(reply) => reply.clone(),
        }
    }
}

/// Everything that is not a request for an answer: lists of models, token counts.
async fn other(connection: &mut Connection, method: &str, path: &str, shared: &Shared) -> io::Result<()> {
    let path = path.split('?').next().unwrap_or(path);
    let json = if method == "GET" && path.ends_with("/models") {
        let names = shared.lock().script.models.clone();
        let names = if names.is_empty() { vec!["scripted".to_owned()] } else { names };
        models(&names)
    } else if path.ends_with("/count_tokens") {
        json!({"input_tokens": 100})
    } else if path.ends_with(":countTokens") {
        json!({"totalTokens": 100})
    } else {
        let body = json!({"error": {"message": format!("no such path: {path}"), "type": "not_found"}});
        return connection.answer(404, "application/json", &[], body.to_string().as_bytes()).await;
    };
    connection.answer(200, "application/json", &[], json.to_string().as_bytes()).await
}

/// One list that every wire's client understands.
fn models(names: &[String]) -> Value {
    let data = names.iter().map(|name| {
        json!({
            "id": name, "object": "model", "type": "model", "display_name": name, "created": 1_790_000_000,
            "created_at": "2026-01-01T00:00:00Z", "owned_by": "testkit",
        })
    });
    let gemini = names.iter().map(|name| {
        json!({"name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": ["generateContent"]})
    });
    json!({
        "object": "list", "data": data.collect::<Vec<_>>(), "has_more": false, "first_id": names.first(),
        "last_id": names.last(), "models": gemini.collect::<Vec<_>>(),
    })
}
