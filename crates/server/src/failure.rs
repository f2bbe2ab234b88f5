//! What went wrong, as scripts and front ends read it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use client::{ClientError, Failure};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::Refused;

/// The body of every answer that is an error.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApiError {
    #[serde(skip)]
    status: u16,
    #[serde(skip)]
    retry_after: Option<u64>,
    /// What kind of error: not_found, locked, invalid, no_model, storage, closed, unauthorized, too_many or unavailable.
    pub(crate) error: &'static str,
    /// What happened, to which thing.
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        Self { status: status.as_u16(), retry_after: None, error, message: message.into(), hint: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<ClientError> for ApiError {
    fn from(error: ClientError) -> Self {
        let status = match error.kind {
            Failure::NotFound => StatusCode::NOT_FOUND,
            Failure::Locked => StatusCode::CONFLICT,
            Failure::Invalid => StatusCode::BAD_REQUEST,
            // There is one to be had, but not by this request as it is.
            Failure::NoModel => StatusCode::UNPROCESSABLE_ENTITY,
            Failure::Closed => StatusCode::SERVICE_UNAVAILABLE,
            Failure::Storage => StatusCode::INSUFFICIENT_STORAGE,
            Failure::Denied => StatusCode::UNAUTHORIZED,
        };
        Self { hint: error.hint, ..Self::new(status, error.kind.name(), error.message) }
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unknown => {
                Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "this needs the token of this run").hint(
                    "open the address that `covey serve` printed, or send `Authorization: Bearer TOKEN`",
                )
            }
            Refused::TooMany(wait) => {
                let seconds = wait.as_secs().max(1);
                let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", "too many wrong tokens");
                Self { retry_after: Some(seconds), ..error }.hint(format!("try again in {seconds} s"))
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
