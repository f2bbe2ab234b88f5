use std::path::Path;

use super::*;

fn fixture(name: &str) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/import").join(format!("{name}.jsonl"));
    import(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A session, a line for everything that was taken over.
fn told(session: &Imported) -> String {
    let mut lines = vec![format!("{} in {:?}", session.agent, session.cwd)];
    for turn in &session.turns {
        lines.push(format!("asks: {}", protocol::prompt_text(&turn.prompt)));
        lines.extend(turn.steps.iter().map(|step| match step {
            Step::Thought(text) => format!("  thinks: {text}"),
            Step::Said(text) => format!("  says: {}", text.lines().next().unwrap_or_default()),
            Step::Call { name, kind, input, .. } => format!("  calls {name} ({kind:?}): {input}"),
            Step::Result { failed, text, .. } => {
                format!("  gets ({failed}): {}", text.trim().replace('\n', " | "))
            }
            Step::Usage(usage) => format!("  {} in, {} out", usage.input, usage.output),
        }));
    }
    lines.extend(session.losses.iter().map(|(what, count)| format!("lost {count} {what}")));
    lines.join("\n")
}

#[test]
fn claude_code() {
    insta::assert_snapshot!(told(&fixture("claude")));
}

#[test]
fn codex() {
    insta::assert_snapshot!(told(&fixture("codex")));
}

#[test]
fn gemini_cli() {
    insta::assert_snapshot!(told(&fixture("gemini")));
}

#[test]
fn opencode() {
    let text = r#"{"info":{"id":"ses_1","directory":"/p","title":"t"},"messages":[
        {"info":{"role":"user","time":{"created":1794808528000}},"parts":[{"type":"text","text":"Do it"},{"type":"text","text":"note","synthetic":true}]},
        {"info":{"role":"assistant","time":{"created":1794808529000},"cost":0.5,"tokens":{"input":3,"output":2,"reasoning":1,"cache":{"read":4,"write":0}}},"parts":[
            {"type":"step-start"},{"type":"reasoning","text":"hm"},
            {"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a"}},
            {"type":"text","text":"Done"},{"type":"patch","files":[]}]}]}"#;
    insta::assert_snapshot!(told(&import(text).unwrap()), @r#"
    opencode in Some("/p")
    asks: Do it
      thinks: hm
      calls bash (Execute): {"command":"ls"}
      gets (false): a
      says: Done
      7 in, 3 out
    lost 1 files and notes beside prompts
    lost 1 parts of kind `patch`
    "#);
}

/// Somebody went back and asked differently: what was left is not the conversation.
#[test]
fn a_branch_that_was_left_is_counted_and_not_told() {
    let line = |uuid: &str, parent: Option<&str>, text: &str| {
        serde_json::json!({"type": "user", "sessionId": "s", "uuid": uuid, "parentUuid": parent,
            "message": {"role": "user", "content": text}})
        .to_string()
    };
    let lines = [
        line("a", None, "one"),
        line("b", Some("a"), "left"),
        line("c", Some("a"), "two"),
        "{torn".to_owned(),
    ];
    let session = import(&lines.join("\n")).unwrap();
    let asked: Vec<String> = session.turns.iter().map(|turn| protocol::prompt_text(&turn.prompt)).collect();
    assert_eq!(asked, ["one", "two"]);
    assert_eq!(session.losses["messages of branches that were left"], 1);
    assert_eq!(session.losses["lines that are no JSON"], 1);
}

#[test]
fn what_is_no_session_is_refused() {
    for text in ["", "{}", "hello", r#"{"a":1}"#, r#"{"type":"session_meta","payload":{}}"#] {
        assert!(import(text).is_err(), "{text}");
    }
}
