//! Several front ends on one session, quick ones and slow ones.

use std::sync::Arc;

use futures::StreamExt;
use protocol::{Decision, Event, EventBody, Limits, Op, Reply, Request, SessionView, ToolContent};

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
async fn whoever_is_asked_sees_the_change_at_its_place() {
    let calls = [
        r#"call: edit {"path": "a.txt", "old": "two", "new": "2"}"#,
        r#"call: write {"path": "new.txt", "content": "first\n"}"#,
        r#"call: call_tool {"name": "apply_patch", "arguments": {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+zwei\n*** End Patch\n"}}"#,
        r#"call: call_tool {"name": "replace", "arguments": {"path": "a.txt", "pattern": "t(w)o", "replacement": "$1", "apply": true}}"#,
    ];
    let script: String = calls.iter().map(|call| format!("reply\n  {call}\n")).collect();
    let world = World::new(&(script + "model: ok\n")).await;
    world.write("a.txt", "one\ntwo\nthree\n");
    let session = world.session().await;
    let turn = world.start(&session, "go", true, Limits::default()).await;
    let mut seen = 0;
    for number in 1..=calls.len() {
        let asked = |event: &Event| match &event.body {
            EventBody::PermissionRequest(request) => request.request.as_str() == format!("t1.r{number}"),
            _ => false,
        };
        let events = world.until(&session, asked).await;
        let diffs: Vec<ToolContent> = events[seen..].iter().flat_map(|event| diffs(event)).collect();
        seen = events.len();
        let diff = |path: &str, old: Option<&str>, new: &str| ToolContent::Diff {
            path: path.to_owned(),
            old: old.map(str::to_owned),
            new: new.to_owned(),
        };
        let old = Some("one\ntwo\nthree\n");
        let want = match number {
            1 => diff("a.txt", old, "one\n2\nthree\n"),
            2 => diff("new.txt", None, "first\n"),
            3 => diff("a.txt", old, "one\nzwei\nthree\n"),
            _ => diff("a.txt", old, "one\nw\nthree\n"),
        };
        assert_eq!(diffs, [want]);
        let decision = Decision::Choose { option: "deny".to_owned(), reason: None };
        let request = format!("t1.r{number}").as_str().into();
        let answer = Op::AnswerPermission { session: session.clone(), request, decision };
        world.engine.submit(answer).await.unwrap();
    }
    let all = world.until(&session, |event| ends(event, &turn)).await;
    // What was not made is not shown as made.
    assert_eq!(all[seen..].iter().flat_map(|event| diffs(event)).count(), 0);
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!world.project.join("new.txt").exists());
}

fn diffs(event: &Event) -> Vec<ToolContent> {
    let EventBody::ToolCallUpdate(update) = &event.body else { return vec![] };
    let content = update.content.iter().flatten();
    content.filter(|part| matches!(part, ToolContent::Diff { .. })).cloned().collect()
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
