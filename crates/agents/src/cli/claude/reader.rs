//! What Claude Code's lines mean.

use std::collections::HashSet;

use acp::{News, ToolNews};
use protocol::{
    AgentCommand, AgentCommands, CallId, Content, Location, Plan, PlanEntry, PlanPriority, PlanStatus, Stop,
    StopCause, ToolContent, ToolKind, ToolStatus, Usage,
};
use serde_json::Value;

use crate::cli::text;

#[cfg(test)]
mod tests;

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    News(News),
    /// Its own session's name, and the model that answers in it.
    Session {
        id: String,
        model: Option<String>,
    },
    /// It waits to be allowed a tool.
    Ask(Box<Asked>),
    /// A question that was withdrawn.
    Withdrawn(String),
    /// The answer to a question of ours.
    Answered {
        id: String,
        answer: Result<Value, String>,
    },
    /// It asks something that we do not know.
    Unknown {
        id: String,
    },
    Done(Box<Done>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// Of the request, for the answer.
    pub(crate) id: String,
    pub(crate) tool: ToolNews,
    pub(crate) input: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) stop: Stop,
    pub(crate) cause: Option<StopCause>,
    pub(crate) error: Option<String>,
    /// Of this turn.
    pub(crate) usage: Usage,
    /// Of the whole session.
    pub(crate) total_cost_usd: Option<f64>,
    pub(crate) window: Option<u64>,
    /// What it says when nothing was said while it worked.
    pub(crate) text: Option<String>,
}

/// Reads one process' lines in order.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The message that is being streamed.
    streaming: Option<String>,
    /// Messages that came in pieces, and come again whole.
    streamed: HashSet<String>,
    said: bool,
}

impl Reader {
    pub(crate) fn read(&mut self, line: &Value) -> Vec<Heard> {
        // What a sub-agent says is told as a thought: the answer is its parent's.
        let of_child = line.get("parent_tool_use_id").is_some_and(Value::is_string);
        match text(line, "type") {
            "system" => self.system(line),
            "stream_event" => self.stream(&line["event"], of_child),
            "assistant" => self.assistant(&line["message"], of_child),
            "user" => user(line),
            "result" => vec![Heard::Done(Box::new(self.result(line)))],
            "control_request" => vec![control(line)],
            "control_response" => vec![answered(&line["response"])],
            "control_cancel_request" => vec![Heard::Withdrawn(text(line, "request_id").to_owned())],
            "keep_alive" | "rate_limit_event" | "tool_progress" | "auth_status" | "" => vec![],
            other => vec![Heard::News(News::Unknown { name: other.to_owned() })],
        }
    }

    fn system(&mut self, line: &Value) -> Vec<Heard> {
        match text(line, "subtype") {
            "init" => {
                let (id, model) = (text(line, "session_id").to_owned(), owned(line, "model"));
                vec![Heard::Session { id, model }]
            }
            "compact_boundary" => {
                let tokens_before = line["compact_metadata"]["pre_tokens"].as_u64().unwrap_or_default();
                vec![Heard::News(News::Compacted { summary: String::new(), tokens_before })]
            }
            // Hooks, tasks and the like: its own house-keeping.
            _ => vec![],
        }
    }

    fn stream(&mut self, event: &Value, of_child: bool) -> Vec<Heard> {
        match text(event, "type") {
            "message_start" => {
                let id = text(&event["message"], "id").to_owned();
                self.streamed.insert(id.clone());
                self.streaming = Some(id);
                vec![]
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let message = self.streaming.clone();
                match text(delta, "type") {
                    "text_delta" => vec![self.say(text(delta, "text"), message, of_child)],
                    "thinking_delta" => vec![think(text(delta, "thinking"), message)],
                    _ => vec![],
                }
            }
            _ => vec![],
        }
    }

    fn assistant(&mut self, message: &Value, of_child: bool) -> Vec<Heard> {
        let id = text(message, "id").to_owned();
        let streamed = self.streamed.contains(&id);
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut heard = Vec::new();
        for block in blocks {
            match text(block, "type") {
                "text" if !streamed => heard.push(self.say(text(block, "text"), Some(id.clone()), of_child)),
                "thinking" if !streamed => heard.push(think(text(block, "thinking"), Some(id.clone()))),
                "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                    let (name, input) = (text(block, "name"), &block["input"]);
                    heard.extend(plan(name, input).map(|plan| Heard::News(News::Plan(plan))));
                    heard.push(Heard::News(News::Tool(tool(text(block, "id"), name, input))));
                }
                _ => {}
            }
        }
        heard
    }

    fn say(&mut self, words: &str, message: Option<String>, of_child: bool) -> Heard {
        if of_child {
            return think(words, message);
        }
        self.said |= !words.is_empty();
        Heard::News(News::Said { content: Content::text(words), message })
    }

    fn result(&mut self, line: &Value) -> Done {
        let failed = line["is_error"].as_bool().unwrap_or(false);
        let words = owned(line, "result").filter(|words| !words.is_empty());
        let errors: Vec<&str> =
            line["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (stop, cause) = match text(line, "subtype") {
            "error_max_turns" => (Stop::Limit, Some(StopCause::MaxSteps)),
            "error_max_budget_usd" => (Stop::Limit, Some(StopCause::Budget)),
            "success" if !failed => match text(line, "stop_reason") {
                "refusal" => (Stop::Error, Some(StopCause::Refused)),
                "max_tokens" => (Stop::Limit, Some(StopCause::OutputLimit)),
                _ => (Stop::Done, None),
            },
            _ => (Stop::Error, None),
        };
        let error = (stop == Stop::Error && cause.is_none()).then(|| {
            let told = words.clone().or_else(|| (!errors.is_empty()).then(|| errors.join("; ")));
            told.unwrap_or_else(|| text(line, "subtype").replace('_', " "))
        });
        let usage = &line["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        let (cache_read, cache_write) =
            (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let windows = line["modelUsage"].as_object().into_iter().flat_map(|models| models.values());
        Done {
            stop,
            cause,
            error,
            usage: Usage {
                input: count("input_tokens") + cache_read + cache_write,
                output: count("output_tokens"),
                cache_read,
                cache_write,
                reasoning: usage["output_tokens_details"]["thinking_tokens"].as_u64().unwrap_or_default(),
                cost_usd: None,
            },
            total_cost_usd: line["total_cost_usd"].as_f64(),
            window: windows.filter_map(|model| model["contextWindow"].as_u64()).max(),
            text: words.filter(|_| !std::mem::take(&mut self.said)),
        }
    }
}

fn think(words: &str, message: Option<String>) -> Heard {
    Heard::News(News::Thought { content: Content::text(words), message })
}

/// What tools gave back; every one of them.
fn user(line: &Value) -> Vec<Heard> {
    let blocks = line["message"]["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results: Vec<&Value> = blocks.iter().filter(|block| text(block, "type") == "tool_result").collect();
    // What it tells beside the message is of the one result in it.
    let beside = (results.len() == 1).then(|| &line["tool_use_result"]);
    let told = results.iter().map(|block| {
        let failed = block["is_error"].as_bool().unwrap_or(false);
        let mut content = Vec::new();
        if !failed {
            content.extend(beside.and_then(difference));
        }
        if content.is_empty() {
            content.extend(result_content(&block["content"]));
        }
        Heard::News(News::Tool(ToolNews {
            status: Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed }),
            content: Some(content),
            ..about(text(block, "tool_use_id"))
        }))
    });
    told.collect()
}

fn result_content(content: &Value) -> Vec<ToolContent> {
    match content {
        Value::String(words) if words.is_empty() => vec![],
        Value::String(words) => vec![ToolContent::text(words.clone())],
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| match text(block, "type") {
                "text" => Some(ToolContent::text(text(block, "text"))),
                "image" => Some(ToolContent::Content {
                    content: Content::Image(protocol::Image {
                        media_type: text(&block["source"], "media_type").to_owned(),
                        name: None,
                        source: protocol::Source::Data(text(&block["source"], "data").to_owned()),
                    }),
                }),
                _ => None,
            })
            .collect(),
        _ => vec![],
    }
}

/// What an edit changed.
fn difference(result: &Value) -> Option<ToolContent> {
    let path = owned(result, "filePath")?;
    if let (Some(old), Some(new)) = (owned(result, "oldString"), owned(result, "newString")) {
        return Some(ToolContent::Diff { path, old: Some(old), new });
    }
    let new = owned(result, "content")?;
    Some(ToolContent::Diff { path, old: owned(result, "originalFile"), new })
}

fn control(line: &Value) -> Heard {
    let (id, request) = (text(line, "request_id").to_owned(), &line["request"]);
    match text(request, "subtype") {
        "can_use_tool" => {
            let (name, input) = (text(request, "tool_name"), request["input"].clone());
            Heard::Ask(Box::new(Asked { id, tool: tool(text(request, "tool_use_id"), name, &input), input }))
        }
        _ => Heard::Unknown { id },
    }
}

fn answered(response: &Value) -> Heard {
    let id = text(response, "request_id").to_owned();
    let answer = match text(response, "subtype") {
        "success" => Ok(response["response"].clone()),
        _ => Err(text(response, "error").to_owned()),
    };
    Heard::Answered { id, answer }
}

/// The commands that it tells when it is initialized.
pub(crate) fn commands(answer: &Value) -> AgentCommands {
    let commands = answer["commands"].as_array().into_iter().flatten().map(|command| AgentCommand {
        name: text(command, "name").to_owned(),
        description: text(command, "description").chars().take(200).collect(),
        hint: owned(command, "argumentHint").filter(|hint| !hint.is_empty()),
    });
    AgentCommands { commands: commands.collect() }
}

fn about(id: &str) -> ToolNews {
    ToolNews {
        call: CallId::new(id),
        begins: false,
        name: None,
        title: None,
        kind: None,
        status: None,
        input: None,
        output: None,
        content: None,
        locations: None,
    }
}

fn tool(id: &str, name: &str, input: &Value) -> ToolNews {
    let (kind, title) = describe(name, input);
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|field| owned(input, field));
    ToolNews {
        begins: true,
        name: Some(name.to_owned()),
        title: Some(title),
        kind: Some(kind),
        status: Some(ToolStatus::Pending),
        input: Some(input.clone()),
        locations: path.map(|path| vec![Location { path, line: None }]),
        ..about(id)
    }
}

/// What a tool of Claude Code's does, by its name.
fn describe(name: &str, input: &Value) -> (ToolKind, String) {
    let of = |field: &str| owned(input, field).unwrap_or_default();
    match name {
        "Bash" => (ToolKind::Execute, of("command")),
        "Read" | "NotebookRead" | "LS" => (ToolKind::Read, format!("read {}", of("file_path") + &of("path"))),
        "Write" => (ToolKind::Edit, format!("write {}", of("file_path"))),
        "Edit" | "MultiEdit" => (ToolKind::Edit, format!("edit {}", of("file_path"))),
        "NotebookEdit" => (ToolKind::Edit, format!("edit {}", of("notebook_path"))),
        "Glob" | "Grep" => (ToolKind::Search, format!("search {}", of("pattern"))),
        "WebFetch" => (ToolKind::Fetch, format!("fetch {}", of("url"))),
        "WebSearch" => (ToolKind::Fetch, format!("search the web for {}", of("query"))),
        "Task" | "Agent" => (ToolKind::Think, format!("sub-agent: {}", of("description"))),
        "TodoWrite" | "ExitPlanMode" | "EnterPlanMode" | "AskUserQuestion" | "ToolSearch" | "Skill"
        | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "BashOutput" | "KillShell" => {
            (ToolKind::Think, name.to_owned())
        }
        _ => (ToolKind::Other, name.to_owned()),
    }
}

/// Its list of things to do is a plan.
fn plan(name: &str, input: &Value) -> Option<Plan> {
    let todos = input["todos"].as_array().filter(|_| name == "TodoWrite")?;
    let entry = |todo: &Value| PlanEntry {
        content: text(todo, "content").to_owned(),
        priority: PlanPriority::default(),
        status: match text(todo, "status") {
            "in_progress" => PlanStatus::InProgress,
            "completed" => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    };
    Some(Plan { entries: todos.iter().map(entry).collect() })
}

fn owned(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}
