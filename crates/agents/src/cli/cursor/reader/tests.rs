use serde_json::json;

use super::*;

fn words(lines: &[Value]) -> Vec<String> {
    let mut reader = Reader::default();
    let heard = lines.iter().flat_map(|line| reader.read(line));
    heard
        .map(|heard| match heard {
            Heard::News(news) => match *news {
                News::Said { content, .. } => content.as_text().unwrap().to_owned(),
                News::Tool(tool) => format!("{} {:?}", tool.title.unwrap(), tool.status.unwrap()),
                other => format!("{other:?}"),
            },
            other => format!("{other:?}"),
        })
        .collect()
}

fn says(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

#[test]
fn pieces_are_told_once_whether_they_grow_or_follow() {
    assert_eq!(words(&[says("Hel"), says("lo"), says("Hello")]), ["Hel", "lo"]);
    assert_eq!(words(&[says("Hel"), says("Hello"), says("Hello you")]), ["Hel", "lo", " you"]);
    let done = json!({"type": "result", "subtype": "success", "result": "Hello"});
    assert_eq!(words(&[says("Hello"), done.clone()]), ["Hello", "Done { error: None }"]);
    assert_eq!(words(&[done]), ["Hello", "Done { error: None }"]);
}

#[test]
fn tools_begin_and_end() {
    let started = json!({"type": "tool_call", "subtype": "started", "call_id": "c",
        "tool_call": {"shellToolCall": {"args": {"command": "ls"}}}});
    let rejected = json!({"type": "tool_call", "subtype": "completed", "call_id": "c",
        "tool_call": {"shellToolCall": {"args": {"command": "ls"}, "result": {"rejected": {"reason": "no"}}}}});
    assert_eq!(words(&[started, rejected]), ["ls InProgress", "ls Failed"]);
}
