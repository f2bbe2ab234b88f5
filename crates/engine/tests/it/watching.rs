//! Several front ends on one session, quick ones and slow ones.

use std::sync::Arc;

use futures::StreamExt;
use protocol::{Decision, Event, EventBody, Limits, Op, Reply, Request, SessionView};

use crate::play::{World, ends, engine_on};

#[tokio::test]
async fn a_client_that_does_not_read_misses_nothing_and_holds_up_nobody() {
    // Far more records than the live channel holds, because each tool call makes several.
    let step = |n: u32| {
        format!("reply\n  text: Working.\n  call: read {{\"path\": \"f\", \"offset\": {n}, \"limit\": 1}}\n")
    };
    let world = World::new(&(1..=230).map(step).collect::<String>()).await;
    world.write("f", &(0..300).map(|n| format!("{n}\n")).collect::<String>());
    let session = world.session().await;
    let mut slow = world.engine.events(session.clone(), 0).await.unwrap();
    assert!(slow.next().await.is_some());
    let limits = Limits { max_steps: Some(230), ..Limits::default() };
    let turn = world.start(&session, "go", false, limits).await;
    let quick = world.until(&session, |event| ends(event, &turn)).await;
    assert!(quick.len() > 1100);
    let mut caught_up = vec![quick[0].clone()];
    while caught_up.len() < quick.len() {
        caught_up.push(slow.next().await.unwrap().unwrap());
    }
    let numbers = |events: &[Arc<Event>]| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(numbers(&caught_up), (1..=quick.len() as u64).collect::<Vec<_>>());
    assert_eq!(caught_up, quick);
}

#[tokio::test]
async fn whoever_answers_first_answers_for_all() {
    let world = World::new("reply\n  call: read {\"path\": \"/srv/notes.txt\"}\nmodel: ok\n").await;
    let session = world.session().await;
    let turn = world.start(&session, "go", true, Limits::default()).await;
    world.until(&session, |event| matches!(event.body, EventBody::PermissionRequest(_))).await;
    let answer = |option: &str| Op::AnswerPermission {
        session: session.clone(),
        request: "t1.r1".into(),
        decision: Decision::Choose { option: option.to_owned(), reason: None },
    };
    let (first, second) =
        tokio::join!(world.engine.submit(answer("deny")), world.engine.submit(answer("allow")));
    assert!(first.is_ok() ^ second.is_ok());
    world.until(&session, |event| ends(event, &turn)).await;
}

#[tokio::test]
async fn the_view_that_is_read_is_the_fold_of_the_events_that_were_sent() {
    let world = World::new("reply\n  think: hm\n  call: list_dir {}\nmodel: done\n").await;
    let session = world.session().await;
    let events = world.ask(&session, "go").await;
    let folded = SessionView::fold(None, events.iter().map(Arc::as_ref)).unwrap();
    let Reply::Session(live) =
        world.engine.read(Request::Session { session: session.clone() }).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(*live, folded);
    world.engine.shutdown().await;
    let Reply::Session(stored) = world.engine.read(Request::Session { session }).await.unwrap() else {
        panic!()
    };
    assert_eq!(*stored, folded);
}

#[tokio::test]
async fn a_stream_may_begin_anywhere() {
    let world = World::new("model: one\nmodel: two\n").await;
    let session = world.session().await;
    let all = world.ask(&session, "go").await;
    for event in &all {
        let mut rest = world.engine.events(session.clone(), event.seq - 1).await.unwrap();
        assert_eq!(rest.next().await.unwrap().unwrap(), *event);
    }
}

#[tokio::test]
async fn two_engines_can_not_write_one_session() {
    let world = World::new("model: one\n").await;
    let session = world.session().await;
    let second = engine_on(&world);
    let refused = second.events(session.clone(), 0).await.err().unwrap();
    assert!(refused.to_string().contains("in use"), "{refused}");
    assert!(refused.hint().unwrap().contains("--fork"));
    world.engine.shutdown().await;
    assert!(second.events(session, 0).await.is_ok());
}
