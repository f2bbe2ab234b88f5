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

#[tokio::test]
async fn azure_gets_its_deployment_its_version_and_its_header() {
    let server =
        ModelServer::play("reply\n  call: read {\"path\": \"a\"}\nmodel: done\nforever\n").await.strict();
    for (base, path) in [
        ("openai", "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"),
        ("openai//", "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"),
        ("openai/v1/", "/openai/v1/chat/completions"),
    ] {
        let text = format!("base_url = \"{}/{base}\"", server.url());
        let config: models::ProviderConfig = toml::from_str(&text).unwrap();
        let catalogue = Catalogue::new([("azure-openai".to_owned(), config)].into(), |name| {
            (name == "AZURE_OPENAI_API_KEY").then(|| "az-secret-key".to_owned())
        });
        let told = tell(catalogue.resolve("azure-openai/my-gpt").unwrap().stream(ask("hi"))).await;
        assert!(!told.contains("error"), "{base}: {told}");
        let sent = server.requests().pop().unwrap();
        assert_eq!((sent.path.as_str(), sent.header("api-key")), (path, Some("az-secret-key")), "{base}");
        assert_eq!((sent.header("authorization"), &sent.json["model"]), (None, &"my-gpt".into()));
    }
    // Without an address there is nobody to ask, and it is said how to name one.
    let catalogue = Catalogue::new(Default::default(), |_| Some("az-secret-key".to_owned()));
    let error = catalogue.resolve("azure-openai/my-gpt").err().unwrap();
    assert_eq!(error.to_string(), "`azure-openai` needs an address, and there is no usual one");
    assert_eq!(error.hint(), "set base_url in [providers.azure-openai] of config.toml");
    assert!(!catalogue.from_environment().iter().any(|model| model.as_str().starts_with("azure")));
}

#[tokio::test]
async fn a_strict_azure_refuses_what_is_not_for_it() {
    let server = ModelServer::play("model: fine\nforever\n").await.strict();
    for (settings, complaint) in [
        ("", "it belongs into `api-key`"),
        ("quirks = { key_header = \"api-key\" }", "Missing required query parameter: api-version"),
        ("quirks = { key_header = \"api-key\", api_version = \"1\" }", "the path names no deployment"),
    ] {
        let text = format!("base_url = \"{}/openai\"\napi_key = \"az-secret-key\"\n{settings}", server.url());
        let config: models::ProviderConfig = toml::from_str(&text).unwrap();
        let catalogue = Catalogue::new([("plain".to_owned(), config)].into(), |_| None);
        let error = failure(catalogue.resolve("plain/my-gpt").unwrap().stream(ask("hi"))).await;
        assert!(error.to_string().contains(complaint), "{error}");
    }
}

/// What Azure sends before and between the pieces of an answer: verdicts of its filters, in chunks that say nothing.
#[test]
fn chunks_of_azure_that_hold_only_verdicts_say_nothing() {
    let stream = concat!(
        "data: {\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"object\":\"\",\"prompt_filter_results\":[{\"prompt_index\":0,\"content_filter_results\":{\"hate\":{\"filtered\":false,\"severity\":\"safe\"}}}]}\n\n",
        "data: {\"choices\":[{\"content_filter_results\":{},\"delta\":{\"content\":\"\",\"refusal\":null,\"role\":\"assistant\"},\"finish_reason\":null,\"index\":0,\"logprobs\":null}],\"id\":\"c\",\"object\":\"chat.completion.chunk\"}\n\n",
        "data: {\"choices\":[{\"content_filter_results\":{\"hate\":{\"filtered\":false}},\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null,\"index\":0}],\"id\":\"c\"}\n\n",
        "data: {\"choices\":[{\"content_filter_results\":{},\"delta\":{},\"finish_reason\":\"stop\",\"index\":0}],\"id\":\"c\"}\n\n",
        "data: {\"choices\":[],\"id\":\"c\",\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":9,\"total_tokens\":11}}\n\n",
        "data: [DONE]\n\n",
    );
    let mut answer = models::Answer::default();
    for event in models::decode_recorded(models::Wire::OpenaiChat, [stream.as_bytes()]).unwrap() {
        answer.apply(&event);
    }
    assert_eq!((answer.text(), answer.usage.input, answer.usage.output), ("Hello".to_owned(), 9, 2));
}

#[tokio::test]
async fn no_model_is_asked_for_a_longer_answer_than_it_gives() {
    let server = ModelServer::play("model: fine\nforever\n").await;
    let model = model(&server, "[models.m]\nmax_output = 8192\n");
    for (wish, sent) in [(128_000, 8192), (100, 100)] {
        let request = models::Request { max_output: Some(wish), ..ask("hi") };
        tell(model.stream(request)).await;
        assert_eq!(server.requests().pop().unwrap().json["max_completion_tokens"], sent);
    }
}

/// Issue 3: providers quote keys that they refuse, and mostly not the whole of them.
#[tokio::test]
async fn an_error_that_quotes_a_part_of_our_key_shows_nothing_of_it() {
    let key = "sk-proj-Abc123def456ghi789wxyz";
    for quote in [key, "sk-...wxyz", "sk-proj-********************wxyz", "sk-proj-Abc123def***"] {
        let script = format!(
            "reply\n  fault: 401 message=\"Incorrect API key provided: {quote}. You can find it\"\nforever\n"
        );
        let server = ModelServer::play(&script).await;
        let error = failure(model(&server, &format!("api_key = \"{key}\"\n")).stream(ask("hi"))).await;
        assert!(matches!(error, CallError::BadCredential { .. }), "{error:?}");
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("provided: ***. You can"), "{shown}");
        assert!(!shown.contains("wxyz") && !shown.contains("Abc123"), "{shown}");
    }
}
