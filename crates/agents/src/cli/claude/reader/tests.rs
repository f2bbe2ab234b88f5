use serde_json::json;

use super::*;

fn fixture(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    // A capture of both ways names which; we read what came out.
    lines
        .filter_map(|line| match line.get("dir").and_then(Value::as_str) {
            Some("out") => Some(line["msg"].clone()),
            Some(_) => None,
            None => Some(line),
        })
        .collect()
}

/// What is heard, a line each.
fn told(lines: &[Value]) -> String {
    let mut reader = Reader::default();
    let mut told: Vec<String> = Vec::new();
    for heard in lines.iter().flat_map(|line| reader.read(line)) {
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
            Heard::News(News::Thought { content, .. }) => format!("thinks: {}", content.as_text().unwrap()),
            Heard::News(News::Tool(tool)) => {
                let title = tool.title.unwrap_or_default();
                let content =
                    tool.content.map(|content| format!("{} parts", content.len())).unwrap_or_default();
                format!("tool {title}{content} {:?}", tool.status.unwrap())
            }
            Heard::News(other) => format!("{other:?}"),
            Heard::Session { model, .. } => format!("session with {}", model.unwrap_or_default()),
            Heard::Ask(asked) => format!("asks for {}", asked.tool.title.unwrap()),
            Heard::Done(done) => {
                let Done { stop, usage, total_cost_usd, .. } = *done;
                format!(
                    "done: {} in {} out {} ${:?}",
                    stop.as_str(),
                    usage.input,
                    usage.output,
                    total_cost_usd.unwrap()
                )
            }
            Heard::Answered { .. } => "answered".to_owned(),
            other => format!("{other:?}"),
        };
        told.push(line);
    }
    told.join("\n")
}

#[test]
fn a_conversation_with_an_allowed_and_a_refused_write() {
    insta::assert_snapshot!(told(&fixture("claude-bidirectional.jsonl")));
}

#[test]
fn a_message_that_came_in_pieces_is_told_once() {
    insta::assert_snapshot!(told(&fixture("claude-tool.jsonl")));
}

#[test]
fn every_block_of_a_message_counts() {
    let message = json!({"type": "assistant", "message": {"id": "m", "content": [
        {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "/a"}},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "ls"}},
    ]}});
    let results = json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}], "is_error": true},
    ]}});
    assert_eq!(
        told(&[message, results]),
        "tool read /a Pending\ntool ls Pending\ntool 1 parts Completed\ntool 1 parts Failed"
    );
}

#[test]
fn a_list_of_things_to_do_is_a_plan_and_a_sub_agent_thinks() {
    let todo = json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "tool_use", "id": "a",
        "name": "TodoWrite", "input": {"todos": [{"content": "look", "status": "completed"}]}}]}});
    assert!(told(&[todo]).contains("look"));
    let child = json!({"type": "assistant", "parent_tool_use_id": "t", "message": {"id": "m", "content": [{"type": "text", "text": "hm"}]}});
    assert_eq!(told(&[child]), "thinks: hm");
}

#[test]
fn an_error_is_told_in_its_own_words() {
    let mut reader = Reader::default();
    let line = json!({"type": "result", "subtype": "success", "is_error": true, "result": "Invalid API key"});
    let Some(Heard::Done(done)) = reader.read(&line).pop() else { panic!("no end") };
    assert_eq!((done.stop, done.error.as_deref()), (Stop::Error, Some("Invalid API key")));
}

#[test]
fn what_is_not_known_is_named() {
    assert_eq!(
        Reader::default().read(&json!({"type": "hologram"})),
        [Heard::News(News::Unknown { name: "hologram".to_owned() })]
    );
    assert_eq!(Reader::default().read(&json!({})), []);
    assert_eq!(Reader::default().read(&json!({"type": "assistant", "message": {"content": "?"}})), []);
}
