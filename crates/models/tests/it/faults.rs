use std::time::Instant;

use insta::assert_snapshot;
use models::Waiting;
use testkit::{Fault, Reply, Script};

use crate::*;

/// What becomes of a first answer with this fault, when the second one is `ok`.
async fn after(fault: &str) -> String {
    let server = ModelServer::play(&format!("reply\n text: a b c d\n fault: {fault}\nmodel: ok")).await;
    let told = tell(model(&server, "").stream(ask("hi"))).await;
    told.replace(&server.base_url(), "BASE")
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    assert_snapshot!(after("429 retry-after=0").await, @"
    restart 1: `test` is rate limiting us: scripted error
    text: ok
    usage: 10 in, 5 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
    assert_snapshot!(after("500").await, @"
    restart 1: `test` can not answer now: scripted error
    text: ok
    usage: 10 in, 5 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
    assert_snapshot!(after("529 message=\"Overloaded\"").await, @"
    restart 1: `test` can not answer now: Overloaded
    text: ok
    usage: 10 in, 5 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
    assert_snapshot!(after("error after=3 message=\"fell over\"").await, @"
    (shown: a b )
    restart 1: `test` can not answer now: fell over
    text: ok
    usage: 10 in, 5 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
    assert_snapshot!(after("malformed after=3").await, @r#"
    (shown: a b )
    restart 1: the answer of `test` broke off: a frame is not what it should be (EOF while parsing a string at line 1 column 36): {"choices":[{"delta":{"content":"bro
    text: ok
    usage: 10 in, 5 out, 0 read, 0 thought
    stop: Some(EndTurn)
    "#);
}

#[tokio::test]
async fn cut_streams_are_tried_again() {
    let told = after("cut after=3").await;
    assert!(told.starts_with("(shown: a b )\nrestart 1: the answer of `test` broke off: "), "{told}");
    assert!(told.contains("\ntext: ok\n"), "{told}");
    let told = after("close").await;
    assert!(told.starts_with("restart 1: could not reach `test` at "), "{told}");
    assert!(told.contains("\ntext: ok\n"), "{told}");
}

#[tokio::test]
async fn silence_is_tried_again_once() {
    for fault in ["never", "stall after=2"] {
        let server = ModelServer::play(&format!("reply\n text: a\n fault: {fault}\nforever")).await;
        let stream = model(&server, "timeouts = { first_byte = 0.1, idle = 0.1 }").stream(ask("hi"));
        let told = tell(stream).await;
        assert!(told.contains("restart 1: `test` took too long: "), "{told}");
        assert!(told.contains("\nerror: `test` took too long: "), "{told}");
        assert_eq!(server.requests().len(), 2);
        server.aborted(0).await;
        server.aborted(1).await;
    }
}

#[tokio::test]
async fn what_does_not_pass_is_told_at_once() {
    assert_snapshot!(after("401 message=\"no such key\"").await, @"
    error: `test` does not accept our credentials: no such key
    hint: check the provider's key
    ");
    assert_snapshot!(after("404 message=\"no such model\"").await, @"
    error: `test` says our request is wrong (status 404): no such model
    hint: check the model's name and the provider's settings
    ");
    assert_snapshot!(after("html").await, @"
    error: `test` at BASE does not speak this API: it sent an HTML page, `Welcome to the login page`
    hint: check base_url and wire of the provider; most base_urls end in /v1
    ");
    assert_snapshot!(after("400 message=\"This model's maximum context length is 8192 tokens.\"").await, @"
    error: the prompt is too long for `test` (8192 tokens): This model's maximum context length is 8192 tokens.
    hint: compact the session, or choose a model with a larger context
    ");
    assert_snapshot!(after("giant mb=2").await, @"
    error: `test` sent more than 1048576 bytes
    hint: the server does not behave; choose another
    ");
    assert_snapshot!(after("flood").await, @"
    error: `test` sent more than 16777216 bytes
    hint: the server does not behave; choose another
    ");
    assert_snapshot!(after("429 retry-after=3600").await, @"
    error: `test` is rate limiting us: scripted error (it asks us to wait 60 min)
    hint: wait, or choose another model
    ");
}

#[tokio::test]
async fn slow_and_split_answers_are_answers() {
    for way in ["trickle", "split-utf8"] {
        let script = format!("reply\n text: Grüße, 你好, 🦆🦆!\n call: f {{\"ü\": \"é\"}}\n fault: {way}");
        let server = ModelServer::play(&script).await;
        let told = tell(model(&server, "").stream(ask("hi"))).await;
        assert_eq!(
            told,
            "text: Grüße, 你好, 🦆🦆!\ncall: f {\"ü\":\"é\"} (call_1)\nusage: 10 in, 5 out, 0 read, 0 thought\nstop: Some(ToolCalls)",
            "{way}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_stays_down_is_given_up() {
    let server = ModelServer::start(Script::from(Reply::status(503)).forever()).await.unwrap();
    let told = tell(model(&server, "").stream(ask("hi"))).await;
    assert_eq!(told.matches("restart").count(), 4);
    assert!(told.contains("\nerror: `test` can not answer now: scripted error\nhint: "), "{told}");
    assert_eq!(server.requests().len(), 5);
    let first = &server.requests()[0];
    assert!(server.requests().iter().all(|request| request.body == first.body));

    let server = ModelServer::start(Script::from(Reply::status(503)).forever()).await.unwrap();
    tell(model(&server, "retries = 1").stream(ask("hi"))).await;
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn nobody_there_is_said_soon() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://user:password@{}/v1?key=hidden", listener.local_addr().unwrap());
    drop(listener);
    let config: ProviderConfig = toml::from_str(&format!("base_url = \"{base}\"")).unwrap();
    let catalogue = Catalogue::new(BTreeMap::from([("test".to_owned(), config)]), |_| None)
        .with_retry(RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() });
    let error = failure(catalogue.resolve("test/m").unwrap().stream(ask("hi"))).await;
    assert!(matches!(error, CallError::Unreachable { .. }), "{error:?}");
    let text = format!("{error} {error:?}");
    assert!(text.to_lowercase().contains("connection refused"), "{text}");
    assert!(!text.contains("password") && !text.contains("hidden"), "{text}");
}

#[tokio::test]
async fn a_key_that_is_quoted_back_is_not_shown() {
    let message = "Incorrect API key provided: sk-very-secret. \u{1b}[2J";
    let server = ModelServer::start(Reply::status(401).message(message)).await.unwrap();
    let error = failure(model(&server, "api_key = \"sk-very-secret\"").stream(ask("hi"))).await;
    assert_eq!(
        error.to_string(),
        "`test` does not accept our credentials: Incorrect API key provided: ***. [2J"
    );
}

#[tokio::test]
async fn a_dropped_stream_closes_the_connection_at_once() {
    for fault in [Fault::Never, Fault::Stall { after: 2 }, Fault::Flood { bytes: None }] {
        let talks = fault != Fault::Never;
        let server = ModelServer::start(Reply::text("a b").fault(fault)).await.unwrap();
        let mut stream = model(&server, "").stream(ask("hi"));
        if talks {
            stream.next().await.unwrap().unwrap();
        } else {
            tokio::select! {
                event = stream.next() => panic!("{event:?}"),
                _ = server.request(0) => {}
            }
        }
        drop(stream);
        server.aborted(0).await;
    }
}

#[tokio::test]
async fn cancelling_during_a_wait_is_immediate() {
    let server = ModelServer::start(Reply::status(429).retry_after("50")).await.unwrap();
    let mut stream = model(&server, "").stream(ask("hi"));
    let Some(Ok(ModelEvent::Restart { wait, shown, .. })) = stream.next().await else { panic!() };
    assert_eq!((wait, shown), (Duration::from_secs(50), false));
    let before = Instant::now();
    // It waits now, and is dropped by the time-out.
    assert!(tokio::time::timeout(Duration::from_millis(20), stream.next()).await.is_err());
    drop(stream);
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn time_outs_say_what_was_waited_for() {
    let waiting = |script: &'static str, timeouts: &'static str| async move {
        let server = ModelServer::play(script).await;
        let model = model(&server, &format!("retries = 0\ntimeouts = {{ {timeouts} }}"));
        match failure(model.stream(ask("hi"))).await {
            CallError::TimedOut { waiting, .. } => waiting,
            other => panic!("{other:?}"),
        }
    };
    // Each with the other limit far away, so that a busy machine does not decide which comes first.
    assert_eq!(waiting("reply\n fault: never", "first_byte = 0.1").await, Waiting::FirstByte);
    assert_eq!(waiting("reply\n fault: stall after=0", "first_byte = 0.1").await, Waiting::FirstByte);
    assert_eq!(waiting("reply\n text: a\n fault: stall after=2", "idle = 0.1").await, Waiting::NextChunk);
}
