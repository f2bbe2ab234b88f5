//! Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`.

use protocol::{Content, Usage};
use serde_json::Value;

use super::{Gathered, Step, count, list, text, time};

pub(super) fn read(lines: &[Value]) -> Gathered {
    let mut gathered = Gathered::of("codex");
    for line in lines {
        let (at, payload) = (time(&line["timestamp"]), &line["payload"]);
        match text(line, "type") {
            "session_meta" => {
                gathered.session.session = text(payload, "id").to_owned();
                gathered.session.cwd = payload.get("cwd").and_then(Value::as_str).map(Into::into);
            }
            "response_item" => item(&mut gathered, at, payload),
            "event_msg" if payload["type"] == "token_count" => {
                let last = &payload["info"]["last_token_usage"];
                if last.is_object() {
                    let usage = Usage {
                        input: count(last, "input_tokens"),
                        output: count(last, "output_tokens"),
                        cache_read: count(last, "cached_input_tokens"),
                        reasoning: count(last, "reasoning_output_tokens"),
                        ..Usage::default()
                    };
                    gathered.step(at, Step::Usage(usage));
                }
            }
            "compacted" => gathered.lost("compactions"),
            // The same again, for its own screen.
            _ => {}
        }
    }
    gathered
}

fn item(gathered: &mut Gathered, at: Option<protocol::Timestamp>, item: &Value) {
    match text(item, "type") {
        "message" => message(gathered, at, item),
        "reasoning" => {
            let summary = list(item, "summary");
            summary.iter().for_each(|part| gathered.thought(at, text(part, "text")));
            if summary.is_empty() {
                gathered.lost("thoughts that only their model can read");
            }
        }
        "function_call" => {
            let arguments = text(item, "arguments");
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
            gathered.call(at, text(item, "call_id"), text(item, "name"), input);
        }
        "custom_tool_call" => {
            gathered.call(at, text(item, "call_id"), text(item, "name"), item["input"].clone());
        }
        "local_shell_call" => {
            gathered.call(at, text(item, "call_id"), "local_shell", item["action"].clone());
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = output(&item["output"]);
            let failed = exit_code(&output).is_some_and(|code| code != 0);
            gathered.result(at, text(item, "call_id"), failed, output);
        }
        "web_search_call" => gathered.lost("searches on the web"),
        other => gathered.lost(&format!("items of kind `{other}`")),
    }
}

fn message(gathered: &mut Gathered, at: Option<protocol::Timestamp>, item: &Value) {
    let parts = list(item, "content");
    let words: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    match text(item, "role") {
        "assistant" => gathered.said(at, &words.join("\n")),
        "user" => {
            // What it tells its model of the machine comes in the person's name.
            let (notes, prompt): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|words| is_note(words));
            gathered.lost_many("notes of Codex to its model", u32::try_from(notes.len()).unwrap_or(u32::MAX));
            let pictures = parts.iter().filter(|part| text(part, "type") == "input_image").count();
            gathered.lost_many("pictures", u32::try_from(pictures).unwrap_or(u32::MAX));
            if !prompt.is_empty() {
                gathered.prompt(at, prompt.into_iter().map(Content::text).collect());
            }
        }
        _ => gathered.lost("notes of Codex to its model"),
    }
}

fn is_note(words: &str) -> bool {
    ["<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions"]
        .iter()
        .any(|start| words.trim_start().starts_with(start))
}

fn output(value: &Value) -> String {
    match value {
        Value::String(words) => match serde_json::from_str::<Value>(words) {
            Ok(inner) if inner.get("output").is_some() => text(&inner, "output").to_owned(),
            _ => words.clone(),
        },
        Value::Array(parts) => parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n"),
        Value::Object(_) => text(value, "content").to_owned(),
        _ => String::new(),
    }
}

fn exit_code(output: &str) -> Option<i32> {
    let after = output.lines().take(6).find_map(|line| {
        line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
    })?;
    after.trim().parse().ok()
}
