//! One suite for every wire: the same script gives the same answer, whatever it travels on.

use models::{Effort, ImageData, OutputSchema, Role, StopReason, ToolCall, ToolResult, ToolSet, ToolSpec};
use serde_json::{Value, json};
use testkit::{Delivery, Fault, Part, Reply, Script, Tokens};

use crate::*;

/// A wire, and the server's own words on it.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// What it says when it stops: at its limit, and because it declines.
    stops: [&'static str; 2],
    /// How many brackets end a request.
    pub(crate) closers: usize,
}

pub(crate) const LINES: [Line; 4] = [
    Line { name: "openai-chat", stops: ["length", "content_filter"], closers: 2 },
    Line { name: "openai-responses", stops: ["max_output_tokens", "content_filter"], closers: 2 },
    Line { name: "anthropic", stops: ["max_tokens", "refusal"], closers: 4 },
    Line { name: "gemini", stops: ["MAX_TOKENS", "SAFETY"], closers: 4 },
];

impl Line {
    pub(crate) fn model(&self, server: &ModelServer, settings: &str) -> Arc<dyn Model> {
        self.limited(server, settings, AnswerLimits::default())
    }

    fn limited(&self, server: &ModelServer, settings: &str, limits: AnswerLimits) -> Arc<dyn Model> {
        let base = if self.name.starts_with("openai") { server.base_url() } else { server.url() };
        let text = format!("wire = \"{}\"\nbase_url = \"{base}\"\n{settings}", self.name);
        let config: ProviderConfig = toml::from_str(&text).unwrap();
        Catalogue::new(BTreeMap::from([("test".to_owned(), config)]), |_| None)
            .with_retry(RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() })
            .with_limits(limits)
            .resolve("test/m")
            .unwrap()
    }
}

pub(crate) fn picture() -> ImageData {
    ImageData { media_type: "image/png".to_owned(), data: "aGk=".into() }
}

pub(crate) fn tools() -> Arc<ToolSet> {
    let read = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
        "properties": {
            "path": {"type": "string", "description": "Where."}, "lines": {"type": ["integer", "null"], "format": "uint32"},
            "mode": {"$ref": "#/$defs/mode"},
        },
        "required": ["path"], "$defs": {"mode": {"const": "text"}},
    });
    let tool = |name: &str, schema: Value| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        schema,
    };
    ToolSet::new(vec![tool("read", read), tool("look", json!({"type": "object", "properties": {}}))])
}

/// The answer, added up, without what only its provider understands.
pub(crate) async fn answer(model: &dyn Model, request: Request) -> (Vec<Block>, Answer) {
    let mut stream = model.stream(request);
    let (mut answer, mut copy) = (Answer::default(), Answer::default());
    while let Some(event) = stream.next().await {
        let event = event.unwrap_or_else(|error| panic!("{error}"));
        answer.apply(&event);
        copy.apply(&event);
    }
    (answer.into_blocks(), copy)
}

pub(crate) fn plain(blocks: &[Block]) -> Vec<Block> {
    let blocks = blocks.iter().filter(|block| !matches!(block, Block::Replay(_))).map(|block| match block {
        Block::Thinking { text, .. } => Block::Thinking { text: text.clone(), replay: None },
        other => other.clone(),
    });
    blocks.collect()
}

#[tokio::test]
async fn a_model_thinks_speaks_and_calls_on_every_wire() {
    for line in LINES {
        for delivery in
            [Delivery::Frames, Delivery::Bulk, Delivery::Trickle, Delivery::SplitUtf8, Delivery::Whole]
        {
            let usage = Tokens { input: 1000, output: 50, cache_read: 800, cache_write: 0, reasoning: 7 };
            let reply = Reply::new()
                .think("Let me look. 🦆")
                .then_text("I will read both: Grüße, 你好.")
                .call("read", json!({"path": "a.txt"}))
                .call("read", json!({"path": "b.txt", "ü": ["🦆", null, 1.5]}))
                .usage(usage);
            let server = ModelServer::start(reply.delivery(delivery)).await.unwrap().strict();
            let model =
                line.model(&server, "[models.m]\nprices = { input = 2, output = 10, cache_read = 0.2 }");
            let told = tell(model.stream(ask("read them").with_tools(tools()))).await;
            // Anthropic says what was thought, but not how many tokens that took.
            let thought = if line.name == "anthropic" { 0 } else { 7 };
            let expected = format!(
                "think: Let me look. 🦆\ntext: I will read both: Grüße, 你好.\ncall: read {{\"path\":\"a.txt\"}} (call_1)\n\
                 call: read {{\"path\":\"b.txt\",\"ü\":[\"🦆\",null,1.5]}} (call_2)\n\
                 usage: 1000 in, 50 out, 800 read, {thought} thought $0.001060\nstop: Some(ToolCalls)"
            );
            assert_eq!(told.replace("(replay)\n", ""), expected, "{} {delivery:?}", line.name);
        }
    }
}

#[tokio::test]
async fn a_stop_is_named_alike() {
    for line in LINES {
        let reasons = [StopReason::MaxTokens, StopReason::Refused];
        for (word, expected) in line.stops.into_iter().zip(reasons) {
            for delivery in [Delivery::Frames, Delivery::Whole] {
                let reply = Reply::text("a b").stop(word).delivery(delivery);
                let server = ModelServer::start(reply).await.unwrap();
                let (_, answer) = answer(&*line.model(&server, ""), ask("hi")).await;
                assert_eq!(answer.stop, Some(expected.clone()), "{} {word}", line.name);
            }
        }
    }
}

/// A conversation with everything in it. The server refuses whatever the vendor would.
#[tokio::test]
async fn the_same_conversation_gives_the_same_blocks() {
    let script = r#"
        reply
          think: Hm.
          text: Reading.
          call: read {"path": "a.txt"}
          call: look {}
        reply
          call: read {"path": "c.txt"}
        reply
          think: Well.
          text: Done.
        model: Still here.
    "#;
    let mut all = Vec::new();
    for line in LINES {
        let server = ModelServer::play(script).await.strict();
        let model = line.model(&server, "");
        let first = vec![Block::Text("look".to_owned()), Block::Image(picture())];
        let mut messages = vec![Message::new(Role::User, first)];
        let mut said = Vec::new();
        for turn in 0..4 {
            let request = Request::new("Be brief.", messages.clone()).with_tools(tools());
            let (blocks, _) = answer(&*model, request).await;
            said.push(plain(&blocks));
            let message = Message::assistant(blocks);
            let results: Vec<_> = message
                .calls()
                .map(|call| match call.name.as_str() {
                    "look" => ToolResult { images: vec![picture()], ..ToolResult::text(&call.id, "") },
                    _ if turn == 1 => ToolResult::error(&call.id, ""),
                    _ => ToolResult::text(&call.id, "contents"),
                })
                .collect();
            messages.push(message);
            if results.is_empty() {
                // Two things said in a row: some wires want them as one.
                messages.push(Message::user("and?"));
                messages.push(Message::user("now?"));
            } else {
                messages.push(Message::results(results));
                // A word in between, before the model goes on.
                if turn == 0 {
                    messages.push(Message::user("hurry"));
                }
            }
        }
        assert_eq!(server.requests().len(), 4, "{}", line.name);
        all.push((line.name, said));
    }
    for (name, said) in &all[1..] {
        assert_eq!(*said, all[0].1, "{name}");
    }
}

/// A session may have been held with several models. What one made, another must not choke on.
#[tokio::test]
async fn a_conversation_moves_from_wire_to_wire() {
    let reply = || Reply::new().think("Hm.").then_text("Reading.").call("read", json!({"path": "a"}));
    for from in LINES {
        for to in LINES {
            let server = ModelServer::start([reply(), reply(), Reply::text("Done.")]).await.unwrap().strict();
            let mut messages = vec![Message::user("go")];
            for line in [&from, &to, &from] {
                let request = Request::new("", messages.clone()).with_tools(tools());
                let (blocks, _) = answer(&*line.model(&server, ""), request).await;
                let said = Message::assistant(blocks);
                let results: Vec<_> = said.calls().map(|call| ToolResult::text(&call.id, "x")).collect();
                messages.extend([said, Message::results(results)]);
            }
            // The thought of the other wire was left out, and our own came back as it was.
            let back = server.requests()[2].text().to_owned();
            if from.name != "openai-chat" {
                assert!(back.contains("c2NyaXB0ZWQ="), "{} {}", from.name, back);
            }
        }
    }
}

/// Two providers of one format: the thoughts of one are sealed to the other.
#[tokio::test]
async fn sealed_thoughts_go_to_nobody_else() {
    for line in LINES {
        let server = ModelServer::start([Reply::new().think("Hm.").call("read", json!({}))]).await.unwrap();
        let (blocks, _) = answer(&*line.model(&server, ""), ask("go")).await;
        let said = Message::assistant(blocks);
        let results: Vec<_> = said.calls().map(|call| ToolResult::text(&call.id, "x")).collect();
        let request = Request::new("", vec![Message::user("go"), said, Message::results(results)]);
        let base = if line.name.starts_with("openai") { server.base_url() } else { server.url() };
        let text = format!("wire = \"{}\"\nbase_url = \"{base}\"", line.name);
        let config: ProviderConfig = toml::from_str(&text).unwrap();
        let other = Catalogue::new(BTreeMap::from([("other".to_owned(), config)]), |_| None);
        answer(&*line.model(&server, ""), request.clone()).await;
        answer(&*other.resolve("other/m").unwrap(), request).await;
        let [_, same, other] = &server.requests()[..] else { panic!() };
        assert!(!other.text().contains("c2NyaXB0ZWQ="), "{}", other.text());
        if line.name != "openai-chat" {
            assert!(same.text().contains("c2NyaXB0ZWQ="), "{}", same.text());
        }
    }
}

/// What nobody can read goes back at the place where it stood.
#[tokio::test]
async fn hidden_thoughts_go_back_in_their_place() {
    let frames =
        |frames: &[Value]| frames.iter().map(|frame| format!("data: {frame}\n\n")).collect::<String>();
    let block = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let anthropic = frames(&[
        block(0, json!({"type": "redacted_thinking", "data": "sealed"})),
        block(1, json!({"type": "thinking", "thinking": "", "signature": "c2NyaXB0ZWQ="})),
        block(2, json!({"type": "text", "text": "Reading."})),
        block(3, json!({"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}})),
        json!({"type": "message_stop"}),
    ]);
    let item = |index: u64, item: Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2NyaXB0ZWQ="});
    let said = json!([{"type": "output_text", "text": "Reading."}]);
    let responses = frames(&[
        item(0, thought.clone()),
        item(1, json!({"type": "message", "id": "m", "phase": "commentary", "content": said})),
        item(
            2,
            json!({"type": "function_call", "id": "f", "call_id": "a", "name": "read", "arguments": "{\"path\":\"x\"}"}),
        ),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ]);
    let parts = json!([
        {"text": "Reading.", "thoughtSignature": "c2NyaXB0ZWQ="},
        {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}, "thoughtSignature": "c2NyaXB0ZWQ="},
    ]);
    let gemini =
        frames(&[json!({"candidates": [{"content": {"parts": parts.clone()}, "finishReason": "STOP"}]})]);
    let expected = [
        json!([
            {"type": "redacted_thinking", "data": "sealed"},
            {"type": "thinking", "thinking": "", "signature": "c2NyaXB0ZWQ="},
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
        ]),
        json!([
            thought,
            {"type": "message", "role": "assistant", "content": said, "phase": "commentary"},
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"path\":\"x\"}"},
        ]),
        parts,
    ];
    let lines = [(&LINES[2], anthropic), (&LINES[1], responses), (&LINES[3], gemini)];
    for ((line, raw), expected) in lines.into_iter().zip(expected) {
        let server = ModelServer::start(Reply::raw("text/event-stream", raw)).await.unwrap().strict();
        let model = line.model(&server, "");
        let (blocks, _) = answer(&*model, ask("go")).await;
        let messages = vec![
            Message::user("go"),
            Message::assistant(blocks),
            Message::results([ToolResult::text("a", "y")]),
        ];
        answer(&*model, Request::new("", messages)).await;
        let sent = &server.requests()[1].json;
        let back = match line.name {
            "anthropic" => sent["messages"][1]["content"].clone(),
            "gemini" => sent["contents"][1]["parts"].clone(),
            _ => Value::Array(sent["input"].as_array().unwrap()[1..4].to_vec()),
        };
        assert_eq!(back, expected, "{}", line.name);
    }
}

#[tokio::test]
async fn arguments_that_are_no_arguments_do_not_end_a_session() {
    let long = format!("{{\"text\": \"{}\"}}", "x".repeat(1 << 20));
    let cases = [
        (json!("not json {"), json!("not json {")),
        (json!([1, 2]), json!([1, 2])),
        (json!("{\"a\": 1} and more"), json!("{\"a\": 1} and more")),
        (json!(null), json!(null)),
        (json!(long.clone()), serde_json::from_str(&long).unwrap()),
    ];
    for line in LINES {
        for (sent, expected) in &cases {
            // This wire has no way to send a text that is no JSON.
            let expected = if line.name == "gemini" { sent.clone() } else { expected.clone() };
            let expected = if sent.is_null() && line.name == "gemini" { json!({}) } else { expected };
            // The same id twice, and none.
            let call = |id: &str| Part::Call {
                name: "read".to_owned(),
                arguments: sent.clone(),
                id: Some(id.to_owned()),
            };
            let reply = Reply::new().part(call("same")).part(call("same")).part(call(""));
            let reply = reply.split(testkit::Split::Deltas(3));
            let server = ModelServer::start([reply, Reply::text("ok")]).await.unwrap().strict();
            let model = line.model(&server, "");
            let (blocks, _) = answer(&*model, ask("go")).await;
            let said = Message::assistant(blocks);
            let calls: Vec<_> = said.calls().map(|call| call.arguments.clone()).collect();
            assert_eq!(calls, vec![expected; 3], "{}", line.name);
            let results: Vec<_> = said.calls().map(|call| ToolResult::error(&call.id, "wrong")).collect();
            let messages = vec![Message::user("go"), said, Message::results(results)];
            let (blocks, _) = answer(&*model, Request::new("", messages)).await;
            assert_eq!(plain(&blocks), [Block::Text("ok".to_owned())]);
        }
    }
}

#[tokio::test]
async fn ids_that_were_used_before_are_sent_as_their_own() {
    let call = |id: &str| {
        Block::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "read".to_owned(),
            arguments: json!({"path": "x"}),
        })
    };
    // What servers have sent: the same id in every answer, characters that others refuse, nothing.
    let messages = vec![
        Message::user("go"),
        Message::assistant(vec![call("call_0"), call("functions.read:1")]),
        Message::results([ToolResult::text("call_0", "a"), ToolResult::text("functions.read:1", "b")]),
        Message::assistant(vec![call("call_0"), call("")]),
        Message::results([ToolResult::text("", "c"), ToolResult::text("call_0", "d")]),
    ];
    for line in LINES.iter().filter(|line| !["openai-chat", "gemini"].contains(&line.name)) {
        let server = ModelServer::start(Script::default()).await.unwrap().strict();
        answer(&*line.model(&server, ""), Request::new("", messages.clone())).await;
    }
    let server = ModelServer::start(Script::default()).await.unwrap();
    let mistral = LINES[0].model(&server, "quirks = { short_call_ids = true }");
    answer(&*mistral, Request::new("", messages)).await;
    let sent = server.request(0).await;
    let sent = sent.json["messages"].as_array().unwrap();
    let calls = sent.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let calls: Vec<_> = calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect();
    let results: Vec<_> = sent.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert!(
        calls.iter().all(|id| id.len() == 9 && id.bytes().all(|c| c.is_ascii_alphanumeric())),
        "{calls:?}"
    );
    assert_eq!(results, [&calls[0], &calls[1], &calls[3], &calls[2]]);
    assert_ne!(calls[0], calls[2]);
}

#[tokio::test]
async fn an_answer_may_have_to_have_a_shape() {
    let schema = json!({
        "type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"],
        "additionalProperties": false,
    });
    let server =
        ModelServer::start(Script::from(Reply::text("{\"n\": 1}")).forever()).await.unwrap().strict();
    for line in LINES {
        let output_schema = Some(Arc::new(OutputSchema { name: "count".to_owned(), schema: schema.clone() }));
        let (blocks, _) = answer(&*line.model(&server, ""), Request { output_schema, ..ask("count") }).await;
        assert_eq!(blocks, [Block::Text("{\"n\": 1}".to_owned())]);
    }
    let sent: Vec<_> = server.requests().iter().map(|request| request.json.clone()).collect();
    let strict = json!({"name": "count", "schema": schema, "strict": true});
    assert_eq!(sent[0]["response_format"], json!({"type": "json_schema", "json_schema": strict}));
    let format = json!({"type": "json_schema", "name": "count", "schema": schema, "strict": true});
    assert_eq!(sent[1]["text"], json!({"format": format}));
    let closed = json!({
        "type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false,
    });
    assert_eq!(sent[2]["output_config"], json!({"format": {"type": "json_schema", "schema": closed}}));
    assert_eq!(
        sent[3]["generationConfig"],
        json!({
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"],
            },
        })
    );
}

#[tokio::test]
async fn how_much_to_think_is_said_in_each_vendors_words() {
    let server = ModelServer::start(Script::from(Reply::text("ok")).forever()).await.unwrap().strict();
    let mut lines = Vec::new();
    for (line, settings) in [
        (&LINES[0], ""),
        (&LINES[0], "reasoning = \"switch\""),
        (&LINES[0], "reasoning = \"none\""),
        (&LINES[0], "thinking = false"),
        (&LINES[1], "efforts = [\"minimal\", \"low\", \"medium\", \"high\"]"),
        (&LINES[2], ""),
        (&LINES[2], "reasoning = \"budget\"\nmax_output = 64000"),
        (&LINES[2], "reasoning = \"budget\"\nmax_output = 8000"),
        (&LINES[3], ""),
        (&LINES[3], "reasoning = \"budget\"\nthinking_budget = [128, 32768]"),
    ] {
        let model = line.model(&server, &format!("[models.m]\n{settings}"));
        let mut words = Vec::new();
        for effort in [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Max] {
            let request = Request { reasoning: Some(effort), temperature: Some(0.5), ..ask("hi") };
            answer(&*model, request).await;
            let requests = server.requests();
            let sent = &requests.last().unwrap().json;
            let fields = ["reasoning_effort", "reasoning", "thinking", "output_config", "max_tokens"];
            let mut said: Vec<_> =
                fields.iter().filter_map(|field| Some(sent.get(field)?.to_string())).collect();
            said.extend(sent["generationConfig"].get("thinkingConfig").map(Value::to_string));
            words.push(said.join(" "));
        }
        lines.push(format!("{} {}\n  {}", line.name, settings.replace('\n', ", "), words.join("\n  ")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_turn_that_began_without_a_thought_goes_on_without() {
    let server = ModelServer::start(Script::from(Reply::text("ok")).forever()).await.unwrap().strict();
    let model = LINES[2].model(&server, "[models.m]\nreasoning = \"budget\"");
    let call = ToolCall { id: "a".to_owned(), name: "read".to_owned(), arguments: json!({}) };
    let messages = vec![
        Message::user("go"),
        Message::assistant(vec![Block::ToolCall(call)]),
        Message::results([ToolResult::text("a", "x")]),
    ];
    let think = |messages: Vec<_>| Request { reasoning: Some(Effort::High), ..Request::new("", messages) };
    answer(&*model, think(messages.clone())).await;
    // A limit for the answer is one for the answer: thoughts come on top.
    answer(&*model, Request { max_output: Some(1000), ..think(vec![Message::user("go")]) }).await;
    let sent = server.requests().last().unwrap().json.clone();
    assert_eq!((&sent["max_tokens"], &sent["thinking"]["budget_tokens"]), (&json!(21_480), &json!(20_480)));
    let next =
        [messages, vec![Message::assistant(vec![Block::Text("ok".to_owned())]), Message::user("next")]];
    answer(&*model, think(next.concat())).await;
    let thinks: Vec<_> = server.requests().iter().map(|sent| sent.json.get("thinking").is_some()).collect();
    assert_eq!(thinks, [false, true, true]);
}

/// What becomes of a first answer with this fault, when the second one is `ok`.
async fn after(line: &Line, fault: &str) -> String {
    let server =
        ModelServer::play(&format!("reply\n text: a b c d\n fault: {fault}\nmodel: ok")).await.strict();
    let limits = AnswerLimits { frame: 1 << 20, text: 4 << 20, wire: 16 << 20 };
    // Nobody waits long for what never comes, and nobody is hurried who has something to say.
    let patience = if matches!(fault, "never" | "stall after=3") { 0.5 } else { 60.0 };
    let timeouts = format!("timeouts = {{ first_byte = {patience}, idle = {patience} }}");
    let model = line.limited(&server, &timeouts, limits);
    let told = tell(model.stream(ask("hi"))).await;
    let ok =
        format!("text: ok\nusage: 10 in, 5 out, 0 read, 0 thought\nstop: {:?}", Some(StopReason::EndTurn));
    let bases = [server.base_url(), format!("{}/", server.url())];
    bases.iter().fold(told.replace(&ok, "ok"), |told, base| told.replace(base, "BASE"))
}

#[tokio::test]
async fn every_fault_is_named_alike_on_every_wire() {
    let exact = [
        ("429 retry-after=0", "restart 1: `test` is rate limiting us: scripted error\nok"),
        ("500", "restart 1: `test` can not answer now: scripted error\nok"),
        ("529 message=\"Overloaded\"", "restart 1: `test` can not answer now: Overloaded\nok"),
        (
            "401 message=\"no such key\"",
            "error: `test` does not accept our credentials: no such key\nhint: check the provider's key",
        ),
        (
            "400 message=\"bad field\"",
            "error: `test` says our request is wrong (status 400): bad field\nhint: check the model's name and the provider's settings",
        ),
        (
            "400 message=\"prompt is too long: 9000 tokens > 8192 maximum\"",
            "error: the prompt is too long for `test` (8192 tokens): prompt is too long: 9000 tokens > 8192 maximum\n\
             hint: compact the session, or choose a model with a larger context",
        ),
        (
            "html",
            "error: `test` at BASE does not speak this API: it sent an HTML page, `Welcome to the login page`\n\
             hint: check base_url and wire of the provider; most base_urls end in /v1",
        ),
        (
            "giant mb=2",
            "error: `test` sent more than 1048576 bytes\nhint: the server does not behave; choose another",
        ),
    ];
    let begins = [
        ("error after=4 message=\"fell over\"", "restart 1: `test` can not answer now: fell over"),
        ("malformed after=3", "restart 1: the answer of `test` broke off: a frame is not what it should be"),
        ("cut after=3", "restart 1: the answer of `test` broke off: "),
        ("stall after=3", "restart 1: `test` took too long: more of the answer did not come within 0.5 s"),
        ("never", "restart 1: `test` took too long: the first byte of the answer did not come within 0.5 s"),
        ("close", "restart 1: could not reach `test` at "),
        ("flood", "error: `test` sent more than "),
    ];
    for line in LINES {
        for (fault, expected) in &exact {
            assert_eq!(after(&line, fault).await, *expected, "{} {fault}", line.name);
        }
        for (fault, expected) in &begins {
            let told = after(&line, fault).await;
            let rest = told.strip_prefix("(shown: ").map_or(&*told, |rest| rest.split_once('\n').unwrap().1);
            assert!(rest.starts_with(expected), "{} {fault}: {told}", line.name);
            assert!(told.ends_with("ok") || told.contains("\nhint: "), "{} {fault}: {told}", line.name);
        }
    }
}

#[tokio::test]
async fn a_dropped_stream_closes_the_connection_on_every_wire() {
    for line in LINES {
        let server = ModelServer::start(Reply::text("a b c").fault(Fault::Stall { after: 5 })).await.unwrap();
        let mut stream = line.model(&server, "").stream(ask("hi"));
        stream.next().await.unwrap().unwrap();
        drop(stream);
        server.aborted(0).await;
    }
}

#[tokio::test]
async fn answers_without_usage_or_sense_are_answers() {
    // No usage at all, and an end that is only just one.
    let raw = [
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi.\"}\n\ndata: {\"type\":\"response.completed\"}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi.\"}}\n\ndata: {\"type\":\"message_stop\"}",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi.\"}]},\"finishReason\":\"STOP\"}]}",
    ];
    for (line, raw) in LINES.iter().zip(raw) {
        let server = ModelServer::start(Reply::raw("text/event-stream", raw)).await.unwrap();
        let told = tell(line.model(&server, "").stream(ask("hi"))).await;
        let expected = "text: Hi.\nusage: 0 in, 0 out, 0 read, 0 thought\nstop: Some(EndTurn)";
        assert_eq!(told, expected, "{}", line.name);
    }
    // JSON that is something else.
    for line in LINES {
        let server =
            ModelServer::start(Script::from(Reply::raw("application/json", "{\"ok\":true}")).forever())
                .await
                .unwrap();
        let error = failure(line.model(&server, "retries = 0").stream(ask("hi"))).await;
        assert!(matches!(error, CallError::BrokenStream { .. }), "{} {error:?}", line.name);
    }
}

#[tokio::test]
async fn an_estimate_learns_from_what_is_counted() {
    let words = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    for line in LINES {
        let usage = Tokens { input: 1800, output: 5, ..Tokens::default() };
        let server =
            ModelServer::start(Script::from(Reply::text("ok").usage(usage)).forever()).await.unwrap();
        let model = line.model(&server, "");
        let before = model.estimate(&ask(&words));
        assert!((800..1300).contains(&before), "{before}");
        for _ in 0..12 {
            answer(&*model, ask(&words)).await;
        }
        let after = model.estimate(&ask(&words));
        assert!((1700..1850).contains(&after), "{} {after}", line.name);
    }
}
