//! What a streamed delta costs this crate, in CPU time. Start `covey-testkit model-server --deltas 20000`, then
//! `cargo run --profile fast -p models --example deltas -- http://127.0.0.1:PORT/v1 [WIRE]`, without `/v1` for anthropic
//! and gemini. With `decode FILE WIRE` in place of the address it decodes a recorded stream, which leaves the network out. Linux
//! only.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for us")]

use std::collections::BTreeMap;

use futures::StreamExt;
use models::{Catalogue, Message, ModelEvent, Request, Wire, decode_recorded};

/// CPU time of this process in microseconds, or its resident size in kilobytes.
fn status(file: &str, pick: impl Fn(&str) -> Option<f64>) -> f64 {
    pick(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn cpu() -> f64 {
    status("/proc/self/schedstat", |text| text.split(' ').next()?.parse::<f64>().ok()) / 1000.0
}

fn resident() -> f64 {
    status("/proc/self/status", |text| {
        text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
    })
}

/// The best of many rounds: what the decoder costs when nothing else wants the processor.
fn decode() {
    let bytes = std::fs::read(std::env::args().nth(2).unwrap()).unwrap();
    let wire = match std::env::args().nth(3).as_deref() {
        Some("anthropic") => Wire::Anthropic,
        Some("openai-responses") => Wire::OpenaiResponses,
        Some("gemini") => Wire::Gemini,
        _ => Wire::OpenaiChat,
    };
    let frames = bytes.windows(2).filter(|pair| pair == b"\n\n").count();
    let round = || {
        let before = std::time::Instant::now();
        let events = decode_recorded(wire, bytes.chunks(32 << 10)).unwrap();
        assert!(!events.is_empty());
        before.elapsed().as_secs_f64() * 1e6
    };
    let best = (0..50).map(|_| round()).fold(f64::MAX, f64::min);
    println!("{}: {frames} frames, {:.3} µs each", wire.name(), best / frames as f64);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let base = std::env::args().nth(1).unwrap();
    if base == "decode" {
        return decode();
    }
    let wire = std::env::args().nth(2).unwrap_or_else(|| "openai-chat".to_owned());
    let config = toml::from_str(&format!("wire = \"{wire}\"\nbase_url = \"{base}\"")).unwrap();
    let catalogue = Catalogue::new(BTreeMap::from([("p".to_owned(), config)]), |_| None);
    let model = catalogue.resolve("p/m").unwrap();
    for round in 0..6 {
        let (before, size) = (cpu(), resident());
        let (mut events, mut words) = (0, 0);
        let mut stream = model.stream(Request::new("", vec![Message::user("talk")]));
        while let Some(event) = stream.next().await {
            events += 1;
            if let ModelEvent::Delta { text, .. } = event.unwrap() {
                words += text.len() / "word ".len();
            }
        }
        let spent = cpu() - before;
        println!(
            "round {round}: {words} deltas, {events} events, {:.2} µs a delta, {:.0} µs in all, peak {} kB (+{})",
            spent / words as f64,
            spent,
            resident(),
            resident() - size
        );
    }
}
