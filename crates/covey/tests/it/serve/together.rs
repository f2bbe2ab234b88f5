//! Several processes on one session.

use serde_json::json;

use super::support::*;
use crate::world::{World, finish};

#[tokio::test]
async fn a_run_can_be_done_by_a_server() {
    let world = World::new("model: First.\nmodel: Second.").await;
    let served = serve(&world).await;
    let url = format!("{}/#token={}", served.origin(), served.token);
    let done = world.covey(&["run", "--json", "hi", "--server", &url]).await;
    let last = done.lines().last().cloned().unwrap();
    assert_eq!((done.code, &last["text"]), (Some(0), &json!("First.")), "{done:?}");
    // The session is the server's; the next run goes on with it. The token may be kept out of the command line.
    let mut command = world.command(&["run", "again", "--continue", "--server", &served.origin()]);
    let done = finish(command.env("COVEY_TOKEN", &served.token).spawn().unwrap()).await;
    assert_eq!((done.code, done.out.trim()), (Some(0), "Second."), "{done:?}");
    assert_eq!(world.sessions().len(), 1);

    let wrong = world.covey(&["run", "hi", "--server", &format!("{}/#token=00", served.origin())]).await;
    assert!(wrong.code != Some(0) && wrong.err.contains("does not know this token"), "{wrong:?}");
    let nobody = world.covey(&["run", "hi", "--server", "http://127.0.0.1:9/#token=00"]).await;
    assert!(nobody.code != Some(0) && nobody.err.contains("could not reach the server"), "{nobody:?}");
}

#[tokio::test]
async fn a_second_process_attaches_to_the_one_that_has_the_session() {
    let world = World::new("model: First.\nmodel: Second.\nmodel: Third.").await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let session = socket.session(&world).await;
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "one", None)).await;
    socket.events_until(&watch["subscription"], "turn_end").await;

    // The server holds the lock. A run joins it, and the browser sees what happens there.
    let id = session.as_str().unwrap();
    let done = world.covey(&["run", "two", "--session", id]).await;
    assert_eq!((done.code, done.out.trim()), (Some(0), "Second."), "{done:?}");
    let seen = socket.events_until(&watch["subscription"], "turn_end").await;
    assert!(seen.iter().any(|event| event["type"] == "user_prompt"), "{seen:?}");

    // A second server on the same home does the same.
    let other = serve(&world).await;
    let mut second = other.socket().await;
    let from = second.call("subscribe", json!({"topic": "session", "session": session})).await;
    second.submit(start(&session, "three", None)).await;
    second.events_until(&from["subscription"], "turn_end").await;
    socket.events_until(&watch["subscription"], "turn_end").await;
    assert_eq!(world.sessions().len(), 1);
}
