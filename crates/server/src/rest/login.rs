//! The token for a cookie, and the other way.

use std::net::SocketAddr;
use std::time::Instant;

use axum::Extension;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;

use super::extract::Body;
use crate::access::Visitor;
use crate::failure::ApiError;
use crate::server::App;

#[derive(Deserialize)]
pub(super) struct LogIn {
    token: String,
}

/// Our own page asks, with the token from its address.
pub(super) async fn log_in(
    State(app): State<App>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Body(LogIn { token }): Body<LogIn>,
) -> Result<impl IntoResponse, ApiError> {
    let cookie = app.access.log_in(from.ip(), &token, Instant::now())?;
    let cookie = cookie.map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "unavailable", format!("no randomness: {error}"))
    })?;
    // Behind a proxy that speaks TLS the cookie never travels without it.
    let secure = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict{secure}", app.cookie);
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]))
}

pub(super) async fn log_out(
    State(app): State<App>,
    Extension(visitor): Extension<Visitor>,
) -> impl IntoResponse {
    if let Some(cookie) = &visitor.login {
        app.access.log_out(cookie);
    }
    let gone = format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", app.cookie);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)])
}
