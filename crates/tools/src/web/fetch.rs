//! Getting one page, with limits on everything that it could overdo.

use std::time::Duration;

use net::{StatusCode, Url, header};

use super::WebSettings;
use super::markdown::convert;
use crate::ToolError;

/// What is read of a page.
const MAX_BYTES: usize = 5 * 1024 * 1024;
const MAX_REDIRECTS: usize = 5;
const LIMIT: Duration = Duration::from_secs(30);

/// A page that was fetched.
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// It was larger than is read.
    pub(crate) is_cut: bool,
}

/// Fetches an address and makes its text readable.
pub(crate) async fn fetch(address: &str, settings: &WebSettings) -> Result<Page, ToolError> {
    tokio::time::timeout(LIMIT, follow(address, settings))
        .await
        .map_err(|_| ToolError(format!("the page did not come within {} s", LIMIT.as_secs())))?
}

async fn follow(address: &str, settings: &WebSettings) -> Result<Page, ToolError> {
    let mut url =
        Url::parse(address).map_err(|error| ToolError(format!("`{address}` is not an address: {error}")))?;
    for _ in 0..=MAX_REDIRECTS {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolError("an address with a user or a password in it is not fetched".to_owned()));
        }
        let client = if settings.allow_private {
            net::client(&url)
        } else {
            net::check_public(&url).await.map_err(to_error)?;
            net::public_client(&url)
        };
        let request = client.map_err(to_error)?.get(url.clone());
        let request = request.header(header::ACCEPT, "text/html, text/plain;q=0.9, */*;q=0.5");
        let answer = request.send().await.map_err(|error| {
            ToolError(format!("`{}` could not be fetched: {}", net::shown(&url), net::describe(&error)))
        })?;
        if !answer.status().is_redirection() || answer.status() == StatusCode::NOT_MODIFIED {
            return read(url, answer).await;
        }
        let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
        let next = location.and_then(|location| url.join(location).ok());
        let Some(next) = next else {
            return Err(ToolError(format!("`{}` leads elsewhere but does not say where", net::shown(&url))));
        };
        // What was allowed is this host. Another one is another question.
        if next.host_str() != url.host_str() || (url.scheme() == "https" && next.scheme() != "https") {
            return Err(ToolError(format!("it leads to `{next}`: fetch that if it is what you want")));
        }
        url = next;
    }
    Err(ToolError(format!("`{}` leads in circles", net::shown(&url))))
}

async fn read(url: Url, mut answer: net::Response) -> Result<Page, ToolError> {
    let status = answer.status();
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or("text/html").to_ascii_lowercase();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_owned();
    let is_html = essence.contains("html");
    let is_text = is_html
        || essence.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|word| essence.contains(word));
    if !status.is_success() {
        return Err(ToolError(format!("`{}` answers {status}", net::shown(&url))));
    }
    if !is_text {
        let size = answer.content_length().map_or_else(String::new, |size| format!(" of {size} bytes"));
        return Err(ToolError(format!("`{}` is {essence}{size}, not text", net::shown(&url))));
    }
    let mut bytes = Vec::new();
    let mut is_cut = false;
    while let Some(piece) = answer
        .chunk()
        .await
        .map_err(|error| ToolError(format!("`{}` broke off: {}", net::shown(&url), net::describe(&error))))?
    {
        let room = MAX_BYTES - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            is_cut = true;
            break;
        }
    }
    let text = decoded(bytes, &kind);
    if !is_html {
        return Ok(Page { url, title: None, text, is_cut });
    }
    let (title, text) = convert(&text, &url);
    Ok(Page { url, title, text, is_cut })
}

/// Nearly all is UTF-8; what says that it is Latin-1 has its bytes as characters.
fn decoded(bytes: Vec<u8>, kind: &str) -> String {
    let is_latin = ["iso-8859-1", "windows-1252", "latin1"].iter().any(|name| kind.contains(name));
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_latin => error.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

fn to_error(error: net::NetError) -> ToolError {
    ToolError(error.to_string())
}
