//! What a person does to a session's past while it is open.

use protocol::{EventBody, FileEffect, Op, Reply, Request, SessionId};

use crate::play::World;

const WRITES: &str = r#"
    reply
      call: write {"path": "a.txt", "content": "new\n"}
    model: Written.
"#;

async fn allow_writes(world: &World, session: &SessionId) {
    let mode = Op::SetMode { session: session.clone(), mode: protocol::Mode::Edit };
    world.engine.submit(mode).await.unwrap();
}

#[tokio::test]
async fn what_a_turn_did_is_shown_taken_back_and_done_again() {
    let world = World::new(&format!("{WRITES}\nmodel: I see.\n")).await;
    world.write("a.txt", "old\n");
    let session = world.session().await;
    allow_writes(&world, &session).await;
    // It has to be read before it may be overwritten, so it is written anew here.
    std::fs::remove_file(world.project.join("a.txt")).unwrap();
    world.ask(&session, "write it").await;
    let file = world.project.join("a.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");

    let preview = Request::Changes { session: session.clone(), what: None, path: None, redo: false };
    let Reply::Changes(changes) = world.engine.read(preview).await.unwrap() else { panic!("no changes") };
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].path.as_str(), changes[0].does), ("a.txt", FileEffect::Delete));
    assert_eq!((changes[0].now.as_deref(), changes[0].then.as_deref()), (Some("new\n"), None));

    let undo = Op::Undo { session: session.clone(), what: None, path: None, force: false };
    world.engine.submit(undo.clone()).await.unwrap();
    assert!(!file.exists());
    let error = world.engine.submit(undo).await.unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to undo");
    let redo = Op::Redo { session: session.clone(), force: false };
    world.engine.submit(redo).await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");

    // The model hears of it.
    world.ask(&session, "and now?").await;
    let sent = world.server.requests().last().unwrap().json["messages"].to_string();
    assert!(sent.contains("the person undid your changes to a.txt"), "{sent}");
}

#[tokio::test]
async fn what_is_pinned_is_shown_at_once_and_survives_a_summary() {
    let world = World::new("model: One.\nmodel: Two.\nmodel: Goal: go on.\nmodel: Three.\nmodel: Four.\nmodel: Sum.\nmodel: Five.\n").await;
    world.write("rules.txt", "never push on fridays\n");
    let session = world.session().await;
    world.ask(&session, &"hello ".repeat(400)).await;
    let pin = |item: &str| Op::Pin { session: session.clone(), item: item.to_owned() };
    world.engine.submit(pin("rules.txt")).await.unwrap();
    world.engine.submit(pin("message:t1.m1")).await.unwrap();
    assert!(world.engine.submit(pin("nothing.txt")).await.is_err());
    world.ask(&session, &"again ".repeat(400)).await;
    let sent = |at: usize| world.server.requests()[at].json["messages"].to_string();
    assert!(sent(1).contains("never push on fridays"), "{}", sent(1));

    world.ask(&session, "/compact mind the fridays").await;
    assert!(sent(2).contains("Mind this: mind the fridays"), "{}", sent(2));
    world.ask(&session, "go on").await;
    assert!(sent(3).contains("Goal: go on.") && sent(3).contains("never push on fridays"), "{}", sent(3));
    assert!(!sent(3).contains("hello"), "{}", sent(3));

    let unpin = |item: &str| Op::Unpin { session: session.clone(), item: item.to_owned() };
    world.engine.submit(unpin("rules.txt")).await.unwrap();
    assert!(world.engine.submit(unpin("rules.txt")).await.is_err());
    world.ask(&session, &"more ".repeat(400)).await;
    world.ask(&session, "/compact").await;
    world.ask(&session, "and on").await;
    assert!(!sent(6).contains("never push on fridays"), "{}", sent(6));
    let Reply::Session(view) =
        world.engine.read(Request::Session { session: session.clone() }).await.unwrap()
    else {
        panic!("no view");
    };
    assert_eq!(view.pins.len(), 1);
}

#[tokio::test]
async fn what_was_summarised_comes_back_when_asked_for() {
    let world = World::new("model: One.\nmodel: Goal: x.\nmodel: Two.\nmodel: Three.\n").await;
    let session = world.session().await;
    world.ask(&session, &"a very particular prompt ".repeat(100)).await;
    let events = world.ask(&session, "/compact").await;
    assert!(events.iter().any(|event| matches!(event.body, EventBody::Compaction(_))));
    world.ask(&session, "go on").await;
    let sent = |at: usize| world.server.requests()[at].json["messages"].to_string();
    assert!(!sent(2).contains("a very particular prompt"), "{}", sent(2));
    world.engine.submit(Op::Uncompact { session: session.clone() }).await.unwrap();
    world.ask(&session, "and on").await;
    assert!(sent(3).contains("a very particular prompt"), "{}", sent(3));
}
