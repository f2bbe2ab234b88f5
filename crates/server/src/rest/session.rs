//! What is about one session.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use protocol::{
    AgentId, BlobId, BlobRef, Content, Decision, Event, ExportFormat, Limits, Mode, ModelRef, Op, Receipt,
    Reply, Request, RequestId, SessionSummary, SessionView, TurnId,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::extract::{Asked, Body, Named, part};
use super::general::{Answered, unexpected};
use crate::failure::ApiError;
use crate::server::App;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListQuery {
    /// Only those that were made in this folder.
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default = "hundred")]
    limit: u32,
}

fn hundred() -> u32 {
    100
}

pub(super) async fn list(
    State(app): State<App>,
    Asked(ListQuery { cwd, limit }): Asked<ListQuery>,
) -> Answered<Vec<SessionSummary>> {
    match app.client.read(Request::Sessions { cwd, limit }).await? {
        Reply::Sessions(sessions) => Ok(Json(sessions)),
        _ => Err(unexpected()),
    }
}

/// A session to be made. What is absent is as the settings say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSession {
    /// Where it works; where the server was started if absent.
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    agent: Option<AgentId>,
    #[serde(default)]
    model: Option<ModelRef>,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    title: Option<String>,
    /// Folders that it works in besides its own: absolute, or from its own on.
    #[serde(default)]
    folders: Vec<String>,
    /// Sent again under the same key it is the same session.
    #[serde(default)]
    key: Option<String>,
}

pub(super) async fn create(
    State(app): State<App>,
    Body(new): Body<NewSession>,
) -> Result<(StatusCode, Json<Receipt>), ApiError> {
    let NewSession { cwd, agent, model, mode, title, folders, key } = new;
    let cwd = cwd.unwrap_or_else(|| app.cwd.to_string());
    let op = Op::CreateSession { cwd, agent, model, mode, title, folders, ephemeral: false };
    Ok((StatusCode::CREATED, Json(app.submitted.submit(op, key).await?)))
}

/// A session's state, as front ends draw it.
pub(super) struct View;

impl JsonSchema for View {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SessionView".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "What a session's events add up to: its newest messages and tool calls in `items`, questions that wait in `pending`.",
            "required": ["session", "seq", "cwd", "agent", "mode", "title", "status", "items", "pending", "first"],
            "properties": {
                "session": {"type": "string"},
                "seq": {"type": "integer"},
                "first": {"type": "integer", "description": "Events before this one are not in `items`."},
                "status": {"type": "string"},
                "items": {"type": "array", "items": {"type": "object"}},
                "pending": {"type": "array", "items": {"type": "object"}},
            },
        })
    }
}

pub(super) async fn get_session(State(app): State<App>, Named(session): Named) -> Answered<Box<SessionView>> {
    match app.client.read(Request::Session { session }).await? {
        Reply::Session(view) => Ok(Json(view)),
        _ => Err(unexpected()),
    }
}

/// What is absent stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    model: Option<ModelRef>,
    /// All folders that it works in besides its own.
    #[serde(default)]
    folders: Option<Vec<String>>,
    #[serde(default)]
    pinned: Option<bool>,
    #[serde(default)]
    archived: Option<bool>,
}

pub(super) async fn change(
    State(app): State<App>,
    Named(session): Named,
    Body(change): Body<Change>,
) -> Answered<Receipt> {
    let Change { title, mode, model, folders, pinned, archived } = change;
    let mut ops = Vec::new();
    ops.extend(title.map(|title| Op::Rename { session: session.clone(), title }));
    ops.extend(mode.map(|mode| Op::SetMode { session: session.clone(), mode }));
    ops.extend(model.map(|model| Op::SetModel { session: session.clone(), model }));
    ops.extend(folders.map(|folders| Op::SetFolders { session: session.clone(), folders }));
    if pinned.is_some() || archived.is_some() {
        ops.push(Op::MarkSession { session: session.clone(), pinned, archived });
    }
    if ops.is_empty() {
        // Nothing to do, but not to a session that is not there.
        app.client.read(Request::Session { session: session.clone() }).await?;
    }
    for op in ops {
        app.client.submit(op).await?;
    }
    Ok(Json(Receipt { session, turn: None }))
}

pub(super) async fn delete_session(
    State(app): State<App>,
    Named(session): Named,
) -> Result<StatusCode, ApiError> {
    app.client.submit(Op::DeleteSession { session }).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct EventsQuery {
    /// Events with greater numbers; all from the beginning if absent.
    #[serde(default)]
    after: Option<u64>,
    /// Events with smaller numbers, the nearest ones.
    #[serde(default)]
    before: Option<u64>,
    #[serde(default = "hundred")]
    limit: u32,
}

/// One record of a session's log.
pub(super) struct AnyEvent;

impl JsonSchema for AnyEvent {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Event".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "One record of a session's log. Its further fields are those of its type.",
            "required": ["v", "seq", "ts", "type"],
            "properties": {
                "v": {"type": "integer"},
                "seq": {"type": "integer"},
                "ts": {"type": "string", "format": "date-time"},
                "turn": {"type": "string"},
                "type": {"type": "string"},
            },
        })
    }
}

pub(super) async fn events(
    State(app): State<App>,
    Named(session): Named,
    Asked(EventsQuery { after, before, limit }): Asked<EventsQuery>,
) -> Answered<Vec<Event>> {
    let request = match (after, before) {
        (Some(_), Some(_)) => return Err(ApiError::invalid("either `after` or `before`, not both")),
        (None, Some(before)) => Request::EventsBefore { session, before, limit },
        (after, None) => Request::EventsAfter { session, after: after.unwrap_or(0), limit },
    };
    match app.client.read(request).await? {
        Reply::Events(events) => Ok(Json(events)),
        _ => Err(unexpected()),
    }
}

/// What is asked: plain text, or blocks of content.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    content: Vec<Content>,
    /// Sent again under the same key it is the same prompt.
    #[serde(default)]
    key: Option<String>,
    /// Whether somebody will answer questions; without that, what needs approval is denied.
    #[serde(default)]
    attended: bool,
    #[serde(default)]
    limits: Limits,
}

pub(super) async fn prompt(
    State(app): State<App>,
    Named(session): Named,
    Body(prompt): Body<Prompt>,
) -> Result<(StatusCode, Json<Receipt>), ApiError> {
    let Prompt { text, mut content, key, attended, limits } = prompt;
    content.extend(text.map(Content::text));
    if content.is_empty() {
        return Err(ApiError::invalid("the prompt is empty").hint("send `text` or `content`"));
    }
    let op = Op::StartTurn { session, prompt: content, key: key.clone(), limits, attended };
    Ok((StatusCode::ACCEPTED, Json(app.submitted.submit(op, key).await?)))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Cancel {
    /// All of them if absent.
    #[serde(default)]
    turn: Option<TurnId>,
}

pub(super) async fn cancel(
    State(app): State<App>,
    Named(session): Named,
    Body(Cancel { turn }): Body<Cancel>,
) -> Answered<Receipt> {
    Ok(Json(app.client.submit(Op::CancelTurn { session, turn }).await?))
}

/// The question that the address names.
pub(super) struct Question(RequestId);

impl FromRequestParts<App> for Question {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self(RequestId::new(part(parts, app, "request").await?)))
    }
}

pub(super) async fn answer(
    State(app): State<App>,
    Named(session): Named,
    Question(request): Question,
    Body(decision): Body<Decision>,
) -> Answered<Receipt> {
    Ok(Json(app.client.submit(Op::AnswerPermission { session, request, decision }).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Fork {
    /// Up to and including this event; all of them if absent.
    #[serde(default)]
    at: Option<u64>,
}

pub(super) async fn fork(
    State(app): State<App>,
    Named(session): Named,
    Body(Fork { at }): Body<Fork>,
) -> Result<(StatusCode, Json<Receipt>), ApiError> {
    Ok((StatusCode::CREATED, Json(app.client.submit(Op::ForkSession { session, at }).await?)))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ExportQuery {
    #[serde(default = "markdown")]
    format: ExportFormat,
}

fn markdown() -> ExportFormat {
    ExportFormat::Markdown
}

pub(super) async fn export(
    State(app): State<App>,
    Named(session): Named,
    Asked(ExportQuery { format }): Asked<ExportQuery>,
) -> Result<Response, ApiError> {
    let (media_type, extension) = match format {
        ExportFormat::Markdown => ("text/markdown; charset=utf-8", "md"),
        ExportFormat::Html => ("text/html; charset=utf-8", "html"),
        ExportFormat::Json => ("application/json", "json"),
    };
    // Saved, never shown: what a model wrote is not a page of ours.
    let disposition = format!("attachment; filename=\"{session}.{extension}\"");
    match app.client.read(Request::Export { session, format }).await? {
        Reply::Export(text) => {
            let headers =
                [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
            Ok((headers, text).into_response())
        }
        _ => Err(unexpected()),
    }
}

/// The bytes that the address names.
pub(super) struct Hash(BlobId);

impl FromRequestParts<App> for Hash {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let hash = part(parts, app, "hash").await?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self(BlobId::from(hash))).ok_or_else(|| {
            ApiError::new(StatusCode::NOT_FOUND, "not_found", "a blob is named by 64 hex digits")
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct BlobQuery {
    /// How many bytes it has, as the event says.
    bytes: u64,
    /// What it is, as the event says.
    #[serde(default, rename = "type")]
    media_type: Option<String>,
}

/// What a browser may show as a picture. No SVG: it can hold script.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(super) async fn blob(
    State(app): State<App>,
    Named(session): Named,
    Hash(hash): Hash,
    Asked(BlobQuery { bytes, media_type }): Asked<BlobQuery>,
) -> Result<Response, ApiError> {
    let request = Request::Blob { session, blob: BlobRef { hash, bytes } };
    let encoded = match app.client.read(request).await? {
        Reply::Blob(encoded) => encoded,
        _ => return Err(unexpected()),
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|_| unexpected())?;
    let picture = PICTURES.into_iter().find(|known| Some(*known) == media_type.as_deref());
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    let media_type = picture.unwrap_or("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    // Named by what it is, so it never changes; but only this browser may keep it.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400, immutable"));
    if picture.is_none() {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    Ok(response)
}
