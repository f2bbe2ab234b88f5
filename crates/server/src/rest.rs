//! REST under `/api/`, for scripts. One table says what there is: the router and the OpenAPI document are made from it,
//! so they can not disagree.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::MethodRouter;
use protocol::{
    AgentSummary, Decision, ModelSummary, Receipt, SearchHit, SessionSummary, ToolSummary, UsageRow,
};
use schemars::{Schema, SchemaGenerator};

use crate::code_search::{CodeHit, CodeQuery, IndexReport};
use crate::failure::ApiError;
use crate::preferences::{PreferenceChange, Preferred};
use crate::server::App;

mod extract;
mod general;
mod login;
mod session;

use general::*;
use session::*;

/// Something that can be asked for.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) handler: fn() -> MethodRouter<App>,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) status: u16,
    pub(crate) answer: Answer,
}

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What comes back.
pub(crate) enum Answer {
    Nothing,
    Json(SchemaOf),
    /// A document of one of these types.
    Document(&'static [&'static str]),
}

macro_rules! route {
    ($verb:ident $path:literal, $handler:path, $summary:literal $(, query $query:ty)? $(, body $body:ty)? => $status:literal $($answer:ident $(<$type:ty>)? $(($($media:literal),*))?)?) => {
        Route {
            method: stringify!($verb),
            path: $path,
            summary: $summary,
            handler: || axum::routing::$verb($handler),
            query: route!(@schema $($query)?),
            body: route!(@schema $($body)?),
            status: $status,
            answer: route!(@answer $($answer $(<$type>)? $(($($media),*))?)?),
        }
    };
    (@schema) => { None };
    (@schema $type:ty) => { Some(|generator| generator.subschema_for::<$type>()) };
    (@answer) => { Answer::Nothing };
    (@answer json<$type:ty>) => { Answer::Json(|generator| generator.subschema_for::<$type>()) };
    (@answer document($($media:literal),*)) => { Answer::Document(&[$($media),*]) };
}

pub(crate) const ROUTES: &[Route] = &[
    route!(get "/api/health", health, "Whether the server works, and which version it is" => 200 json<Health>),
    route!(get "/api/sessions", list, "The newest sessions first", query ListQuery => 200 json<Vec<SessionSummary>>),
    route!(post "/api/sessions", create, "Start a session", body NewSession => 201 json<Receipt>),
    route!(get "/api/sessions/{session}", get_session, "What a session's events add up to" => 200 json<View>),
    route!(patch "/api/sessions/{session}", change, "Rename, mark, or change mode, model or folders", body Change => 200 json<Receipt>),
    route!(delete "/api/sessions/{session}", delete_session, "Stop what runs and remove the session for good" => 204),
    route!(get "/api/sessions/{session}/events", events, "Recorded events, a page at a time, forwards or backwards", query EventsQuery => 200 json<Vec<AnyEvent>>),
    route!(post "/api/sessions/{session}/prompt", prompt, "Ask something; the answer arrives as events", body Prompt => 202 json<Receipt>),
    route!(post "/api/sessions/{session}/cancel", cancel, "Stop what runs", body Cancel => 200 json<Receipt>),
    route!(post "/api/sessions/{session}/permissions/{request}", answer, "Answer a question", body Decision => 200 json<Receipt>),
    route!(post "/api/sessions/{session}/fork", fork, "A new session that has this one's events", body Fork => 201 json<Receipt>),
    route!(get "/api/sessions/{session}/export", export, "The whole session as one document", query ExportQuery => 200 document("text/markdown", "text/html", "application/json")),
    route!(get "/api/sessions/{session}/blobs/{hash}", blob, "Bytes that an event names", query BlobQuery => 200 document("application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp")),
    route!(get "/api/search", search, "Words in all sessions, best first", query SearchQuery => 200 json<Vec<SearchHit>>),
    route!(get "/api/agents", agents, "Who can answer" => 200 json<Vec<AgentSummary>>),
    route!(get "/api/models", models, "Which models there are" => 200 json<Vec<ModelSummary>>),
    route!(get "/api/tools", tools, "What the built-in agent can do" => 200 json<Vec<ToolSummary>>),
    route!(get "/api/usage", usage, "What was spent, by day, agent and model", query UsageQuery => 200 json<Vec<UsageRow>>),
    route!(get "/api/settings", settings, "What the person chose for all sessions" => 200 json<Preferred>),
    route!(patch "/api/settings", change_settings, "Choose who answers, what may happen, and which MCP servers are used", body PreferenceChange => 200 json<Preferred>),
    route!(get "/api/openapi.json", openapi, "This document" => 200 json<serde_json::Value>),
    route!(post "/rag/index", index_code, "Bring the index of a folder up to date", body IndexFolder => 200 json<IndexReport>),
    route!(post "/rag/query", query_code, "Find code", body CodeQuery => 200 json<Vec<CodeHit>>),
];

/// For those who may.
pub(crate) fn routes() -> Router<App> {
    let router =
        ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, (route.handler)()));
    router
        .route("/api/logout", axum::routing::post(login::log_out))
        // Their place is kept: editors look for them under these names.
        .route("/v1/chat/completions", axum::routing::any(not_yet))
        .route("/complete", axum::routing::any(not_yet))
        .route("/api/{*rest}", axum::routing::any(nothing_here))
        .method_not_allowed_fallback(wrong_method)
}

/// For those who want to become that.
pub(crate) fn open_routes() -> Router<App> {
    Router::new().route("/api/login", axum::routing::post(login::log_in))
}

async fn not_yet() -> ApiError {
    ApiError::new(StatusCode::NOT_IMPLEMENTED, "unavailable", "completions are not served yet")
}

async fn nothing_here() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is nothing under this address")
        .hint("see /api/openapi.json")
}

async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "invalid", "this address does not take that method")
        .hint("see /api/openapi.json")
}
