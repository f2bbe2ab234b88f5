//! One end of a conversation in JSON-RPC over lines: asking, telling, being asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use crate::line::{Line, Lines};
use crate::message::{Id, Message, Outgoing, Params, RpcError};

/// Messages that may wait for whoever handles them. Beyond that the other side waits.
const INCOMING: usize = 256;
const OUTGOING: usize = 64;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    In,
    Out,
}

/// Hears every line, for a recording.
pub type Tap = Arc<dyn Fn(Way, &[u8]) + Send + Sync>;

/// How the other side likes its messages.
#[derive(Clone, Default)]
pub struct Wire {
    /// Leave out `"jsonrpc":"2.0"`.
    pub bare: bool,
    /// Tell the other side when nobody waits for its answer any more, so that it takes its question off the screen.
    pub withdraws: bool,
    pub tap: Option<Tap>,
}

/// What the other side wants of us, or did that it should not have done.
#[derive(Debug)]
pub enum Incoming {
    Request { id: Id, method: String, params: Params },
    Notification { method: String, params: Params },
    Odd(Odd),
}

/// Something that is no message of the protocol. It is told, and the conversation goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Odd {
    /// A banner or a log line where only messages should be.
    Noise(String),
    /// A line in braces that is no message, and why.
    NotAMessage {
        why: String,
        line: String,
        /// It is not even JSON.
        syntax: bool,
    },
    TooLong {
        bytes: u64,
    },
    /// An answer to a question that was not asked, or was answered before.
    Unasked(Id),
}

impl Odd {
    /// What a server says to it, as JSON-RPC has it; nothing to an answer.
    pub fn refusal(&self) -> Option<RpcError> {
        let not_read = |why: String| RpcError::new(RpcError::PARSE_ERROR, why);
        let not_a_request = |why: String| RpcError::new(RpcError::INVALID_REQUEST, why);
        match self {
            Self::Noise(_) => Some(not_read("this line is no JSON".to_owned())),
            Self::NotAMessage { why, syntax: true, .. } => {
                Some(not_read(format!("this line is no JSON: {why}")))
            }
            Self::NotAMessage { why, .. } => Some(not_a_request(format!("this is no message: {why}"))),
            Self::TooLong { bytes } => Some(not_a_request(format!("a line of {bytes} bytes is too long"))),
            Self::Unasked(_) => None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// It answered, with no.
    #[error(transparent)]
    Refused(#[from] RpcError),
    /// It hung up.
    #[error("the other side closed the connection")]
    Closed,
    /// It answered with something else than it should have.
    #[error("the answer to `{method}` could not be understood: {why}")]
    Unexpected { method: String, why: String },
}

/// Our end. Clones are the same end; the last one to go closes it.
#[derive(Clone)]
pub struct Peer {
    shared: Arc<Shared>,
}

struct Shared {
    outgoing: mpsc::Sender<Out>,
    waiting: Arc<Mutex<Waiting>>,
    /// How many of the other side's questions were not answered yet.
    owed: Arc<watch::Sender<usize>>,
    next: AtomicI64,
    bare: bool,
    withdraws: bool,
    reader: AbortHandle,
}

/// What the writer is handed.
enum Out {
    Line(Vec<u8>),
    /// Says so when everything before it has left.
    Left(oneshot::Sender<()>),
}

/// An answer, and how many messages came in before it.
type Answered = (Result<Value, RpcError>, u64);

#[derive(Default)]
struct Waiting {
    calls: HashMap<Id, oneshot::Sender<Answered>>,
    closed: bool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Peer {
    /// Starts to read and write. What arrives must be taken: while nobody does, the other side is not read either.
    pub fn start<R, W>(reader: R, writer: W, wire: Wire) -> (Self, mpsc::Receiver<Incoming>)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outgoing, to_write) = mpsc::channel(OUTGOING);
        let (arrived, incoming) = mpsc::channel(INCOMING);
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let owed = Arc::new(watch::Sender::new(0));
        tokio::spawn(write(writer, to_write, wire.tap.clone()));
        let reading = tokio::spawn(read(reader, arrived, waiting.clone(), owed.clone(), wire.tap));
        let shared = Shared {
            outgoing,
            waiting,
            owed,
            next: AtomicI64::new(0),
            bare: wire.bare,
            withdraws: wire.withdraws,
            reader: reading.abort_handle(),
        };
        (Self { shared: Arc::new(shared) }, incoming)
    }

    /// Asks, and waits for the answer.
    pub async fn call(&self, method: &str, params: impl Serialize) -> Result<Value, CallError> {
        self.call_in_order(method, params).await.map(|(answer, _)| answer)
    }

    /// The same, and says how many messages came in before the answer. Answers overtake messages that still wait to be
    /// handled; whoever must not miss one counts.
    pub async fn call_in_order(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<(Value, u64), CallError> {
        let id = Id::Number(self.shared.next.fetch_add(1, Ordering::Relaxed));
        let (reply, answer) = oneshot::channel();
        {
            let mut waiting = lock(&self.shared.waiting);
            if waiting.closed {
                return Err(CallError::Closed);
            }
            waiting.calls.insert(id.clone(), reply);
        }
        let _forget = Forget { shared: &self.shared, id: id.clone() };
        self.send(Some(&id), Some(method), Some(params), None).await?;
        let (result, before) = answer.await.map_err(|_| CallError::Closed)?;
        Ok((result?, before))
    }

    /// Tells something that wants no answer.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), CallError> {
        self.send(None, Some(method), Some(params), None).await
    }

    /// Answers a question of the other side's.
    pub async fn respond(&self, id: &Id, result: Result<Value, RpcError>) -> Result<(), CallError> {
        let sent = self.send(Some(id), None, None::<()>, Some(&result)).await;
        self.shared.owed.send_modify(|owed| *owed = owed.saturating_sub(1));
        sent
    }

    /// Until everything that was asked so far is answered and the answers have left. An error if nobody reads them.
    pub async fn settled(&self) -> Result<(), CallError> {
        let mut owed = self.shared.owed.subscribe();
        let answered = async {
            owed.wait_for(|owed| *owed == 0).await.map_err(|_| CallError::Closed)?;
            let (left, written) = oneshot::channel();
            self.shared.outgoing.send(Out::Left(left)).await.map_err(|_| CallError::Closed)?;
            written.await.map_err(|_| CallError::Closed)
        };
        tokio::select! {
            answered = answered => answered,
            () = self.shared.outgoing.closed() => Err(CallError::Closed),
        }
    }

    /// Answers what was no question, because it could not be read: an error that names no message.
    pub async fn refuse(&self, error: &RpcError) -> Result<(), CallError> {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error});
        self.hand(format!("{message}\n").into_bytes()).await
    }

    /// Whether the other side has hung up.
    pub fn is_closed(&self) -> bool {
        lock(&self.shared.waiting).closed
    }

    async fn send(
        &self,
        id: Option<&Id>,
        method: Option<&str>,
        params: Option<impl Serialize>,
        result: Option<&Result<Value, RpcError>>,
    ) -> Result<(), CallError> {
        let message = Outgoing {
            jsonrpc: (!self.shared.bare).then_some("2.0"),
            id,
            method,
            params,
            result: result.and_then(|result| result.as_ref().ok()),
            error: result.and_then(|result| result.as_ref().err()),
        };
        let mut line = serde_json::to_vec(&message).map_err(|error| CallError::Unexpected {
            method: method.unwrap_or_default().to_owned(),
            why: error.to_string(),
        })?;
        line.push(b'\n');
        self.hand(line).await
    }

    async fn hand(&self, line: Vec<u8>) -> Result<(), CallError> {
        self.shared.outgoing.send(Out::Line(line)).await.map_err(|_| CallError::Closed)
    }
}

/// Takes a call off the list when nobody waits for it any more.
struct Forget<'a> {
    shared: &'a Shared,
    id: Id,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        let given_up = lock(&self.shared.waiting).calls.remove(&self.id).is_some();
        if given_up && self.shared.withdraws {
            let params = serde_json::json!({"requestId": self.id});
            let message =
                serde_json::json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": params});
            // Where there is no room for it the other side is busy enough; its answer is passed over either way.
            let _ = self.shared.outgoing.try_send(Out::Line(format!("{message}\n").into_bytes()));
        }
    }
}

async fn write(writer: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Out>, tap: Option<Tap>) {
    let mut writer = BufWriter::new(writer);
    while let Some(out) = lines.recv().await {
        let (written, left) = match out {
            Out::Line(line) => {
                if let Some(tap) = &tap {
                    tap(Way::Out, &line[..line.len() - 1]);
                }
                (writer.write_all(&line).await, None)
            }
            Out::Left(left) => (Ok(()), Some(left)),
        };
        // Several that wait go out together.
        let now = left.is_some() || lines.is_empty();
        let flushed = if now { writer.flush().await } else { Ok(()) };
        if written.and(flushed).is_err() {
            // The other side is gone; the reader tells.
            return;
        }
        if let Some(left) = left {
            // Nobody has to wait for it.
            let _ = left.send(());
        }
    }
    // Nobody speaks any more, so the pipe is closed in good order.
    let _ = writer.shutdown().await;
}

async fn read(
    reader: impl AsyncRead + Unpin,
    arrived: mpsc::Sender<Incoming>,
    waiting: Arc<Mutex<Waiting>>,
    owed: Arc<watch::Sender<usize>>,
    tap: Option<Tap>,
) {
    let mut lines = Lines::new(reader);
    let mut forwarded = 0;
    // An error of the pipe is its end.
    while let Ok(Some(line)) = lines.next().await {
        let incoming = match line {
            Line::TooLong { bytes } => Incoming::Odd(Odd::TooLong { bytes }),
            Line::Whole(line) => {
                if let Some(tap) = &tap {
                    tap(Way::In, &line);
                }
                match sort(&line, &waiting, forwarded) {
                    Some(incoming) => incoming,
                    None => continue,
                }
            }
        };
        forwarded += 1;
        if matches!(incoming, Incoming::Request { .. }) {
            owed.send_modify(|owed| *owed += 1);
        }
        if arrived.send(incoming).await.is_err() {
            break;
        }
    }
    let mut waiting = lock(&waiting);
    waiting.closed = true;
    // Those who wait hear that nothing comes.
    waiting.calls.clear();
}

/// Delivers an answer; hands back everything else.
fn sort(line: &[u8], waiting: &Mutex<Waiting>, forwarded: u64) -> Option<Incoming> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return None;
    }
    if text[0] != b'{' {
        return Some(Incoming::Odd(Odd::Noise(cut(text))));
    }
    match Message::parse(text) {
        Ok(Message::Request { id, method, params }) => Some(Incoming::Request { id, method, params }),
        Ok(Message::Notification { method, params }) => Some(Incoming::Notification { method, params }),
        Ok(Message::Response { id, result }) => match lock(waiting).calls.remove(&id) {
            Some(reply) => {
                // Nobody waits any more.
                let _ = reply.send((result, forwarded));
                None
            }
            None => Some(Incoming::Odd(Odd::Unasked(id))),
        },
        Err(why) => {
            let syntax = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_err();
            Some(Incoming::Odd(Odd::NotAMessage { why, line: cut(text), syntax }))
        }
    }
}

/// Enough of a line to know it by.
fn cut(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
    text.chars().take(200).collect()
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
