//! How a server ends, and what it finds when it begins again.

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::*;
use crate::world::{PATIENCE, World, signal};

#[tokio::test]
async fn a_turn_that_is_nearly_done_is_finished_before_the_server_ends() {
    let words = "word ".repeat(20);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}", words.trim())).await;
    let mut served = serve(&world).await;
    let session = begun(&world, &served).await;
    signal(&served.child, Signal::TERM);
    let status = timeout(PATIENCE, served.child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    let served = serve(&world).await;
    let view = served.view(&session).await;
    assert_eq!(view["status"], "idle");
    assert_eq!(items(&view, "message").next().unwrap()["text"], words.trim());
    assert!(items(&view, "turn_end").any(|end| end["stop"] == "done"));
}

#[tokio::test]
async fn what_a_crash_cut_off_is_closed_and_goes_on() {
    let words = "word ".repeat(500);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}\nmodel: Whole.", words.trim())).await;
    let mut served = serve(&world).await;
    let session = begun(&world, &served).await;
    served.child.kill().await.unwrap();

    let (mut served, text) = goes_on(&world, &session).await;
    assert!(text.ends_with("Go on where you left off. Whole."), "{text}");

    // The session takes the next prompt; and a turn that is over is not taken up.
    let mut socket = served.socket().await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "again", None)).await;
    socket.events_until(&watch["subscription"], "turn_end").await;
    served.child.kill().await.unwrap();
    let served = serve(&world).await;
    assert_eq!(served.view(&session).await["status"], "idle");
    assert_eq!(world.server.requests().len(), 3);
}

#[tokio::test]
async fn what_the_end_of_the_server_cut_off_is_taken_up_by_the_next_one() {
    let words = "word ".repeat(500);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}\nmodel: Whole.", words.trim())).await;
    let mut served = serve_with(&world, &["--grace", "0"]).await;
    let session = begun(&world, &served).await;
    signal(&served.child, Signal::TERM);
    let status = timeout(PATIENCE, served.child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));

    let (served, text) = goes_on(&world, &session).await;
    assert!(text.ends_with("Go on where you left off. Whole."), "{text}");
    let view = served.view(&session).await;
    let ends: Vec<_> = items(&view, "turn_end").map(|end| (&end["stop"], &end["cause"])).collect();
    assert_eq!(ends, [(&json!("cancelled"), &json!("interrupted")), (&json!("done"), &json!(null))]);
}

#[tokio::test]
async fn a_turn_that_is_cut_off_again_waits_for_the_person() {
    let slow = format!("reply\n  pace: 50\n  text: {}\n", "word ".repeat(500).trim());
    let world = World::new(&format!("{slow}{slow}model: Whole.")).await;
    let mut served = serve(&world).await;
    let session = begun(&world, &served).await;
    served.child.kill().await.unwrap();

    let mut served = serve(&world).await;
    let mut socket = served.socket().await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.events_until(&watch["subscription"], "agent_message").await;
    served.child.kill().await.unwrap();

    let served = serve(&world).await;
    assert_eq!(served.view(&session).await["status"], "idle");
    let mut socket = served.socket().await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "and now?", None)).await;
    socket.events_until(&watch["subscription"], "turn_end").await;
    assert_eq!(world.server.requests().len(), 3);
}

#[tokio::test]
async fn what_is_taken_up_keeps_within_what_was_asked() {
    let slow = format!("reply\n  pace: 50\n  text: {}\n", "word ".repeat(500).trim());
    let world = World::new(&format!(
        "reply\n  call: read {{\"path\": \"a\"}}\n{slow}{}",
        "reply\n  call: todo {\"items\": []}\n".repeat(9)
    ))
    .await;
    world.write("a", "a\n");
    let mut served = serve(&world).await;
    let mut socket = served.socket().await;
    let session = socket.session(&world).await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    let mut asked = start(&session, "go", None);
    asked["limits"] = json!({"max_steps": 4});
    asked["attended"] = json!(false);
    socket.submit(asked).await;
    socket.events_until(&watch["subscription"], "agent_message").await;
    served.child.kill().await.unwrap();

    let served = serve(&world).await;
    let mut view = served.view(&session).await;
    while items(&view, "turn_end").count() < 2 {
        tokio::task::yield_now().await;
        view = served.view(&session).await;
    }
    let log = std::fs::read_to_string(world.sessions()[0].join("events.jsonl")).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| events.iter().filter(move |event| event["type"] == kind).collect::<Vec<_>>();
    let starts: Vec<_> = of("turn_start")
        .iter()
        .map(|event| (event["limits"]["max_steps"].clone(), event["attended"].clone()))
        .collect();
    let ends: Vec<_> = of("turn_end").iter().map(|event| event["stop"].clone()).collect();
    // One of the four had been made whole when it was cut off.
    assert_eq!(starts, [(json!(4), json!(false)), (json!(3), json!(false))]);
    assert_eq!(ends[1], "limit");
    assert_eq!(world.server.requests().len(), 5);
}

#[tokio::test]
async fn a_second_server_leaves_alone_what_the_first_one_does() {
    let words = "word ".repeat(500);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}\nmodel: Whole.", words.trim())).await;
    let mut first = serve(&world).await;
    let session = begun(&world, &first).await;
    let second = serve(&world).await;
    assert_eq!(second.view(&session).await["status"], "running");
    first.child.kill().await.unwrap();

    let (third, text) = goes_on(&world, &session).await;
    assert!(text.ends_with("Go on where you left off. Whole."), "{text}");
    assert_eq!(items(&third.view(&session).await, "prompt").count(), 2);
    drop(second);
}

/// A session that is in the middle of its answer.
async fn begun(world: &World, served: &Served) -> Value {
    let mut socket = served.socket().await;
    let session = socket.session(world).await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "go", None)).await;
    socket.events_until(&watch["subscription"], "agent_message").await;
    session
}

/// Starts the server again, and waits until the turn that was cut off is over. Answers with the last prompt and the
/// last words.
async fn goes_on(world: &World, session: &Value) -> (Served, String) {
    let served = serve(world).await;
    let mut view = served.view(session).await;
    while !items(&view, "turn_end").any(|end| end["stop"] == "done") {
        tokio::task::yield_now().await;
        view = served.view(session).await;
    }
    let prompt = items(&view, "prompt").last().unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
    let said = items(&view, "message").last().unwrap()["text"].as_str().unwrap().to_owned();
    (served, format!("{prompt} {said}"))
}

fn items<'a>(view: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    view["items"].as_array().unwrap().iter().filter(move |item| item["item"] == kind)
}
