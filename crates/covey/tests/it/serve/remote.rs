//! A front end in another process whose connection is cut.

use std::sync::Arc;

use client::{Address, Client, Remote};
use futures::StreamExt;
use protocol::{Content, EventBody, Limits, Op};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;

use super::support::*;
use crate::world::World;

/// A wire between a client and a server that can be cut.
struct Wire {
    cut: broadcast::Sender<()>,
}

impl Wire {
    fn between(listener: TcpListener, served: &Served) -> Self {
        let (cut, _) = broadcast::channel(4);
        let (there, cuts) = (served.address.clone(), cut.clone());
        tokio::spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                let (there, mut cut) = (there.clone(), cuts.subscribe());
                tokio::spawn(async move {
                    let mut there = TcpStream::connect(there).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut here, &mut there) => {}
                        _ = cut.recv() => {}
                    }
                });
            }
        });
        Self { cut }
    }

    fn cut(&self) {
        self.cut.send(()).unwrap();
    }
}

#[tokio::test]
async fn a_cut_connection_costs_no_event_and_makes_no_change_twice() {
    let words = "word ".repeat(60);
    let world = World::new(&format!("reply\n  pace: 30\n  text: {}\nmodel: Second.", words.trim())).await;
    // The wire has an address of its own, and the server answers only to names that it was given.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = serve_with(&world, &["--host", &address]).await;
    let wire = Wire::between(listener, &served);
    let link = format!("http://{address}/#token={}", served.token);
    let remote = Remote::connect(Address::parse(&link, None).unwrap()).await.unwrap();
    let cwd = world.project.to_str().unwrap().to_owned();
    let (agent, model, mode, title) = (None, None, None, None);
    let made = remote
        .submit(Op::CreateSession { cwd, agent, model, mode, title, folders: vec![], ephemeral: false })
        .await;
    let session = made.unwrap().session;
    let start = |text: &str| Op::StartTurn {
        session: session.clone(),
        prompt: vec![Content::text(text)],
        key: None,
        limits: Limits::default(),
        attended: false,
    };
    let mut events = remote.events(session.clone(), 0).await.unwrap();
    remote.submit(start("go")).await.unwrap();
    let (mut last, mut is_cut, mut prompts, mut ends) = (0, false, 0, 0);
    let asker = Arc::new(remote.clone());
    let mut rename = None;
    while ends < 2 {
        let event = events.next().await.unwrap().unwrap();
        assert_eq!(event.seq, last + 1);
        last = event.seq;
        match &event.body {
            EventBody::AgentMessage(_) if !is_cut => {
                is_cut = true;
                wire.cut();
                // Asked while there is no connection: made when there is one again.
                let (asker, session) = (asker.clone(), session.clone());
                rename = Some(tokio::spawn(async move {
                    asker.submit(Op::Rename { session, title: "Cut".to_owned() }).await
                }));
            }
            EventBody::UserPrompt(_) => prompts += 1,
            EventBody::TurnEnd(_) => {
                ends += 1;
                if ends == 1 {
                    rename.take().unwrap().await.unwrap().unwrap();
                    remote.submit(start("again")).await.unwrap();
                }
            }
            _ => {}
        }
    }
    assert_eq!((is_cut, prompts), (true, 2));
    assert!(remote.is_connected());
    let listed = served.ask("GET", "/api/sessions", serde_json::Value::Null).await.json();
    assert_eq!(listed[0]["title"], "Cut");
}
