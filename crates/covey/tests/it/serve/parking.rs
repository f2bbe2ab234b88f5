//! Sessions that nobody uses are let go, and only those.

use std::fs::{File, TryLockError};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::*;
use crate::world::{PATIENCE, World};

fn lock(world: &World, session: &Value) -> File {
    File::open(world.home.join("sessions").join(session.as_str().unwrap()).join("lock")).unwrap()
}

/// Makes a session, and waits until the server has let go of it.
async fn made_and_let_go(world: &World, served: &Served) {
    let made = served.ask("POST", "/api/sessions", json!({"cwd": world.project, "agent": "fake"})).await;
    let file = lock(world, &made.json()["session"]);
    timeout(PATIENCE, tokio::task::spawn_blocking(move || file.lock())).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_session_whose_agent_builds_something_is_not_let_go() {
    let world = crate::agents::world(&["--resume"]).await;
    let served = serve_with(&world, &["--idle", "20ms"]).await;
    let made = served.ask("POST", "/api/sessions", json!({"agent": "fake", "mode": "full"})).await;
    let building = made.json()["session"].clone();
    let prompt = |text: &str| json!({"text": text});
    let path = format!("/api/sessions/{}/prompt", building.as_str().unwrap());
    let mut socket = served.socket().await;
    let subscribed =
        socket.call("subscribe", json!({"topic": "session", "session": building, "after": 0})).await;
    let build =
        "run! (while [ ! -e enough ]; do :; done; echo built > built.txt) > /dev/null 2>&1 &\nsay pid";
    let started = served.ask("POST", &path, prompt(build)).await;
    assert!(started.status < 300, "{started:?}");
    socket.events_until(&subscribed["subscription"], "turn_end").await;
    drop(socket);

    // Twice, so that everything was looked at at least once more after nobody watched any longer.
    made_and_let_go(&world, &served).await;
    made_and_let_go(&world, &served).await;
    assert!(matches!(lock(&world, &building).try_lock(), Err(TryLockError::WouldBlock)));
    // And the build goes on.
    world.write("enough", "");
    let mut socket = served.socket().await;
    let subscribed =
        socket.call("subscribe", json!({"topic": "session", "session": building, "after": 0})).await;
    let waits = "run! while [ ! -e built.txt ]; do :; done\nsay it is built";
    served.ask("POST", &path, prompt(waits)).await;
    let mut events = socket.events_until(&subscribed["subscription"], "turn_end").await;
    while !events.iter().any(|event| event["text"] == "it is built") {
        events.extend(socket.events_until(&subscribed["subscription"], "turn_end").await);
    }
    assert!(world.project.join("built.txt").exists());
}
