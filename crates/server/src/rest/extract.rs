//! Reading requests, with errors that say what is wrong with them.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use protocol::SessionId;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::failure::ApiError;
use crate::server::App;

/// A body must be there by then.
const BODY_WITHIN: Duration = Duration::from_secs(60);

/// A JSON body. An empty one is an empty object: many requests need to say nothing.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        // A form that a page elsewhere sends can only have other types.
        let is_json =
            media_type.is_some_and(|media_type| media_type.split(';').next() == Some("application/json"));
        let is_typed = media_type.is_some();
        let bytes = timeout(BODY_WITHIN, Bytes::from_request(request, app)).await.map_err(|_| {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "invalid", "the body did not arrive in time")
        })?;
        let bytes = bytes.map_err(|error| {
            let status = error.into_response_status();
            let error = ApiError::new(status, "invalid", "the body can not be read");
            if status == StatusCode::PAYLOAD_TOO_LARGE { error.hint("send less at once") } else { error }
        })?;
        if !is_json && (is_typed || !bytes.is_empty()) {
            let error = ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid", "the body must be JSON");
            return Err(error.hint("send `Content-Type: application/json`"));
        }
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // A list would be read as the fields in their order, which nobody means.
        if text.trim_ascii_start().first() == Some(&b'[') {
            return Err(ApiError::invalid("the body must be an object"));
        }
        let value = Json::<T>::from_bytes(text).map_err(|error| {
            let text = error.body_text();
            ApiError::invalid(format!("the body is not what is wanted here: {text}"))
        })?;
        Ok(Self(value.0))
    }
}

trait StatusOf {
    fn into_response_status(self) -> StatusCode;
}

impl<T: axum::response::IntoResponse> StatusOf for T {
    fn into_response_status(self) -> StatusCode {
        self.into_response().status()
    }
}

/// What stands after the question mark.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, app).await;
        let query = query.map_err(|error| ApiError::invalid(error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// The session that the address names.
pub(super) struct Named(pub(super) SessionId);

impl FromRequestParts<App> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let name = part(parts, app, "session").await?;
        // What is not an id names no session.
        let session = name.parse::<SessionId>();
        session
            .map(Self)
            .map_err(|error| ApiError::new(StatusCode::NOT_FOUND, "not_found", error.to_string()))
    }
}

/// A named part of the address.
pub(super) async fn part(parts: &mut Parts, app: &App, name: &str) -> Result<String, ApiError> {
    let found = Path::<std::collections::HashMap<String, String>>::from_request_parts(parts, app).await;
    let mut found = found.map_err(|error| ApiError::invalid(error.body_text()))?;
    found.remove(name).ok_or_else(|| ApiError::invalid(format!("the address has no `{name}`")))
}
