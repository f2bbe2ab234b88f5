//! Front ends on sockets.

use serde_json::{Value, json};

use super::support::*;
use crate::world::World;

#[tokio::test]
async fn a_session_is_told_from_any_number_on_without_gaps() {
    let world = World::new("model: Hello there.").await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let hello = socket.call("hello", json!({})).await;
    assert_eq!((&hello["protocol"], &hello["cwd"]), (&json!(1), &json!(world.project)));
    let session = socket.session(&world).await;
    let state = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    assert_eq!(state["version"], state["state"]["seq"]);
    socket.submit(start(&session, "hi", Some("k1"))).await;
    let events = socket.events_until(&state["subscription"], "turn_end").await;
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    let first = state["version"].as_u64().unwrap() + 1;
    assert_eq!(numbers, (first..first + numbers.len() as u64).collect::<Vec<_>>());

    // Another front end takes up in the middle, and sees the same.
    let mut other = served.socket().await;
    let from = other.call("subscribe", json!({"topic": "session", "session": session, "after": 3})).await;
    assert_eq!(from.get("state"), None);
    let rest = other.events_until(&from["subscription"], "turn_end").await;
    assert_eq!(
        rest,
        events.iter().filter(|event| event["seq"].as_u64() > Some(3)).cloned().collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn the_list_is_a_state_with_patches_that_fit() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let mut list = socket.call("subscribe", json!({"topic": "sessions"})).await;
    let session = socket.session(&world).await;
    let name = session.as_str().unwrap().to_owned();
    socket.submit(json!({"type": "rename", "session": session, "title": "Named"})).await;
    socket.submit(json!({"type": "mark_session", "session": session, "archived": true})).await;
    socket.submit(json!({"type": "delete_session", "session": session})).await;
    let mut titles = Vec::new();
    let mut seen = false;
    loop {
        let entry = &list["state"]["sessions"][&name];
        seen |= entry.is_object();
        titles.push(json!([entry["title"], entry["marks"]["archived"]]));
        if seen && entry.is_null() {
            break;
        }
        let news = socket.notification().await;
        let params = &news["params"];
        assert_eq!(params["subscription"], list["subscription"]);
        match news["method"].as_str() {
            Some("patch") => {
                assert_eq!(params["base"], list["version"]);
                apply(&mut list["state"], &params["patch"]);
            }
            Some("state") => list["state"] = params["state"].clone(),
            other => panic!("{other:?}"),
        }
        list["version"] = params["version"].clone();
    }
    titles.dedup();
    assert!(titles.contains(&json!(["Named", true])), "{titles:?}");
}

/// The part of RFC 6902 that the list uses.
fn apply(state: &mut Value, patch: &Value) {
    for step in patch.as_array().unwrap() {
        let (parent, key) = step["path"].as_str().unwrap().rsplit_once('/').unwrap();
        let parent = state.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match step["op"].as_str().unwrap() {
            "add" => assert!(parent.insert(key.to_owned(), step["value"].clone()).is_none()),
            "replace" => assert!(parent.insert(key.to_owned(), step["value"].clone()).is_some()),
            "remove" => assert!(parent.remove(key).is_some()),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_change_sent_again_is_made_once_even_after_a_restart() {
    let world = World::new("model: hello").await;
    let mut served = serve(&world).await;
    let mut socket = served.socket().await;
    let create =
        json!({"op": {"type": "create_session", "cwd": world.project, "ephemeral": false}, "key": "c1"});
    let made = socket.call("submit", create.clone()).await;
    // The socket is lost; the client does not know whether it arrived, and sends it again.
    drop(socket);
    let mut socket = served.socket().await;
    assert_eq!(socket.call("submit", create).await, made);
    assert_eq!(world.sessions().len(), 1);

    let session = &made["session"];
    let prompt = json!({"op": start(session, "hi", None), "key": "p1"});
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    let turn = socket.call("submit", prompt.clone()).await;
    socket.events_until(&watch["subscription"], "turn_end").await;
    served.child.kill().await.unwrap();
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    assert_eq!(socket.call("submit", prompt).await, turn);
    let from = socket.call("subscribe", json!({"topic": "session", "session": session, "after": 0})).await;
    let events = socket.events_until(&from["subscription"], "turn_end").await;
    assert_eq!(events.iter().filter(|event| event["type"] == "user_prompt").count(), 1);
}

#[tokio::test]
async fn a_question_answered_by_one_is_answered_for_all() {
    let world =
        World::new("reply\n  call: write {\"path\": \"b.txt\", \"content\": \"hello\"}\nmodel: Done.").await;
    let served = serve(&world).await;
    let (mut one, mut two) = (served.socket().await, served.socket().await);
    let session = one.session(&world).await;
    let watch = json!({"topic": "session", "session": session});
    let first = one.call("subscribe", watch.clone()).await;
    let second = two.call("subscribe", watch).await;
    one.submit(start(&session, "go", None)).await;
    let asked = one.events_until(&first["subscription"], "permission_request").await;
    two.events_until(&second["subscription"], "permission_request").await;
    let question = asked.iter().find(|event| event["type"] == "permission_request").unwrap();
    let option =
        question["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    let answer = json!({
        "type": "answer_permission", "session": session, "request": question["request"],
        "decision": {"type": "choose", "option": option["id"]},
    });
    two.submit(answer.clone()).await;
    let told = one.events_until(&first["subscription"], "turn_end").await;
    assert!(told.iter().any(|event| event["type"] == "permission" && event["outcome"] == "approved"));
    let late = one.refused("submit", json!({"op": answer})).await;
    assert_eq!(late["data"]["kind"], "invalid");
    assert_eq!(std::fs::read_to_string(world.project.join("b.txt")).unwrap().trim(), "hello");
}

#[tokio::test]
async fn nonsense_is_answered_and_does_no_harm() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    use futures::SinkExt;
    use tokio_tungstenite::tungstenite::Message;
    for (text, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        ("{\"id\":1}", -32600),
        ("{\"method\":\"ping\"}", -32600),
        ("{\"id\":1,\"method\":\"rm\"}", -32601),
        ("{\"id\":1,\"method\":\"read\",\"params\":{\"type\":\"everything\"}}", -32602),
        ("{\"id\":1,\"method\":\"submit\"}", -32602),
    ] {
        socket.stream.send(Message::text(text)).await.unwrap();
        let answer = socket.next().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{text}: {answer}");
    }
    let unknown = json!({"topic": "session", "session": "20200101-000000-00000000"});
    assert_eq!(socket.refused("subscribe", unknown).await["data"]["kind"], "not_found");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    socket
        .stream
        .send(Message::text(format!("{{\"id\":1,\"method\":\"submit\",\"params\":{deep}}}")))
        .await
        .unwrap();
    assert!(socket.next().await.unwrap()["error"].is_object());
    for _ in 0..64 {
        socket.call("subscribe", json!({"topic": "sessions"})).await;
    }
    assert!(socket.refused("subscribe", json!({"topic": "sessions"})).await["message"].is_string());
    socket.call("unsubscribe", json!({"subscription": 1})).await;
    socket.call("ping", json!({})).await;
    // A message that is too large ends this socket, and no other.
    let _ = socket.stream.send(Message::text("x".repeat(25 << 20))).await;
    while socket.next().await.is_some() {}
    served.socket().await.call("ping", json!({})).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_slows_nobody() {
    let text = "word ".repeat(2000);
    let world = World::new(&format!("model: {text}")).await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let session = socket.session(&world).await;
    let mut slow = Vec::new();
    for _ in 0..5 {
        let mut other = served.socket().await;
        for _ in 0..20 {
            // Subscribes and never reads what comes.
            other.send("subscribe", json!({"topic": "session", "session": session, "after": 0})).await;
        }
        slow.push(other);
    }
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    socket.submit(start(&session, "hi", None)).await;
    socket.events_until(&watch["subscription"], "turn_end").await;
    // And when one reads after all, nothing is missing.
    let late = &mut slow[0];
    let mut seen = 0;
    while seen < 5 {
        let Some(message) = late.next().await else { panic!("closed") };
        for event in message["params"]["events"].as_array().into_iter().flatten() {
            if message["params"]["subscription"] == 1 {
                seen += 1;
                assert_eq!(event["seq"], seen);
            }
        }
    }
}

#[tokio::test]
async fn what_is_too_much_for_a_socket_is_refused_and_costs_only_that_socket() {
    use futures::SinkExt;
    use tokio_tungstenite::tungstenite::Message;
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    for _ in 0..64 {
        socket.call("subscribe", json!({"topic": "sessions"})).await;
    }
    let refused = socket.refused("subscribe", json!({"topic": "sessions"})).await;
    assert!(refused["message"].as_str().unwrap().contains("no more than 64"), "{refused}");

    // In one frame, and in many that never end: nothing of either is kept.
    let mut large = served.socket().await;
    let _ = large.stream.send(Message::text("x".repeat((24 << 20) + 1))).await;
    assert!(large.next().await.is_none());
    let mut many = served.socket().await;
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
    let piece = || vec![b'x'; 1 << 20];
    let mut sent = 0;
    let frame = |code| Message::Frame(Frame::message(piece(), OpCode::Data(code), false));
    let mut more = many.stream.send(frame(Data::Text)).await;
    while more.is_ok() && sent < 64 {
        more = many.stream.send(frame(Data::Continue)).await;
        sent += 1;
    }
    assert!(many.next().await.is_none());
    socket.call("ping", json!({})).await;
}
