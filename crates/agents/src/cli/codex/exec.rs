//! Codex without an app server: `codex exec` prints what a turn does, an item a line. It can not ask, so it acts only
//! where nobody wants to be asked.

use acp::News;
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{Content, Mode, NoticeLevel, Plan, PlanEntry, PlanPriority, PlanStatus, Usage};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::LOOK_ONLY;
use super::reader::tool;
use crate::cli::per_turn::{Asked, By, Ended, Heard, Reads, catalogued, through_program};
use crate::cli::text;
use crate::fleet::{Post, Trouble};

pub(in crate::cli) fn run<'a>(
    post: &'a Post,
    mut asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    async move {
        let mut args = catalogued(post, &asked).await;
        args.push("-".to_owned());
        if asked.turn.mode <= Mode::Plan {
            asked.prompt = format!("{LOOK_ONLY}\n\n{}", asked.prompt);
        }
        through_program::<Reader>(post, asked, args, By::Input, cancel).await
    }
    .boxed()
}

#[derive(Debug, Default)]
struct Reader {
    error: Option<String>,
}

impl Reads for Reader {
    fn read(&mut self, line: &Value) -> Vec<Heard> {
        match text(line, "type") {
            "thread.started" => vec![Heard::Session(text(line, "thread_id").to_owned())],
            "turn.started" => vec![],
            "item.started" | "item.updated" => self.item(&line["item"], false),
            "item.completed" => self.item(&line["item"], true),
            "turn.completed" => vec![Heard::Usage(usage(&line["usage"])), Heard::Done { error: None }],
            "turn.failed" => {
                let told = line["error"]["message"].as_str().map(str::to_owned);
                let error = told.or_else(|| self.error.take()).unwrap_or_else(|| "it failed".to_owned());
                vec![Heard::Done { error: Some(error) }]
            }
            // It may try again; what it ends with counts.
            "error" => {
                let message = text(line, "message").to_owned();
                self.error = Some(message.clone());
                vec![Heard::news(News::Notice { level: NoticeLevel::Warning, text: message })]
            }
            other => vec![Heard::news(News::Unknown { name: other.to_owned() })],
        }
    }
}

impl Reader {
    fn item(&self, item: &Value, completed: bool) -> Vec<Heard> {
        let id = || Some(text(item, "id").to_owned());
        let words = || Content::text(text(item, "text"));
        let news = match text(item, "type") {
            "agent_message" if completed => News::Said { content: words(), message: id() },
            "reasoning" if completed => News::Thought { content: words(), message: id() },
            "agent_message" | "reasoning" => return vec![],
            "todo_list" => News::Plan(plan(item)),
            "error" => News::Notice { level: NoticeLevel::Warning, text: text(item, "message").to_owned() },
            _ => News::Tool(tool(&as_app_server_says(item), completed)),
        };
        vec![Heard::news(news)]
    }
}

/// The same items as the app server's, which writes names in another way.
fn as_app_server_says(item: &Value) -> Value {
    fn camel(name: &str) -> String {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |mut name, word| {
            let mut letters = word.chars();
            name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
            name.extend(letters);
            name
        })
    }
    let Value::Object(fields) = item else { return item.clone() };
    let mut renamed: Map<String, Value> =
        fields.iter().map(|(name, value)| (camel(name), value.clone())).collect();
    renamed.insert("type".to_owned(), Value::String(camel(text(item, "type"))));
    if item["exit_code"].as_i64().is_some_and(|code| code != 0) {
        renamed.insert("status".to_owned(), Value::String("failed".to_owned()));
    }
    Value::Object(renamed)
}

fn plan(item: &Value) -> Plan {
    let entries = item["items"].as_array().into_iter().flatten().map(|entry| PlanEntry {
        content: text(entry, "text").to_owned(),
        priority: PlanPriority::Medium,
        status: match entry["completed"].as_bool() {
            Some(true) => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    });
    Plan { entries: entries.collect() }
}

fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cached_input_tokens"),
        cache_write: count("cache_write_input_tokens"),
        reasoning: count("reasoning_output_tokens"),
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests;
