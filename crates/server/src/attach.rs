//! [`rpc`](crate::rpc) over a private Unix socket, so that a second `covey` can join a session that this one has.
//!
//! The socket lies in a folder that only its owner can enter, and whoever connects must be the same user.

use std::io;
use std::sync::Arc;

use client::Client;
use client::wire::MAX_MESSAGE;
use futures::{SinkExt, StreamExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio_util::codec::{Framed, LinesCodec};
use tokio_util::sync::CancellationToken;

use crate::access::Token;
use crate::rpc::Conversation;
use crate::server::{App, Options};

/// Serves every process of the same user until `shutdown`.
pub async fn attach(
    listener: UnixListener,
    client: Arc<dyn Client>,
    cwd: String,
    version: String,
    shutdown: CancellationToken,
) -> io::Result<()> {
    // The token opens nothing here: the system says who is there.
    let (code_search, preferences) = (None, None);
    let options = Options { token: Token::random()?, names: vec![], cwd, version, code_search, preferences };
    let app = App::new(client, ([127, 0, 0, 1], 0).into(), options, shutdown.clone());
    let roster = app.clone();
    // Most of the time nobody comes, and the list is as long as the person's history.
    let somebody = Notify::new();
    let follow = async {
        somebody.notified().await;
        roster.roster.follow(roster.client.as_ref()).await;
    };
    let accept = async {
        let user = own_uid();
        loop {
            match listener.accept().await {
                Ok((stream, _)) if stream.peer_cred().is_ok_and(|peer| peer.uid() == user) => {
                    somebody.notify_one();
                    app.tasks.spawn(converse(app.clone(), stream));
                }
                Ok(_) => {}
                // Out of file descriptors, most likely.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
            }
        }
    };
    tokio::select! {
        () = follow => {}
        () = accept => {}
        () = shutdown.cancelled() => {}
    }
    Ok(())
}

/// Who runs this process.
fn own_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

async fn converse(app: App, stream: UnixStream) {
    let shutdown = app.shutdown.clone();
    let (mut sink, mut lines) = Framed::new(stream, LinesCodec::new_with_max_length(MAX_MESSAGE)).split();
    let (mut conversation, mut outgoing) = Conversation::new(app);
    let reader = async {
        while let Some(Ok(line)) = lines.next().await {
            conversation.take(&line).await;
        }
    };
    let writer = async {
        while let Some(text) = outgoing.recv().await {
            if sink.send(text).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = reader => {}
        () = writer => {}
        () = shutdown.cancelled() => {}
    }
}
