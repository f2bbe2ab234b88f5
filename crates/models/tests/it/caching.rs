//! A provider's cache is hit when the new request is the old one with something added, byte for byte.

use models::{Effort, Role, ToolResult};
use serde_json::json;
use testkit::{Reply, Script};

use crate::conformance::{LINES, answer, picture, tools};
use crate::*;

const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// Fifty turns with tools, pictures and thoughts, and two things said in a row now and then.
#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    let replies: Vec<_> = (0..50)
        .map(|turn| {
            let reply = if turn % 3 == 0 { Reply::new().think(format!("Hm {turn}.")) } else { Reply::new() };
            let reply =
                if turn % 4 != 1 { reply.then_text(format!("Turn {turn}: Grüße {{[]}}")) } else { reply };
            let calls = if turn % 4 == 3 { 0 } else { 1 + turn % 3 };
            (0..calls)
                .fold(reply, |reply, call| reply.call("read", json!({"path": format!("{turn}/{call}")})))
        })
        .collect();
    for line in LINES {
        let server = ModelServer::start(Script::from(replies.clone())).await.unwrap().strict();
        let model = line.model(&server, "");
        let tools = tools();
        let mut messages = vec![Message::user("go")];
        for turn in 0..50 {
            let mut request = Request::new("Be \"brief\".", messages.clone()).with_tools(tools.clone());
            request.reasoning = Some(Effort::Medium);
            let (blocks, _) = answer(&*model, request).await;
            let said = Message::assistant(blocks);
            let results = said.calls().map(|call| {
                let images = if turn % 5 == 0 { vec![picture()] } else { vec![] };
                ToolResult { images, is_error: turn % 7 == 0, ..ToolResult::text(&call.id, "contents }]") }
            });
            let results: Vec<_> = results.collect();
            messages.push(said);
            if results.is_empty() {
                messages.push(Message::new(
                    Role::User,
                    vec![Block::Text("and?".to_owned()), Block::Image(picture())],
                ));
            } else {
                messages.push(Message::results(results));
            }
            if turn % 6 == 0 {
                messages.push(Message::user("and another thing"));
            }
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 50);
        for (turn, pair) in requests.windows(2).enumerate() {
            let [before, after] = [&pair[0], &pair[1]].map(|request| request.text().replace(MARK, ""));
            let (prefix, closers) = before.split_at(before.len() - line.closers);
            assert!(closers.bytes().all(|byte| matches!(byte, b']' | b'}')), "{closers}");
            assert!(after.starts_with(prefix), "{} {turn}\n{before}\n{after}", line.name);
            assert!(after.len() > before.len());
        }
        if line.name == "anthropic" {
            for request in &requests[1..] {
                assert_eq!(request.text().matches(MARK).count(), 4, "{}", request.text());
            }
            // Where this one ends is marked in the next one too.
            for pair in requests.windows(2).skip(1) {
                let marks = |request: &testkit::Recorded| {
                    let places = request.text().match_indices(MARK).map(|(at, _)| at).enumerate();
                    places.map(|(before, at)| at - before * MARK.len()).collect::<Vec<_>>()
                };
                assert_eq!(marks(&pair[0])[3], marks(&pair[1])[2]);
            }
        }
    }
}

#[tokio::test]
async fn marks_are_where_something_ends() {
    let server = ModelServer::start(Script::default()).await.unwrap().strict();
    let model = LINES[2].model(&server, "");
    let said = Message::assistant(vec![Block::Text("Hi.".to_owned())]);
    let messages =
        vec![Message::user("one"), said.clone(), Message::user("two"), said, Message::user("three")];
    answer(&*model, Request::new("Be brief.", messages).with_tools(tools())).await;
    answer(&*model, Request::new("", vec![Message::user("one")])).await;
    let mark = json!({"type": "ephemeral"});
    let [full, bare] = &server.requests()[..] else { panic!() };
    assert_eq!(full.json["tools"][1]["cache_control"], mark);
    assert!(full.json["tools"][0].get("cache_control").is_none());
    assert_eq!(full.json["system"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]));
    let marked: Vec<_> = full.json["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_array().unwrap().last().unwrap().get("cache_control").is_some())
        .collect();
    assert_eq!(marked, [false, false, true, false, true]);
    assert_eq!(bare.text().matches(MARK).count(), 1);
    assert!(bare.json.get("system").is_none());
}
