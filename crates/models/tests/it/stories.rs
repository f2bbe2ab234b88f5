use insta::assert_snapshot;
use models::{ModelEvent, probe_local};
use testkit::{Reply, Script};

use crate::*;

#[tokio::test]
async fn a_model_thinks_speaks_and_calls() {
    let server = ModelServer::play(
        r#"
        reply
          think: Let me look.
          text: I will read both.
          call: read {"path": "a.txt"}
          call: read {"path": "b.txt", "ü": "🦆"}
          chunk: 3
          usage: input=1000 output=50 cache_read=800 reasoning=7
        "#,
    )
    .await;
    let model = model(&server, "[models.m]\nprices = { input = 2, output = 10, cache_read = 0.2 }");
    assert_snapshot!(tell(model.stream(ask("read them"))).await, @r#"
    think: Let me look.
    text: I will read both.
    call: read {"path":"a.txt"} (call_1)
    call: read {"path":"b.txt","ü":"🦆"} (call_2)
    usage: 1000 in, 50 out, 800 read, 7 thought $0.001060
    stop: Some(ToolCalls)
    "#);
}

#[tokio::test]
async fn deltas_of_one_read_are_one_event() {
    let server = ModelServer::start(Reply::repeat(5000, "word ")).await.unwrap();
    let events: Vec<_> = model(&server, "").stream(ask("talk")).map(Result::unwrap).collect().await;
    let deltas = events.iter().filter(|event| matches!(event, ModelEvent::Delta { .. })).count();
    let mut answer = Answer::default();
    events.iter().for_each(|event| answer.apply(event));
    assert_eq!(answer.text(), "word ".repeat(5000));
    // A megabyte of frames comes in some hundred reads at most.
    assert!(deltas < 500, "{deltas} events");
}

#[tokio::test]
async fn an_answer_in_one_piece_is_an_answer() {
    let whole = r#"{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",
        "content":"All at once.","reasoning":"Hm."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let server = ModelServer::start(Reply::raw("application/json; charset=utf-8", whole)).await.unwrap();
    assert_snapshot!(tell(model(&server, "").stream(ask("hi"))).await, @"
    think: Hm.
    text: All at once.
    usage: 3 in, 4 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
}

#[tokio::test]
async fn a_server_that_only_stops_is_not_waited_for() {
    let stop = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let server = ModelServer::start(Reply::raw("text/event-stream", stop)).await.unwrap();
    assert_snapshot!(tell(model(&server, "").stream(ask("hi"))).await, @"
    text: Hi.
    usage: 0 in, 0 out, 0 read, 0 thought
    stop: Some(EndTurn)
    ");
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = ModelServer::start(Script::default()).await.unwrap();
    let model = model(&server, "");
    for text in ["one", "two", "three"] {
        let told = tell(model.stream(ask(text))).await;
        assert!(told.starts_with(&format!("text: You said: {text}\n")), "{told}");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn local_servers_are_found_and_others_are_not() {
    let server = ModelServer::play("models: small, nomic-embed-text, large").await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let html = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = |listener: &tokio::net::TcpListener| listener.local_addr().unwrap().port();
    let ports = [
        ("nobody".to_owned(), port(&free)),
        ("silent".to_owned(), port(&silent)),
        ("website".to_owned(), port(&html)),
        ("ollama".to_owned(), server.address().port()),
    ];
    drop(free);
    let website = async {
        let (socket, _) = html.accept().await.unwrap();
        let page = b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n<html></html>";
        tokio::io::AsyncWriteExt::write_all(&mut { socket }, page).await.unwrap();
    };
    let (found, ()) = tokio::join!(probe_local(&ports, Duration::from_secs(2)), website);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.models, ["small", "large"]);
    assert_eq!(found.base_url, server.base_url());
    assert_eq!(found.first().unwrap().as_str(), "ollama/small");
}
