//! The web UI, embedded as it was built: each file compressed, under the name it is asked for plus `.gz`.
//!
//! These are the same for everybody and say nothing, so they are served to anybody: a page must be there before it can
//! trade the token for a cookie.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/web.rs"));
}

/// Where the scripts are that draw diagrams.
pub(crate) const FOR_DIAGRAMS: &str = "/assets/diagram-";

/// Shown when the binary was built without the web UI.
const NOT_BUILT: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>covey</title>\
    <h1>The web UI is not part of this build</h1>\
    <p>Build it in with <code>cargo xtask build</code>. The API under <code>/api/</code> works as it is.</p>";

/// The page in which diagrams are drawn. It is sandboxed, has no origin and no way out; only in it may a picture bring
/// its own styles.
const DIAGRAM_PAGE: &str = "diagram.html";
const DIAGRAM_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; \
    sandbox allow-scripts; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

pub(crate) async fn serve(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    // Addresses inside the app are the app's: sessions, settings.
    let is_page = path.is_empty() || path.starts_with("session/") || PAGES.contains(&path);
    let name = if is_page { "index.html" } else { path };
    let Some(bytes) = find(name) else {
        return match is_page {
            true => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], NOT_BUILT).into_response(),
            false => StatusCode::NOT_FOUND.into_response(),
        };
    };
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    // Files under assets/ have a hash of what they are in their names.
    let caching =
        if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if name == DIAGRAM_PAGE {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DIAGRAM_POLICY));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    }
    if request.uri().path().starts_with(FOR_DIAGRAMS) {
        // Asked for from a page without an origin.
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    }
    response
}

const PAGES: [&str; 3] = ["settings", "usage", "welcome"];

/// While the web UI is worked on it is read from where it was built, so that a change of it needs no build of this.
#[cfg(debug_assertions)]
fn find(name: &str) -> Option<std::borrow::Cow<'static, [u8]>> {
    let is_plain = name.split('/').all(|part| !part.is_empty() && part != ".." && part != ".");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/");
    let fresh = is_plain.then(|| std::fs::read(format!("{path}{name}.gz")).ok()).flatten();
    fresh.map(Into::into).or_else(|| find_embedded(name).map(Into::into))
}

#[cfg(not(debug_assertions))]
fn find(name: &str) -> Option<&'static [u8]> {
    find_embedded(name)
}

fn find_embedded(name: &str) -> Option<&'static [u8]> {
    let found = embedded::FILES.iter().find(|(known, _)| known.strip_suffix(".gz") == Some(name));
    found.map(|(_, bytes)| *bytes)
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
