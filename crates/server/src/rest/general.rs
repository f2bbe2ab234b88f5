//! What is not about one session.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::{AgentSummary, ModelSummary, Reply, Request, SearchHit, ToolSummary, UsageRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::extract::{Asked, Body};
use crate::code_search::{CodeHit, CodeQuery, CodeSearch, IndexReport};
use crate::failure::ApiError;
use crate::preferences::{PreferenceChange, Preferences, Preferred};
use crate::server::App;

pub(super) type Answered<T> = Result<Json<T>, ApiError>;

/// An engine that answers something else than what it was asked is not one of ours.
pub(super) fn unexpected() -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "unavailable",
        "the engine gave an answer to another question",
    )
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    version: String,
}

pub(super) async fn health(State(app): State<App>) -> Json<Health> {
    Json(Health { status: "ok", version: app.version.to_string() })
}

pub(super) async fn agents(State(app): State<App>) -> Answered<Vec<AgentSummary>> {
    match app.client.read(Request::Agents).await? {
        Reply::Agents(agents) => Ok(Json(agents)),
        _ => Err(unexpected()),
    }
}

pub(super) async fn models(State(app): State<App>) -> Answered<Vec<ModelSummary>> {
    match app.client.read(Request::Models).await? {
        Reply::Models(models) => Ok(Json(models)),
        _ => Err(unexpected()),
    }
}

pub(super) async fn tools(State(app): State<App>) -> Answered<Vec<ToolSummary>> {
    match app.client.read(Request::Tools).await? {
        Reply::Tools(tools) => Ok(Json(tools)),
        _ => Err(unexpected()),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchQuery {
    /// All of these words must occur, "quoted words" together.
    q: String,
    #[serde(default = "twenty")]
    #[schemars(range(min = 0, max = 200))]
    limit: u32,
}

fn twenty() -> u32 {
    20
}

pub(super) async fn search(
    State(app): State<App>,
    Asked(SearchQuery { q, limit }): Asked<SearchQuery>,
) -> Answered<Vec<SearchHit>> {
    match app.client.read(Request::SearchSessions { query: q, limit: limit.min(200) }).await? {
        Reply::Hits(hits) => Ok(Json(hits)),
        _ => Err(unexpected()),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UsageQuery {
    /// How far back.
    #[serde(default = "thirty")]
    days: u32,
}

fn thirty() -> u32 {
    30
}

pub(super) async fn usage(
    State(app): State<App>,
    Asked(UsageQuery { days }): Asked<UsageQuery>,
) -> Answered<Vec<UsageRow>> {
    match app.client.read(Request::Usage { days }).await? {
        Reply::Usage(rows) => Ok(Json(rows)),
        _ => Err(unexpected()),
    }
}

pub(super) async fn openapi(State(app): State<App>) -> Json<Value> {
    Json(crate::openapi::document(&app.version))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IndexFolder {
    /// Where the server was started if absent.
    #[serde(default)]
    folder: Option<String>,
}

pub(super) async fn settings(State(app): State<App>) -> Answered<Preferred> {
    Ok(Json(preferences(&app)?.read().await?))
}

pub(super) async fn change_settings(
    State(app): State<App>,
    Body(change): Body<PreferenceChange>,
) -> Answered<Preferred> {
    if change.rule.as_ref().is_some_and(|rule| !(1..=1000).contains(&rule.rule.chars().count())) {
        return Err(ApiError::invalid("a rule has 1 to 1000 characters"));
    }
    Ok(Json(preferences(&app)?.change(change).await?))
}

fn preferences(app: &App) -> Result<&dyn Preferences, ApiError> {
    app.preferences.as_deref().ok_or_else(|| {
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "unavailable", "this server keeps no settings")
    })
}

pub(super) async fn index_code(
    State(app): State<App>,
    Body(IndexFolder { folder }): Body<IndexFolder>,
) -> Answered<IndexReport> {
    let folder = folder.unwrap_or_else(|| app.cwd.to_string());
    Ok(Json(code_search(&app)?.index(folder).await?))
}

pub(super) async fn query_code(
    State(app): State<App>,
    Body(mut query): Body<CodeQuery>,
) -> Answered<Vec<CodeHit>> {
    if query.query.trim().is_empty() || query.query.len() > 10_000 {
        return Err(ApiError::invalid("a query has 1 to 10000 bytes"));
    }
    if !(1..=100).contains(&query.limit) {
        return Err(ApiError::invalid("`limit` is 1 to 100"));
    }
    query.folder.get_or_insert_with(|| app.cwd.to_string());
    Ok(Json(code_search(&app)?.query(query).await?))
}

fn code_search(app: &App) -> Result<&dyn CodeSearch, ApiError> {
    app.code_search.as_deref().ok_or_else(|| {
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "unavailable", "this server searches no code")
    })
}
