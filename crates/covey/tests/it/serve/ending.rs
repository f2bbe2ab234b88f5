//! How a server ends, and what it finds when it begins again.

use rustix::process::Signal;
use serde_json::json;
use tokio::time::timeout;

use super::support::*;
use crate::world::{PATIENCE, World, signal};

#[tokio::test]
async fn a_turn_that_is_nearly_done_is_finished_before_the_server_ends() {
    let words = "word ".repeat(20);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}", words.trim())).await;
    let mut served = serve(&world).await;
    let mut socket = served.socket().await;
    let session = socket.session(&world).await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "go", None)).await;
    socket.events_until(&watch["subscription"], "agent_message").await;
    signal(&served.child, Signal::TERM);
    let status = timeout(PATIENCE, served.child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    let served = serve(&world).await;
    let view =
        served.ask("GET", &format!("/api/sessions/{}", session.as_str().unwrap()), json!(null)).await.json();
    assert_eq!(view["status"], "idle");
    let said = view["items"].as_array().unwrap().iter().find(|item| item["item"] == "message").unwrap();
    assert_eq!(said["text"], words.trim());
    assert!(
        view["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|item| item["item"] == "turn_end" && item["stop"] == "done")
    );
}

#[tokio::test]
async fn what_a_crash_cut_off_is_closed_and_goes_on() {
    let words = "word ".repeat(500);
    let world = World::new(&format!("reply\n  pace: 50\n  text: {}\nmodel: Whole.", words.trim())).await;
    let mut served = serve(&world).await;
    let mut socket = served.socket().await;
    let session = socket.session(&world).await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "go", Some("k1"))).await;
    socket.events_until(&watch["subscription"], "agent_message").await;
    served.child.kill().await.unwrap();

    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    // What was cut off has an end, and the session takes the next prompt.
    let state = &watch["state"];
    assert!(
        state["items"].as_array().unwrap().iter().any(|item| item["item"] == "prompt"),
        "the prompt was recorded before it was answered: {state}"
    );
    socket.submit(start(&session, "again", None)).await;
    let mut events = socket.events_until(&watch["subscription"], "message_end").await;
    while !events.iter().any(|event| event["type"] == "turn_end" && event["stop"] == "done") {
        events.extend(socket.events_until(&watch["subscription"], "turn_end").await);
    }
    let text: String = events
        .iter()
        .filter(|event| event["type"] == "agent_message")
        .filter_map(|event| event["text"].as_str())
        .collect();
    assert!(text.contains("Whole."), "{text}");
}
