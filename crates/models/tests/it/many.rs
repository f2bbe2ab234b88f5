//! Many streams at once in one process.

use futures::StreamExt;
use futures::future::join_all;
use models::{Answer, CallError, Catalogue, Message, Request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testkit::ModelServer;

const STREAMS: usize = 1000;

#[tokio::test]
async fn a_thousand_streams_at_once_are_all_answered_in_bounded_memory() {
    // Each stream is a socket on both sides.
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).unwrap();
    let server = ModelServer::play(
        "reply\n  repeat: 20 \"words and words \"\n  wait: 3000\n  writes: frames\nforever\n",
    )
    .await;
    let config = format!("wire = \"openai-chat\"\nbase_url = \"{}\"\nretries = 0", server.base_url());
    let catalogue = Catalogue::new([("p".to_owned(), toml::from_str(&config).unwrap())].into(), |_| None);
    let model = catalogue.resolve("p/m").unwrap();
    let ask = || async {
        let mut answer = Answer::default();
        let mut events = model.stream(Request::new("", vec![Message::user("hi")]));
        while let Some(event) = events.next().await {
            answer.apply(&event.unwrap());
        }
        answer.text().len()
    };
    let lengths = join_all((0..STREAMS).map(|_| ask())).await;
    assert!(lengths.iter().all(|length| *length == 20 * "words and words ".len()));
    assert!(server.connections() > STREAMS / 2, "they were open at the same time");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok());
    // Client, server and answers together, without optimisation.
    assert!(peak.is_none_or(|peak: u64| peak < 600_000), "{peak:?} kB");
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_unreachable_over_it() {
    let server = ModelServer::play("model: hi\nforever\n").await;
    let address = server.address();
    let config = format!(
        "wire = \"openai-chat\"\nbase_url = \"https://{address}/v1\"\nretries = 0\n[timeouts]\nconnect = 0.5"
    );
    let catalogue = Catalogue::new([("p".to_owned(), toml::from_str(&config).unwrap())].into(), |_| None);
    let events: Vec<_> =
        catalogue.resolve("p/m").unwrap().stream(Request::new("", vec![Message::user("hi")])).collect().await;
    let Some(Err(error)) = events.last() else { panic!("{events:?}") };
    assert!(matches!(error, CallError::Unreachable { .. } | CallError::TimedOut { .. }), "{error}");
    assert!(server.requests().is_empty(), "nothing was sent in the clear");
}
