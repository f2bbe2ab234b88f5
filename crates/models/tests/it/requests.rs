use models::{ImageData, Role, ToolCall, ToolResult, ToolSet, ToolSpec};
use serde_json::json;
use testkit::Script;

use crate::*;

fn tools() -> Arc<ToolSet> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolSet::new(vec![ToolSpec { name: "read".to_owned(), description: "Reads a file.".to_owned(), schema }])
}

#[tokio::test]
async fn a_request_holds_all_that_was_said() {
    let server = ModelServer::start(Script::default()).await.unwrap();
    let picture = ImageData { media_type: "image/png".to_owned(), data: "aGk=".into() };
    let call = |id: &str, arguments| {
        Block::ToolCall(ToolCall { id: id.to_owned(), name: "read".to_owned(), arguments })
    };
    let seen = ToolResult { images: vec![picture.clone()], ..ToolResult::text("a", "") };
    let messages = vec![
        Message::new(Role::User, vec![Block::Text("look \"here\"".to_owned()), Block::Image(picture)]),
        Message::assistant(vec![
            Block::Thinking { text: "Hm.".to_owned(), replay: None },
            call("a", json!({"path": "x"})),
            call("b", json!("not json {")),
        ]),
        Message::results([seen, ToolResult::error("b", "no such file")]),
        // What is left of an answer that was cut before it said anything.
        Message::assistant(vec![]),
        Message::user("go on"),
    ];
    let request =
        Request { max_output: Some(100), temperature: Some(0.5), ..Request::new("Be brief.", messages) };
    let model = model(
        &server,
        "api_key = \"sk-secret-key\"\nheaders = { x-team = \"blue\" }\n[models.m]\nid = \"real-name\"",
    );
    tell(model.stream(request.with_tools(tools()))).await;

    let sent = server.request(0).await;
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.header("authorization"), Some("Bearer sk-secret-key"));
    assert_eq!(sent.header("x-team"), Some("blue"));
    assert!(sent.header("user-agent").unwrap().starts_with("covey/"));
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}});
    let expected = json!({
        "model": "real-name",
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_completion_tokens": 100,
        "temperature": 0.5,
        "tools": [{"type": "function", "function": {
            "name": "read", "description": "Reads a file.", "parameters": tools().specs()[0].schema,
        }}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "look \"here\""}, image]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
                {"id": "b", "type": "function",
                    "function": {"name": "read", "arguments": "{\"invalid\":\"not json {\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "see the image below"},
            {"role": "tool", "tool_call_id": "b", "content": "error: no such file"},
            {"role": "user", "content": [image]},
            {"role": "user", "content": "go on"},
        ],
    });
    assert_eq!(sent.json, expected);
    // The order of the parts matters too: what changes comes last.
    assert_eq!(sent.text(), expected.to_string());
}

#[tokio::test]
async fn quirks_change_what_is_sent() {
    let server = ModelServer::start(Script::default()).await.unwrap();
    let thought = Message::assistant(vec![
        Block::Thinking { text: "Hm.".to_owned(), replay: None },
        Block::Text("Yes.".to_owned()),
    ]);
    let quirks =
        "quirks = { include_usage = false, max_tokens_field = \"max_tokens\", replay_reasoning = true }";
    for settings in [quirks, ""] {
        let messages = vec![Message::user("a"), thought.clone(), Message::user("b")];
        let request = Request { max_output: Some(5), ..Request::new("", messages) };
        tell(model(&server, settings).stream(request)).await;
    }
    let [odd, usual] = &server.requests()[..] else { panic!() };
    assert!(odd.json.get("stream_options").is_none());
    assert_eq!(odd.json["max_tokens"], 5);
    assert_eq!(odd.json["messages"][1]["reasoning_content"], "Hm.");
    // The same message serves both: each dialect has its own serialised form.
    assert_eq!(usual.json["messages"][1], json!({"role": "assistant", "content": "Yes."}));
    assert!(odd.header("authorization").is_none());
}
