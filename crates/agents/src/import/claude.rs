//! Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`, a tree of entries of which one branch is the conversation.

use std::collections::{HashMap, HashSet};

use protocol::{Content, Image, Source, Usage};
use serde_json::Value;

use super::{Gathered, Step, count, list, text, time};

pub(super) fn read(lines: &[Value]) -> Gathered {
    let mut gathered = Gathered::of("claude");
    let kept = branch(lines);
    let mut counted = HashSet::new();
    for line in lines {
        let session = &mut gathered.session;
        if session.session.is_empty() {
            session.session = text(line, "sessionId").to_owned();
        }
        if session.cwd.is_none() {
            session.cwd = line.get("cwd").and_then(Value::as_str).map(Into::into);
        }
        let kind = text(line, "type");
        if !matches!(kind, "user" | "assistant") {
            match kind {
                "attachment" => gathered.lost("notes of Claude Code to its model"),
                "summary" => gathered.lost("summaries"),
                "system" if line["subtype"] == "compact_boundary" => gathered.lost("compactions"),
                "system" => gathered.lost("messages of Claude Code itself"),
                "file-history-snapshot" => gathered.lost("snapshots of files"),
                // Its own book-keeping holds nothing that was said.
                _ => {}
            }
            continue;
        }
        if line["isSidechain"] == true {
            gathered.lost("messages of sub-agents");
        } else if line["isMeta"] == true {
            gathered.lost("notes of Claude Code to its model");
        } else if line["isCompactSummary"] == true {
            gathered.lost("summaries");
        } else if kept.as_ref().is_some_and(|kept| !kept.contains(text(line, "uuid"))) {
            gathered.lost("messages of branches that were left");
        } else if kind == "user" {
            user(&mut gathered, line);
        } else {
            assistant(&mut gathered, line, &mut counted);
        }
    }
    gathered
}

/// The entries on the way from the last one back to the first. None where that way is not whole.
fn branch(lines: &[Value]) -> Option<HashSet<String>> {
    let parents: HashMap<&str, Option<&str>> = lines
        .iter()
        .filter(|line| line.get("uuid").is_some())
        .map(|line| (text(line, "uuid"), line.get("parentUuid").and_then(Value::as_str)))
        .collect();
    let last = lines
        .iter()
        .rev()
        .find(|line| matches!(text(line, "type"), "user" | "assistant") && line["isSidechain"] != true)?;
    let mut kept = HashSet::new();
    let mut here = Some(text(last, "uuid"));
    while let Some(uuid) = here {
        let parent = *parents.get(uuid)?;
        if !kept.insert(uuid.to_owned()) {
            return None;
        }
        here = parent;
    }
    Some(kept)
}

fn user(gathered: &mut Gathered, line: &Value) {
    let at = time(&line["timestamp"]);
    let content = &line["message"]["content"];
    if let Some(words) = content.as_str() {
        // What it writes down of its own commands is no prompt.
        if words.starts_with("<command-") || words.starts_with("<local-command-") {
            return gathered.lost("commands of Claude Code");
        }
        return gathered.prompt(at, vec![Content::text(words)]);
    }
    let mut prompt = Vec::new();
    for part in content.as_array().map(Vec::as_slice).unwrap_or_default() {
        match text(part, "type") {
            "tool_result" => {
                let failed = part["is_error"] == true;
                gathered.result(at, text(part, "tool_use_id"), failed, result(&part["content"]));
            }
            "text" => prompt.push(Content::text(text(part, "text"))),
            "image" if part["source"]["type"] == "base64" => prompt.push(Content::Image(Image {
                media_type: text(&part["source"], "media_type").to_owned(),
                name: None,
                source: Source::Data(text(&part["source"], "data").to_owned()),
            })),
            other => gathered.lost(&format!("parts of prompts of kind `{other}`")),
        }
    }
    if !prompt.is_empty() {
        gathered.prompt(at, prompt);
    }
}

fn result(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let shown = |part: &Value| match text(part, "type") {
                "text" => text(part, "text").to_owned(),
                other => format!("[{other}]"),
            };
            parts.iter().map(shown).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn assistant(gathered: &mut Gathered, line: &Value, counted: &mut HashSet<String>) {
    let at = time(&line["timestamp"]);
    let message = &line["message"];
    for part in list(message, "content") {
        match text(part, "type") {
            "thinking" => gathered.thought(at, text(part, "thinking")),
            "text" => gathered.said(at, text(part, "text")),
            "tool_use" | "server_tool_use" => {
                gathered.call(at, text(part, "id"), text(part, "name"), part["input"].clone());
            }
            "redacted_thinking" => gathered.lost("thoughts that only their model can read"),
            other => gathered.lost(&format!("parts of answers of kind `{other}`")),
        }
    }
    // One answer is written as an entry for each of its parts, and counted in each.
    let usage = &message["usage"];
    if usage.is_object() && counted.insert(text(message, "id").to_owned()) {
        let (cache_read, cache_write) =
            (count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens"));
        let usage = Usage {
            input: count(usage, "input_tokens") + cache_read + cache_write,
            output: count(usage, "output_tokens"),
            cache_read,
            cache_write,
            ..Usage::default()
        };
        gathered.step(at, Step::Usage(usage));
    }
}
