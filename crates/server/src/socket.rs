//! [`rpc`](crate::rpc) over a WebSocket.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use client::wire::MAX_MESSAGE;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::access::Visitor;
use crate::rpc::Conversation;
use crate::server::App;

/// How often a silent socket is asked whether it is there …
const PING_EVERY: Duration = Duration::from_secs(20);
/// … and how long it may say nothing at all.
const IDLE: Duration = Duration::from_secs(60);
/// Whoever does not take a message for this long is gone, and may come again.
const SEND_WITHIN: Duration = Duration::from_secs(30);
/// The reasons for closing that browsers are told.
const GOING_AWAY: u16 = 1001;
const LOGGED_OUT: u16 = 4001;

pub(crate) async fn upgrade(
    State(app): State<App>,
    Extension(visitor): Extension<Visitor>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let tasks = app.tasks.clone();
    upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).on_upgrade(move |socket| async move {
        // Owned by the server, which waits for it when it ends.
        let _ = tasks.spawn(converse(app, visitor, socket)).await;
    })
}

async fn converse(app: App, visitor: Visitor, socket: WebSocket) {
    let (mut sink, mut stream) = socket.split();
    let shutdown = app.shutdown.clone();
    let (mut conversation, mut outgoing) = Conversation::new(app);
    let (heard, silence) = mpsc::channel(1);
    let reader = async {
        while let Some(text) = next_text(&mut stream, &heard).await {
            conversation.take(&text).await;
        }
    };
    let code = tokio::select! {
        () = reader => return,
        () = write(&mut sink, &mut outgoing, silence) => return,
        () = shutdown.cancelled() => GOING_AWAY,
        () = visitor.leaves.cancelled() => LOGGED_OUT,
    };
    let frame = CloseFrame { code, reason: "".into() };
    let _ = timeout(Duration::from_secs(1), sink.send(Message::Close(Some(frame)))).await;
}

/// The next message; none when there are no more, or when it is not one that we take.
async fn next_text(stream: &mut SplitStream<WebSocket>, heard: &mpsc::Sender<()>) -> Option<String> {
    loop {
        let message = stream.next().await?.ok()?;
        // Full means that it is known already.
        let _ = heard.try_send(());
        match message {
            Message::Text(text) => return Some(text.as_str().to_owned()),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Binary(_) | Message::Close(_) => return None,
        }
    }
}

/// Sends what comes and, in between, asks whether anybody is there. Returns when nobody is.
async fn write(
    sink: &mut SplitSink<WebSocket, Message>,
    outgoing: &mut mpsc::Receiver<String>,
    mut heard: mpsc::Receiver<()>,
) {
    let mut ping = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    let mut last_heard = Instant::now();
    loop {
        let message = tokio::select! {
            text = outgoing.recv() => match text {
                Some(text) => Message::Text(text.into()),
                None => return,
            },
            Some(()) = heard.recv() => {
                last_heard = Instant::now();
                continue;
            }
            _ = ping.tick() => {
                if last_heard.elapsed() >= IDLE {
                    return;
                }
                Message::Ping(Vec::new().into())
            }
        };
        match timeout(SEND_WITHIN, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}
