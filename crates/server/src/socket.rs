//! [`rpc`](crate::rpc) over a WebSocket.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use client::wire::MAX_MESSAGE;
use futures::stream::SplitStream;
use futures::{Sink, SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::access::Visitor;
use crate::rpc::Conversation;
use crate::server::App;

/// How long a socket is waited for.
struct Patience {
    /// How often a silent one is asked whether it is there …
    ping_every: Duration,
    /// … and how long it may say nothing at all.
    idle: Duration,
    /// Whoever does not take a message for this long is gone, and may come again.
    send_within: Duration,
}

const PATIENCE: Patience = Patience {
    ping_every: Duration::from_secs(20),
    idle: Duration::from_secs(60),
    send_within: Duration::from_secs(30),
};
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
        () = write(&mut sink, &mut outgoing, silence, &PATIENCE) => return,
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
    sink: &mut (impl Sink<Message> + Unpin),
    outgoing: &mut mpsc::Receiver<String>,
    mut heard: mpsc::Receiver<()>,
    patience: &Patience,
) {
    let mut ping = tokio::time::interval_at(Instant::now() + patience.ping_every, patience.ping_every);
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
                if last_heard.elapsed() >= patience.idle {
                    return;
                }
                Message::Ping(Vec::new().into())
            }
        };
        match timeout(patience.send_within, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);
    const SOON: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn one_that_says_nothing_is_asked_and_then_left() {
        let (_keep, mut outgoing) = mpsc::channel(1);
        let (_heard, silence) = mpsc::channel(1);
        let patience = Patience { ping_every: SOON, idle: Duration::ZERO, send_within: LONG };
        // Ends, which is all that it has to do.
        write(&mut futures::sink::drain(), &mut outgoing, silence, &patience).await;
    }

    #[tokio::test]
    async fn one_that_takes_nothing_is_left() {
        let (sender, mut outgoing) = mpsc::channel(1);
        let (_heard, silence) = mpsc::channel(1);
        sender.send("news".to_owned()).await.unwrap();
        let patience = Patience { ping_every: LONG, idle: LONG, send_within: SOON };
        let stuck = futures::sink::unfold((), |(), _: Message| std::future::pending::<Result<(), ()>>());
        write(&mut Box::pin(stuck), &mut outgoing, silence, &patience).await;
    }
}
