//! What a request says, as far as the scripted model cares: it reads the prompt and sees tool results.

use std::time::Duration;

use serde_json::Value;

use super::reply::{Reply, Split};

#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) model: String,
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Turn {
    User(String),
    Result(String),
}

impl Conversation {
    pub(super) fn new(model: &Value) -> Self {
        Self { model: model.as_str().unwrap_or("scripted").to_owned(), ..Self::default() }
    }

    fn last_user(&self) -> &str {
        let users = self.turns.iter().rev();
        users
            .filter_map(|turn| if let Turn::User(text) = turn { Some(text.as_str()) } else { None })
            .find(|text| !is_reminder(text))
            .unwrap_or_default()
    }

    /// Results that came after the last thing the user said.
    fn new_results(&self) -> Vec<&str> {
        let said =
            self.turns.iter().rev().filter(|turn| !matches!(turn, Turn::User(text) if is_reminder(text)));
        let newest_first = said.map_while(|turn| match turn {
            Turn::Result(text) => Some(text.as_str()),
            Turn::User(_) => None,
        });
        let mut results: Vec<_> = newest_first.collect();
        results.reverse();
        results
    }

    /// What a model without a script says.
    pub(super) fn echo(&self) -> Reply {
        Reply::text(format!("You said: {}", self.last_user()))
    }

    /// What a model does that obeys the prompt: `[[tool:NAME {"json":…}]]`, `[[think]]`, `[[slow]]`, `[[error:529]]`,
    /// `[[repeat:20000]]`, `[[say:TEXT]]`. Tool calls are made once: after their results it answers with text.
    pub(super) fn obey(&self) -> Reply {
        let prompt = self.last_user();
        let results = self.new_results();
        let mut reply = Reply::new().split(Split::Chars(14));
        let mut calls = 0;
        let mut missing = None;
        let mut said = None;
        for directive in directives(prompt) {
            let (name, value) = directive.split_once(':').unwrap_or((directive, ""));
            match name {
                "think" => reply = reply.think("Thinking about it."),
                "slow" => reply = reply.pace(Duration::from_millis(300)),
                "say" => said = Some(value.to_owned()),
                "error" => {
                    if let Ok(code) = value.parse() {
                        return Reply::status(code);
                    }
                }
                "repeat" => {
                    if let Ok(times) = value.parse() {
                        return Reply::repeat(times, "word ");
                    }
                }
                "tool" if results.is_empty() => {
                    let (name, arguments) = value.split_once(char::is_whitespace).unwrap_or((value, "{}"));
                    let arguments = serde_json::from_str(arguments).unwrap_or_default();
                    match self.tool(name) {
                        Some(tool) => {
                            reply = reply.call(tool, arguments);
                            calls += 1;
                        }
                        None => missing = Some(name),
                    }
                }
                _ => {}
            }
        }
        if calls > 0 {
            return reply;
        }
        let text = match (missing, said, results.last()) {
            (Some(name), ..) => {
                format!("No `{name}` tool was offered. Tools: {}", self.tools.join(", "))
            }
            (_, Some(text), _) => text,
            (.., Some(result)) => {
                format!("The tool answered: {}", result.trim().chars().take(300).collect::<String>())
            }
            _ => "Hello from the scripted model. This is a streamed reply.".to_owned(),
        };
        reply.then_text(text)
    }

    /// The offered tool of that name, or the likeliest for `shell`, `read` and `write`, which agents name differently.
    fn tool(&self, name: &str) -> Option<&str> {
        let words: &[&str] = match name {
            "shell" => &["shell", "bash", "exec", "terminal", "command"],
            "read" => &["read", "view"],
            "write" => &["write", "create"],
            _ => &[],
        };
        let exact = self.tools.iter().find(|tool| *tool == name);
        let likely = || {
            words.iter().find_map(|word| self.tools.iter().find(|tool| tool.to_lowercase().contains(word)))
        };
        exact.or_else(likely).map(String::as_str)
    }
}

/// What some agents put in the person's mouth, after what the person said.
fn is_reminder(text: &str) -> bool {
    const MARKS: &[(&str, &str)] = &[
        ("<system-reminder>", "</system-reminder>"),
        ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
    ];
    let text = text.trim();
    MARKS.iter().any(|(begin, end)| text.starts_with(begin) && text.ends_with(end))
}

/// What stands between `[[` and `]]`. The JSON of a tool call may itself hold `]]`, so it is read as JSON.
fn directives(prompt: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = prompt;
    while let Some((_, after)) = rest.split_once("[[") {
        let json = after.find('{').filter(|at| after.starts_with("tool:") && !after[..*at].contains("]]"));
        let from = json.map_or(0, |at| {
            let mut values = serde_json::Deserializer::from_str(&after[at..]).into_iter::<Value>();
            values.next();
            at + values.byte_offset()
        });
        let Some(end) = after[from..].find("]]").map(|at| from + at) else { break };
        found.push(after[..end].trim());
        rest = &after[end + 2..];
    }
    found
}
