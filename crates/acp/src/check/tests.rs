use super::*;
use crate::recording::read_recording;

/// A conversation as `> ` what the client and `< ` what the agent says, and what is wrong with it.
fn check(conversation: &str) -> Vec<String> {
    let mut checker = Checker::default();
    let mut found = Vec::new();
    for line in conversation.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (by, text) = match line.split_at(2) {
            ("> ", text) => (Side::Client, text),
            (_, text) => (Side::Agent, text),
        };
        let text = match text.strip_prefix('{') {
            Some(rest) => format!("{{\"jsonrpc\":\"2.0\",{rest}"),
            None => text.to_owned(),
        };
        found.extend(checker.see(&Record::new(by, 0, text.as_bytes())));
    }
    found.extend(checker.end());
    found.into_iter().map(|finding| format!("{}: {}", finding.by.as_str(), finding.text)).collect()
}

const OPEN: &str = r#"
    > {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}
    < {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}
    > {"id":1,"method":"session/new","params":{"cwd":"/p","mcpServers":[]}}
    < {"id":1,"result":{"sessionId":"s"}}
"#;

#[test]
fn a_conversation_that_keeps_the_rules_is_left_alone() {
    let rest = r#"
        > {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}
        < {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
        < {"id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p/a"}}
        > {"id":0,"result":{"content":""}}
        > {"method":"session/cancel","params":{"sessionId":"s"}}
        < {"id":2,"result":{"stopReason":"cancelled"}}
    "#;
    assert_eq!(check(&format!("{OPEN}{rest}")), [""; 0]);
}

#[test]
fn each_broken_rule_is_named() {
    for (rest, finding) in [
        ("< Welcome!", "agent: a line that is no message: Welcome!"),
        (r#"< {"id":9,"result":{}}"#, "agent: an answer to 9, which was not asked or was answered before"),
        (
            r#"< {"id":0,"method":"terminal/create","params":{"sessionId":"s","command":"ls"}}
               > {"id":0,"error":{"code":-32601,"message":"no"}}"#,
            "agent: `terminal/create`, which the other side did not offer",
        ),
        (
            r#"< {"method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"plan","entries":[]}}}"#,
            "agent: an update for the session `x`, which is not open",
        ),
        (
            r#"< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
            "agent: `plan` while no prompt runs",
        ),
        (
            r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
               > {"method":"session/cancel","params":{"sessionId":"s"}}
               < {"id":2,"result":{"stopReason":"end_turn"}}"#,
            "agent: a cancelled prompt ended with `end_turn`",
        ),
        (
            r#"> {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#,
            "agent: `session/prompt` (2) was never answered",
        ),
        (
            r#"< {"id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"a"}}
               > {"id":0,"result":{"content":""}}"#,
            "agent: `fs/read_text_file`: `a` is no absolute path",
        ),
        (
            r#"> {"id":2,"method":"session/load","params":{"sessionId":"t","cwd":"/p","mcpServers":[]}}
               < {"id":2,"result":{}}"#,
            "client: `session/load`, which the other side did not offer",
        ),
    ] {
        assert_eq!(check(&format!("{OPEN}{rest}")), [finding], "{rest}");
    }
}

/// Real agents break few rules, and the ones they do break are really broken.
#[test]
fn captures_of_real_agents() {
    let mut told = Vec::new();
    for name in ["claude", "cline", "codex2", "copilot", "gemini", "kimi", "openclaw", "opencode"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(format!("{name}.jsonl"));
        let records = read_recording(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut checker = Checker::default();
        let mut found: Vec<Finding> = records.iter().flat_map(|record| checker.see(record)).collect();
        found.extend(checker.end());
        let mut lines: Vec<String> = found
            .into_iter()
            .map(|finding| format!("{name} {}: {}", finding.by.as_str(), finding.text))
            .collect();
        lines.dedup();
        told.extend(lines);
    }
    insta::assert_snapshot!(told.join("\n"));
}
