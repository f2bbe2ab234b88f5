//! OpenCode: what `opencode export SESSION` prints.

use protocol::{Content, Timestamp, Usage};
use serde_json::Value;

use super::{Gathered, Step, count, list, text, time};

pub(super) fn read(whole: &Value) -> Gathered {
    let mut gathered = Gathered::of("opencode");
    gathered.session.session = text(&whole["info"], "id").to_owned();
    gathered.session.cwd = whole.pointer("/info/directory").and_then(Value::as_str).map(Into::into);
    for message in list(whole, "messages") {
        let info = &message["info"];
        let at = time(&info["time"]["created"]);
        if text(info, "role") == "user" {
            let words: Vec<Content> = list(message, "parts")
                .iter()
                .filter(|part| text(part, "type") == "text" && part["synthetic"] != true)
                .map(|part| Content::text(text(part, "text")))
                .collect();
            let others = list(message, "parts").len() - words.len();
            gathered.lost_many("files and notes beside prompts", u32::try_from(others).unwrap_or(u32::MAX));
            if !words.is_empty() {
                gathered.prompt(at, words);
            }
            continue;
        }
        list(message, "parts").iter().for_each(|part| answer(&mut gathered, at, part));
        let tokens = &info["tokens"];
        if tokens.is_object() {
            let (cache_read, cache_write) =
                (count(&tokens["cache"], "read"), count(&tokens["cache"], "write"));
            let usage = Usage {
                input: count(tokens, "input") + cache_read + cache_write,
                output: count(tokens, "output") + count(tokens, "reasoning"),
                cache_read,
                cache_write,
                reasoning: count(tokens, "reasoning"),
                cost_usd: info.get("cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0),
            };
            gathered.step(at, Step::Usage(usage));
        }
    }
    gathered
}

fn answer(gathered: &mut Gathered, at: Option<Timestamp>, part: &Value) {
    match text(part, "type") {
        "text" => gathered.said(at, text(part, "text")),
        "reasoning" => gathered.thought(at, text(part, "text")),
        "tool" => {
            let state = &part["state"];
            let call = text(part, "callID");
            gathered.call(at, call, text(part, "tool"), state["input"].clone());
            let failed = text(state, "status") != "completed";
            let output = state.get("output").or_else(|| state.get("error")).and_then(Value::as_str);
            gathered.result(at, call, failed, output.unwrap_or_default().to_owned());
        }
        // Marks between its steps hold nothing that was said.
        "step-start" | "step-finish" | "snapshot" => {}
        other => gathered.lost(&format!("parts of kind `{other}`")),
    }
}
