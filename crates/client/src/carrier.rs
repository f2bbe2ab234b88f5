//! What carries the messages: a WebSocket to a server, or the Unix socket of a process on this machine.

use std::path::PathBuf;

use futures::stream::BoxStream;
use futures::{Sink, SinkExt, StreamExt};
use std::pin::Pin;
use tokio::net::UnixStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_util::codec::{Framed, LinesCodec};

use crate::wire::MAX_MESSAGE;
use crate::{ClientError, Failure};

/// Where an engine can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A server, by its URL, and the token that it wants.
    Server { url: String, token: String },
    /// Another process of the same user.
    Socket(PathBuf),
}

impl Address {
    /// Reads what `covey serve` printed: `http://127.0.0.1:8417/#token=…`. The token may also be given apart.
    pub fn parse(text: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let invalid = |message: &str, hint: &str| ClientError {
            kind: Failure::Invalid,
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
        };
        let (base, fragment) = text.split_once('#').unwrap_or((text, ""));
        let token = fragment.strip_prefix("token=").filter(|token| !token.is_empty()).or(token);
        let token = token.ok_or_else(|| {
            invalid("the server's address has no token", "give the whole address that `covey serve` printed")
        })?;
        let socket = match base.split_once("://") {
            Some(("http", rest)) => format!("ws://{}", rest.trim_end_matches('/')),
            _ => {
                return Err(invalid(
                    "a server's address begins with http://",
                    "reach a server elsewhere through ssh: ssh -L 8417:127.0.0.1:8417 THAT-MACHINE",
                ));
            }
        };
        Ok(Self::Server { url: format!("{socket}/api/socket"), token: token.to_owned() })
    }
}

pub(crate) type Incoming = BoxStream<'static, String>;
pub(crate) type Outgoing = Pin<Box<dyn Sink<String, Error = ()> + Send>>;

/// Connects. What comes in ends when the connection does.
pub(crate) async fn connect(address: &Address) -> Result<(Outgoing, Incoming), ClientError> {
    match address {
        Address::Server { url, token } => web_socket(url, token).await,
        Address::Socket(path) => {
            let stream = UnixStream::connect(path).await.map_err(|error| ClientError {
                kind: Failure::Closed,
                message: format!("could not reach `{}`: {error}", path.display()),
                hint: None,
            })?;
            let (sink, lines) = Framed::new(stream, LinesCodec::new_with_max_length(MAX_MESSAGE)).split();
            let sink = sink.sink_map_err(|_| ());
            Ok((
                Box::pin(sink),
                lines.map_while(|line: Result<String, _>| futures::future::ready(line.ok())).boxed(),
            ))
        }
    }
}

trait MapWhileReady: StreamExt + Sized {
    /// Until the first none.
    fn map_while<T, F, R>(self, each: F) -> impl futures::Stream<Item = T>
    where
        F: FnMut(Self::Item) -> R,
        R: Future<Output = Option<T>>,
    {
        self.then(each)
            .take_while(|found| futures::future::ready(found.is_some()))
            .filter_map(futures::future::ready)
    }
}

impl<S: StreamExt + Sized> MapWhileReady for S {}

async fn web_socket(url: &str, token: &str) -> Result<(Outgoing, Incoming), ClientError> {
    let failed = |kind: Failure, message: String, hint: Option<&str>| ClientError {
        kind,
        message,
        hint: hint.map(str::to_owned),
    };
    let bad = |error: &dyn std::fmt::Display| {
        failed(Failure::Invalid, format!("`{url}` is no address: {error}"), None)
    };
    let mut request = url.into_client_request().map_err(|error| bad(&error))?;
    let bearer = format!("Bearer {token}").parse().map_err(|error| bad(&error))?;
    request.headers_mut().insert("authorization", bearer);
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let connected = tokio_tungstenite::connect_async_with_config(request, Some(config), true).await;
    let (socket, _) = connected.map_err(|error| match error {
        tungstenite::Error::Http(response) if response.status() == 401 => failed(
            Failure::Denied,
            "the server does not know this token".to_owned(),
            Some("each run of `covey serve` has a new one: use the address that it printed"),
        ),
        tungstenite::Error::Http(response) => {
            failed(Failure::Invalid, format!("the server answered {}", response.status()), None)
        }
        error => failed(
            Failure::Closed,
            format!("could not reach the server: {error}"),
            Some("is it running? covey serve"),
        ),
    })?;
    let (sink, stream) = socket.split();
    let sink =
        sink.with(|text: String| futures::future::ready(Ok::<_, tungstenite::Error>(Message::text(text))));
    let texts = stream.map_while(|message: Result<Message, _>| futures::future::ready(message.ok()));
    let texts = texts.filter_map(|message| {
        let text = match message {
            Message::Text(text) => Some(text.as_str().to_owned()),
            _ => None,
        };
        futures::future::ready(text)
    });
    Ok((Box::pin(sink.sink_map_err(|_| ())), texts.boxed()))
}
