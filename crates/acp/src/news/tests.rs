use std::collections::BTreeMap;

use super::*;
use crate::message::Message;

/// Every message of a capture, with its direction.
fn capture(name: &str) -> Vec<(bool, Vec<u8>)> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        (line["dir"] == "agent->client", line["msg"].to_string().into_bytes())
    };
    text.lines().map(line).collect()
}

/// How often each kind of news came.
fn kinds(name: &str) -> String {
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    for (from_agent, message) in capture(name) {
        let Message::Notification { method, params } = Message::parse(&message).unwrap() else { continue };
        if !from_agent || method != "session/update" {
            continue;
        }
        let news = SessionNews::parse(&params).unwrap().news;
        let kind = format!("{news:?}").split([' ', '(', '{']).next().unwrap().to_owned();
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_eight_agents_say_is_understood() {
    let names = ["claude", "cline", "codex2", "copilot", "gemini", "kimi", "openclaw", "opencode"];
    let all: Vec<String> = names.iter().map(|name| format!("{name}: {}", kinds(name))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_they_ask_is_understood() {
    let mut asked = Vec::new();
    for name in ["claude", "cline", "copilot", "gemini", "kimi"] {
        for (from_agent, message) in capture(name) {
            let Ok(Message::Request { method, params, .. }) = Message::parse(&message) else { continue };
            if from_agent {
                crate::Ask::parse(&method, &params)
                    .unwrap_or_else(|error| panic!("{name} {method}: {error}"));
                asked.push(method);
            }
        }
    }
    assert!(asked.len() > 8 && asked.iter().any(|method| method == "fs/write_text_file"), "{asked:?}");
}

#[test]
fn an_update_that_no_schema_knows_is_named() {
    let line =
        br#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"hologram"}}}"#;
    let Ok(Message::Notification { params, .. }) = Message::parse(line) else { panic!("no notification") };
    let news = SessionNews::parse(&params).unwrap();
    assert_eq!(
        news,
        SessionNews { session: "s".to_owned(), news: News::Unknown { name: "hologram".to_owned() } }
    );
}

/// Through the words of the protocol and back, nothing that agents say is lost.
#[test]
fn what_is_told_is_what_was_heard() {
    let mut told = 0;
    for name in ["claude", "cline", "codex2", "copilot", "gemini", "kimi", "openclaw", "opencode"] {
        for (from_agent, message) in capture(name) {
            let Message::Notification { method, params } = Message::parse(&message).unwrap() else {
                continue;
            };
            if !from_agent || method != "session/update" {
                continue;
            }
            let heard = SessionNews::parse(&params).unwrap();
            let again = json!({"method": "session/update", "params": heard.to_params()}).to_string();
            let Ok(Message::Notification { params, .. }) = Message::parse(again.as_bytes()) else {
                panic!("{again}")
            };
            assert_eq!(SessionNews::parse(&params).unwrap(), heard, "{name}: {again}");
            told += 1;
        }
    }
    assert!(told > 50, "{told}");
}
