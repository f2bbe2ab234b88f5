use serde_json::json;

use super::*;

/// What is heard, a line each.
fn told(messages: &[Value]) -> String {
    let mut reader = Reader::default();
    let mut told: Vec<String> = Vec::new();
    for message in messages {
        let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
        if message.get("id").is_some() {
            told.push(match asked(method, params) {
                Some(Asked::Tool(tool)) => format!("asks for {}", tool.title.unwrap_or_default()),
                other => format!("asks {other:?}"),
            });
            continue;
        }
        for heard in reader.read(method, params) {
            let line = match heard {
                Heard::News(News::Said { content, .. }) => {
                    match told.last_mut().filter(|last| last.starts_with("says")) {
                        Some(last) => {
                            last.push_str(content.as_text().unwrap());
                            continue;
                        }
                        None => format!("says: {}", content.as_text().unwrap()),
                    }
                }
                Heard::News(News::Tool(tool)) => {
                    format!("tool {} {:?}", tool.title.unwrap(), tool.status.unwrap())
                }
                Heard::News(News::Notice { .. }) => "notice".to_owned(),
                Heard::News(other) => format!("{other:?}"),
                Heard::Turn(_) => "turn".to_owned(),
                Heard::Usage { usage, window, .. } => {
                    format!("used {} of {:?}", usage.total(), window.unwrap_or_default())
                }
                Heard::Done { stop, error, .. } => format!("done: {} {error:?}", stop.as_str()),
            };
            told.push(line);
        }
    }
    told.join("\n")
}

#[test]
fn a_thread_with_a_command_that_was_allowed() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex-app-server.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let messages = lines.filter(|line| line["dir"] == "server->client").map(|line| line["msg"].clone());
    let messages: Vec<Value> = messages.filter(|message| message.get("method").is_some()).collect();
    insta::assert_snapshot!(told(&messages));
}

#[test]
fn files_that_change_are_named() {
    let item = json!({"type": "fileChange", "id": "f", "status": "completed",
        "changes": [{"path": "/p/a", "kind": {"type": "add"}, "diff": "+x"}, {"path": "/p/b", "diff": "-y"}]});
    let tool = tool(&item, true);
    assert_eq!(tool.title.as_deref(), Some("edit /p/a, /p/b"));
    assert_eq!(tool.input, Some(json!({"paths": ["/p/a", "/p/b"]})));
    assert_eq!(tool.content.unwrap().len(), 2);
}

#[test]
fn only_a_plain_line_is_taken_out_of_its_shell() {
    assert_eq!(unwrapped("/bin/bash -lc 'ls -1'"), "ls -1");
    assert_eq!(unwrapped("bash -lc ls"), "ls");
    assert_eq!(unwrapped("/bin/bash -lc 'a'; rm -rf '/'"), "/bin/bash -lc 'a'; rm -rf '/'");
    assert_eq!(unwrapped("bash -lc ls;rm"), "bash -lc ls;rm");
    assert_eq!(unwrapped("git status"), "git status");
}

#[test]
fn a_failed_turn_tells_why_and_an_interrupted_one_was_cancelled() {
    let end = |turn: Value| told(&[json!({"method": "turn/completed", "params": {"turn": turn}})]);
    assert_eq!(
        end(json!({"status": "failed", "error": {"message": "no luck"}})),
        "done: error Some(\"no luck\")"
    );
    assert_eq!(end(json!({"status": "interrupted"})), "done: cancelled None");
    assert!(told(&[json!({"method": "hologram/shown", "params": {}})]).contains("hologram/shown"));
}

#[test]
fn old_and_new_requests_are_answered_in_their_own_words() {
    let new = "item/commandExecution/requestApproval";
    assert_eq!(decision(new, true, false), json!({"decision": "accept"}));
    assert_eq!(decision(new, false, false), json!({"decision": "decline"}));
    assert_eq!(decision("execCommandApproval", false, true), json!({"decision": "abort"}));
    assert_eq!(asked("hologram/requestApproval", &json!({})), None);
}
