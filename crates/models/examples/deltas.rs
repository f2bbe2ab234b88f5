//! What a streamed delta costs this crate, in CPU time. Start `covey-testkit model-server --deltas 20000`, then
//! `cargo run --profile fast -p models --example deltas -- http://127.0.0.1:PORT/v1`. Linux only.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for us")]

use std::collections::BTreeMap;

use futures::StreamExt;
use models::{Catalogue, Message, ModelEvent, Request};

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

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let base = std::env::args().nth(1).unwrap();
    let config = toml::from_str(&format!("base_url = \"{base}\"")).unwrap();
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
