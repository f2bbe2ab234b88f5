//! One call over HTTP: send, check, read, decode, with a limit on everything that the other side controls.

use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::vec;

use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use net::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use net::{Response, Url};
use protocol::ModelRef;

use crate::account::{Accounts, ask_in_turn};
use crate::error::{Waiting, classify, html_title, looks_like_html};
use crate::model::{EventStream, Model, ModelInfo};
use crate::retry::retry_after;
use crate::sse::{SseDecoder, SseError};
use crate::tokens::{TokenRatio, request_weight};
use crate::wire::{Ask, Decode, Events, Format, Progress, Quirks};
use crate::{CallError, ModelEvent, Request, Secret};

/// How long a call may wait, for each thing it waits for. There is no limit on the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From asking to the first byte of the answer, the connection included.
    pub first_byte: Duration,
    /// Between two reads.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(90),
        }
    }
}

/// How much an answer may be. A server that sends without end costs neither memory nor an evening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Bytes of one frame.
    pub frame: usize,
    /// Bytes of decoded text.
    pub text: usize,
    /// Bytes on the wire.
    pub wire: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { frame: crate::sse::FRAME_LIMIT, text: 16 << 20, wire: 128 << 20 }
    }
}

/// An error body says what it has to say in this much.
const ERROR_BODY: usize = 64 << 10;

/// After the model has stopped only figures can follow, so nobody waits long for them.
const AFTER_STOP: Duration = Duration::from_secs(5);

/// After the provider has said that this is all, the end of the message is already on its way.
const AFTER_DONE: Duration = Duration::from_millis(100);

/// What is handed on at once: beyond it, the receiver gets a turn before more is read.
const BATCH: usize = 64 << 10;

/// Where a model is and how it is asked.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) provider: String,
    pub(crate) format: &'static dyn Format,
    /// Whose data the provider's own data is.
    pub(crate) origin: String,
    /// The name that the provider knows.
    pub(crate) model: String,
    pub(crate) base: Url,
    pub(crate) key: Option<Secret>,
    /// Where keys come from at the time of asking, if a person keeps several.
    pub(crate) accounts: Option<Accounts>,
    pub(crate) headers: HeaderMap,
    pub(crate) quirks: Quirks,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: AnswerLimits,
    pub(crate) info: ModelInfo,
    pub(crate) ratio: Arc<TokenRatio>,
}

/// A model behind a provider's HTTP API. Each stream is one attempt.
pub(crate) struct HttpModel {
    pub(crate) id: ModelRef,
    pub(crate) target: Arc<Target>,
}

impl Model for HttpModel {
    fn id(&self) -> &ModelRef {
        &self.id
    }

    fn info(&self) -> &ModelInfo {
        &self.target.info
    }

    fn estimate(&self, request: &Request) -> u64 {
        self.target.ratio.request(request)
    }

    fn stream(&self, mut request: Request) -> EventStream {
        // Whoever made the request may have had another model in mind, and providers refuse more than they give.
        if let (Some(wish), Some(most)) = (&mut request.max_output, self.target.info.max_output) {
            *wish = (*wish).min(most);
        }
        let phase = Phase::Ask(self.target.clone(), request);
        stream::unfold(phase, |phase| phase.next()).boxed()
    }
}

enum Phase {
    Ask(Arc<Target>, Request),
    Read(Box<Reading>),
    Over,
}

impl Phase {
    async fn next(mut self) -> Option<(Result<ModelEvent, CallError>, Self)> {
        loop {
            self = match self {
                Self::Ask(target, request) => match ask_in_turn(target, request).await {
                    Ok(reading) => Self::Read(Box::new(reading)),
                    Err(error) => return Some((Err(error), Self::Over)),
                },
                Self::Read(mut reading) => {
                    if let Some(event) = reading.ready.next() {
                        return Some((Ok(event), Self::Read(reading)));
                    }
                    match reading.outcome.take() {
                        Some(Ok(())) => {
                            reading.drain().await;
                            return None;
                        }
                        Some(Err(error)) => {
                            let error = reading.target.without_secrets(error);
                            return Some((Err(error), Self::Over));
                        }
                        None => reading.more().await,
                    }
                    Self::Read(reading)
                }
                Self::Over => return None,
            };
        }
    }
}

impl Target {
    pub(crate) fn address(&self) -> String {
        net::shown(&self.base)
    }

    pub(crate) fn client(&self) -> Result<net::Client, CallError> {
        let shared = net::Options::default();
        let client = if self.timeouts.connect == shared.connect_timeout {
            net::client(&self.base)
        } else {
            net::build(&self.base, &net::Options { connect_timeout: self.timeouts.connect })
        };
        client.map_err(|error| self.unreachable(error.to_string()))
    }

    pub(crate) fn headers(&self) -> Result<HeaderMap, CallError> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        // A compressed stream comes in lumps and can unfold to any size.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let authorized = self.format.authorize(self.key.as_ref(), &self.quirks, &mut headers);
        authorized.ok_or_else(|| self.bad_key())?;
        Ok(headers)
    }

    fn bad_key(&self) -> CallError {
        let message = "the key has characters that no key has".to_owned();
        CallError::BadCredential { provider: self.provider.clone(), message }
    }

    pub(crate) fn unreachable(&self, what: String) -> CallError {
        CallError::Unreachable { provider: self.provider.clone(), address: self.address(), what }
    }

    pub(crate) fn timed_out(&self, waiting: Waiting, limit: Duration) -> CallError {
        CallError::TimedOut { provider: self.provider.clone(), waiting, limit }
    }

    pub(crate) fn not_this_api(&self, what: impl Into<String>) -> CallError {
        CallError::NotThisApi { provider: self.provider.clone(), address: self.address(), what: what.into() }
    }

    fn broken(&self, error: &net::HttpError) -> CallError {
        CallError::BrokenStream { provider: self.provider.clone(), what: net::describe(error) }
    }

    /// Other people's words, without our key and whatever else is sent in confidence.
    fn redact(&self, text: String) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text,
        };
        let sent = self.headers.values().filter_map(|value| value.to_str().ok());
        sent.fold(text, |text, value| Secret::new(value).redact(text))
    }

    /// Every way out for an error leads through here: providers quote what they were sent.
    pub(crate) fn without_secrets(&self, error: CallError) -> CallError {
        error.reword(|words| self.redact(words))
    }
}

/// The header that carries a token, marked so that no log shows it.
pub(crate) fn bearer(key: &Secret) -> Option<HeaderValue> {
    sensitive(&format!("Bearer {}", key.reveal()))
}

/// The header that carries a key and nothing else.
pub(crate) fn plain(key: &Secret) -> Option<HeaderValue> {
    sensitive(key.reveal())
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

pub(crate) async fn ask(target: Arc<Target>, request: Request) -> Result<Reading, CallError> {
    let asked = send(target.clone(), request).await;
    asked.map_err(|error| target.without_secrets(error))
}

async fn send(target: Arc<Target>, request: Request) -> Result<Reading, CallError> {
    let body = target.format.body(&Ask {
        model: &target.model,
        origin: &target.origin,
        request: &request,
        quirks: &target.quirks,
        info: &target.info,
    });
    let sent = target
        .client()?
        .post(target.format.address(&target.base, &target.model, &target.quirks))
        .headers(target.headers()?)
        .body(body)
        .send();
    let mut response = match tokio::time::timeout(target.timeouts.first_byte, sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) if error.is_connect() && error.is_timeout() => {
            return Err(target.timed_out(Waiting::Connection, target.timeouts.connect));
        }
        // Not connected, or hung up on before the first byte of an answer: nobody is there to answer.
        Ok(Err(error)) => return Err(target.unreachable(net::describe(&error))),
        Err(_) => return Err(target.timed_out(Waiting::FirstByte, target.timeouts.first_byte)),
    };
    if !response.status().is_success() {
        let after = retry_after(response.headers(), SystemTime::now());
        let status = response.status().as_u16();
        let body = error_body(&mut response, &target).await;
        return Err(classify(&target.provider, &target.address(), Some(status), after, &body));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.to_ascii_lowercase();
    if kind.contains("html") {
        let body = error_body(&mut response, &target).await;
        return Err(target.not_this_api(html_title(&body)));
    }
    let form = if kind.contains("json") && !kind.contains("ndjson") {
        Form::Whole(Vec::new())
    } else {
        Form::Stream
    };
    Ok(Reading {
        sse: SseDecoder::new(target.limits.frame),
        decoder: target.format.decoder(&target.provider, &target.origin),
        weight: request_weight(&request),
        events: Events::default(),
        ready: Vec::new().into_iter(),
        outcome: None,
        received: 0,
        response,
        form,
        target,
    })
}

/// As much of an error's body as is worth reading. Failing to read it does not hide the error.
async fn error_body(response: &mut Response, target: &Target) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ERROR_BODY - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == ERROR_BODY {
                break;
            }
        }
    };
    let limit = target.timeouts.idle.min(Duration::from_secs(10));
    // What came before the time was over is what there is.
    let _ = tokio::time::timeout(limit, read).await;
    target.redact(String::from_utf8_lossy(&body).into_owned())
}

/// An answer that is being read.
pub(crate) struct Reading {
    target: Arc<Target>,
    response: Response,
    form: Form,
    sse: SseDecoder,
    decoder: Box<dyn Decode>,
    events: Events,
    /// Events to hand out before anything else is read.
    ready: vec::IntoIter<ModelEvent>,
    /// How it ended, to be told after `ready`.
    outcome: Option<Result<(), CallError>>,
    received: usize,
    /// What the prompt was estimated as, to learn from what is counted.
    weight: f64,
}

enum Form {
    Stream,
    /// Some servers answer a request for a stream with one JSON document.
    Whole(Vec<u8>),
}

impl Reading {
    /// Reads what there is, at least once, and decodes it.
    async fn more(&mut self) {
        let result = self.fill().await;
        if let Err(error) = result {
            self.outcome = Some(Err(error));
        }
        let mut events = self.events.take();
        for event in &mut events {
            if let ModelEvent::Usage(usage) = event {
                usage.cost_usd = self.target.info.prices.map(|prices| prices.cost(usage));
                self.target.ratio.learn(self.weight, usage.input);
            }
        }
        self.ready = events.into_iter();
    }

    async fn fill(&mut self) -> Result<(), CallError> {
        let mut next = self.wait().await?;
        let start = self.received;
        loop {
            let Some(bytes) = next else { return self.end() };
            self.received += bytes.len();
            self.take(&bytes)?;
            if self.decoder.progress() == Progress::Done {
                return self.end();
            }
            if self.received - start > BATCH {
                return Ok(());
            }
            // Providers send a chunk a token. What has arrived already is read before anyone is woken for it.
            next = match self.response.chunk().now_or_never() {
                Some(Ok(bytes)) => bytes,
                Some(Err(error)) => return self.cut(&error),
                None if self.events.is_empty() => return Ok(()),
                None => {
                    // The connection's task hands over one chunk at a time: let it have a turn.
                    tokio::task::yield_now().await;
                    match self.response.chunk().now_or_never() {
                        Some(Ok(bytes)) => bytes,
                        Some(Err(error)) => return self.cut(&error),
                        None => return Ok(()),
                    }
                }
            };
        }
    }

    /// The next bytes, or `None` at the end.
    async fn wait(&mut self) -> Result<Option<Bytes>, CallError> {
        let timeouts = &self.target.timeouts;
        let stopped = self.decoder.progress() == Progress::Stopped;
        let (waiting, limit) = match self.received {
            0 => (Waiting::FirstByte, timeouts.first_byte),
            _ if stopped => (Waiting::NextChunk, timeouts.idle.min(AFTER_STOP)),
            _ => (Waiting::NextChunk, timeouts.idle),
        };
        match tokio::time::timeout(limit, self.response.chunk()).await {
            Ok(Ok(bytes)) => Ok(bytes),
            // The model had said all it wanted to say.
            Ok(Err(_)) | Err(_) if stopped => Ok(None),
            Ok(Err(error)) => Err(self.target.broken(&error)),
            Err(_) => Err(self.target.timed_out(waiting, limit)),
        }
    }

    /// Reads what is left after the answer, which is the end of the HTTP message: only then can the connection be
    /// used again, and a new one would cost every step of an agent its handshake.
    async fn drain(&mut self) {
        let rest = async {
            let mut left = ERROR_BODY;
            while let Ok(Some(bytes)) = self.response.chunk().await {
                left = left.saturating_sub(bytes.len());
                if left == 0 {
                    break;
                }
            }
        };
        // A server that does not end its message loses the connection.
        let _ = tokio::time::timeout(AFTER_DONE, rest).await;
    }

    fn cut(&mut self, error: &net::HttpError) -> Result<(), CallError> {
        if self.decoder.progress() == Progress::Running { Err(self.target.broken(error)) } else { self.end() }
    }

    fn too_large(&self, limit: usize) -> CallError {
        CallError::TooLarge { provider: self.target.provider.clone(), limit }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        let limits = &self.target.limits;
        if self.received > limits.wire {
            return Err(self.too_large(limits.wire));
        }
        if let Form::Whole(body) = &mut self.form {
            if body.len() + bytes.len() > limits.text {
                return Err(self.too_large(limits.text));
            }
            body.extend_from_slice(bytes);
            return Ok(());
        }
        let (decoder, events) = (&mut self.decoder, &mut self.events);
        let decoded = self.sse.push(bytes, |frame| decoder.frame(&frame.event, &frame.data, events));
        self.decoded(decoded)?;
        let limit = self.target.limits.text;
        if self.events.text > limit { Err(self.too_large(limit)) } else { Ok(()) }
    }

    fn decoded(&self, result: Result<(), SseError<CallError>>) -> Result<(), CallError> {
        result.map_err(|error| match error {
            SseError::Receiver(error) => error,
            SseError::FrameTooLarge { limit } => self.too_large(limit),
        })
    }

    fn end(&mut self) -> Result<(), CallError> {
        if let Form::Whole(body) = &mut self.form {
            let body = String::from_utf8_lossy(&std::mem::take(body)).into_owned();
            if looks_like_html(&body) {
                return Err(self.target.not_this_api(html_title(&body)));
            }
            self.decoder.whole(&body, &mut self.events)?;
        } else {
            let (decoder, events) = (&mut self.decoder, &mut self.events);
            let decoded = self.sse.finish(|frame| decoder.frame(&frame.event, &frame.data, events));
            self.decoded(decoded)?;
        }
        self.decoder.end(&mut self.events)?;
        self.outcome = Some(Ok(()));
        Ok(())
    }
}
