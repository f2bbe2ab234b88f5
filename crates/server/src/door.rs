//! The first thing every request meets: is it meant for us, and does it come from where it says?
//!
//! A page on another origin, or one whose name was made to point here (DNS rebinding), is turned away before anybody
//! looks at what it brought. Answers leave with headers that keep the page to itself.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::{Access, Credentials, Refused, Visitor};
use crate::assets;
use crate::failure::ApiError;
use crate::server::{App, MAX_BODY};

/// Names under which we may be asked for, each with its port where it has one.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    names: Vec<String>,
    port: u16,
    /// Listening on every address, so any address will do; a name could still be anybody's.
    any_address: bool,
}

impl Names {
    /// What we are called at this address, and what the person says we are called.
    pub(crate) fn new(address: SocketAddr, given: &[String]) -> Self {
        let port = address.port();
        let mut names =
            vec![format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
        names.push(SocketAddr::new(address.ip(), port).to_string());
        names.extend(given.iter().map(|name| name.to_ascii_lowercase()));
        Self { names, port, any_address: address.ip().is_unspecified() }
    }

    pub(crate) fn contain(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_ours = |address: SocketAddr| address.port() == self.port;
        self.names.contains(&host) || (self.any_address && host.parse().is_ok_and(is_ours))
    }

    /// Whether a page from this origin is ours.
    fn contain_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.contain(host))
    }
}

/// Turns away what is not meant for us and dresses what leaves.
pub(crate) async fn keep(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match check(&app.names, &request) {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn check(names: &Names, request: &Request) -> Result<(), StatusCode> {
    let headers = request.headers();
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_BODY as u64) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        _ => return Err(StatusCode::BAD_REQUEST),
    };
    if !names.contain(host) || request.uri().authority().is_some_and(|named| !names.contain(named.as_str())) {
        return Err(StatusCode::MISDIRECTED_REQUEST);
    }
    match headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        // The sandboxed page in which diagrams are drawn has no origin. What it loads says nothing to anybody.
        Some("null") if request.uri().path().starts_with(assets::FOR_DIAGRAMS) => Ok(()),
        Some(origin) if !names.contain_origin(origin) => Err(StatusCode::FORBIDDEN),
        Some(_) => Ok(()),
        // A browser says whose page asks even where it sends no origin. Following a link here is no harm.
        None if is_from_elsewhere(headers) && request.method() != Method::GET => Err(StatusCode::FORBIDDEN),
        None => Ok(()),
    }
}

fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

/// No inline script or style, nothing from elsewhere, no frame around us.
const HEADERS: [(&str, &str); 9] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
         connect-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    ("cache-control", "no-store"),
    ("x-robots-tag", "noindex"),
];

/// Only for those who may. What follows finds the [`Visitor`] in the request.
pub(crate) async fn guard(
    State(app): State<App>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    match visitor(&app.access, &app.cookie, from.ip(), &request) {
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            next.run(request).await
        }
        Err(refused) => ApiError::from(refused).into_response(),
    }
}

fn visitor(access: &Access, cookie: &str, from: IpAddr, request: &Request) -> Result<Visitor, Refused> {
    let headers = request.headers();
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    let cookie = cookie_of(headers, cookie);
    let visitor = access.admit(from, &Credentials { bearer, cookie }, Instant::now())?;
    // A browser sends the cookie by itself, so whatever changes something, and every socket, must also say that our own
    // page asks. Browsers always do, for both.
    let by_cookie = visitor.login.is_some();
    let harmless = request.method() == Method::GET && !headers.contains_key(header::UPGRADE);
    if by_cookie && !harmless && !headers.contains_key(header::ORIGIN) {
        return Err(Refused::Unknown);
    }
    if by_cookie && is_from_elsewhere(headers) {
        return Err(Refused::Unknown);
    }
    Ok(visitor)
}

fn cookie_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|line| line.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}
