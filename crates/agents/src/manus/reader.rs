//! What a task looks like, and what is new about it.

use std::collections::HashMap;

use acp::News;
use protocol::{Content, Usage};
use serde_json::Value;

/// How a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    Working,
    Done,
    /// It asked something and goes on when it hears an answer.
    WaitsForAnswer,
    Failed(String),
}

/// Remembers what was told of a task already.
#[derive(Default)]
pub(super) struct Reader {
    /// How much of each text was told.
    told: HashMap<String, usize>,
    usage: Option<Usage>,
    has_spoken: bool,
    /// Looks in a row that brought nothing while it was pending.
    quiet: u32,
}

impl Reader {
    /// What is new since the last look. The prompt is among the output too, and is not told.
    pub(super) fn read(&mut self, task: &Value) -> Vec<News> {
        self.usage = super::usage(task).or(self.usage);
        let mut news = Vec::new();
        let output = task.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, item) in output.iter().enumerate() {
            if item["type"] != "message" || item["role"] == "user" {
                continue;
            }
            let message = item["id"].as_str().map_or_else(|| format!("m{at}"), str::to_owned);
            let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            for (part_at, part) in parts.iter().enumerate() {
                let Some(text) = shown(part) else { continue };
                let told = self.told.entry(format!("{message}/{part_at}")).or_default();
                // A text that was written anew is told as far as it is longer.
                if let Some(more) = text.get(*told..).filter(|more| !more.is_empty()) {
                    news.push(News::Said { content: Content::text(more), message: Some(message.clone()) });
                    *told = text.len();
                }
            }
        }
        self.has_spoken |= !news.is_empty();
        self.quiet = if news.is_empty() { self.quiet + 1 } else { 0 };
        news
    }

    pub(super) fn status(&self, task: &Value) -> Status {
        match task["status"].as_str().unwrap_or_default() {
            "completed" => Status::Done,
            // The same word stands for a task that has not begun.
            "pending" if self.has_spoken && self.quiet >= 1 => Status::WaitsForAnswer,
            "error" | "failed" | "cancelled" | "incomplete" => {
                Status::Failed(complaint(task).unwrap_or_else(|| "the task failed".to_owned()))
            }
            _ => Status::Working,
        }
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

fn shown(part: &Value) -> Option<String> {
    match part["type"].as_str()? {
        "output_text" | "text" => part["text"].as_str().map(str::to_owned),
        "output_file" => {
            let name = part["fileName"].as_str().or(part["file_name"].as_str()).unwrap_or("file");
            let url = part["fileUrl"].as_str().or(part["file_url"].as_str())?;
            Some(format!("\n[{name}]({url})\n"))
        }
        _ => None,
    }
}

/// What an error says.
pub(super) fn complaint(value: &Value) -> Option<String> {
    let error = value.get("error").filter(|error| !error.is_null());
    let text = match error {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(error) => error["message"].as_str(),
        None => value["message"].as_str(),
    };
    text.map(|text| text.chars().take(500).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(news: &[News]) -> String {
        let text = |news: &News| match news {
            News::Said { content, .. } => content.as_text().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        };
        news.iter().map(text).collect()
    }

    #[test]
    fn only_what_is_new_is_told_and_never_the_prompt() {
        let task = |status: &str, text: &str| {
            json!({"status": status, "output": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "message", "role": "assistant", "id": "a", "content": [{"type": "output_text", "text": text}]},
            ]})
        };
        let mut reader = Reader::default();
        assert_eq!(said(&reader.read(&task("running", "one"))), "one");
        assert_eq!(said(&reader.read(&task("running", "one"))), "");
        assert_eq!(said(&reader.read(&task("completed", "one two"))), " two");
        assert_eq!(reader.status(&task("completed", "")), Status::Done);
    }

    #[test]
    fn pending_is_a_question_only_after_something_was_said() {
        let mut reader = Reader::default();
        let waiting = json!({"status": "pending", "output": []});
        reader.read(&waiting);
        assert_eq!(reader.status(&waiting), Status::Working);
        let asked = json!({"status": "pending", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Which?"}]}]});
        reader.read(&asked);
        assert_eq!(reader.status(&asked), Status::Working);
        reader.read(&asked);
        assert_eq!(reader.status(&asked), Status::WaitsForAnswer);
        let failed = json!({"status": "failed", "error": {"message": "no credits"}});
        assert_eq!(reader.status(&failed), Status::Failed("no credits".to_owned()));
    }
}
