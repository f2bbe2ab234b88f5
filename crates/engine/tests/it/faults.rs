//! Models that fail, turns that are stopped, processes that die.

use std::time::Duration;

use insta::assert_snapshot;
use protocol::{EventBody, Limits, Op, Stop, StopCause};

use crate::play::{World, ends, play, print};

#[tokio::test]
async fn a_cut_stream_is_retracted_and_comes_again() {
    let log = play(
        r#"
        user:  hello
        reply
          text: This is cut off somewhere in the middle.
          fault: cut after=4
        model: This is whole.
        "#,
    )
    .await;
    assert_snapshot!(log, @"
    user: hello
    turn started
    retracted what it said
    retry 1
    says: This is whole.
    turn ended: done
    ");
}

#[tokio::test]
async fn a_busy_provider_is_asked_again() {
    let log = play(
        "user: hello
        reply
          fault: 429 retry-after=0
        reply
          fault: 529
        model: Here I am.",
    )
    .await;
    assert_snapshot!(log, @"
    user: hello
    turn started
    retry 1
    retry 2
    says: Here I am.
    turn ended: done
    ");
}

#[tokio::test]
async fn a_wrong_key_is_an_error_with_a_hint_and_the_session_goes_on() {
    let world = World::new("reply\n  fault: 401 message=\"no such key\"\nmodel: better\n").await;
    let session = world.session().await;
    let first = world.ask(&session, "hello").await;
    let error = first.iter().find_map(|event| match &event.body {
        EventBody::Error(error) => Some(error.clone()),
        _ => None,
    });
    assert!(error.unwrap().hint.is_some());
    let second = world.ask(&session, "again").await;
    assert!(print(&second).contains("says: better"));
    // The prompt without an answer does not stand next to the second one.
    let roles: Vec<String> = world.server.request(1).await.json["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[tokio::test]
async fn a_model_that_calls_tools_for_ever_is_stopped_at_the_limit() {
    let world = World::new("reply\n  call: list_dir {}\nforever\n").await;
    let session = world.session().await;
    let limits = Limits { max_steps: Some(3), ..Limits::default() };
    let turn = world.start(&session, "go", false, limits).await;
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let EventBody::TurnEnd(end) = &events.last().unwrap().body else { panic!() };
    assert_eq!((end.stop, end.cause, end.steps), (Stop::Limit, Some(StopCause::MaxSteps), 3));
    assert_eq!(world.server.requests().len(), 3);
}

#[tokio::test]
async fn time_runs_out_on_a_model_that_never_answers() {
    let world = World::new("reply\n  fault: never\n").await;
    let session = world.session().await;
    let limits = Limits { timeout_ms: Some(1500), ..Limits::default() };
    let turn = world.start(&session, "go", false, limits).await;
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let EventBody::TurnEnd(end) = &events.last().unwrap().body else { panic!() };
    assert_eq!((end.stop, end.cause), (Stop::Limit, Some(StopCause::Timeout)));
    world.server.aborted(0).await;
}

#[tokio::test]
async fn cancel_in_the_middle_of_an_answer_keeps_what_was_said_and_ends_the_request() {
    let world =
        World::new("reply\n  text: Some words and then nothing.\n  fault: stall after=4\nmodel: ok\n").await;
    let session = world.session().await;
    let turn = world.start(&session, "go", true, Limits::default()).await;
    world.until(&session, |event| matches!(event.body, EventBody::AgentMessage(_))).await;
    world.engine.submit(Op::CancelTurn { session: session.clone(), turn: None }).await.unwrap();
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let log = print(&events);
    assert!(log.contains("says: Some"), "{log}");
    assert!(log.ends_with("turn ended: cancelled\n"), "{log}");
    world.server.aborted(0).await;
    // The history is valid: the next prompt is answered.
    assert!(print(&world.ask(&session, "and now?").await).ends_with("says: ok\nturn ended: done\n"));
}

#[tokio::test]
async fn what_a_crash_left_open_is_closed_when_the_session_is_opened_again() {
    let mut world = World::new("reply\n  text: Never finished.\n  fault: stall after=3\nmodel: fine\n").await;
    let session = world.session().await;
    world.start(&session, "go", true, Limits::default()).await;
    world.until(&session, |event| matches!(event.body, EventBody::AgentMessage(_))).await;
    // A copy of the files as they are at this moment is what a kill -9 leaves.
    let copy = world.folder.path().join("after");
    let from = world.store.dir(&session);
    let to = copy.join(session.as_str());
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(&from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    world.engine.shutdown().await;
    world.store = sessions::Store::new(&copy);
    world.restart().await;
    let events = world.ask(&session, "still there?").await;
    let log = print(&events);
    assert!(log.contains("turn ended: cancelled (Interrupted)"), "{log}");
    assert!(log.ends_with("says: fine\nturn ended: done\n"), "{log}");
    assert!(world.store.verify(&session).unwrap().is_sound());
}

#[tokio::test]
async fn shutting_down_ends_what_runs_and_records_it() {
    let mut world = World::new("reply\n  fault: never\nmodel: back\n").await;
    let session = world.session().await;
    world.start(&session, "go", true, Limits::default()).await;
    world.server.request(0).await;
    tokio::time::timeout(Duration::from_secs(10), world.restart()).await.expect("shutdown hangs");
    let log = print(&world.ask(&session, "hello?").await);
    assert!(log.contains("turn ended: cancelled"), "{log}");
    assert!(log.ends_with("says: back\nturn ended: done\n"), "{log}");
}
